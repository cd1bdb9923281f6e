//! Waiting for one of several files.

use crate::files::plain;
use alloc::vec::Vec;
use core::ffi::{c_int, c_long, c_void};
use raddle_native::io::{self, IN, OUT, Poll};
use raddle_native::run::active;
use raddle_native::time::TimeSpec;

mod number {
    pub(super) const POLL: usize = 7;
    pub(super) const SELECT: usize = 23;
    pub(super) const EPOLL_CREATE1: usize = 291;
    pub(super) const EPOLL_CTL: usize = 233;
    pub(super) const EPOLL_WAIT: usize = 232;
    pub(super) const PPOLL: usize = 271;
    pub(super) const PSELECT6: usize = 270;
}

/// What a call of a thread that is cancelled returns: nobody will know.
const CANCELLED: c_int = -1;

/// So many milliseconds in nanoseconds; none if they never end.
fn limit(milliseconds: c_int) -> Option<u64> {
    u64::try_from(milliseconds).ok().map(|limit| limit * 1_000_000)
}

/// Comes to those of the files that are closed.
fn come_late(polls: &[Poll], number: usize, pc: usize) {
    if active() {
        polls.iter().for_each(|poll| _ = io::come_late(poll.fd, number, pc));
    }
}

unsafe extern "C" fn poll_(polls: *mut Poll, count: usize, milliseconds: c_int, pc: usize) -> c_int {
    // SAFETY: the program's own arguments; so in all that follow.
    let all = unsafe { core::slice::from_raw_parts_mut(polls, count) };
    come_late(all, number::POLL, pc);
    if !active() || !all.iter().any(|poll| io::is_ours(poll.fd)) {
        let args = [polls as usize, count, milliseconds as usize, 0, 0, 0];
        // SAFETY: as above.
        return unsafe { plain(number::POLL, args) } as c_int;
    }
    if io::wait(all, limit(milliseconds), number::POLL, pc).is_none() {
        return CANCELLED;
    }
    all.iter().filter(|poll| poll.found != 0).count() as c_int
}

/// The files of a set.
fn members(set: *const u64, count: c_int) -> Vec<c_int> {
    let is_in = |fd: &c_int| {
        // SAFETY: the program's own set, which has a bit for each file below `count`.
        !set.is_null() && unsafe { *set.add(*fd as usize / 64) } >> (*fd % 64) & 1 == 1
    };
    (0..count).filter(is_in).collect()
}

unsafe extern "C" fn select_(
    count: c_int,
    reads: *mut u64,
    writes: *mut u64,
    others: *mut c_void,
    limit: *const TimeSpec,
    pc: usize,
) -> c_int {
    let [wanted, room] = [reads, writes].map(|set| members(set, count));
    if active() {
        wanted.iter().chain(&room).for_each(|&fd| _ = io::come_late(fd, number::SELECT, pc));
    }
    if active() && wanted.iter().chain(&room).any(|&fd| io::is_ours(fd)) {
        // SAFETY: the program's own variable: a timeval, which has microseconds.
        let limit = (!limit.is_null()).then(|| unsafe { *limit });
        let limit = limit.map(|t| t.seconds as u64 * 1_000_000_000 + t.nanoseconds as u64 * 1000);
        let ask = |events: i16| move |&fd: &c_int| Poll { fd, events, found: 0 };
        let mut polls: Vec<Poll> = wanted.iter().map(ask(IN)).chain(room.iter().map(ask(OUT))).collect();
        if io::wait(&mut polls, limit, number::SELECT, pc).is_none() {
            return CANCELLED;
        }
        let nothing = [0u64; 2];
        // The kernel fills in the sets; it has no more to wait for.
        let args =
            [count as usize, reads as usize, writes as usize, others as usize, nothing.as_ptr() as usize, 0];
        // SAFETY: as above.
        return unsafe { plain(number::SELECT, args) } as c_int;
    }
    let args = [count as usize, reads as usize, writes as usize, others as usize, limit as usize, 0];
    // SAFETY: as above.
    unsafe { plain(number::SELECT, args) as c_int }
}

