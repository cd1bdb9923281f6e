//! Whole programs repeated without a new process: what a run has changed is undone, and the next one begins where
//! it began.
//!
//! A copy that the server has made takes a snapshot of all memory that can be written, ours included, and does run
//! after run from there. So a run is what it would be in a copy of its own, as long as all that it changes is
//! memory, or one of the few other things that are put back ([`undo`]). Whatever else a program does is done in a
//! copy of its own after all: that is decided before the call is made ([`guard`]), the run is begun again, and
//! nothing has happened yet that others could see.
//!
//! The one who undoes has a stack and memory outside of what is undone ([`outside`]), and allocates nothing: the
//! heaps may be what the program has destroyed. If all goes wrong the process dies, and the server, which watches
//! it as it watches any other copy, does the run in a copy of its own.

pub mod guard;
mod kept;
mod late;
mod layers;
mod output;
mod outside;
mod pages;
mod reach;
mod search;
mod streams;
mod undo;

use crate::fiber::{self, Fiber};
use crate::io::Poll;
use crate::server::{Errand, nanoseconds};
use crate::sys;
use core::sync::atomic::{AtomicPtr, Ordering};
use outside::Outside;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// What came of it has been published.
    Reported,
    /// It cannot be undone what it was about to do: the number of the call.
    Refused(u32),
    /// Not yet: from where it is all runs begin from now on.
    Moves,
    /// It has not: it has come to where a checkpoint is due, after so many scheduling points.
    Due(u32),
}

/// What is said of a run that could not say anything itself.
pub const SPEECHLESS: u32 = u32::MAX - 1;

static OUTSIDE: AtomicPtr<Outside> = AtomicPtr::new(core::ptr::null_mut());

/// The memory outside, if runs are repeated in this process.
#[inline]
fn outside() -> Option<&'static mut Outside> {
    // SAFETY: mapped once and never given back; there is one kernel thread, and nobody keeps the reference across a
    // switch to the other side.
    unsafe { OUTSIDE.load(Ordering::Relaxed).as_mut() }.filter(|outside| !outside.alone)
}

/// Whether runs are repeated in this process.
pub fn is_on() -> bool {
    outside().is_some()
}

pub(crate) use search::{keep_checkpoint, plan};

/// Does the errand's runs one after the other. Returns once for each, with its number: in this process, or in a copy
/// of its own. Not at all once there are none left.
/// `plan` is what they have in common.
pub(crate) fn enter(errand: Errand, plan: &[u8]) -> u64 {
    enter_under(control, errand, plan)
}

/// The same for the runs of a search, each of which has a plan of its own; the first has this one.
pub(crate) fn enter_search(errand: Errand, plan: &[u8]) -> u64 {
    enter_under(search::control, errand, plan)
}

fn enter_under(control: extern "C" fn() -> !, mut errand: Errand, plan: &[u8]) -> u64 {
    let base = outside::map();
    if base.is_null() {
        errand.unfit(b"no address space for a snapshot");
    }
    guard::prepare();
    undo::make_room();
    let room = outside::furnish(base, control as *const () as usize, errand);
    OUTSIDE.store(room, Ordering::Relaxed);
    // SAFETY: the room has just been furnished.
    let outside = unsafe { &mut *room };
    if !outside.mail.put(plan) {
        outside.errand.unfit(b"the plan is too long");
    }
    if !guard::begin() {
        outside.errand.unfit(b"system calls cannot be looked at (Syscall User Dispatch is not there)");
    }
    // SAFETY: the other side is new, and keeps this one until it switches back.
    unsafe { fiber::switch(&raw mut outside.start, &raw const outside.control) };
    // Once for each run: all that is known here is what was known above, and what lies outside.
    // SAFETY: as above.
    unsafe { (*room).number }
}

/// Whether the start may be moved to the first choice of this run.
pub(crate) fn may_move() -> bool {
    outside().is_some_and(|outside| outside.late.is_invited())
}

