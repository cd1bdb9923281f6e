//! A thread of the program as a fiber: a stack, glibc's thread control block on top of it, and a switch that
//! takes the `fs` register along, so that thread-local variables, `errno` and `pthread_self` stay right. Where the
//! processor cannot do that by itself a fiber has a kernel thread of its own (`turns`).

use crate::arena;
use crate::libc::Libc;
use crate::sys;
use crate::turns::{self, Turns};
use alloc::boxed::Box;
use core::arch::{asm, naked_asm};
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

/// What the switch and the entry below know by offset.
#[repr(C)]
#[derive(Debug)]
pub struct Fiber {
    // 0: where it stands while it does not run
    sp: u64,
    // 8
    ip: u64,
    // 16
    fs: u64,
    // 24: how it calculates with floating-point numbers; the old processor's word is at 28
    control: Control,
    // 32
    start: usize,
    // 40
    argument: usize,
    // 48: what it returned, or gave to pthread_exit
    result: usize,
    // 56: what libc's resolver of names keeps for the thread
    resolver: usize,
    stack: Stack,
    turns: Turns,
}

/// What is in place of the control words of a fiber that has a kernel thread of its own, which keeps them. No processor
/// has such: so a switch to it leaves the quick way.
const KERNEL_THREAD: u32 = 1 << 31;

/// Control words that a function must leave as they were.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
struct Control {
    mxcsr: u32,
    x87: u16,
}

impl Control {
    fn now() -> Control {
        let mut control = Control::default();
        // SAFETY: both are stored to where there is room for them.
        unsafe {
            asm!("stmxcsr [{0}]", "fnstcw [{0}+4]", in(reg) &raw mut control, options(nostack));
        }
        control
    }
}

/// A mapping that holds a stack and the thread control block.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    base: *mut u8,
    size: usize,
}

/// What a thread that was cancelled returns.
pub const CANCELED: usize = usize::MAX;

/// Bytes of what libc's resolver of names keeps for a thread, and some more.
const RESOLVER: usize = 640;

/// The page below a stack that nobody may touch.
const GUARD: usize = 4096;

/// Numbers that the kernel gives no thread: `gettid` of a fiber, as glibc has it in the control block.
const FIRST_TID: u32 = 1_000_000;

/// Where a fiber begins. What glibc's own threads have at their root is there too, so that glibc's
/// `pthread_exit` and cancellation unwind up to here, and no further.
#[unsafe(naked)]
unsafe extern "C" fn entry() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        // The switch has it there.
        "mov r12, rsi",
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
        "mov rdi, [r12+40]",
        "call [r12+32]",
        "mov [r12+48], rax",
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

/// Where main begins if it has a stack of its own. It never returns.
#[unsafe(naked)]
unsafe extern "C" fn entry_of_main() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "xor edi, edi",
        "call [rsi+32]",
        "ud2",
        ".cfi_endproc",
    )
}

