//! What we need of glibc beyond its interface: the parts of its threads that a fiber must have. They are
//! looked up by name; a libc that lacks one is told apart from one that works, and named.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    /// Whether glibc may leave out atomic instructions.
    static mut __libc_single_threaded: u8;
}

/// Beginning with the library after this one: what we interpose.
const NEXT: *mut c_void = usize::MAX as *mut c_void;
/// Anywhere.
const DEFAULT: *mut c_void = core::ptr::null_mut();

/// Called from assembly at a fiber's root.
pub(crate) static mut SIGSETJMP: usize = 0;
/// Likewise.
pub(crate) static mut REGISTER_CANCEL: usize = 0;

/// Addresses and sizes. See `make_thread` for what each is for.
#[derive(Clone, Debug, Default)]
pub struct Libc {
    allocate_tls: usize,
    deallocate_tls: usize,
    ctype_init: usize,
    call_tls_dtors: usize,
    tls_size: usize,
    tls_align: usize,
    block_size: usize,
    tid: usize,
    list: usize,
    stack_user: usize,
    /// Where a thread's pointer to the resolver's state lies, from its thread pointer on; 0 if nowhere.
    resolver: usize,
}

/// Whether glibc works for us at the moment: what it allocates then is not the program's.
// See `run::ACTIVE`.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Whether glibc works for us at the moment.
pub fn is_inside() -> bool {
    INSIDE.load(Ordering::Relaxed)
}

fn inside<R>(work: impl FnOnce() -> R) -> R {
    INSIDE.store(true, Ordering::Relaxed);
    let result = work();
    INSIDE.store(false, Ordering::Relaxed);
    result
}

struct Slot(UnsafeCell<Libc>);

// SAFETY: written once, before the program begins.
unsafe impl Sync for Slot {}

static LIBC: Slot = Slot(UnsafeCell::new(Libc {
    allocate_tls: 0,
    deallocate_tls: 0,
    ctype_init: 0,
    call_tls_dtors: 0,
    tls_size: 0,
    tls_align: 0,
    block_size: 0,
    tid: 0,
    list: 0,
    stack_user: 0,
    resolver: 0,
}));

/// The libc of this process, once [`find`] has found it.
pub fn get() -> &'static Libc {
    // SAFETY: `find` has run, and nobody writes any more.
    unsafe { &*LIBC.0.get() }
}

/// The address of what we interpose.
pub fn next(name: &CStr) -> usize {
    // SAFETY: a lookup by name changes nothing.
    unsafe { dlsym(NEXT, name.as_ptr()) as usize }
}

/// The address of this name, wherever it is.
pub(crate) fn anywhere(name: &CStr) -> usize {
    // SAFETY: a lookup by name changes nothing.
    unsafe { dlsym(DEFAULT, name.as_ptr()) as usize }
}

/// Where the kernel keeps the number of the processor that the running thread is on (restartable sequences).
pub fn rseq_area() -> core::ops::Range<usize> {
    const SIZE: usize = 32;
    let offset = next(c"__rseq_offset") as *const isize;
    if offset.is_null() {
        return 0..0;
    }
    // SAFETY: glibc's constant of this name.
    let offset = unsafe { *offset };
    let start = (crate::fiber::thread_pointer() as usize).wrapping_add_signed(offset);
    start..start + SIZE
}

/// The kernel keeps that number no more: it would write to it whenever the process goes on, and so would have to copy the
/// page in every copy. Whoever looks there sees that it is not known, and asks the kernel, as where it never was.
pub fn end_rseq() {
    const RSEQ: usize = 334;
    const END: usize = 1;
    // What glibc has said to be the mark of its handlers.
    const SIGNATURE: usize = 0x5305_3053;
    let area = rseq_area();
    // SAFETY: the area of this thread; if it is another, or another size was told, nothing happens.
    unsafe { crate::sys::call(RSEQ, [area.start, area.len(), END, SIGNATURE, 0, 0]) };
}

/// How far from the thread pointer a thread-local variable of libc's lies, which is the same in every thread.
fn own_offset(name: &CStr) -> usize {
    // The address is that of this thread's variable.
    match anywhere(name) {
        0 => 0,
        address => address.wrapping_sub(crate::fiber::thread_pointer() as usize),
    }
}