/// The run has come to its first choice, and up to here it is like any other of the request. If the start is moved here
/// this returns once for each run, with its seed.
pub(crate) fn at_first_choice() -> Option<u64> {
    let here = outside()?;
    if !here.moves() {
        return None;
    }
    here.end = End::Moves;
    // SAFETY: the other side waits in `go_in`, and comes back to here.
    unsafe { fiber::switch(&raw mut here.start, &raw const here.control) };
    // As in `enter`: nothing is known but what was known above, and what lies outside.
    outside().map(|outside| outside.errand.seed(outside.number))
}

/// Whether what this descriptor stands for is not the kernel's (see `streams`).
pub fn is_modelled(fd: i32) -> bool {
    outside().is_some_and(|outside| outside.streams.has(fd as usize))
}

/// The kernel is to be asked about this descriptor: it is told of those that it does not know of yet.
pub fn before_asking(fd: i32) {
    if let Some(outside) = outside()
        && outside.is_untold(fd as usize)
    {
        outside.tell_kernel();
    }
}

/// Asks what is so of these files now; whether anything is.
pub(crate) fn ask(polls: &mut [Poll]) -> bool {
    if let Some(outside) = outside() {
        guard::before_waiting();
        polls.iter().filter(|poll| !outside.streams.knows(poll.fd)).for_each(|poll| before_asking(poll.fd));
        match outside.streams.ask(polls) {
            Ok(Some(found)) => return found > 0,
            Ok(None) => {}
            Err(()) => guard::leave_streams(sys::nr::POLL),
        }
    }
    // SAFETY: the structures live until the call returns.
    unsafe { sys::call3(sys::nr::POLL, polls.as_mut_ptr() as usize, polls.len(), 0) > 0 }
}

/// A signal has come that the run will end with: what is blocked meanwhile must be let through again.
pub(crate) fn interrupted() {
    if let Some(outside) = outside() {
        outside.undo.anything = true;
    }
}

/// The run is over, and what came of it is published.
pub(crate) fn over() {
    end(End::Reported);
}

/// The run must be done in a process of its own. Comes back if it is.
pub(crate) fn refuse(call: u32) {
    end(End::Refused(call));
}

fn end(how: End) {
    let Some(outside) = outside() else { return };
    outside.end = how;
    let mut nobody = Fiber::main();
    // SAFETY: the other side waits in `go_in`; whoever runs is never gone on with.
    unsafe { fiber::switch(&raw mut nobody, &raw const outside.control) };
}

/// Most runs between two scans.
const BATCH_MAX: u32 = 512;

/// The other side. Not after every run are all pages looked at: those that were written before are put back, and some
/// runs later a scan shows whether that was all. If not, what was not put back may have changed the runs in between, and
/// these are done again; until then nobody hears of them.
extern "C" fn control() -> ! {
    let outside = outside().expect("raddle bug: nothing lies outside");
    let begun = nanoseconds();
    if let Err(why) = outside.pages.take(outside.range()) {
        outside.errand.unfit(why);
    }
    outside.undo.look();
    outside.late.snapshot_took(nanoseconds() - begun);
    // Runs that were tried, and how many of them were refused.
    let (mut tried, mut refused) = (0u32, 0u32);
    // Runs between two scans, and since the last.
    let (mut batch, mut unproven) = (1, 0);
    while let Some(number) = next(outside, unproven == 0) {
        outside.number = number;
        // Where nearly every run is refused, to try is wasted.
        let hopeless = tried >= 16 && refused * 4 > tried * 3;
        if !hopeless {
            outside.late.begin(unproven == 0);
            if one(outside, unproven > 0) {
                batch = 1;
            }
        } else {
            outside.end = End::Refused(outside.last_refused);
        }
        if outside.end == End::Reported && unproven + 1 < batch && !outside.errand.wants_proof(number) {
            outside.pages.restore_known();
            outside.errand.report(number, unproven == 0);
            unproven += 1;
            tried += 1;
            continue;
        }
        let news = outside.pages.restore();
        if news && unproven > 0 {
            outside.errand.take_back();
            (batch, unproven) = (1, 0);
            continue;
        }
        (batch, unproven) = (if news { 1 } else { (batch * 2).min(BATCH_MAX) }, 0);
        check(outside);
        tried += u32::from(!hopeless);
        outside.errand.proven(number);
        match outside.end {
            End::Due(_) => unreachable!("raddle bug: samples have no checkpoints"),
            End::Reported => outside.errand.report(number, true),
            End::Refused(_) if outside.streams.gives_up() => outside.errand.leave_streams(),
            // What happened before the start would not happen to this run.
            End::Refused(_) if outside.late.is_moved() => outside.errand.begin_early(),
            End::Moves => unreachable!("raddle bug: a run that was to go on is over"),
            End::Refused(call) => {
                outside.late.settle();
                refused += u32::from(!hopeless);
                outside.last_refused = call;
                if outside.errand.alone(number, call) {
                    outside.be_alone();
                    go_in(outside);
                }
            }
        }
        outside.errand.proven(number + 1);
    }
    outside.errand.done()
}

