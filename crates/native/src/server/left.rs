//! Checkpoints by fork: at a scheduling point the run makes a copy of itself, which is left behind and waits. When a run is
//! to go on from there it makes another, which does. All of them are the server's own children, so that each is watched
//! as any copy is, and nobody is left when the server is gone.
//!
//! Memory is each process's own; what processes share must not tell them apart. Places in files are put back, and
//! system calls are looked at (`reset::guard`): once the program has done something that outlives a run, nobody is left behind
//! any more, and nobody goes on.

use super::copies::Marks;
use super::outbox::nanoseconds;
use super::shared::{self, Shared};
use super::{
    ALONE, CAPTURED, CHECKPOINTS_ALWAYS, CHECKPOINTS_OFF, Request, THREADS, die_with_parent, search,
};
use crate::reset::guard;
use crate::sys::{self, nr};
use core::sync::atomic::{AtomicU32, Ordering};
use raddle_model::Plan;

/// Most processes that are left behind.
pub(super) const LEFT_MAX: usize = 12;

/// All of them together may come to need so many bytes, or this part of the machine's memory if that is more.
const BYTES_MAX: usize = 1 << 30;
const PART_MAX: usize = 4;

/// What a checkpoint costs, until that is known, in nanoseconds.
pub(super) const TAKE_NS: u64 = 300_000;

/// A process that is left behind.
#[derive(Default)]
pub(super) struct Left {
    id: AtomicU32,
    /// Scheduling points before it.
    points: AtomicU32,
    /// How many runs were to go on from there. It waits for the next.
    wanted: AtomicU32,
    /// The process of the last of them, as soon as there is one.
    child: AtomicU32,
}

const INTERRUPTED: isize = -4;

/// There is no process for a run that was to go on.
const NONE: u32 = u32::MAX;

