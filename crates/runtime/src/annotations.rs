//! What programs call where they are compiled for ThreadSanitizer: its interface (`sanitizer/tsan_interface.h`) and the older
//! annotations that it knows (`AnnotateHappensBefore` and its like). A program may have a function with a name of the older ones
//! itself, so these are weak, as in `common.rs`.
#![cfg_attr(not(panic = "abort"), expect(non_snake_case, reason = "they are named so"))]

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use raddle_native::access::access;
use raddle_native::annotations::{self, Accesses, Clock};

// What the program says of its locks and coroutines: from `tsan_interface.h`.
const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK_FAILED: u32 = 1 << 5;
const NO_SYNC: u32 = 1 << 0;

unsafe extern "C" fn release(address: usize, pc: usize) {
    annotations::tell(address, Clock::Own, pc);
}

unsafe extern "C" fn acquire(address: usize, pc: usize) {
    annotations::hear(address, Clock::Own, pc);
}

unsafe extern "C" fn post_lock(address: usize, flags: u32, _recursion: c_int, pc: usize) {
    annotations::ignore_all(false);
    if flags & TRY_LOCK_FAILED == 0 {
        annotations::taken(address, flags & READ_LOCK != 0, pc);
    }
}

/// The result is how often it is given back, which whoever takes it again may say; that does not matter here.
unsafe extern "C" fn pre_unlock(address: usize, flags: u32, pc: usize) -> c_int {
    annotations::given(address, flags & READ_LOCK != 0, pc);
    annotations::ignore_all(true);
    1
}

unsafe extern "C" fn change(coroutine: usize, flags: u32, pc: usize) {
    annotations::change_coroutine(coroutine, flags & NO_SYNC == 0, pc);
}

hook! {
    __tsan_release rsi => release;
    __tsan_acquire rsi => acquire;
    __tsan_mutex_post_lock rcx => post_lock;
    __tsan_mutex_pre_unlock rdx => pre_unlock;
    __tsan_switch_to_fiber rdx => change;
}

macro_rules! ignores {
    ($($name:ident => $begin:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: from here on accesses of the thread count, or do not.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name() {
            annotations::ignore_all($begin);
        }
    )*};
}

// What a lock of the program's own does to itself is its own affair.
ignores! {
    __tsan_ignore_thread_begin => true;
    __tsan_ignore_thread_end => false;
    __tsan_mutex_pre_lock => true;
    __tsan_mutex_post_unlock => false;
    __tsan_mutex_pre_signal => true;
    __tsan_mutex_post_signal => false;
    __tsan_mutex_pre_divert => false;
    __tsan_mutex_post_divert => true;
}

/// A new coroutine.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __tsan_create_fiber(_flags: u32) -> usize {
    annotations::coroutine()
}

/// The coroutine that runs.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __tsan_get_current_fiber() -> usize {
    annotations::current_coroutine()
}

/// Names a kind of objects whose operations the program tells as accesses.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __tsan_external_register_tag(name: *const c_char) -> *const c_char {
    name
}

macro_rules! told {
    ($($name:ident = $size:literal, $write:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: an access that the program tells of itself.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name(address: usize, pc: usize) {
            access(address, $size, $write, pc);
        }
    )*};
}

told! {
    __tsan_external_read = 1, false;
    __tsan_external_write = 1, true;
    __tsan_read1_pc = 1, false;
    __tsan_write1_pc = 1, true;
    __tsan_read2_pc = 2, false;
    __tsan_write2_pc = 2, true;
    __tsan_read4_pc = 4, false;
    __tsan_write4_pc = 4, true;
    __tsan_read8_pc = 8, false;
    __tsan_write8_pc = 8, true;
    __tsan_read16_pc = 16, false;
    __tsan_write16_pc = 16, true;
}

macro_rules! unaligned {
    ($($int:ty: $load_name:ident $load:ident $store_name:ident $store:ident;)*) => {$(
        unsafe extern "C" fn $load(address: *const $int, pc: usize) -> $int {
            access(address as usize, size_of::<$int>(), false, pc);
            // SAFETY: the program says that it may be read.
            unsafe { address.read_unaligned() }
        }
        unsafe extern "C" fn $store(address: *mut $int, value: $int, pc: usize) {
            access(address as usize, size_of::<$int>(), true, pc);
            // SAFETY: the program says that it may be written.
            unsafe { address.write_unaligned(value) }
        }
        hook! {
            $load_name rsi => $load;
            $store_name rdx => $store;
        }
    )*};
}

unaligned! {
    u16: __sanitizer_unaligned_load16 load16 __sanitizer_unaligned_store16 store16;
    u32: __sanitizer_unaligned_load32 load32 __sanitizer_unaligned_store32 store32;
    u64: __sanitizer_unaligned_load64 load64 __sanitizer_unaligned_store64 store64;
}

unsafe extern "C" fn happens_before(_file: usize, _line: c_int, address: usize, pc: usize) {
    annotations::tell(address, Clock::Own, pc);
}

