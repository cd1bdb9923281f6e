//! The program's system calls, each looked at before it is made: what could not be undone is not done.
//!
//! Syscall User Dispatch turns every system call into a signal, but for those made at the one place that is ours.
//! What is not in the list ([`rules`]) is refused, and the run is done in a process of its own. To refuse is always
//! right; to let through needs a reason. Reasons hold for the kernel's effects only: that memory is put back is
//! taken for granted, also memory that a call writes to.

mod rules;
mod sites;
mod watch;

use super::output::{is_blind, is_of_one, looks_at_no_file};
use super::streams::Answer;
use super::undo::{HIDDEN, Undo};
use super::{kept, outside, refuse};
use crate::server::ALL_FILES;
use crate::signals;
use crate::sys::{self, nr};
use rules::{RECVMSG, Rule, rule};
pub(super) use sites::Sites;
pub(crate) use watch::{begin as begin_watching, can_be_left, end as end_watching, look_around};

/// Makes a call of the program's, if it can be undone. Does not come back if not, nor does the run.
/// Outside of repeated runs every call is made, and at most looked at.
pub fn call(number: usize, args: [usize; 6]) -> isize {
    let Some(outside) = outside() else {
        watch::look(number, &args);
        // SAFETY: what the program asks for.
        return unsafe { sys::call(number, args) };
    };
    if let Some(result) = outside.output.keep(number, &args) {
        return result;
    }
    if WAITS.contains(&number) {
        before_waiting();
    }
    match outside.streams.call(number, &args, &mut outside.undo) {
        Answer::Is(result) => return result,
        Answer::Kernel => {}
        Answer::Unknown => leave_streams(number),
    }
    if reveals(number, &args) {
        refuse(number as u32);
    }
    if number == nr::CLOSE && outside.undo.puts_off(args[0]) {
        return 0;
    }
    if needs_numbers(number, &args, |fd| outside.is_untold(fd)) {
        outside.tell_kernel();
    }
    if MAPS.contains(&number) {
        outside.reach.forget();
    }
    outside.undo.anything = true;
    outside.undo.files |= outside.output.before(number, &args) | moves(number, &args);
    let may = match rule(number) {
        Some(Rule::Free) => true,
        Some(Rule::Opens) => {
            // Some make two.
            outside.undo.opens(2);
            true
        }
        Some(Rule::Own) => !outside.undo.is_inherited(args[0]),
        Some(Rule::Held) => is_held(args[0]),
        Some(Rule::If(may)) => may(&args),
        Some(Rule::By(make)) => match make(&args) {
            Some(result) => return result,
            None => false,
        },
        None => false,
    };
    if !may {
        refuse(number as u32);
    }
    // SAFETY: what the program asks for.
    let result = unsafe { sys::call(number, args) };
    if result == TOO_MANY_FILES {
        // There are fewer numbers than there would be.
        refuse(number as u32);
    }
    result
}

/// Whether the kernel must know which descriptors there are before it makes a call: it makes another, or is to look at one
/// that it would be wrong about.
fn needs_numbers(number: usize, args: &[usize; 6], is_untold: impl FnOnce(usize) -> bool) -> bool {
    const EPOLL_CTL: usize = 233;
    if matches!(rule(number), Some(Rule::Opens)) || WAITS.contains(&number) || number == EPOLL_CTL {
        return true;
    }
    if is_of_one(number) {
        return is_untold(args[0]);
    }
    !looks_at_no_file(number, args)
}

/// What the kernel says if there is no number left.
const TOO_MANY_FILES: isize = -24;

/// Whether a call could show which descriptors there are besides the program's: a list of files, a number that it wants or
/// tries, or so many of them that it may try all.
fn reveals(number: usize, args: &[usize; 6]) -> bool {
    const GETDENTS: usize = 217;
    const PPOLL: usize = 271;
    const TRIES: usize = 256;
    let lists = number == GETDENTS && kept::is_of_kernel(args[0]);
    let tries = matches!(number, nr::POLL | PPOLL) && args[1] > TRIES;
    let is_there = HIDDEN.contains(&(args[0] as u32 as usize)) && !is_blind(number);
    lists || number == nr::FCNTL && watch::is_too_high(args) || tries || is_there
}

/// The run is done again by a process that leaves all connections to the kernel.
pub(super) fn leave_streams(number: usize) {
    if let Some(outside) = outside() {
        outside.streams.give_up();
        refuse(number as u32);
    }
}

/// Calls that change what is mapped, or how it is protected: `mmap`, `mprotect`, `munmap`, `brk`, `mremap`, `madvise`.
const MAPS: [usize; 6] = [9, 10, 11, 12, 25, 28];

/// Calls that ask what can be read: `poll`, `select`, `epoll_wait`, and the same with a mask of signals.
const WAITS: [usize; 6] = [7, 23, 232, 270, 271, 281];

/// The kernel is asked what can be read; not if it could tell of what the program has closed.
pub(crate) fn before_waiting() {
    if outside().is_some_and(|outside| outside.undo.kept.misleads()) {
        refuse(nr::CLOSE as u32);
    }
}

