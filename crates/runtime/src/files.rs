//! Reading and writing, and waiting for others to do so.

use crate::clocks::set_errno;
use alloc::vec::Vec;
use core::ffi::{c_int, c_long, c_void};
use raddle_native::io::{self, IN, OUT, Poll};
use raddle_native::run::active;
use raddle_native::sys;
use raddle_native::time::TimeSpec;

const NONBLOCK: usize = 0o4000;
const DONTWAIT: c_int = 0x40;
const GET_FLAGS: usize = 3;

mod number {
    pub(super) const READ: usize = 0;
    pub(super) const WRITE: usize = 1;
    pub(super) const CLOSE: usize = 3;
    pub(super) const SELECT: usize = 23;
    pub(super) const PIPE2: usize = 293;
    pub(super) const CONNECT: usize = 42;
    pub(super) const ACCEPT4: usize = 288;
    pub(super) const SENDTO: usize = 44;
    pub(super) const RECVFROM: usize = 45;
    pub(super) const SOCKET: usize = 41;
    pub(super) const SOCKETPAIR: usize = 53;
    pub(super) const FCNTL: usize = 72;
    pub(super) const EVENTFD2: usize = 290;
    pub(super) const POLL: usize = 7;
}

/// A system call with libc's way to tell of errors.
///
/// # Safety
/// As for the call.
unsafe fn plain(number: usize, args: [usize; 6]) -> c_long {
    // SAFETY: passed on to the caller.
    let result = unsafe { sys::call(number, args) };
    if (-4095..0).contains(&result) { c_long::from(set_errno(-result as c_int)) } else { result as c_long }
}

/// Whether calls on the file wait.
fn waits(fd: c_int) -> bool {
    // SAFETY: asks for flags.
    let flags = unsafe { sys::call(number::FCNTL, [fd as usize, GET_FLAGS, 0, 0, 0, 0]) };
    flags >= 0 && flags as usize & NONBLOCK == 0
}

/// A call that waits for a file, if it is one of the run's own.
///
/// # Safety
/// As for the call.
unsafe fn on(fd: c_int, events: i16, patient: bool, number: usize, args: [usize; 6], pc: usize) -> c_long {
    if !active() || !io::is_ours(fd) {
        // SAFETY: passed on to the caller.
        return unsafe { plain(number, args) };
    }
    if patient && waits(fd) {
        io::wait(&mut [Poll { fd, events, found: 0 }], None, pc);
    } else {
        io::before(fd, pc);
    }
    // SAFETY: passed on to the caller.
    let result = unsafe { plain(number, args) };
    io::after(pc);
    result
}

fn touched(address: usize, size: c_long, write: bool, pc: usize) {
    if size > 0 {
        raddle_native::run::access(address, size as usize, write, pc);
    }
}

unsafe extern "C" fn read_(fd: c_int, buffer: usize, size: usize, pc: usize) -> c_long {
    // SAFETY: the program's own arguments; so in all that follow.
    let result = unsafe { on(fd, IN, true, number::READ, [fd as usize, buffer, size, 0, 0, 0], pc) };
    touched(buffer, result, true, pc);
    result
}

unsafe extern "C" fn write_(fd: c_int, buffer: usize, size: usize, pc: usize) -> c_long {
    touched(buffer, size as c_long, false, pc);
    // SAFETY: as above.
    unsafe { on(fd, OUT, true, number::WRITE, [fd as usize, buffer, size, 0, 0, 0], pc) }
}

unsafe extern "C" fn recv_(fd: c_int, buffer: usize, size: usize, flags: c_int, pc: usize) -> c_long {
    let args = [fd as usize, buffer, size, flags as usize, 0, 0];
    // SAFETY: as above.
    let result = unsafe { on(fd, IN, flags & DONTWAIT == 0, number::RECVFROM, args, pc) };
    touched(buffer, result, true, pc);
    result
}

unsafe extern "C" fn send_(fd: c_int, buffer: usize, size: usize, flags: c_int, pc: usize) -> c_long {
    touched(buffer, size as c_long, false, pc);
    let args = [fd as usize, buffer, size, flags as usize, 0, 0];
    // SAFETY: as above.
    unsafe { on(fd, OUT, flags & DONTWAIT == 0, number::SENDTO, args, pc) }
}

unsafe extern "C" fn accept_(fd: c_int, address: usize, length: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { accept4_(fd, address, length, 0, pc) }
}

