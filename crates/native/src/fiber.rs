//! A thread of the program as a fiber: a stack, glibc's thread control block on top of it, and a switch that
//! takes the `fs` register along, so that thread-local variables, `errno` and `pthread_self` stay right.

use crate::libc::Libc;
use crate::sys;
use core::arch::{asm, global_asm, naked_asm};
use core::sync::atomic::{AtomicUsize, Ordering};

/// What the switch and the entry below know by offset.
#[repr(C)]
#[derive(Debug)]
pub struct Fiber {
    // 0
    sp: u64,
    // 8
    fs: u64,
    // 16
    start: usize,
    // 24
    argument: usize,
    // 32: what it returned, or gave to pthread_exit
    result: usize,
    // 40
    resolver: [u64; 80],
    stack: Stack,
}

/// A mapping that holds a stack and the thread control block.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    base: *mut u8,
    size: usize,
}

/// What a thread that was cancelled returns.
pub const CANCELED: usize = usize::MAX;

/// The page below a stack that nobody may touch.
const GUARD: usize = 4096;

/// Numbers that the kernel gives no thread: `gettid` of a fiber, as glibc has it in the control block.
const FIRST_TID: u32 = 1_000_000;

global_asm!(
    // rdi: where to put the old stack pointer; rsi: the new one; rdx: the new thread pointer.
    ".globl raddle_fiber_switch",
    ".hidden raddle_fiber_switch",
    "raddle_fiber_switch:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp+4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "wrfsbase rdx",
    "ldmxcsr [rsp]",
    "fldcw [rsp+4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
);

unsafe extern "C" {
    fn raddle_fiber_switch(old: *mut u64, new: u64, fs: u64);
}

/// Where a fiber begins. What glibc's own threads have at their root is there too, so that glibc's
/// `pthread_exit` and cancellation unwind up to here, and no further.
#[unsafe(naked)]
unsafe extern "C" fn entry() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "sub rsp, 256",
        ".cfi_def_cfa rsp, 264",
        "mov rdi, r12",
        "call {begin}",
        "mov rdi, rsp",
        "xor esi, esi",
        "call [rip + {setjmp}]",
        "test eax, eax",
        "jnz 2f",
        "mov rdi, rsp",
        "call [rip + {register}]",
        "mov rdi, [r12+24]",
        "call [r12+16]",
        "mov [r12+32], rax",
        "2:",
        "mov rdi, r12",
        "call {end}",
        "ud2",
        ".cfi_endproc",
        begin = sym begin,
        end = sym end,
        setjmp = sym crate::libc::SIGSETJMP,
        register = sym crate::libc::REGISTER_CANCEL,
    )
}

/// On the new fiber, before the program's function.
unsafe extern "C" fn begin(fiber: *mut Fiber) {
    let libc = crate::libc::get();
    // SAFETY: this is the fiber that runs, whose thread-local variables these calls set up.
    unsafe { libc.begin_thread((&raw mut (*fiber).resolver).cast()) };
}

/// On the fiber, after the program's function.
unsafe extern "C" fn end(_: *mut Fiber) -> ! {
    crate::threads::ended()
}

/// The thread pointer of whoever runs.
pub fn thread_pointer() -> u64 {
    let fs: u64;
    // SAFETY: glibc keeps the thread pointer at offset 16 of what it points to.
    unsafe { asm!("mov {}, fs:[0x10]", out(reg) fs, options(nostack, readonly, preserves_flags)) };
    fs
}

impl Fiber {
    /// The fiber that the process has begun with.
    pub fn main() -> Fiber {
        let stack = Stack { base: core::ptr::null_mut(), size: 0 };
        Fiber {
            sp: 0,
            fs: thread_pointer(),
            start: 0,
            argument: 0,
            result: CANCELED,
            resolver: [0; 80],
            stack,
        }
    }

    /// A fiber that will call `start(argument)`. None if there is no memory for its thread-local variables.
    /// It must not move once it has been switched to.
    pub fn new(stack: Stack, start: usize, argument: usize, number: u32) -> Option<Fiber> {
        let libc = crate::libc::get();
        let block = libc.control_block(stack.base as usize + stack.size);
        // SAFETY: the block lies in the mapping of the stack, which nobody uses.
        unsafe { libc.make_thread(block, FIRST_TID + number)? };
        let sp = (block - libc.static_tls() - 64) & !63;
        Some(Fiber {
            sp: sp as u64,
            fs: block as u64,
            start,
            argument,
            result: CANCELED,
            resolver: [0; 80],
            stack,
        })
    }

    /// Puts onto the stack what the first switch takes off it. Call it where the fiber will stay.
    pub fn prepare(&mut self) {
        self.sp = frame(self.sp as usize, entry as *const () as usize);
        // SAFETY: within the frame.
        unsafe { (self.sp as *mut u64).add(4).write(self as *mut Fiber as u64) }; // r12
    }

