//! Reading and writing, and waiting for others to do so.

use crate::clocks::set_errno;
use core::ffi::{c_int, c_long};
use raddle_model::trace::Hidden;
use raddle_native::io::{self, IN, OUT, Poll};
use raddle_native::reset::{self, guard};
use raddle_native::run::active;
use raddle_native::{hidden, mappings, signals, sys};

const NONBLOCK: usize = 0o4000;
const DONTWAIT: c_int = 0x40;
const GET_FLAGS: usize = 3;
/// What is printed.
const OUTPUTS: [c_int; 2] = [1, 2];

mod number {
    pub(super) const READ: usize = 0;
    pub(super) const WRITE: usize = 1;
    pub(super) const CLOSE: usize = 3;
    pub(super) const READV: usize = 19;
    pub(super) const WRITEV: usize = 20;
    pub(super) const SENDMSG: usize = 46;
    pub(super) const RECVMSG: usize = 47;
    pub(super) const PIPE2: usize = 293;
    pub(super) const CONNECT: usize = 42;
    pub(super) const ACCEPT4: usize = 288;
    pub(super) const SENDTO: usize = 44;
    pub(super) const RECVFROM: usize = 45;
    pub(super) const SOCKET: usize = 41;
    pub(super) const SOCKETPAIR: usize = 53;
    pub(super) const FCNTL: usize = 72;
    pub(super) const EVENTFD2: usize = 290;
    pub(super) const PWRITEV2: usize = 328;
}

/// A system call with libc's way to tell of errors.
///
/// # Safety
/// As for the call.
pub(crate) unsafe fn plain(number: usize, args: [usize; 6]) -> c_long {
    told(guard::call(number, args))
}

fn told(result: isize) -> c_long {
    if (-4095..0).contains(&result) { c_long::from(set_errno(-result as c_int)) } else { result as c_long }
}

/// What a call of a thread that is cancelled returns: nobody will know.
const CANCELLED: c_long = -1;

/// Whether calls on the file wait.
fn waits(fd: c_int) -> bool {
    if reset::is_modelled(fd) {
        return true;
    }
    reset::before_asking(fd);
    // SAFETY: asks for flags.
    let flags = unsafe { sys::call(number::FCNTL, [fd as usize, GET_FLAGS, 0, 0, 0, 0]) };
    flags >= 0 && flags as usize & NONBLOCK == 0
}

/// A system call that reads or writes, with libc's way to tell of errors.
fn call(events: i16, number: usize, args: [usize; 6], pc: usize) -> c_long {
    let call = || guard::call(number, args);
    told(if events == OUT && active() { signals::giving(pc, call) } else { call() })
}

/// A call that waits for a file, if it is one of the run's own.
///
/// # Safety
/// As for the call.
unsafe fn on(fd: c_int, events: i16, patient: bool, number: usize, args: [usize; 6], pc: usize) -> c_long {
    // In the meantime another file may have the number.
    let late = active() && io::come_late(fd, number, pc);
    if !active() || !io::is_ours(fd) {
        // What a program writes there it does not see again.
        if !late && (events != OUT || !OUTPUTS.contains(&fd)) {
            hidden::uses(Hidden::FILES, fd as usize, true);
            mappings::calls_on(fd);
        }
        return call(events, number, args, pc);
    }
    if patient {
        let limit = || if waits(fd) { None } else { Some(0) };
        if io::wait_if(&mut [Poll { fd, events, found: 0 }], limit, number, pc).is_none() {
            return CANCELLED;
        }
    } else {
        io::before(fd, number, pc);
    }
    let result = call(events, number, args, pc);
    io::after(pc);
    result
}

fn touched(address: usize, size: c_long, write: bool, pc: usize) {
    if size > 0 {
        raddle_native::access::access(address, size as usize, write, pc);
    }
}

unsafe extern "C" fn read_(fd: c_int, buffer: usize, size: usize, pc: usize) -> c_long {
    // SAFETY: the program's own arguments; so in all that follow.
    let result = unsafe { on(fd, IN, true, number::READ, [fd as usize, buffer, size, 0, 0, 0], pc) };
    touched(buffer, result, true, pc);
    result
}

/// Tells the kernel not to wait for one call. The flags are put back before anybody else runs.
fn without_waiting(fd: c_int, call: impl FnOnce() -> isize) -> isize {
    const SET_FLAGS: usize = 4;
    if reset::is_modelled(fd) {
        return call();
    }
    reset::before_asking(fd);
    // SAFETY: flags of an open file.
    unsafe {
        let flags = sys::call(number::FCNTL, [fd as usize, GET_FLAGS, 0, 0, 0, 0]) as usize;
        sys::call(number::FCNTL, [fd as usize, SET_FLAGS, flags | NONBLOCK, 0, 0, 0]);
        let result = call();
        sys::call(number::FCNTL, [fd as usize, SET_FLAGS, flags, 0, 0, 0]);
        result
    }
}