/// The next run, of this request or of one like it.
fn next(outside: &mut Outside, proven: bool) -> Option<u64> {
    let Outside { errand, mail, .. } = outside;
    errand.next(proven).or_else(|| errand.next_request(mail.answer()))
}

/// A run in this process; its memory is not put back yet. True if it has moved the start.
fn one(outside: &mut Outside, doubtful: bool) -> bool {
    outside.errand.prepare();
    outside.output.begin();
    outside.streams.begin();
    outside.listens = outside.undo.kept.listens();
    if doubtful {
        outside.errand.begin_doubt();
        go_in(outside);
        outside.errand.end_doubt();
    } else {
        go_in(outside);
    }
    let moves = outside.end == End::Moves;
    if moves {
        if outside.pages.take(outside.range()).is_err() {
            // The old snapshot is lost.
            outside.errand.begin_early();
        }
        outside.undo.look();
        outside.output.moved();
        outside.streams.moved();
        let has_output = outside.errand.moved(outside.number);
        outside.late.moved(has_output);
        go_in(outside);
    }
    let written = outside.output.end(outside.errand.checks());
    if outside.undo.anything {
        outside.reach.forget();
    }
    let files = outside.undo.all();
    outside.errand.soiled(files | written);
    if outside.undo.stuck {
        outside.end = End::Refused(sys::nr::READ as u32);
    }
    moves
}

/// Whether everything is as it was, if somebody wants to know.
fn check(outside: &mut Outside) {
    if outside.errand.checks() {
        if let Some(address) = outside.pages.difference(outside.kernels.clone()) {
            outside.errand.differs(outside.number, "what lies at", address);
        }
        if let Some(fd) = outside.undo.difference() {
            outside.errand.differs(outside.number, "descriptor", fd);
        }
    }
}

/// The same for a search, where it is as it was at a checkpoint.
fn check_layers(outside: &mut Outside) {
    if outside.errand.checks()
        && let Some(address) = outside.layers.difference(&mut outside.pages, outside.kernels.clone())
    {
        outside.errand.differs(outside.number, "what lies at", address);
    }
}

fn go_in(outside: &mut Outside) {
    // SAFETY: memory is as it was when the start was left.
    unsafe { fiber::switch(&raw mut outside.control, &raw const outside.start) };
}

/// The runtime has mapped memory: it goes when the run is over.
#[inline]
pub(crate) fn mapped(address: usize, size: usize) {
    if let Some(outside) = outside()
        && !outside.undo.mapped(address, size)
    {
        refuse(sys::nr::MMAP as u32);
    }
}

/// The runtime has made memory inaccessible: it can be written again when the run is over.
#[inline]
pub(crate) fn forbidden(address: usize, size: usize) {
    if let Some(outside) = outside() {
        outside.reach.forget();
        if !outside.undo.forbidden(address, size) {
            refuse(sys::nr::MPROTECT as u32);
        }
    }
}

/// Whether the runtime may give this memory back: not if it is needed again. If it may it does.
#[inline]
pub(crate) fn may_unmap(address: usize, size: usize) -> bool {
    outside().is_none_or(|outside| {
        let may = outside.undo.is_new(address, size);
        if may {
            outside.reach.forget();
            outside.undo.unmapped(address, size);
        }
        may
    })
}
