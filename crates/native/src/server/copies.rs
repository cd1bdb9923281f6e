//! Runs as copies of the process. Most of what a copy costs is the pages that it writes to, so all that can be done
//! before it is made is done in the server.

use super::outbox::Outbox;
use super::processor;
use super::shared::{self, Shared};
use super::{
    BARE, CALLERS, CAPTURED, CHECKED, FROM_MAIN, Request, SHARING, THREADS, die_with_parent, reply, request,
};
use super::{late, left};
use crate::run::{self, Run, Wanted, with};
use crate::sharing::Sharing;
use crate::signals;
use crate::site::Modules;
use crate::sys::{self, nr};
use crate::turns;
use crate::warm;
use core::sync::atomic::{AtomicU32, Ordering};
use raddle_analysis::LockOrder;
use raddle_model::hash::mix;
use raddle_model::{Policy, Recorder, Rng};

/// How often the server looks whether a run shows signs of life.
pub(super) const SLICE_MS: u32 = 100;

/// The order of locks is followed in runs whose number is a power of two, and in every so many.
const CLOSE_EVERY: u64 = 256;

/// Makes ready for the runs of a request, and has the one who waits for them woken now and then.
pub(super) fn prepare(request: &Request, modules: Modules) {
    make_ready(request, modules);
    signals::wake_every(SLICE_MS);
    processor::stay();
}

/// Makes ready for the runs of a request.
pub(super) fn make_ready(request: &Request, modules: Modules) {
    turns::take(request.flags & THREADS != 0);
    let wanted = match request.kind {
        request::RECORD => Wanted::Record,
        request::SEARCH => Wanted::Search,
        _ => Wanted::Digest,
    };
    run::prepare(Run::new(&request.plan, modules), &request.plan, wanted);
    if request.flags & SHARING != 0 {
        run::with(|run| {
            let watch = run.engine.analysis_mut();
            watch.sharing = Some(Sharing::default());
            // Each access counts, not only the first of its kind.
            watch.hasty = false;
        });
    }
    if request.flags & CALLERS != 0 {
        run::with(Run::tell_callers);
    }
    if request.flags & BARE != 0 {
        run::with(|run| run.calls.wanted = false);
    }
}

/// There will be none for a while.
pub(super) fn finish() {
    signals::wake_every(0);
    processor::leave();
}

/// One run. Gives back the number of the next; none in the copy that is to do this one.
pub(super) fn one(request: &Request, number: u64, outbox: &mut Outbox) -> Option<u64> {
    if !alone(number, request.flags, request.hang_ms, outbox) {
        return Some(number + 1);
    }
    if request.flags & FROM_MAIN == 0 {
        start(request, number);
    }
    None
}

/// One run in a process of its own. True in that.
pub(super) fn alone(number: u64, flags: u32, hang_ms: u32, outbox: &mut Outbox) -> bool {
    let shared = shared::get().expect("raddle bug: no shared memory");
    shared.begin_run();
    rewind(flags & CAPTURED != 0);
    let Some(child) = watched_copy(outbox) else { return true };
    let (status, hangs) = finished(child, hang_ms, shared);
    tell(number, checked(flags, status, shared), hangs, shared, outbox);
    false
}

/// What is told as the status of a run: that of its process, or a hash of what it wrote if that is asked for.
pub(super) fn checked(flags: u32, status: i32, shared: &Shared) -> i32 {
    if flags & CHECKED != 0 && shared.report().is_some() { output_hash() } else { status }
}

/// Makes a copy that will do one run, and ends with that. None in the copy.
pub(super) fn watched_copy(outbox: &mut Outbox) -> Option<isize> {
    let watched = !crate::reset::is_on() && shared::get().is_some_and(warm::another);
    let child = copy(outbox);
    if watched && child.is_none() {
        warm::watch(warm::EARLY);
    }
    child
}

/// Makes a copy. None in the copy.
pub(super) fn copy(outbox: &mut Outbox) -> Option<isize> {
    let child = clone(0, 0, outbox);
    if child.is_none() {
        signals::sleep_again();
        processor::begin();
    }
    child
}

/// The same, of a process that has no timer, and stays on its processor. Whoever makes it sleeps until it has ended, and
/// need not be woken to be told to wait. Which it is, is stored there first, for others.
pub(super) fn awaited_copy(outbox: &mut Outbox, told: &AtomicU32) -> Option<isize> {
    const SLEEPS_UNTIL_IT_ENDS: usize = 0x4000;
    const TELLS: usize = 0x10_0000;
    clone(SLEEPS_UNTIL_IT_ENDS | TELLS, told.as_ptr() as usize, outbox)
}