/// Writes what these say, without waiting. Not all files can be told so for one call.
fn write_now(fd: c_int, vector: usize, count: usize) -> isize {
    const NO_WAIT: usize = 8;
    const UNSUPPORTED: isize = -95;
    const HERE: usize = usize::MAX;
    match guard::call(number::PWRITEV2, [fd as usize, vector, count, HERE, HERE, NO_WAIT]) {
        UNSUPPORTED => {
            let args = [fd as usize, vector, count, 0, 0, 0];
            without_waiting(fd, || guard::call(number::WRITEV, args))
        }
        result => result,
    }
}

/// The kernel would wait in the middle of a call that gives more than there is room for: so `call`, which is told how
/// much was done before, does not wait, and others go on in between. `size` is all there is to do.
fn bit_by_bit(fd: c_int, size: usize, number: usize, pc: usize, call: impl Fn(usize) -> isize) -> c_long {
    const AGAIN: isize = -11;
    // A queue of connections has no room that one could wait for.
    let full = (number != number::CONNECT).then_some(fd);
    let mut done = 0;
    loop {
        io::before(fd, number, pc);
        let result = signals::giving(pc, || call(done));
        if result > 0 {
            done += result as usize;
        }
        let ends = result != AGAIN && (result <= 0 || done >= size) || !waits(fd);
        if result != AGAIN || ends {
            io::after(pc);
        }
        if ends {
            let error = result < 0 && done == 0;
            return if error { c_long::from(set_errno(-result as c_int)) } else { done as c_long };
        }
        if result == AGAIN && io::wait_for_change(full, pc).is_none() {
            return CANCELLED;
        }
    }
}

/// Whether a call that gives something to a file has to be done bit by bit.
fn gives(fd: c_int, flags: c_int) -> bool {
    active() && io::is_ours(fd) && flags & DONTWAIT == 0
}

unsafe extern "C" fn write_(fd: c_int, buffer: usize, size: usize, pc: usize) -> c_long {
    touched(buffer, size as c_long, false, pc);
    let args = |done: usize| [fd as usize, buffer + done, size - done, 0, 0, 0];
    if gives(fd, 0) {
        return bit_by_bit(fd, size, number::WRITE, pc, |done| {
            let vector = [buffer + done, size - done];
            write_now(fd, vector.as_ptr() as usize, 1)
        });
    }
    // SAFETY: as above.
    unsafe { on(fd, OUT, false, number::WRITE, args(0), pc) }
}

unsafe extern "C" fn readv_(fd: c_int, vector: usize, count: c_int, pc: usize) -> c_long {
    // SAFETY: as above.
    unsafe { on(fd, IN, true, number::READV, [fd as usize, vector, count as usize, 0, 0, 0], pc) }
}

unsafe extern "C" fn writev_(fd: c_int, vector: usize, count: c_int, pc: usize) -> c_long {
    let args = [fd as usize, vector, count as usize, 0, 0, 0];
    if gives(fd, 0) {
        // What does not fit at once is left to the caller, who must expect that.
        return bit_by_bit(fd, 1, number::WRITEV, pc, |_| write_now(fd, vector, count as usize));
    }
    // SAFETY: as above.
    unsafe { on(fd, OUT, false, number::WRITEV, args, pc) }
}

unsafe extern "C" fn recvmsg_(fd: c_int, message: usize, flags: c_int, pc: usize) -> c_long {
    let args = [fd as usize, message, flags as usize, 0, 0, 0];
    // SAFETY: as above.
    unsafe { on(fd, IN, flags & DONTWAIT == 0, number::RECVMSG, args, pc) }
}

unsafe extern "C" fn sendmsg_(fd: c_int, message: usize, flags: c_int, pc: usize) -> c_long {
    let gives = gives(fd, flags);
    let flags = if gives { flags | DONTWAIT } else { flags };
    let args = [fd as usize, message, flags as usize, 0, 0, 0];
    if gives {
        return bit_by_bit(fd, 1, number::SENDMSG, pc, |_| guard::call(number::SENDMSG, args));
    }
    // SAFETY: as above.
    unsafe { on(fd, OUT, false, number::SENDMSG, args, pc) }
}

unsafe extern "C" fn recvfrom_(
    fd: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    address: usize,
    length: usize,
    pc: usize,
) -> c_long {
    let args = [fd as usize, buffer, size, flags as usize, address, length];
    // SAFETY: as above.
    let result = unsafe { on(fd, IN, flags & DONTWAIT == 0, number::RECVFROM, args, pc) };
    touched(buffer, result, true, pc);
    result
}

unsafe extern "C" fn sendto_(
    fd: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    address: usize,
    length: usize,
    pc: usize,
) -> c_long {
    touched(buffer, size as c_long, false, pc);
    let gives = gives(fd, flags);
    let flags = if gives { flags | DONTWAIT } else { flags };
    let args = |done: usize| [fd as usize, buffer + done, size - done, flags as usize, address, length];
    if gives {
        return bit_by_bit(fd, size, number::SENDTO, pc, |done| guard::call(number::SENDTO, args(done)));
    }
    // SAFETY: as above.
    unsafe { on(fd, OUT, false, number::SENDTO, args(0), pc) }
}

