//! System calls without libc: what libc offers for them is interposed, and would lead back to us.

use core::arch::asm;

/// Numbers of the calls that are made here or looked at.
pub mod nr {
    #![expect(missing_docs, reason = "the names are the kernel's")]
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const POLL: usize = 7;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const SIGACTION: usize = 13;
    pub const SIGPROCMASK: usize = 14;
    pub const SCHED_YIELD: usize = 24;
    pub const MREMAP: usize = 25;
    pub const MADVISE: usize = 28;
    pub const SETITIMER: usize = 38;
    pub const GETPID: usize = 39;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const CLONE: usize = 56;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const FCNTL: usize = 72;
    pub const FTRUNCATE: usize = 77;
    pub const SETPGID: usize = 109;
    pub const GETPPID: usize = 110;
    pub const SIGALTSTACK: usize = 131;
    pub const PRCTL: usize = 157;
    pub const GETTID: usize = 186;
    pub const FUTEX: usize = 202;
    pub const CLOCK_GETTIME: usize = 228;
    pub const TGKILL: usize = 234;
    pub const EXIT_GROUP: usize = 231;
}

/// A call with up to six arguments. Gives back what the kernel does: a negative number is an error.
///
/// # Safety
/// The arguments must be valid for the call.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel changes nothing but the registers named here and what the caller answers for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
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
    if (-4095..0).contains(&address) { core::ptr::null_mut() } else { address as *mut u8 }
}

/// Gives memory back.
///
/// # Safety
/// Nobody may use it any more.
pub unsafe fn unmap(address: *mut u8, size: usize) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { call3(nr::MUNMAP, address as usize, size, 0) == 0 }
}

/// Makes pages inaccessible.
///
/// # Safety
/// Nobody may use them any more.
pub unsafe fn forbid(address: *mut u8, size: usize) {
    // SAFETY: passed on to the caller.
    unsafe { call3(nr::MPROTECT, address as usize, size, 0) };
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