    /// The thread pointer, which is what the program knows as `pthread_t`.
    pub fn handle(&self) -> u64 {
        self.fs
    }

    /// What the thread returned.
    pub fn result(&self) -> usize {
        self.result
    }

    /// What the thread gives to whoever joins it.
    pub fn set_result(&mut self, result: usize) {
        self.result = result;
    }

    /// The lowest and the first address after the highest of its stack.
    pub fn stack_range(&self) -> (usize, usize) {
        (self.stack.base as usize, self.stack.base as usize + self.stack.size)
    }

    /// The thread is over: takes back what glibc gave it, and its stack for another.
    ///
    /// # Safety
    /// It must never run again.
    pub unsafe fn bury(&mut self) -> Stack {
        // SAFETY: passed on to the caller.
        unsafe { crate::libc::get().bury_thread(self.fs as usize) };
        self.fs = 0;
        self.stack
    }
}

/// Puts below the top of a stack what the first switch takes off it, and gives back where: it begins at `entry`.
pub fn frame(top: usize, entry: usize) -> u64 {
    let frame = (top - 64) as *mut u64;
    let mut control = 0u64;
    // SAFETY: the frame lies at the top of a stack that nobody uses.
    unsafe {
        asm!("stmxcsr [{0}]", "fnstcw [{0}+4]", in(reg) &raw mut control, options(nostack));
        frame.write(control);
        for slot in 1..7 {
            frame.add(slot).write(0);
        }
        frame.add(7).write(entry as u64);
    }
    frame as u64
}

/// Goes on with the stack `to`, and puts into `from` where this one is to go on.
///
/// # Safety
/// `to` must be a stack that was prepared or switched away from, and `fs` its thread pointer.
pub unsafe fn change(from: *mut u64, to: u64, fs: u64) {
    // SAFETY: the caller says so.
    unsafe { raddle_fiber_switch(from, to, fs) }
}

/// Goes on with `to` and keeps `from` for later.
///
/// # Safety
/// `from` must be the fiber that runs, `to` one that was prepared or switched away from.
pub unsafe fn switch(from: *mut Fiber, to: *const Fiber) {
    // SAFETY: the caller says so; both live in boxes that do not move.
    unsafe { raddle_fiber_switch(&raw mut (*from).sp, (*to).sp, (*to).fs) }
}

/// Where the next stack goes, far from everything that the kernel places. The address of a thread's control block
/// is its `pthread_t`, and programs make hashes of that (libstdc++'s barrier does): it must not depend on the layout
/// that this process happens to have drawn.
static NEXT_STACK: AtomicUsize = AtomicUsize::new(0x1000_0000_0000);

/// Where stacks are mapped already: up to here, each of the size that most threads ask for.
static MAPPED_UP_TO: AtomicUsize = AtomicUsize::new(0);

/// Stacks that are mapped beforehand.
const MAPPED: usize = 16;

/// Maps stacks beforehand, for threads that are made in one run after the other.
pub fn map_stacks() {
    let size = Stack::whole(crate::threads::STACK_DEFAULT, crate::libc::get());
    let first = NEXT_STACK.load(Ordering::Relaxed);
    let base = sys::map_near(first, size * MAPPED, false);
    if base as usize != first {
        return;
    }
    for number in 0..MAPPED {
        // SAFETY: a mapping that nobody uses yet.
        unsafe { sys::forbid(base.add(number * size), GUARD) };
    }
    MAPPED_UP_TO.store(first + size * MAPPED, Ordering::Relaxed);
}

impl Stack {
    /// A stack with room for `size` bytes and the control block above them.
    pub fn new(size: usize, libc: &Libc) -> Option<Stack> {
        let size = Stack::whole(size, libc);
        let wish = NEXT_STACK.fetch_add(size, Ordering::Relaxed);
        if wish < MAPPED_UP_TO.load(Ordering::Relaxed) {
            if size == Stack::whole(crate::threads::STACK_DEFAULT, libc) {
                return Some(Stack { base: wish as *mut u8, size });
            }
            // It would not lie where it lies in a process of its own.
            crate::reset::refuse(sys::nr::MMAP as u32);
        }
        let base = sys::map_near(wish, size, false);
        if base.is_null() {
            return None;
        }
        // SAFETY: a mapping that nobody knows yet.
        unsafe { sys::forbid(base, GUARD) };
        Some(Stack { base, size })
    }

    /// Bytes that are mapped for a stack with room for `size`.
    fn whole(size: usize, libc: &Libc) -> usize {
        (size + libc.static_tls() + GUARD).next_multiple_of(4096) + 4096
    }

    /// Where it lies, and how large it is.
    pub fn range(&self) -> (usize, usize) {
        (self.base as usize, self.size)
    }

    /// Whether a thread that asks for `size` can have it.
    pub fn fits(&self, size: usize, libc: &Libc) -> bool {
        self.size == Stack::whole(size, libc)
    }
}