unsafe extern "C" fn recv_(fd: c_int, buffer: usize, size: usize, flags: c_int, pc: usize) -> c_long {
    let args = [fd as usize, buffer, size, flags as usize, 0, 0];
    // SAFETY: as above.
    let result = unsafe { on(fd, IN, flags & DONTWAIT == 0, number::RECVFROM, args, pc) };
    touched(buffer, result, true, pc);
    result
}

unsafe extern "C" fn send_(fd: c_int, buffer: usize, size: usize, flags: c_int, pc: usize) -> c_long {
    // SAFETY: as above.
    unsafe { sendto_(fd, buffer, size, flags, 0, 0, pc) }
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
    const LOCAL: u16 = 1;
    let args = [fd as usize, address, length, 0, 0, 0];
    // SAFETY: an address begins with its family.
    if gives(fd, 0) && unsafe { *(address as *const u16) } == LOCAL {
        // It waits if too many are waiting to be accepted.
        let connects = |_| without_waiting(fd, || guard::call(number::CONNECT, args));
        return bit_by_bit(fd, 0, number::CONNECT, pc, connects) as c_int;
    }
    // SAFETY: as above. The kernel finishes it at once if the other end listens in this process.
    unsafe { on(fd, OUT, false, number::CONNECT, args, pc) as c_int }
}

unsafe extern "C" fn close_(fd: c_int, pc: usize) -> c_int {
    let args = [fd as usize, 0, 0, 0, 0, 0];
    let late = active() && io::come_late(fd, number::CLOSE, pc);
    if !active() || !io::is_ours(fd) && !io::is_locked(fd) {
        if !late {
            hidden::uses(Hidden::FILES, fd as usize, true);
        }
        hidden::gives_back(Hidden::FILES, fd as usize);
        hidden::numbers_file();
        // SAFETY: as above.
        return unsafe { plain(number::CLOSE, args) } as c_int;
    }
    io::before(fd, number::CLOSE, pc);
    // SAFETY: as above.
    let result = unsafe { plain(number::CLOSE, args) };
    // Before anybody else runs: another file may have the number then.
    io::closed(fd);
    io::locked(fd, false);
    io::after(pc);
    result as c_int
}

/// A socket that the run has made.
pub(crate) fn made(fd: c_long) -> c_int {
    if active() && fd >= 0 {
        io::made_socket(fd as i32);
    }
    fd as c_int
}

fn made_pair(result: c_long, pair: *const c_int, noun: &'static str) -> c_int {
    if active() && result == 0 {
        // SAFETY: the kernel has just written both.
        let ends = unsafe { [*pair, *pair.add(1)] };
        io::made(&ends, noun);
    }
    result as c_int
}

unsafe extern "C" fn pipe_(pair: *mut c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made_pair(unsafe { plain(number::PIPE2, [pair as usize, 0, 0, 0, 0, 0]) }, pair, "pipe")
}

unsafe extern "C" fn pipe2_(pair: *mut c_int, flags: c_int, _: usize) -> c_int {
    // SAFETY: as above.
    made_pair(unsafe { plain(number::PIPE2, [pair as usize, flags as usize, 0, 0, 0, 0]) }, pair, "pipe")
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
    made_pair(unsafe { plain(number::SOCKETPAIR, args) }, pair, "socket")
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
        io::made(&[fd], "eventfd");
    }
    fd
}

unsafe extern "C" fn eventfd_read_(fd: c_int, value: *mut u64, pc: usize) -> c_int {
    // SAFETY: as above.
    if unsafe { read_(fd, value as usize, size_of::<u64>(), pc) } == 8 { 0 } else { -1 }
}

unsafe extern "C" fn eventfd_write_(fd: c_int, value: u64, pc: usize) -> c_int {
    // SAFETY: as above.
    if unsafe { write_(fd, (&raw const value) as usize, size_of::<u64>(), pc) } == 8 { 0 } else { -1 }
}

hook! {
    pipe rsi => pipe_;
    pipe2 rdx => pipe2_;
    socketpair r8 => socketpair_;
    socket rcx => socket_;
    eventfd rdx => eventfd_;
}

point! {
    eventfd_read rdx => eventfd_read_;
    eventfd_write rdx => eventfd_write_;
    read rcx => read_;
    write rcx => write_;
    readv rcx => readv_;
    writev rcx => writev_;
    recv r8 => recv_;
    send r8 => send_;
    recvmsg rcx => recvmsg_;
    sendmsg rcx => sendmsg_;
    accept rcx => accept_;
    accept4 r8 => accept4_;
    connect rcx => connect_;
    close rsi => close_;
}

point! {
    six:
    recvfrom => recvfrom_;
    sendto => sendto_;
}
