//! The switch in our own instructions.

use corosensei::stack::{DefaultStack, Stack};
use std::arch::{asm, naked_asm};
use std::mem::MaybeUninit;

/// A stack that can be gone on with: where it stands.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Context {
    sp: usize,
    ip: usize,
    stack: Option<DefaultStack>,
    /// Where the stack is to begin, and how far it may go from there.
    top: usize,
    room: usize,
}

/// Leaves the running stack, which `from` describes from now on, and goes on with `to`. Comes back
/// when somebody goes on with `from`. They may be the same.
///
/// # Safety
/// `to` must have been begun or left by a switch, and not have ended. Nobody else may have left into
/// `from` what is still to be gone on with.
#[inline(always)]
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: every register is saved on the stack that is left or declared as lost; the caller
    // promises that `to` is a stack that waits in just this place, or one that is to begin.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rcx, [rip + 2f]",
            "mov [rax], rsp",
            "mov [rax + 8], rcx",
            "mov rsp, [rdx]",
            "jmp [rdx + 8]",
            "2:",
            "pop rbx",
            "pop rbp",
            // Where functions give both back.
            inout("rax") from => _,
            inout("rdx") to => _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

impl Context {
    /// Whether it has a stack: that of what has ended here, or one that was given.
    #[inline]
    pub(crate) fn has_stack(&self) -> bool {
        self.stack.is_some()
    }

    /// A stack for what will begin here.
    pub(crate) fn give_stack(&mut self, stack: DefaultStack) {
        // Stacks lie a whole number of pages apart. A processor takes what lies at the same place of two pages for the
        // same at first, and waits; so no two neighbours use the same places.
        let page = stack.base().get() / 4096;
        self.top = stack.base().get() - page % 8 * 320;
        self.room = self.top - stack.limit().get();
        self.stack = Some(stack);
    }

    /// Prepares the stack so that a switch to it calls `body`, which says in the end who goes on.
    ///
    /// # Safety
    /// What `body` borrows must outlive it, and it must not unwind. What was here before must have ended.
    #[inline(always)]
    pub(crate) unsafe fn begin<F: FnOnce() -> *const Context>(&mut self, body: F) {
        let place = self.top.wrapping_sub(size_of::<F>()) & !(align_of::<F>().max(16) - 1);
        let sp = place.wrapping_sub(16);
        // Without a stack there is no room.
        if self.top.wrapping_sub(sp) >= self.room {
            // Not dropped: who might be dropped must lie somewhere else first.
            std::mem::forget(body);
            panic!("raddle: a closure as big as a stack");
        }
        // SAFETY: a new stack has room for a closure of any sensible size, and nobody uses it yet.
        unsafe {
            (place as *mut F).write(body);
            (sp as *mut usize).write(place);
            ((sp + 8) as *mut usize).write(run_body::<F> as *const () as usize);
        }
        self.sp = sp;
        self.ip = start as *const () as usize;
    }

    /// The stack, after the body has ended.
    pub(crate) fn take_stack(&mut self) -> Option<DefaultStack> {
        self.room = 0;
        self.stack.take()
    }

    /// What waits on this stack will not go on: what it owns is leaked.
    #[expect(clippy::unused_self, reason = "another way of switching has something to do here")]
    pub(crate) fn abandon(&mut self) {}
}

/// Where a new stack begins: `run_body` and its argument lie there. Nothing returns here, which is also
/// what is said to whoever walks the stack.
///
/// No call either: a processor would expect it to return, and guess wrong at every return of the stack that is gone back to.
#[unsafe(naked)]
unsafe extern "sysv64" fn start() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "mov rdi, [rsp]",
        "lea rax, [rip + 2f]",
        "mov rcx, [rsp + 8]",
        "push rax",
        "jmp rcx",
        "2:",
        "ud2",
        ".cfi_endproc",
    )
}

/// Reads what was written word by word just before in the same way: to read two words at once that were written one by one
/// is something that a processor waits for.
///
/// # Safety
/// As for [`std::ptr::read`].
#[inline(always)]
unsafe fn read_by_words<T>(from: *const T) -> T {
    let mut to = MaybeUninit::<T>::uninit();
    let words = size_of::<T>() / size_of::<usize>();
    // SAFETY: the words are within both, which are aligned as they need to be; whatever they hold, nobody looks at it.
    unsafe {
        if align_of::<T>() < align_of::<usize>() || !size_of::<T>().is_multiple_of(size_of::<usize>()) {
            return from.read();
        }
        let (from, to) = (from.cast::<MaybeUninit<usize>>(), to.as_mut_ptr().cast::<MaybeUninit<usize>>());
        for word in 0..words.min(WORDS_MAX) {
            to.add(word).write(from.add(word).read_volatile());
        }
        for word in WORDS_MAX..words {
            to.add(word).write(from.add(word).read());
        }
    }
    // SAFETY: all of it was written, as it was in a value that the caller gives up.
    unsafe { to.assume_init() }
}

/// What a program's closure takes along is seldom more.
const WORDS_MAX: usize = 16;

// It does not return, and does not say so: what never returns is taken for seldom, and then the body would be a call, too.
unsafe extern "sysv64" fn run_body<F: FnOnce() -> *const Context>(body: *mut F) {
    // SAFETY: `begin` has put it there, and it is called once.
    let to = unsafe { read_by_words(body) }();
    // SAFETY: nothing is left on this stack, and the body says where to go on. It does not come back.
    unsafe { asm!("mov rsp, [rsi]", "jmp [rsi + 8]", in("rsi") to) }
}
