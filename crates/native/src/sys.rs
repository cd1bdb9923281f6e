//! System calls without libc: what libc offers for them is interposed, and would lead back to us.

use core::arch::global_asm;
use core::sync::atomic::AtomicU32;

global_asm!(
    // The one place from which we make system calls, and return from signals: whoever watches the program's calls
    // (see `reset::guard`) tells ours apart by their address.
    ".globl raddle_system_call, raddle_signal_return, raddle_new_thread, raddle_calls_begin, raddle_calls_end",
    ".hidden raddle_system_call, raddle_signal_return, raddle_new_thread, raddle_calls_begin, raddle_calls_end",
    "raddle_calls_begin:",
    // rdi: the number; rsi: six arguments.
    "raddle_system_call:",
    "mov rax, rdi",
    "mov rcx, rsi",
    "mov rdi, [rcx]",
    "mov rsi, [rcx + 8]",
    "mov rdx, [rcx + 16]",
    "mov r10, [rcx + 24]",
    "mov r8, [rcx + 32]",
    "mov r9, [rcx + 40]",
    "syscall",
    "ret",
    // In the very bytes by which unwinders know the frame of a signal, where they find nothing else.
    "raddle_signal_return:",
    "mov rax, 15",
    "syscall",
    "ud2",
    // rdi: flags; rsi: stack; rdx: where its number is kept as long as it lives; rcx: thread pointer; r8: what the new
    // thread calls with r9.
    ".cfi_startproc",
    "raddle_new_thread:",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    "mov r10, rdx",
    "mov r12, r8",
    "mov r8, rcx",
    "mov eax, 56",
    "syscall",
    "test rax, rax",
    "jz 2f",
    "pop r12",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    "2:",
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "mov rdi, r9",
    "jmp r12",
    ".cfi_endproc",
    "raddle_calls_end:",
);

unsafe extern "C" {
    fn raddle_system_call(number: usize, args: *const usize) -> isize;
    /// Where a signal handler returns to.
    fn raddle_signal_return();
    fn raddle_new_thread(
        flags: usize,
        stack: usize,
        tid: usize,
        fs: usize,
        begin: usize,
        argument: usize,
    ) -> isize;
    static raddle_calls_begin: u8;
    static raddle_calls_end: u8;
}

/// Where signal handlers of ours return to.
pub fn signal_return() -> usize {
    raddle_signal_return as *const () as usize
}

/// Where the code lies that makes our system calls: its beginning and its size.
pub fn calls_range() -> (usize, usize) {
    let (begin, end) = (&raw const raddle_calls_begin as usize, &raw const raddle_calls_end as usize);
    (begin, end - begin)
}

/// Numbers of the calls that are made here or looked at.
pub mod nr {
    #![expect(missing_docs, reason = "the names are the kernel's")]
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const OPEN: usize = 2;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const POLL: usize = 7;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const BRK: usize = 12;
    pub const SIGACTION: usize = 13;
    pub const SIGPROCMASK: usize = 14;
    pub const SIGRETURN: usize = 15;
    pub const IOCTL: usize = 16;
    pub const SCHED_YIELD: usize = 24;
    pub const MREMAP: usize = 25;
    pub const MADVISE: usize = 28;
    pub const SETITIMER: usize = 38;
    pub const GETPID: usize = 39;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const SHUTDOWN: usize = 48;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const EXIT: usize = 60;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const FCNTL: usize = 72;
    pub const FTRUNCATE: usize = 77;
    pub const READLINK: usize = 89;
    pub const SETPGID: usize = 109;
    pub const GETPPID: usize = 110;
    pub const SIGALTSTACK: usize = 131;
    pub const PERSONALITY: usize = 135;
    pub const PRCTL: usize = 157;
    pub const GETTID: usize = 186;
    pub const FUTEX: usize = 202;
    pub const CLOCK_GETTIME: usize = 228;
    pub const TGKILL: usize = 234;
    pub const NEWFSTATAT: usize = 262;
    pub const USERFAULTFD: usize = 323;
    pub const CLOSE_RANGE: usize = 436;
    pub const EXIT_GROUP: usize = 231;
}

/// A call with up to six arguments. Gives back what the kernel does: a negative number is an error.
///
/// # Safety
/// The arguments must be valid for the call.
#[inline]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    // SAFETY: the caller answers for what the kernel does.
    unsafe { raddle_system_call(number, args.as_ptr()) }
}

/// A call with fewer arguments.
///
/// # Safety
/// As for [`call`].
#[inline(always)]
pub unsafe fn call3(number: usize, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: passed on to the caller.
    unsafe { call(number, [a, b, c, 0, 0, 0]) }
}

