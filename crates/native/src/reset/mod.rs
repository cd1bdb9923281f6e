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
mod outside;
mod pages;
mod sides;
pub(crate) mod undo;

use crate::fiber;
use crate::server::Errand;
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

/// Does the errand's runs one after the other. Returns once for each, with its number: in this process, or in a copy
/// of its own. Not at all once there are none left.
pub(crate) fn enter(mut errand: Errand) -> u64 {
    let Some(room) = outside::map() else {
        errand.unfit(b"no address space for a snapshot");
    };
    guard::prepare();
    undo::make_room();
    // SAFETY: the room has just been mapped.
    let outside = unsafe { &mut *room };
    outside.errand = errand;
    OUTSIDE.store(room, Ordering::Relaxed);
    if !guard::begin() {
        outside.errand.unfit(b"system calls cannot be looked at (Syscall User Dispatch is not there)");
    }
    outside.begin(control as *const () as usize);
    let (from, to, fs) = (&raw mut outside.start, outside.control, fiber::thread_pointer());
    outside.thread_pointer = fs;
    outside.kernels = crate::libc::rseq_area();
    // SAFETY: the other side has been prepared, and keeps this one until it switches back.
    unsafe { sides::change(from, to, fs) };
    // Once for each run: all that is known here is what was known above, and what lies outside.
    // SAFETY: as above.
    unsafe { (*room).number }
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
    let mut nowhere = 0;
    // SAFETY: the other side waits in `one`. This one is not taken up again.
    unsafe { sides::change(&raw mut nowhere, outside.control, outside.thread_pointer) };
}

/// The other side.
extern "C" fn control() -> ! {
    let outside = outside().expect("raddle bug: nothing lies outside");
    if let Err(why) = outside.pages.take(outside.range()) {
        outside.errand.unfit(why);
    }
    outside.undo.look();
    // Runs that were tried, and how many of them were refused.
    let (mut tried, mut refused) = (0u32, 0u32);
    while let Some(number) = outside.errand.next() {
        outside.number = number;
        // Where nearly every run is refused, to try is wasted.
        let hopeless = tried >= 16 && refused * 4 > tried * 3;
        let end = if hopeless { End::Refused(outside.last_refused) } else { one(outside) };
        tried += u32::from(!hopeless);
        match end {
            End::Reported => outside.errand.report(number),
            End::Refused(call) => {
                refused += u32::from(!hopeless);
                outside.last_refused = call;
                if outside.errand.alone(number, call) {
                    // This is the copy. It is an ordinary one, and exits when its run is over.
                    outside.alone = true;
                    go_in(outside);
                }
            }
        }
    }
    outside.errand.done()
}

/// A run in this process, and back to where it began.
fn one(outside: &mut Outside) -> End {
    outside.errand.prepare();
    outside.listens = false;
    go_in(outside);
    outside.undo.all();
    outside.pages.restore();
    if outside.errand.checks() {
        if let Some(address) = outside.pages.difference(outside.kernels.clone()) {
            outside.errand.differs(outside.number, "what lies at", address);
        }
        if let Some(fd) = outside.undo.difference() {
            outside.errand.differs(outside.number, "descriptor", fd);
        }
    }
    outside.end
}

fn go_in(outside: &mut Outside) {
    let (from, to, fs) = (&raw mut outside.control, outside.start, outside.thread_pointer);
    // SAFETY: memory is as it was when the start was left.
    unsafe { sides::change(from, to, fs) };
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
    if let Some(outside) = outside()
        && !outside.undo.forbidden(address, size)
    {
        refuse(sys::nr::MPROTECT as u32);
    }
}

/// Whether the runtime may give this memory back: not if it is needed again.
#[inline]
pub(crate) fn may_unmap(address: usize, size: usize) -> bool {
    outside().is_none_or(|outside| outside.undo.is_of_run(address, size))
}