/// As `select`, with nanoseconds and a mask of signals, which counts only in the kernel.
unsafe extern "C" fn pselect_(
    count: c_int,
    reads: *mut u64,
    writes: *mut u64,
    others: *mut c_void,
    limit: *const TimeSpec,
    mask: *const c_void,
    pc: usize,
) -> c_int {
    let ours = |set: *mut u64| members(set, count).into_iter().any(io::is_ours);
    if !ours(reads) && !ours(writes) {
        let pair = [mask as usize, 8];
        let args = [
            count as usize,
            reads as usize,
            writes as usize,
            others as usize,
            limit as usize,
            pair.as_ptr() as usize,
        ];
        // SAFETY: as above.
        return unsafe { plain(number::PSELECT6, args) } as c_int;
    }
    // SAFETY: as above.
    unsafe {
        let short = |limit: TimeSpec| TimeSpec { nanoseconds: limit.nanoseconds / 1000, ..limit };
        let limit = (!limit.is_null()).then(|| short(*limit));
        let limit = limit.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        select_(count, reads, writes, others, limit, pc)
    }
}

unsafe extern "C" fn ppoll_(
    polls: *mut Poll,
    count: usize,
    moment: *const TimeSpec,
    mask: *const c_void,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    let all = unsafe { core::slice::from_raw_parts_mut(polls, count) };
    come_late(all, number::PPOLL, pc);
    if !active() || !all.iter().any(|poll| io::is_ours(poll.fd)) {
        let args = [polls as usize, count, moment as usize, mask as usize, 8, 0];
        // SAFETY: as above.
        return unsafe { plain(number::PPOLL, args) } as c_int;
    }
    // SAFETY: as above.
    let limit = if moment.is_null() { None } else { unsafe { *moment }.get() };
    if io::wait(all, limit, number::PPOLL, pc).is_none() {
        return CANCELLED;
    }
    all.iter().filter(|poll| poll.found != 0).count() as c_int
}

/// A group that the run has made.
fn made(fd: c_long) -> c_int {
    if active() && fd >= 0 {
        io::made_group(fd as i32);
    }
    fd as c_int
}

unsafe extern "C" fn epoll_create_(_: c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made(unsafe { plain(number::EPOLL_CREATE1, [0; 6]) })
}

unsafe extern "C" fn epoll_create1_(flags: c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made(unsafe { plain(number::EPOLL_CREATE1, [flags as usize, 0, 0, 0, 0, 0]) })
}

unsafe extern "C" fn epoll_ctl_(group: c_int, how: c_int, fd: c_int, event: usize, pc: usize) -> c_int {
    let args = [group as usize, how as usize, fd as usize, event, 0, 0];
    if !active() {
        // SAFETY: as above.
        return unsafe { plain(number::EPOLL_CTL, args) } as c_int;
    }
    // Who waits for the group waits for all that is in it.
    io::unite(group, fd);
    if !io::before_both([group, fd], number::EPOLL_CTL, pc) {
        io::before(group, number::EPOLL_CTL, pc);
    }
    // SAFETY: as above.
    let result = unsafe { plain(number::EPOLL_CTL, args) } as c_int;
    if result == 0 {
        const DELETE: c_int = 2;
        io::grouped(group, fd, how != DELETE);
    }
    io::after(pc);
    result
}

unsafe extern "C" fn epoll_wait_(
    group: c_int,
    events: usize,
    most: c_int,
    milliseconds: c_int,
    pc: usize,
) -> c_int {
    let mut wait = milliseconds;
    if active() {
        io::come_late(group, number::EPOLL_WAIT, pc);
    }
    if active() && io::is_ours(group) {
        let mut polls = [Poll { fd: group, events: IN, found: 0 }];
        if io::wait(&mut polls, limit(milliseconds), number::EPOLL_WAIT, pc).is_none() {
            return CANCELLED;
        }
        wait = 0;
    }
    let args = [group as usize, events, most as usize, wait as usize, 0, 0];
    // SAFETY: as above.
    unsafe { plain(number::EPOLL_WAIT, args) as c_int }
}

unsafe extern "C" fn epoll_pwait_(
    group: c_int,
    events: usize,
    most: c_int,
    milliseconds: c_int,
    _: *const c_void,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe { epoll_wait_(group, events, most, milliseconds, pc) }
}

hook! {
    epoll_create rsi => epoll_create_;
    epoll_create1 rsi => epoll_create1_;
    epoll_ctl r8 => epoll_ctl_;
}

point! {
    poll rcx => poll_;
    ppoll r8 => ppoll_;
    select r9 => select_;
    epoll_wait r8 => epoll_wait_;
    epoll_pwait r9 => epoll_pwait_;
}

point! {
    six:
    pselect => pselect_;
}