/// A kernel thread that jumps to `begin` on `stack` with `argument` in its first register and this thread pointer. Its
/// number is in `tid` as long as it lives. False if the system refuses.
///
/// # Safety
/// Nobody else may use the stack or the thread pointer; `begin` never returns; `tid` must live as long as the thread.
pub unsafe fn new_thread(
    stack: usize,
    fs: usize,
    tid: *const AtomicU32,
    begin: usize,
    argument: usize,
) -> bool {
    const SHARES_ALL: usize = 0x100 | 0x200 | 0x400 | 0x800 | 0x40000;
    const THREAD: usize = 0x10000;
    const SET_POINTER: usize = 0x80000;
    const TELL_NUMBER: usize = 0x0010_0000;
    const CLEAR_NUMBER: usize = 0x0020_0000;
    let flags = SHARES_ALL | THREAD | SET_POINTER | TELL_NUMBER | CLEAR_NUMBER;
    // SAFETY: passed on to the caller.
    unsafe { raddle_new_thread(flags, stack, tid as usize, fs, begin, argument) > 0 }
}

/// Waits until a word is no longer `value`, or for no reason. Wakers of other processes count, too.
pub fn await_change(word: &AtomicU32, value: u32) {
    const WAIT: usize = 0;
    // SAFETY: the word lives until the call returns.
    unsafe { call(nr::FUTEX, [word.as_ptr() as usize, WAIT, value as usize, 0, 0, 0]) };
}

/// Wakes whoever waits for a word to change.
pub fn tell_change(word: &AtomicU32) {
    const WAKE: usize = 1;
    // SAFETY: the word is not even looked at.
    unsafe { call3(nr::FUTEX, word.as_ptr() as usize, WAKE, 1) };
}

/// Sets which signals the calling kernel thread leaves waiting, and gives back which it did.
pub fn swap_mask(mask: u64) -> u64 {
    const SET: usize = 2;
    let mut before = 0u64;
    let (new, old) = ((&raw const mask) as usize, (&raw mut before) as usize);
    // SAFETY: both sets live until the call returns.
    unsafe { call(nr::SIGPROCMASK, [SET, new, old, size_of::<u64>(), 0, 0]) };
    before
}

const PROT_READ_WRITE: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;

/// Fresh zeroed memory; null if there is none. `shared` memory is seen by forked children too.
pub fn map(size: usize, shared: bool) -> *mut u8 {
    map_near(0, size, shared)
}

/// The same, at this address if nothing is there.
pub fn map_near(wish: usize, size: usize, shared: bool) -> *mut u8 {
    let flags = MAP_ANONYMOUS | MAP_NORESERVE | if shared { MAP_SHARED } else { MAP_PRIVATE };
    // SAFETY: a new mapping at an address that is free changes nothing that exists.
    let address = unsafe { call(nr::MMAP, [wish, size, PROT_READ_WRITE, flags, usize::MAX, 0]) };
    if (-4095..0).contains(&address) {
        return core::ptr::null_mut();
    }
    crate::reset::mapped(address as usize, size);
    address as *mut u8
}

/// Takes these addresses if they are free, so that nobody else gets them. Whether they were.
pub(crate) fn reserve(start: usize, size: usize) -> bool {
    const NOTHING: usize = 0;
    const IF_FREE: usize = 0x10_0000;
    let flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_PRIVATE | IF_FREE;
    // SAFETY: a new mapping where nothing is. Kernels that know no such wish take it for a hint.
    unsafe {
        let at = call(nr::MMAP, [start, size, NOTHING, flags, usize::MAX, 0]);
        if at > 0 && at as usize != start {
            unmap(at as *mut u8, size);
        }
        at as usize == start
    }
}

/// Gives memory back.
///
/// # Safety
/// Nobody may use it any more.
pub unsafe fn unmap(address: *mut u8, size: usize) -> bool {
    // SAFETY: passed on to the caller.
    crate::reset::may_unmap(address as usize, size)
        && unsafe { call3(nr::MUNMAP, address as usize, size, 0) == 0 }
}

/// Makes pages inaccessible.
///
/// # Safety
/// Nobody may use them any more.
pub unsafe fn forbid(address: *mut u8, size: usize) {
    // SAFETY: passed on to the caller.
    unsafe { call3(nr::MPROTECT, address as usize, size, 0) };
    crate::reset::forbidden(address as usize, size);
}

/// Makes pages accessible again that were not, in a process that puts nothing back.
///
/// # Safety
/// Nobody may count on their being inaccessible.
pub unsafe fn permit(address: *mut u8, size: usize) {
    const READ_WRITE: usize = 3;
    // SAFETY: passed on to the caller.
    unsafe { call3(nr::MPROTECT, address as usize, size, READ_WRITE) };
}

/// Like [`forbid`] without a mapping of its own, where the kernel can do that and nobody keeps account of what is accessible.
///
/// # Safety
/// As for [`forbid`].
pub unsafe fn guard(address: *mut u8, size: usize) {
    const INSTALL_GUARD: usize = 102;
    // SAFETY: passed on to the caller.
    unsafe {
        if crate::reset::is_on() || call3(nr::MADVISE, address as usize, size, INSTALL_GUARD) != 0 {
            forbid(address, size);
        }
    }
}