/// What is known of the run's descriptors.
fn undo() -> Option<&'static mut Undo> {
    outside().map(|outside| &mut outside.undo).or_else(watch::undo)
}

fn inherited(fd: usize) -> bool {
    undo().is_none_or(|undo| undo.is_inherited(fd))
}

/// Whether a descriptor is the run's own, or one whose state is put back.
pub(super) fn is_held(fd: usize) -> bool {
    undo().is_some_and(|undo| undo.kept.has(fd) || !undo.is_inherited(fd))
}

/// Where a call may change how far input is read or output is written, or make another name for one of these. Nothing
/// else in the list does that.
fn moves(number: usize, args: &[usize; 6]) -> u8 {
    const READV: usize = 19;
    const WRITEV: usize = 20;
    const NAMES: [usize; 5] = [32, 33, nr::FCNTL, 292, RECVMSG];
    match number {
        nr::READ | nr::WRITE | nr::LSEEK | READV | WRITEV => match args[0] as u32 {
            fd @ 0..=2 => 1 << fd,
            _ if is_held(args[0]) => 0,
            _ => ALL_FILES,
        },
        _ if NAMES.contains(&number) => ALL_FILES,
        _ => 0,
    }
}

/// The signal that a call becomes.
const DISPATCH: usize = 31;

/// Has all calls looked at from now on. Crashes must be watched for already: this uses the same stack.
pub(super) fn prepare() {
    signals::handle(DISPATCH as i32, caught as *const () as usize);
}

/// From now on.
pub(super) fn begin() -> bool {
    const SET_DISPATCH: usize = 59;
    const ON: usize = 1;
    const SET_NO_HUGE_PAGES: usize = 41;
    let (begin, size) = sys::calls_range();
    // SAFETY: the handler is there.
    unsafe {
        // One write must not make two megabytes to be put back.
        sys::call(nr::PRCTL, [SET_NO_HUGE_PAGES, 1, 0, 0, 0, 0]);
        sys::call(nr::PRCTL, [SET_DISPATCH, ON, begin, size, 0, 0]) == 0
    }
}

/// Where registers lie in what the kernel hands to a handler, and the set of blocked signals.
const REGISTERS: usize = 40;
/// In the order of a call's arguments.
const ARGUMENTS: [usize; 6] = [8, 9, 12, 2, 0, 1];
const RAX: usize = 13;
const RIP: usize = 16;
const MASK: usize = 296;

unsafe extern "C" fn caught(_: i32, _: *const u8, context: *mut u8) {
    // SAFETY: the kernel's structure, which lives while the handler runs.
    let registers = unsafe { context.add(REGISTERS).cast::<usize>() };
    // SAFETY: as above.
    let get = |register: usize| unsafe { registers.add(register).read() };
    let args = ARGUMENTS.map(get);
    match get(RAX) {
        // The way back from a handler of the program's: made at our place, with the same stack.
        nr::SIGRETURN => {
            // SAFETY: as above.
            unsafe { registers.add(RIP).write(sys::signal_return()) };
        }
        nr::SIGPROCMASK => {
            // SAFETY: the set that is in force when this handler returns.
            let mask = unsafe { &mut *context.add(MASK).cast::<u64>() };
            let result = block(args, mask);
            // SAFETY: as above.
            unsafe { registers.add(RAX).write(result as usize) };
        }
        // Not here: it may go on with another stack.
        number if outside().is_none() && !watch::is_known(number, &args) => {
            const CALL: usize = 2;
            watch::outlives();
            // SAFETY: as above; the instruction before is the call, which is made again.
            unsafe { registers.add(RIP).write(get(RIP) - CALL) };
        }
        number => {
            if let Some(outside) = outside()
                && rule(number).is_some()
            {
                outside.sites.seen(get(RIP), number);
            }
            // SAFETY: what the program asks for; it has been looked at.
            let made = || unsafe { sys::call(number, args) };
            let result = if outside().is_none() { made() } else { call(number, args) };
            // SAFETY: as above.
            unsafe { registers.add(RAX).write(result as usize) };
        }
    }
}

/// `rt_sigprocmask`. To do it inside a handler would have no effect, since the way back undoes it. Fatal signals and
/// our own are never blocked.
fn block(args: [usize; 6], mask: &mut u64) -> isize {
    const INVALID: isize = -22;
    const NEVER: u64 = 1 << (DISPATCH - 1) | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10;
    let [how, new, old, ..] = args;
    let before = *mask;
    if new != 0 {
        // SAFETY: the program's own set.
        let set = unsafe { *(new as *const u64) };
        *mask = match how {
            0 => before | set,
            1 => before & !set,
            2 => set,
            _ => return INVALID,
        } & !NEVER;
        if let Some(outside) = outside() {
            (outside.undo.anything, outside.undo.masked) = (true, true);
        }
    }
    if old != 0 {
        // SAFETY: likewise.
        unsafe { *(old as *mut u64) = before };
    }
    0
}