fn clone(flags: usize, told: usize, outbox: &mut Outbox) -> Option<isize> {
    const CHILD_ENDS: usize = 17;
    // SAFETY: a copy of this process, which has one thread, with memory of its own; what is told has room in memory that is
    // alive.
    let child = unsafe { sys::call3(nr::CLONE, CHILD_ENDS | flags, 0, told) };
    if child == 0 {
        die_with_parent();
        // SAFETY: concerns this process alone.
        unsafe { sys::call3(nr::SETPGID, 0, 0, 0) };
        return None;
    }
    if child < 0 {
        outbox.despair(b"the system refuses another process");
    }
    Some(child)
}

/// Waits until a copy has ended, and ends what it has left behind.
pub(super) fn finished(child: isize, hang_ms: u32, shared: &Shared) -> (i32, bool) {
    let ended = wait(child, hang_ms, shared);
    warm::ended(shared);
    end_group(child, shared);
    ended
}

/// Ends whatever the program has started in a copy, and left behind.
pub(super) fn end_group(child: isize, shared: &Shared) {
    // SAFETY: the group is that of the copy.
    unsafe {
        if sys::call3(nr::KILL, -child as usize, 9, 0) == 0 {
            loop {
                let gone = sys::call(nr::WAIT4, [usize::MAX, 0, 1, 0, 0, 0]);
                if gone <= 0 {
                    break;
                }
                left::is_gone(shared, gone as u32);
            }
        }
    }
}

/// Passes on what came of a run whose process has ended.
pub(super) fn tell(number: u64, status: i32, hangs: bool, shared: &Shared, outbox: &mut Outbox) {
    match shared.report() {
        Some((report, gist)) => outbox.say(reply::REPORT, report, status, number, gist.urgent),
        None if hangs => {
            let task = shared.task.load(Ordering::Relaxed).to_le_bytes();
            outbox.say(reply::HANGS, &task, shared.site.load(Ordering::Relaxed) as i32, number, true);
        }
        None => outbox.say(reply::DIED, &[], status, number, true),
    }
}

/// How far input is read and output is written when a run begins: not at all, if it begins before main.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Marks {
    input: usize,
    /// Place and size of both.
    outputs: [(usize, usize); 2],
}

impl Marks {
    /// How it is now.
    pub(crate) fn now() -> Marks {
        const HERE: usize = 1;
        const END: usize = 2;
        // SAFETY: no memory is involved. What is no file is at no place.
        let seek = |fd: usize, to: usize, from: usize| unsafe {
            sys::call3(nr::LSEEK, fd, to, from).max(0) as usize
        };
        let output = |fd: usize| {
            let place = seek(fd, 0, HERE);
            let size = seek(fd, 0, END);
            seek(fd, place, 0);
            (place, size)
        };
        Marks { input: seek(0, 0, HERE), outputs: [output(1), output(2)] }
    }

    /// Whether anything has been written.
    pub(super) fn has_output(&self) -> bool {
        self.outputs != [(0, 0); 2]
    }

    /// Standard input is read from there on; what the last run wrote is gone.
    pub(crate) fn rewind(&self, captured: bool) {
        const END: usize = 2;
        let mut touched = 1;
        for (fd, (place, size)) in [1usize, 2].into_iter().zip(self.outputs).filter(|_| captured) {
            // SAFETY: no memory is involved, and the controller says that this is a file of its own.
            let end = unsafe { sys::call3(nr::LSEEK, fd, 0, END) };
            touched |= u8::from(end != size as isize || place != size) << fd;
        }
        self.rewind_these(touched);
    }

    /// The same for those of the three that may have been read or written, a bit for each.
    pub(crate) fn rewind_these(&self, touched: u8) {
        // SAFETY: standard input is rewound if it is a file, and stays as it is if not; the others are the controller's.
        unsafe {
            if touched & 1 != 0 {
                sys::call3(nr::LSEEK, 0, self.input, 0);
            }
            for (fd, (place, size)) in [1usize, 2].into_iter().zip(self.outputs) {
                if touched >> fd & 1 != 0 {
                    sys::call3(nr::FTRUNCATE, fd, size, 0);
                    sys::call3(nr::LSEEK, fd, place, 0);
                }
            }
        }
    }
}

/// Input and output are as before main.
pub(super) fn rewind(captured: bool) {
    Marks::default().rewind(captured);
}

/// A hash of what is in the files that are standard output and error.
pub(super) fn output_hash() -> i32 {
    const PREAD: usize = 17;
    let mut buffer = [0u8; 512];
    let mut hash = 0u64;
    for fd in [1, 2] {
        let mut at = 0;
        loop {
            // SAFETY: the kernel writes into a buffer that is alive.
            let read =
                unsafe { sys::call(PREAD, [fd, buffer.as_mut_ptr() as usize, buffer.len(), at, 0, 0]) };
            if read <= 0 {
                break;
            }
            hash = buffer[..read as usize].iter().fold(hash, |hash, &byte| mix(hash, u64::from(byte)));
            at += read as usize;
        }
        hash = mix(hash, fd as u64);
    }
    hash as i32
}