/// On the new fiber, before the program's function.
unsafe extern "C" fn begin(fiber: *mut Fiber) {
    let libc = crate::libc::get();
    // SAFETY: this is the fiber that runs, whose thread-local variables these calls set up.
    unsafe {
        let resolver = (*fiber).resolver as *mut c_void;
        resolver.cast::<u8>().write_bytes(0, RESOLVER);
        libc.begin_thread(resolver);
    }
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
            ip: 0,
            fs: thread_pointer(),
            control: Control::default(),
            start: 0,
            argument: 0,
            result: CANCELED,
            resolver: 0,
            stack,
            turns: Turns::default(),
        }
    }

    /// The same place once more, where all fibers share one kernel thread.
    pub(crate) fn again(&self) -> Fiber {
        Fiber { turns: Turns::default(), ..*self }
    }

    /// The same on another stack, where it will call `start(0)`. It must not move once it has been switched to.
    pub fn main_on(stack: Stack, start: usize) -> Fiber {
        let sp = (stack.base as u64 + stack.size as u64) & !63;
        let ip = entry_of_main as *const () as u64;
        Fiber { sp, ip, control: Control::now(), start, ..Fiber::main() }
    }

    /// A fiber that will call `start(argument)`. None if there is no memory for its thread-local variables, or no
    /// kernel thread if it needs one.
    pub fn new(stack: Stack, start: usize, argument: usize, number: u32) -> Option<Box<Fiber>> {
        let libc = crate::libc::get();
        let block = libc.control_block(stack.base as usize + stack.size);
        // SAFETY: the block lies in the mapping of the stack, which nobody uses.
        unsafe { libc.make_thread(block, FIRST_TID + number)? };
        let resolver = (libc.first_local(block) - RESOLVER) & !63;
        let sp = resolver - 64;
        let mut fiber = Box::new(Fiber {
            sp: sp as u64,
            ip: entry as *const () as u64,
            fs: block as u64,
            // As its maker calculates.
            control: Control::now(),
            start,
            argument,
            result: CANCELED,
            resolver,
            stack,
            turns: Turns::default(),
        });
        if turns::are_taken() {
            fiber.control.mxcsr = KERNEL_THREAD;
            // SAFETY: the stack and the control block are the fiber's own; it lives until it is buried.
            let begun = unsafe {
                fiber.turns.begin(sp, block, entry as *const () as usize, (&raw const *fiber) as usize)
            };
            if !begun {
                // SAFETY: it never was.
                unsafe { libc.bury_thread(block) };
                return None;
            }
        }
        Some(fiber)
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

    /// The thread is over, and so is its kernel thread if it has one.
    pub fn end(&self) {
        self.turns.end();
    }

    /// The thread is over: takes back what glibc gave it, and its stack for another.
    ///
    /// # Safety
    /// It must never run again.
    pub unsafe fn bury(&mut self) -> Stack {
        self.end();
        // SAFETY: passed on to the caller.
        unsafe { crate::libc::get().bury_thread(self.fs as usize) };
        self.fs = 0;
        self.stack
    }
}