impl Left {
    /// Says who goes on. False if that has been said: then nobody waits for this one.
    fn is_child(&self, id: u32) -> bool {
        let first = self.child.compare_exchange(0, id, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        futex(&self.child, Futex::Wake);
        first
    }
}

/// Whether checkpoints may be taken in the runs of this request. In the server.
pub(super) fn may_take(request: &Request, shared: &Shared) -> bool {
    let wanted = request.flags & (CHECKPOINTS_OFF | ALONE | THREADS) == 0 && request.flags & CAPTURED != 0;
    let takes = wanted && shared.outlives.load(Ordering::Relaxed) == 0;
    if takes {
        guard::look_around();
        if request.flags & CHECKPOINTS_ALWAYS != 0 {
            shared.when().always();
        }
    }
    takes
}

/// A run begins in this copy, in which checkpoints may be taken.
pub(super) fn begin(shared: &Shared) {
    if !guard::begin_watching() {
        shared.set_due(None, false);
    }
}

/// The program has done something that outlives its run.
pub(crate) fn outlives() {
    if let Some(shared) = shared::get() {
        shared.outlives.store(1, Ordering::Relaxed);
        shared.set_due(None, false);
    }
}

/// The run has come to where a checkpoint is due. Comes back at once, and again for each run that goes on from here: then
/// with its plan.
pub(super) fn keep(points: u32) -> Option<Plan> {
    let shared = shared::get()?;
    let begun = nanoseconds();
    let count = shared.left_count.load(Ordering::Relaxed) as usize;
    let when = shared.when();
    shared.set_due(when.next(points), false);
    if count == LEFT_MAX || !when.pays(begun.saturating_sub(shared.since.load(Ordering::Relaxed))) {
        return None;
    }
    if !guard::can_be_left() || !fits(count + 1) {
        when.failed();
        return None;
    }
    let files = Marks::now();
    let left = &shared.left[count];
    left.wanted.store(0, Ordering::Relaxed);
    left.id.store(0, Ordering::Relaxed);
    let child = copy();
    if child == 0 {
        left.id.store(own(), Ordering::Release);
        futex(&left.id, Futex::Wake);
        return Some(wait(shared, left, &files));
    }
    if child < 0 || !is_settled(left) {
        if child > 0 {
            // SAFETY: a copy of ours, which may come too late.
            unsafe { sys::call3(nr::KILL, child as usize, 9, 0) };
        }
        when.failed();
        return None;
    }
    left.points.store(points, Ordering::Relaxed);
    shared.left_count.store(count as u32 + 1, Ordering::Release);
    let now = nanoseconds();
    when.took(now - begun);
    shared.since.store(now, Ordering::Relaxed);
    None
}

/// Whether there is memory for so many processes that are left behind, should the runs write to all of theirs.
fn fits(count: usize) -> bool {
    const RUSAGE: usize = 98;
    const SYSINFO: usize = 99;
    // Kilobytes are the fifth word of the one; memory and the size of its unit are words of the other.
    let (mut usage, mut info) = ([0usize; 18], [0usize; 14]);
    // SAFETY: questions; what is written lives until the calls return.
    unsafe {
        sys::call3(RUSAGE, 0, usage.as_mut_ptr() as usize, 0);
        sys::call3(SYSINFO, info.as_mut_ptr() as usize, 0, 0);
    }
    let machine = info[4].saturating_mul(info[13] & 0xffff_ffff);
    usage[4].saturating_mul(1024 * count) <= BYTES_MAX.max(machine / PART_MAX)
}

/// Waits until the process that is left behind has a group of its own: that of this one is ended with its run.
fn is_settled(left: &Left) -> bool {
    const PATIENCE: u32 = 50;
    for _ in 0..PATIENCE {
        if left.id.load(Ordering::Acquire) != 0 {
            return true;
        }
        futex(&left.id, Futex::Wait(0));
    }
    false
}

/// A copy whose parent is the server.
fn copy() -> isize {
    const PARENT: usize = 0x8000;
    const CHILD_ENDS: usize = 17;
    // SAFETY: a copy of this process, which has one thread.
    let child = unsafe { sys::call3(nr::CLONE, PARENT | CHILD_ENDS, 0, 0) };
    if child == 0 {
        die_with_parent();
        // SAFETY: concerns this process alone.
        let parent = unsafe {
            sys::call3(nr::SETPGID, 0, 0, 0);
            sys::call3(nr::GETPPID, 0, 0, 0)
        };
        // It may have died before we said so.
        if shared::get().is_none_or(|shared| shared.server.load(Ordering::Relaxed) != parent as u32) {
            sys::exit(0);
        }
    }
    child
}

/// The process that is left behind. Returns in those that go on.
fn wait(shared: &Shared, left: &Left, files: &Marks) -> Plan {
    let mut seen = 0;
    loop {
        while left.wanted.load(Ordering::Acquire) == seen {
            futex(&left.wanted, Futex::Wait(seen));
        }
        seen = left.wanted.load(Ordering::Acquire);
        let child = copy();
        if child == 0 {
            if !left.is_child(own()) {
                sys::exit(0);
            }
            // Whoever is copied is not looked at any more.
            begin(shared);
            files.rewind(true);
            return search::decode(shared.mail());
        }
        if child < 0 {
            left.is_child(NONE);
        }
    }
}

fn own() -> u32 {
    // SAFETY: a question.
    unsafe { sys::call3(nr::GETPID, 0, 0, 0) as u32 }
}

/// Has a run go on, with the plan of these bytes. Gives back its process; none if there is no such checkpoint. In the
/// server.
pub(super) fn go_on(shared: &Shared, points: u32, plan: &[u8]) -> Option<isize> {
    let all = &shared.left[..shared.left_count.load(Ordering::Relaxed) as usize];
    let at = all.iter().position(|left| left.points.load(Ordering::Relaxed) == points)?;
    drop_from(shared, at + 1);
    if !shared.put_mail(plan) {
        return None;
    }
    let left = &all[at];
    left.child.store(0, Ordering::Relaxed);
    left.wanted.fetch_add(1, Ordering::Release);
    futex(&left.wanted, Futex::Wake);
    loop {
        match left.child.load(Ordering::Acquire) {
            0 if has_ended(left) => {
                left.id.store(0, Ordering::Relaxed);
                shared.left_count.store(at as u32, Ordering::Relaxed);
                // It may have left somebody who has yet to begin.
                if left.is_child(NONE) {
                    return None;
                }
            }
            0 => futex(&left.child, Futex::Wait(0)),
            NONE => return None,
            child => return Some(child as isize),
        }
    }
}

fn has_ended(left: &Left) -> bool {
    const AT_ONCE: usize = 1;
    let id = left.id.load(Ordering::Relaxed) as usize;
    // SAFETY: a child of ours; nothing is written.
    id == 0 || unsafe { sys::call(nr::WAIT4, [id, 0, AT_ONCE, 0, 0, 0]) != 0 }
}

/// A process of this number has been waited for: from now on it may be another's. In the server.
pub(super) fn is_gone(shared: &Shared, id: u32) {
    for left in shared.left.iter().filter(|left| left.id.load(Ordering::Relaxed) == id) {
        left.id.store(0, Ordering::Relaxed);
    }
}

/// Ends those from this one on, also one whose run has ended before it could be counted. In the server.
pub(super) fn drop_from(shared: &Shared, first: usize) {
    for left in &shared.left[first..] {
        let id = left.id.swap(0, Ordering::Relaxed) as usize;
        if id != 0 {
            // SAFETY: a child of ours, which nobody has waited for.
            unsafe {
                sys::call3(nr::KILL, id, 9, 0);
                while sys::call(nr::WAIT4, [id, 0, 0, 0, 0, 0]) == INTERRUPTED {}
            }
        }
    }
    shared.left_count.fetch_min(first as u32, Ordering::Relaxed);
}

/// Ends whom nobody will ask for after this run. In the server.
pub(super) fn tidy(shared: &Shared) {
    let outlives = shared.outlives.load(Ordering::Relaxed) != 0;
    drop_from(shared, if outlives { 0 } else { shared.left_count.load(Ordering::Relaxed) as usize });
}

/// Which checkpoints there are: scheduling points before each.
pub(super) fn all(shared: &Shared) -> impl Iterator<Item = u32> + '_ {
    let count = shared.left_count.load(Ordering::Acquire) as usize;
    shared.left[..count].iter().map(|left| left.points.load(Ordering::Relaxed))
}

enum Futex {
    /// As long as it has this value, and not for long.
    Wait(u32),
    Wake,
}

fn futex(word: &AtomicU32, how: Futex) {
    let a_while = [0u64, 100_000_000];
    let (operation, value, time) = match how {
        Futex::Wait(value) => (0, value, a_while.as_ptr() as usize),
        Futex::Wake => (1, 1, 0),
    };
    // SAFETY: a word of shared memory, and a length of time that lives until the call returns.
    unsafe { sys::call(nr::FUTEX, [word.as_ptr() as usize, operation, value as usize, time, 0, 0]) };
}