/// Waits for a copy to end, however long that takes. Says how it ended.
pub(super) fn wait_for(child: isize) -> i32 {
    let mut status = 0i32;
    // SAFETY: the status lives until the call returns.
    while unsafe { sys::call(nr::WAIT4, [child as usize, (&raw mut status) as usize, 0, 0, 0, 0]) }
        == INTERRUPTED
    {}
    status
}

const INTERRUPTED: isize = -4;

/// How long a run that hangs may take to say where it is.
const ANSWER_MS: u32 = 1000;

/// Waits for a copy to end. If it shows no sign of life for too long it is asked where it is, and ended if it does not
/// say so. A run that may have been disturbed may do anything, for ever; it is done again, so little is lost if it is ended
/// early.
fn wait(child: isize, hang_ms: u32, shared: &Shared) -> (i32, bool) {
    let (mut status, mut beats, mut silent, mut hangs) = (0i32, u64::MAX, 0, false);
    let (mut doubted, mut asked) = (None, false);
    shared.hang_ms.store(hang_ms, Ordering::Relaxed);
    // SAFETY: the status lives until the call returns.
    while unsafe { sys::call(nr::WAIT4, [child as usize, (&raw mut status) as usize, 0, 0, 0, 0]) }
        == INTERRUPTED
    {
        let now = shared.beats.load(Ordering::Relaxed);
        // The controller may be slow to listen, and to ask: that is no hang.
        if now == beats && !shared.is_talking() {
            silent += SLICE_MS;
        } else {
            (silent, asked, hangs) = (0, false, false);
        }
        beats = now;
        // A run with a process of its own is watched by the one who made that, unless that only waits (see `late`).
        let waits = shared.copy.load(Ordering::Acquire) != 0;
        let patience = if shared.alone.load(Ordering::Relaxed) != 0 && !waits && !crate::reset::is_on() {
            hang_ms * 2 + 1000
        } else {
            hang_ms
        };
        let doubts = shared.in_doubt();
        let doubted_long = doubts.is_some() && doubts == core::mem::replace(&mut doubted, doubts);
        let condemned = doubted_long && shared.condemn();
        let asks = silent >= patience && !asked && !condemned;
        if asks || condemned || silent >= patience + ANSWER_MS {
            // It may have made others, and wait for one of them (see `late`).
            let child = match shared.copy.load(Ordering::Acquire) as isize {
                0 => {
                    hangs = true;
                    child
                }
                copy => {
                    shared.hung.store(1, Ordering::Relaxed);
                    copy
                }
            };
            if asks {
                asked = true;
                // SAFETY: the copy alone.
                unsafe { sys::call3(nr::KILL, child as usize, signals::NUDGE as usize, 0) };
                continue;
            }
            silent = 0;
            // SAFETY: the copy, and whatever is in its group.
            unsafe {
                sys::call3(nr::KILL, child as usize, 9, 0);
                sys::call3(nr::KILL, -child as usize, 9, 0);
            }
        }
    }
    (status, hangs)
}

/// Whether the order of locks is followed in this run.
pub(super) fn is_close(number: u64) -> bool {
    number.is_power_of_two() || number.is_multiple_of(CLOSE_EVERY)
}

/// The prepared run is that of this number.
pub(super) fn start(request: &Request, number: u64) {
    let record = request.kind == request::RECORD;
    // Whose plan is for one run only has its own seed.
    let single = record || request.kind == request::SEARCH;
    let seed = if single { request.plan.seed } else { Rng::seed_of_run(request.plan.seed, number) };
    // Runs that go on from this one may need it.
    let closely = single || is_close(number) || crate::reset::may_move() || late::is_invited();
    // A search has a log of its own.
    let events = record || request.kind == request::SAMPLE && request.flags & CALLERS != 0;
    with(|run| {
        run.engine.policy_mut().restart(seed);
        let watch = run.engine.analysis_mut();
        watch.look_closely(events.then(Recorder::default), closely.then(LockOrder::default));
    });
    run::begin();
}

/// What may have been begun as another run goes on as that of this number, and with this seed if it is another.
pub(super) fn go_on(number: u64, seed: Option<u64>) {
    with(|run| {
        if let Some(seed) = seed {
            run.engine.policy_mut().reseed(seed);
        }
        if !is_close(number) {
            run.engine.analysis_mut().leave_lock_order();
        }
    });
}