/// Looks everything up. The error is the name of what is missing.
pub fn find() -> Result<(), &'static CStr> {
    let needed = |name: &'static CStr| match next(name) {
        0 => Err(name),
        address => Ok(address),
    };
    // What glibc says about its own structures, for debuggers: size in bits, number of elements, offset.
    // SAFETY: these symbols are arrays of three words, or one word.
    let word = |name, index| needed(name).map(|at| unsafe { *(at as *const u32).add(index) as usize });
    let (mut size, mut align) = (0usize, 0usize);
    let info = needed(c"_dl_get_tls_static_info")?;
    // SAFETY: the function of this name writes the size and alignment of static thread-local storage.
    unsafe {
        let info: extern "C" fn(*mut usize, *mut usize) = core::mem::transmute(info);
        info(&mut size, &mut align);
    }
    let libc = Libc {
        allocate_tls: needed(c"_dl_allocate_tls")?,
        deallocate_tls: needed(c"_dl_deallocate_tls")?,
        ctype_init: needed(c"__ctype_init")?,
        call_tls_dtors: needed(c"__call_tls_dtors")?,
        tls_size: size,
        tls_align: align.max(64),
        block_size: word(c"_thread_db_sizeof_pthread", 0)?,
        tid: word(c"_thread_db_pthread_tid", 2)?,
        list: word(c"_thread_db_pthread_list", 2)?,
        stack_user: needed(c"_rtld_global")? + word(c"_thread_db_rtld_global__dl_stack_user", 2)?,
        resolver: own_offset(c"__resp"),
    };
    // SAFETY: before the program begins, on its only thread.
    unsafe {
        SIGSETJMP = needed(c"__sigsetjmp")?;
        REGISTER_CANCEL = needed(c"__pthread_register_cancel")?;
        *LIBC.0.get() = libc;
    }
    Ok(())
}

impl Libc {
    /// Room for static thread-local variables.
    pub fn static_tls(&self) -> usize {
        self.tls_size
    }

    /// Where static thread-local variables begin: they end at the control block, whose own size glibc counts among theirs.
    pub fn first_local(&self, block: usize) -> usize {
        block + self.block_size - self.tls_size
    }

    /// Where the control block of a thread goes whose memory ends at `top`.
    pub fn control_block(&self, top: usize) -> usize {
        (top - self.block_size) & !(self.tls_align - 1)
    }

    /// Makes a control block that glibc takes for a thread's.
    ///
    /// # Safety
    /// The block must have room for it, and nobody may use it.
    pub unsafe fn make_thread(&self, block: usize, tid: u32) -> Option<()> {
        let me = crate::fiber::thread_pointer() as usize;
        // SAFETY: the caller answers for the block; offsets are glibc's own, or fixed by the ABI (the canary
        // and the pointer guard are read by compiled code).
        unsafe {
            core::ptr::write_bytes(block as *mut u8, 0, self.block_size);
            let allocate: extern "C" fn(usize) -> usize = core::mem::transmute(self.allocate_tls);
            if inside(|| allocate(block)) == 0 {
                return None;
            }
            let word = |offset: usize| (block + offset) as *mut usize;
            word(0).write(block);
            word(0x10).write(block);
            word(0x18).cast::<u32>().write(1); // multiple_threads
            word(0x28).write(*((me + 0x28) as *const usize));
            word(0x30).write(*((me + 0x30) as *const usize));
            word(self.tid).cast::<u32>().write(tid);
            // dlopen initialises thread-local variables of all threads in this list, and fork walks it.
            let (node, head) = ((block + self.list) as *mut usize, self.stack_user as *mut usize);
            let first = *head;
            node.write(first);
            node.add(1).write(head as usize);
            ((first + 8) as *mut usize).write(node as usize);
            head.write(node as usize);
        }
        Some(())
    }

    /// Undoes it.
    ///
    /// # Safety
    /// The thread must never run again.
    pub unsafe fn bury_thread(&self, block: usize) {
        // SAFETY: the block is one that `make_thread` made.
        unsafe {
            let node = (block + self.list) as *mut usize;
            let (next, previous) = (*node, *node.add(1));
            ((next + 8) as *mut usize).write(previous);
            (previous as *mut usize).write(next);
            let deallocate: extern "C" fn(usize, bool) = core::mem::transmute(self.deallocate_tls);
            inside(|| deallocate(block, false));
        }
    }

    /// Sets up what glibc keeps in thread-local variables.
    ///
    /// # Safety
    /// On the new thread; the resolver's state must live as long as it.
    pub unsafe fn begin_thread(&self, resolver: *mut c_void) {
        // SAFETY: glibc's own threads begin in the same way.
        unsafe {
            let ctype: extern "C" fn() = core::mem::transmute(self.ctype_init);
            ctype();
            if self.resolver != 0 {
                let own = crate::fiber::thread_pointer() as usize;
                (own.wrapping_add(self.resolver) as *mut *mut c_void).write(resolver);
            }
        }
    }

    /// Runs the destructors of thread-local C++ objects.
    pub fn end_thread(&self) {
        // SAFETY: glibc's own threads end in the same way.
        unsafe {
            let destroy: extern "C" fn() = core::mem::transmute(self.call_tls_dtors);
            destroy();
        }
    }

    /// From now on there are several threads.
    pub fn several_threads(&self) {
        let me = crate::fiber::thread_pointer() as usize;
        // SAFETY: what pthread_create does first.
        unsafe {
            __libc_single_threaded = 0;
            ((me + 0x18) as *mut u32).write(1);
        }
    }
}