/// Ends the process at once.
pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: the call has no memory arguments, and does not return.
        unsafe { call3(nr::EXIT_GROUP, code as usize, 0, 0) };
    }
}

/// Writes all of it; false if that was not possible.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> bool {
    const INTERRUPTED: isize = -4;
    while !bytes.is_empty() {
        // SAFETY: the kernel reads from a slice that is alive.
        let done = unsafe { call3(nr::WRITE, fd as usize, bytes.as_ptr() as usize, bytes.len()) };
        match done {
            INTERRUPTED => {}
            1.. => bytes = &bytes[done as usize..],
            _ => return false,
        }
    }
    true
}

/// What there is to read without waiting, as `poll` tells it.
pub fn to_read(fd: usize) -> u64 {
    const READABLE: u64 = 1;
    let mut poll = fd as u64 | READABLE << 32;
    // SAFETY: one pollfd, which lives until the call returns.
    unsafe { call3(nr::POLL, (&raw mut poll) as usize, 1, 0) };
    poll >> 48
}

/// From here on descriptors are our own: programs do not expect these to be free.
pub const OUT_OF_THE_WAY: usize = 900;

/// What `fcntl` is asked for another descriptor, and for one that is closed when another program is begun.
pub const DUPLICATE: usize = 0;
/// See [`DUPLICATE`].
pub const DUPLICATE_CLOEXEC: usize = 1030;

/// Whether that is what `fcntl` is asked for.
pub fn is_duplicate(command: usize) -> bool {
    matches!(command, DUPLICATE | DUPLICATE_CLOEXEC)
}

/// Closed when another program is begun.
pub const CLOEXEC: usize = 0o2000000;

/// Another descriptor for the same that has this number, whatever had it. False if there is none.
pub fn duplicate_as(fd: usize, number: usize, cloexec: bool) -> bool {
    const DUP3: usize = 292;
    // SAFETY: whoever calls this knows that what has the number is not used any more.
    unsafe { call3(DUP3, fd, number, if cloexec { CLOEXEC } else { 0 }) >= 0 }
}

/// Another descriptor for the same, with a number of our own. None if there is none.
pub fn duplicate_out_of_the_way(fd: usize) -> Option<usize> {
    // SAFETY: a descriptor that nobody knows yet.
    usize::try_from(unsafe { call3(nr::FCNTL, fd, DUPLICATE_CLOEXEC, OUT_OF_THE_WAY) }).ok()
}

/// The same for one that programs which are started inherit.
pub fn duplicate_for_others(fd: usize) -> Option<usize> {
    const DUPLICATE: usize = 0;
    // SAFETY: a descriptor that nobody knows yet.
    usize::try_from(unsafe { call3(nr::FCNTL, fd, DUPLICATE, OUT_OF_THE_WAY) }).ok()
}

/// The same descriptor, if it is one, with a number of our own.
pub fn out_of_the_way(fd: isize) -> Option<usize> {
    let fd = usize::try_from(fd).ok()?;
    let high = duplicate_out_of_the_way(fd);
    // SAFETY: a descriptor of our own.
    unsafe { call3(nr::CLOSE, fd, 0, 0) };
    high
}

/// Reads until the buffer is full; false at the end of the file or at an error.
pub fn read_all(fd: i32, mut bytes: &mut [u8]) -> bool {
    const INTERRUPTED: isize = -4;
    while !bytes.is_empty() {
        // SAFETY: the kernel writes into a slice that is alive.
        let done = unsafe { call3(nr::READ, fd as usize, bytes.as_mut_ptr() as usize, bytes.len()) };
        match done {
            INTERRUPTED => {}
            1.. => bytes = &mut bytes[done as usize..],
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_lets_nobody_in_and_its_neighbours_are_as_they_were() {
        const PAGE: usize = 4096;
        let pages = map(3 * PAGE, false);
        // SAFETY: memory of our own, and a file that is read into it.
        unsafe {
            pages.add(PAGE - 1).write(1);
            pages.add(2 * PAGE).write(2);
            guard(pages.add(PAGE), PAGE);
            let zeros = call3(nr::OPEN, c"/dev/zero".as_ptr() as usize, 0, 0);
            let reads = |at: usize| call3(nr::READ, zeros as usize, pages.add(at) as usize, 1);
            assert_eq!([PAGE, 2 * PAGE - 1].map(reads), [-14; 2]);
            assert_eq!([pages.add(PAGE - 1).read(), pages.add(2 * PAGE).read()], [1, 2]);
            assert_eq!([PAGE - 1, 2 * PAGE].map(reads), [1; 2]);
            call3(nr::CLOSE, zeros as usize, 0, 0);
        }
    }
}
