//! Timers that the program makes and that send signals or make threads. When they end is up to the kernel, in real time; a
//! thread that is to be made then is one like any other.

use crate::reset::guard;
use crate::run::with;
use crate::sys;
use crate::{deferred, signals, threads};
use alloc::vec::Vec;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

const CREATE: usize = 222;
const SET: usize = 223;
const GET: usize = 224;
const OVERRUN: usize = 225;
const DELETE: usize = 226;
const GET_INTERVAL: usize = 36;

/// The signal for timers that make threads: one of the two that libc keeps for itself, for the same purpose.
const SIGNAL: i32 = 32;

/// What the program is told of a timer's end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    value: usize,
    signal: c_int,
    how: c_int,
    function: usize,
    attributes: usize,
    rest: [usize; 4],
}

const BY_SIGNAL: c_int = 0;
const BY_THREAD: c_int = 2;

/// What a timer calls.
#[derive(Clone, Copy, Debug)]
struct Call {
    id: c_int,
    function: usize,
    value: usize,
    pc: usize,
}

/// All that there are.
#[derive(Clone, Default, Debug)]
pub struct Timers {
    ids: Vec<c_int>,
    /// Those that make threads, by the number that their signal brings.
    calls: Vec<Call>,
}

/// Which of those that make threads have ended, a bit for each.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Most of them.
const CALLS_MAX: usize = 64;
const AGAIN: isize = -11;

/// Makes a timer. The result is the kernel's.
///
/// # Safety
/// The program's own variables.
pub unsafe fn create(clock: c_int, event: *const Event, id: *mut usize, pc: usize) -> isize {
    // SAFETY: the caller says so.
    let wanted = unsafe { event.as_ref() }.copied();
    let mut passed = wanted;
    let thread = wanted.filter(|event| event.how == BY_THREAD);
    if let Some(passed) = passed.as_mut().filter(|event| event.how == BY_THREAD) {
        let number = with(|run| run.outside.timers.calls.len());
        if number >= CALLS_MAX {
            return AGAIN;
        }
        (passed.value, passed.signal, passed.how) = (number, SIGNAL, BY_SIGNAL);
    }
    let mut made: c_int = 0;
    let at = passed.as_ref().map_or(0, |event| (&raw const *event) as usize);
    let result = guard::call(CREATE, [clock as usize, at, (&raw mut made) as usize, 0, 0, 0]);
    if result < 0 {
        return result;
    }
    with(|run| run.outside.timers.ids.push(made));
    if let Some(Event { function, value, .. }) = thread {
        signals::handle(SIGNAL, ended as *const () as usize);
        with(|run| run.outside.timers.calls.push(Call { id: made, function, value, pc }));
    }
    // SAFETY: as above.
    unsafe { id.write(made as usize) };
    0
}

/// A timer is no more.
pub fn delete(id: usize) -> isize {
    let result = guard::call(DELETE, [id, 0, 0, 0, 0, 0]);
    if result == 0 {
        with(|run| {
            run.outside.timers.ids.retain(|known| *known as usize != id);
            // Another may get the number. What has ended already is called all the same.
            run.outside
                .timers
                .calls
                .iter_mut()
                .filter(|call| call.id as usize == id)
                .for_each(|call| call.id = -1);
        });
    }
    result
}

/// Says when one ends.
pub fn set(id: usize, flags: c_int, new: usize, old: usize) -> isize {
    guard::call(SET, [id, flags as usize, new, old, 0, 0])
}

/// When it ends.
pub fn get(id: usize, now: usize) -> isize {
    guard::call(GET, [id, now, 0, 0, 0, 0])
}

/// How often it has ended unheard.
pub fn overrun(id: usize) -> isize {
    guard::call(OVERRUN, [id, 0, 0, 0, 0, 0])
}

impl Timers {
    /// Whether one of them, or the interval timer that counts real time, will end some time.
    pub(crate) fn are_set(&self) -> bool {
        // Both begin with the interval.
        let mut left = [0u64; 4];
        let at = (&raw mut left) as usize;
        // SAFETY: room for what the kernel says.
        let is_set = |number: usize, which: usize| unsafe {
            sys::call3(number, which, at, 0) == 0 && left[2..] != [0, 0]
        };
        is_set(GET_INTERVAL, 0) || self.ids.iter().any(|&id| is_set(GET, id as usize))
    }
}

/// The kernel calls this.
unsafe extern "C" fn ended(_: i32, info: *const u8, _: *const u8) {
    const VALUE: usize = 24;
    // SAFETY: the kernel's structure, which lives while the handler runs.
    let number = unsafe { info.add(VALUE).cast::<usize>().read() };
    if number < CALLS_MAX {
        ENDED.fetch_or(1 << number, Ordering::Relaxed);
        // SAFETY: in a signal handler.
        unsafe { deferred::arrived(deferred::TIMER) };
    }
}

/// Timers have ended: the running thread makes the threads that they call for.
pub(crate) fn make_threads() {
    let ended = ENDED.swap(0, Ordering::Relaxed);
    for number in (0..CALLS_MAX).filter(|number| ended >> number & 1 == 1) {
        let Some(Call { function, value, pc, .. }) =
            with(|run| run.outside.timers.calls.get(number).copied())
        else {
            continue;
        };
        let mut handle = 0;
        // SAFETY: a variable of ours. Nobody joins it; if there is no room for it, it is as if it had not been made in time.
        unsafe { threads::create(&raw mut handle, threads::STACK_DEFAULT, true, function, value, pc) };
    }
}