/// Goes on with `to` and keeps `from` for later. They may be the same: who goes on is chance, and a processor that
/// need not guess it is quicker than one that need not switch.
///
/// Part of whoever calls it, and as near to the program's own code as can be: a processor guesses where a return leads
/// from the calls before it, and every return after a switch is a wrong guess.
///
/// # Safety
/// `from` must be the fiber that runs, `to` one that is new or was switched away from; neither may have moved.
#[inline(always)]
pub unsafe fn switch(from: *mut Fiber, to: *const Fiber) {
    // SAFETY: every register is saved on the stack that is left, or declared as lost; the caller promises that `to`
    // waits in just this place, or is to begin.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "mov rdx, [rsi + 16]",
            // Before the next line, which may overwrite it.
            "mov r8d, [rsi + 24]",
            "stmxcsr [rdi + 24]",
            "fnstcw [rdi + 28]",
            "mov [rdi], rsp",
            "mov [rdi + 8], rax",
            // Loading these takes long, and they are nearly always the same.
            "mov eax, [rdi + 24]",
            "movzx ecx, word ptr [rdi + 28]",
            "cmp eax, r8d",
            "jne 3f",
            "cmp cx, [rsi + 28]",
            "jne 3f",
            "4:",
            // To write the register takes longer than to guess wrong whether it is the same one.
            "cmp rdi, rsi",
            "je 6f",
            "wrfsbase rdx",
            "6:",
            "mov rsp, [rsi]",
            "jmp [rsi + 8]",
            "3:",
            "test r8d, r8d",
            "js 5f",
            // Who calculates leaves marks in the first of them, and seldom changes the second.
            "ldmxcsr [rsi + 24]",
            "cmp cx, [rsi + 28]",
            "je 4b",
            "fldcw [rsi + 28]",
            "jmp 4b",
            "5:",
            "call {take_turns}",
            "2:",
            "pop rbx",
            "pop rbp",
            take_turns = sym take_turns,
            inout("rdi") from => _,
            inout("rsi") to => _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// The switch for fibers that have kernel threads of their own.
unsafe extern "C" fn take_turns(from: *mut Fiber, to: *const Fiber) {
    // SAFETY: the caller's fibers. `from` is ours until the other's turn.
    unsafe {
        (*from).control.mxcsr = KERNEL_THREAD;
        if !core::ptr::eq(from, to) {
            (*from).turns.hand_over(&(*to).turns);
        }
    }
}

/// Where the next stack goes, far from everything that the kernel places. The address of a thread's control block
/// is its `pthread_t`, and programs make hashes of that (libstdc++'s barrier does): it must not depend on the layout
/// that this process happens to have drawn.
static NEXT_STACK: AtomicUsize = AtomicUsize::new(arena::TOP);

/// Up to here there is memory for stacks.
static MAPPED_UP_TO: AtomicUsize = AtomicUsize::new(arena::TOP);

/// Up to here they are ready for use, each of the size that most threads ask for.
static READY_UP_TO: AtomicUsize = AtomicUsize::new(arena::TOP);

/// Stacks that there is memory for beforehand.
const MAPPED: usize = 16;

/// In the server: maps stacks beforehand, with what else the runtime will need.
pub(crate) fn map_stacks() {
    let size = Stack::whole(crate::threads::STACK_DEFAULT, crate::libc::get()) * MAPPED;
    if arena::prepare(size) {
        MAPPED_UP_TO.store(arena::TOP + size, Ordering::Relaxed);
    }
}

/// Makes them ready, for threads that are made in one run after the other.
pub(crate) fn make_stacks_ready() {
    let size = Stack::whole(crate::threads::STACK_DEFAULT, crate::libc::get());
    let end = arena::TOP + size * MAPPED;
    if MAPPED_UP_TO.load(Ordering::Relaxed) < end || NEXT_STACK.load(Ordering::Relaxed) != arena::TOP {
        return;
    }
    for stack in (arena::TOP..end).step_by(size) {
        // SAFETY: a stack that nobody uses yet.
        unsafe { sys::forbid(stack as *mut u8, GUARD) };
    }
    READY_UP_TO.store(end, Ordering::Relaxed);
}

/// In a process of its own: stacks from here on lie wherever those before them end, and not where they were made ready.
fn unready_stacks(from: usize) {
    let end = READY_UP_TO.swap(arena::TOP, Ordering::Relaxed);
    // SAFETY: stacks that nobody uses yet.
    unsafe { sys::permit(from as *mut u8, end - from) };
}

impl Stack {
    /// Memory that somebody else has mapped.
    pub(crate) fn at(base: *mut u8, size: usize) -> Stack {
        Stack { base, size }
    }

    /// A stack with room for `size` bytes and the control block above them.
    pub fn new(size: usize, libc: &Libc) -> Option<Stack> {
        let size = Stack::whole(size, libc);
        let wish = NEXT_STACK.fetch_add(size, Ordering::Relaxed);
        if wish < READY_UP_TO.load(Ordering::Relaxed) {
            if size == Stack::whole(crate::threads::STACK_DEFAULT, libc) {
                return Some(Stack { base: wish as *mut u8, size });
            }
            // It would not lie where it lies in a process of its own.
            crate::reset::refuse(sys::nr::MMAP as u32);
            unready_stacks(wish);
        }
        let base = Stack::mapped(wish, size)?;
        // SAFETY: memory that nobody knows yet.
        unsafe { sys::guard(base, GUARD) };
        Some(Stack { base, size })
    }

    /// Memory for a stack, there if that is free. None if there is none.
    fn mapped(wish: usize, size: usize) -> Option<*mut u8> {
        let (end, upto) = (wish + size, MAPPED_UP_TO.load(Ordering::Relaxed));
        if end <= upto {
            return Some(wish as *mut u8);
        }
        // What is there already lies below the rest.
        let rest = wish.max(upto);
        let base = sys::map_near(rest, end - rest, false);
        if base as usize == rest {
            return Some(wish as *mut u8);
        }
        if !base.is_null() {
            // SAFETY: it was mapped just now.
            unsafe { sys::unmap(base, end - rest) };
        }
        let elsewhere = sys::map(size, false);
        (!elsewhere.is_null()).then_some(elsewhere)
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