unsafe extern "C" fn happens_after(_file: usize, _line: c_int, address: usize, pc: usize) {
    annotations::hear(address, Clock::Own, pc);
}

unsafe extern "C" fn acquired(_file: usize, _line: c_int, lock: usize, alone: isize, pc: usize) {
    annotations::taken(lock, alone as c_int == 0, pc);
}

unsafe extern "C" fn released(_file: usize, _line: c_int, lock: usize, alone: isize, pc: usize) {
    annotations::given(lock, alone as c_int == 0, pc);
}

hook! {
    raddle_weak_AnnotateHappensBefore rcx => happens_before;
    raddle_weak_WTFAnnotateHappensBefore rcx => happens_before;
    raddle_weak_AnnotateHappensAfter rcx => happens_after;
    raddle_weak_WTFAnnotateHappensAfter rcx => happens_after;
    raddle_weak_AnnotateRWLockAcquired r8 => acquired;
    raddle_weak_AnnotateRWLockReleased r8 => released;
}

macro_rules! ignores_one {
    ($($name:ident => $accesses:ident, $begin:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: from here on such accesses of the thread count, or do not.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name() {
            annotations::ignore(Accesses::$accesses, $begin);
        }
    )*};
}

ignores_one! {
    raddle_weak_AnnotateIgnoreReadsBegin => Reads, true;
    raddle_weak_AnnotateIgnoreReadsEnd => Reads, false;
    raddle_weak_AnnotateIgnoreWritesBegin => Writes, true;
    raddle_weak_AnnotateIgnoreWritesEnd => Writes, false;
}

/// Races for a variable are meant to be, whatever its size is.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn raddle_weak_AnnotateBenignRace(_file: usize, _line: c_int, address: usize) {
    annotations::allow_races(address, 1);
}

macro_rules! benign {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: races for these bytes are meant to be.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name(_file: usize, _line: c_int, address: usize, size: usize) {
            annotations::allow_races(address, size);
        }
    )*};
}

benign! {
    raddle_weak_AnnotateBenignRaceSized
    raddle_weak_WTFAnnotateBenignRaceSized
}

/// What kind of detector this is.
///
/// # Safety
/// `question` must be a text.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_ThreadSanitizerQuery(question: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    c_int::from(unsafe { CStr::from_ptr(question) } == c"pure_happens_before")
}

macro_rules! nothing {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: nothing to do, nothing to tell.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name() -> *const c_char {
            ptr::null()
        }
    )*};
}

// Names, sizes, and what only a detector of other kind would want to know; and questions about reports, of which there are none
// while a program runs.
nothing! {
    __tsan_mutex_create
    __tsan_mutex_destroy
    __tsan_destroy_fiber
    __tsan_set_fiber_name
    __tsan_external_register_header
    __tsan_external_assign_tag
    __tsan_flush_memory
    __tsan_get_current_report
    __tsan_get_report_data
    __tsan_get_report_tag
    __tsan_get_report_stack
    __tsan_get_report_mop
    __tsan_get_report_loc
    __tsan_get_report_loc_object_type
    __tsan_get_report_mutex
    __tsan_get_report_thread
    __tsan_get_report_unique_tid
    __tsan_locate_address
    __tsan_get_alloc_stack
    __sanitizer_print_stack_trace
    __sanitizer_set_death_callback
    __sanitizer_set_report_path
    __sanitizer_set_report_fd
    raddle_weak_AnnotateCondVarSignal
    raddle_weak_AnnotateCondVarSignalAll
    raddle_weak_AnnotateCondVarWait
    raddle_weak_AnnotateEnableRaceDetection
    raddle_weak_AnnotateExpectRace
    raddle_weak_AnnotateFlushExpectedRaces
    raddle_weak_AnnotateFlushState
    raddle_weak_AnnotateIgnoreSyncBegin
    raddle_weak_AnnotateIgnoreSyncEnd
    raddle_weak_AnnotateMemoryIsInitialized
    raddle_weak_AnnotateMemoryIsUninitialized
    raddle_weak_AnnotateMutexIsNotPHB
    raddle_weak_AnnotateMutexIsUsedAsCondVar
    raddle_weak_AnnotateNewMemory
    raddle_weak_AnnotateNoOp
    raddle_weak_AnnotatePCQCreate
    raddle_weak_AnnotatePCQDestroy
    raddle_weak_AnnotatePCQGet
    raddle_weak_AnnotatePCQPut
    raddle_weak_AnnotatePublishMemoryRange
    raddle_weak_AnnotateRWLockCreate
    raddle_weak_AnnotateRWLockCreateStatic
    raddle_weak_AnnotateRWLockDestroy
    raddle_weak_AnnotateThreadName
    raddle_weak_AnnotateTraceMemory
    raddle_weak_AnnotateUnpublishMemoryRange
    raddle_weak_RunningOnValgrind
}