unsafe extern "C" fn accept4_(fd: c_int, address: usize, length: usize, flags: c_int, pc: usize) -> c_int {
    let args = [fd as usize, address, length, flags as usize, 0, 0];
    // SAFETY: as above.
    made(unsafe { on(fd, IN, true, number::ACCEPT4, args, pc) })
}

unsafe extern "C" fn connect_(fd: c_int, address: usize, length: usize, pc: usize) -> c_int {
    // SAFETY: as above. The kernel finishes it at once if the other end listens in this process.
    unsafe { on(fd, OUT, false, number::CONNECT, [fd as usize, address, length, 0, 0, 0], pc) as c_int }
}

unsafe extern "C" fn close_(fd: c_int, pc: usize) -> c_int {
    let ours = active() && io::is_ours(fd);
    // SAFETY: as above.
    let result = unsafe { on(fd, OUT, false, number::CLOSE, [fd as usize, 0, 0, 0, 0, 0], pc) };
    if ours {
        io::closed(fd);
    }
    result as c_int
}

/// A socket that the run has made.
fn made(fd: c_long) -> c_int {
    if active() && fd >= 0 {
        io::joined(fd as i32, io::NETWORK);
    }
    fd as c_int
}

fn made_pair(result: c_long, pair: *const c_int) -> c_int {
    if active() && result == 0 {
        // SAFETY: the kernel has just written both.
        let ends = unsafe { [*pair, *pair.add(1)] };
        io::made(&ends);
    }
    result as c_int
}

unsafe extern "C" fn pipe_(pair: *mut c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made_pair(unsafe { plain(number::PIPE2, [pair as usize, 0, 0, 0, 0, 0]) }, pair)
}

unsafe extern "C" fn pipe2_(pair: *mut c_int, flags: c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made_pair(unsafe { plain(number::PIPE2, [pair as usize, flags as usize, 0, 0, 0, 0]) }, pair)
}

unsafe extern "C" fn socketpair_(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    pair: *mut c_int,
    _: usize,
) -> c_int {
    let args = [domain as usize, kind as usize, protocol as usize, pair as usize, 0, 0];
    // SAFETY: as above.
    made_pair(unsafe { plain(number::SOCKETPAIR, args) }, pair)
}

unsafe extern "C" fn socket_(domain: c_int, kind: c_int, protocol: c_int, _: usize) -> c_int {
    let args = [domain as usize, kind as usize, protocol as usize, 0, 0, 0];
    // SAFETY: as above.
    made(unsafe { plain(number::SOCKET, args) })
}

unsafe extern "C" fn eventfd_(value: c_int, flags: c_int, _: usize) -> c_int {
    // SAFETY: as above.
    let fd = unsafe { plain(number::EVENTFD2, [value as usize, flags as usize, 0, 0, 0, 0]) } as c_int;
    if active() && fd >= 0 {
        io::made(&[fd]);
    }
    fd
}

unsafe extern "C" fn poll_(polls: *mut Poll, count: usize, milliseconds: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    let all = unsafe { core::slice::from_raw_parts_mut(polls, count) };
    if !active() || !all.iter().any(|poll| io::is_ours(poll.fd)) {
        let args = [polls as usize, count, milliseconds as usize, 0, 0, 0];
        // SAFETY: as above.
        return unsafe { plain(number::POLL, args) } as c_int;
    }
    io::wait(all, u64::try_from(milliseconds).ok().map(|limit| limit * 1_000_000), pc);
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
    if active() && wanted.iter().chain(&room).any(|&fd| io::is_ours(fd)) {
        // SAFETY: the program's own variable: a timeval, which has microseconds.
        let limit = (!limit.is_null()).then(|| unsafe { *limit });
        let limit = limit.map(|t| t.seconds as u64 * 1_000_000_000 + t.nanoseconds as u64 * 1000);
        let ask = |events: i16| move |&fd: &c_int| Poll { fd, events, found: 0 };
        let mut polls: Vec<Poll> = wanted.iter().map(ask(IN)).chain(room.iter().map(ask(OUT))).collect();
        io::wait(&mut polls, limit, pc);
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

hook! {
    read rcx => read_;
    write rcx => write_;
    recv r8 => recv_;
    send r8 => send_;
    accept rcx => accept_;
    accept4 r8 => accept4_;
    connect rcx => connect_;
    close rsi => close_;
    pipe rsi => pipe_;
    pipe2 rdx => pipe2_;
    socketpair r8 => socketpair_;
    socket rcx => socket_;
    eventfd rdx => eventfd_;
    poll rcx => poll_;
    select r9 => select_;
}
