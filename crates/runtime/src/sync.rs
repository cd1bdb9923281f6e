//! Mutexes, condition variables, readers-writer locks, semaphores, barriers, spinning locks, onces.
//!
//! Libc's own functions still make the objects: they write down what kind of object it is.

use crate::clocks::set_errno;
use core::ffi::{c_int, c_uint, c_void};
use raddle_native::atomic::Atomic;
use raddle_native::locks::{self, Patience, error};
use raddle_native::run::active;
use raddle_native::semaphores;
use raddle_native::time::{TimeSpec, until};

pub(crate) const WALL: c_int = 0;

/// How long to wait for a moment that the program gives.
///
/// # Safety
/// The program's own variable.
pub(crate) unsafe fn limit(clock: c_int, moment: *const TimeSpec) -> Option<Patience> {
    // SAFETY: the caller says so.
    let moment = unsafe { *moment }.get()?;
    Some(Patience::Limited(until(clock, moment)))
}

/// A function that is libc's if nobody controls the process.
macro_rules! controlled {
    ($($inner:ident = $name:ident ( $($argument:ident : $type:ty),* ) $pc:ident => $body:expr;)*) => {$(
        unsafe extern "C" fn $inner($($argument: $type,)* $pc: usize) -> c_int {
            if !active() {
                let _ = $pc;
                // SAFETY: our own arguments.
                return unsafe { real!($name($($type),*) -> c_int)($($argument),*) };
            }
            $body
        }
    )*};
}

type Attributes = *const c_void;

/// Libc makes the object, then we do.
macro_rules! made {
    ($($inner:ident = $name:ident ( $($argument:ident : $type:ty),* ) $pc:ident => $make:expr;)*) => {$(
        unsafe extern "C" fn $inner($($argument: $type,)* $pc: usize) -> c_int {
            // SAFETY: our own arguments.
            let result = unsafe { real!($name($($type),*) -> c_int)($($argument),*) };
            if active() && result == 0 {
                $make;
            }
            result
        }
    )*};
}

made! {
    mutex_init = pthread_mutex_init(object: usize, attributes: Attributes) pc => locks::mutex_init(object, pc);
    cond_init = pthread_cond_init(object: usize, attributes: Attributes) pc => locks::cond_init(object, pc);
    rwlock_init = pthread_rwlock_init(object: usize, attributes: Attributes) pc => locks::rwlock_init(object, pc);
    barrier_init = pthread_barrier_init(object: usize, attributes: Attributes, count: c_uint) pc =>
        locks::barrier_init(object, count, pc);
    spin_init = pthread_spin_init(object: usize, shared: c_int) pc => locks::spin_init(object, pc);
    semaphore_init = sem_init(object: usize, shared: c_int, value: c_uint) pc =>
        semaphores::semaphore_init(object, value, pc);
}

controlled! {
    lock = pthread_mutex_lock(object: usize) pc => locks::lock(object, Patience::Endless, pc);
    try_lock = pthread_mutex_trylock(object: usize) pc => locks::lock(object, Patience::None, pc);
    timed_lock = pthread_mutex_timedlock(object: usize, moment: *const TimeSpec) pc =>
        // SAFETY: the program's own variable; so in all that follow.
        match unsafe { limit(WALL, moment) } {
            Some(patience) => locks::lock(object, patience, pc),
            None => error::INVALID,
        };
    clock_lock = pthread_mutex_clocklock(object: usize, clock: c_int, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(clock, moment) } {
            Some(patience) => locks::lock(object, patience, pc),
            None => error::INVALID,
        };
    unlock = pthread_mutex_unlock(object: usize) pc => locks::unlock(object, pc);
    consistent = pthread_mutex_consistent(object: usize) pc => locks::consistent(object, pc);
    mutex_destroy = pthread_mutex_destroy(object: usize) pc => {
        locks::mutex_destroy(object, pc);
        0
    };

    cond_wait = pthread_cond_wait(object: usize, mutex: usize) pc =>
        locks::cond_wait(object, mutex, Patience::Endless, pc);
    cond_timed_wait = pthread_cond_timedwait(object: usize, mutex: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(locks::cond_clock(object), moment) } {
            Some(patience) => locks::cond_wait(object, mutex, patience, pc),
            None => error::INVALID,
        };
    cond_clock_wait =
        pthread_cond_clockwait(object: usize, mutex: usize, clock: c_int, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(clock, moment) } {
            Some(patience) => locks::cond_wait(object, mutex, patience, pc),
            None => error::INVALID,
        };
    signal = pthread_cond_signal(object: usize) pc => {
        locks::notify(object, false, pc);
        0
    };
    broadcast = pthread_cond_broadcast(object: usize) pc => {
        locks::notify(object, true, pc);
        0
    };
    cond_destroy = pthread_cond_destroy(object: usize) pc => {
        locks::destroy(object, pc);
        0
    };

    read_lock = pthread_rwlock_rdlock(object: usize) pc =>
        locks::rwlock_lock(object, false, Patience::Endless, pc);
    try_read_lock = pthread_rwlock_tryrdlock(object: usize) pc =>
        locks::rwlock_lock(object, false, Patience::None, pc);
    timed_read_lock = pthread_rwlock_timedrdlock(object: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(WALL, moment) } {
            Some(patience) => locks::rwlock_lock(object, false, patience, pc),
            None => error::INVALID,
        };
    write_lock = pthread_rwlock_wrlock(object: usize) pc =>
        locks::rwlock_lock(object, true, Patience::Endless, pc);
    try_write_lock = pthread_rwlock_trywrlock(object: usize) pc =>
        locks::rwlock_lock(object, true, Patience::None, pc);
    timed_write_lock = pthread_rwlock_timedwrlock(object: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(WALL, moment) } {
            Some(patience) => locks::rwlock_lock(object, true, patience, pc),
            None => error::INVALID,
        };
    clock_read_lock = pthread_rwlock_clockrdlock(object: usize, clock: c_int, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(clock, moment) } {
            Some(patience) => locks::rwlock_lock(object, false, patience, pc),
            None => error::INVALID,
        };
    clock_write_lock = pthread_rwlock_clockwrlock(object: usize, clock: c_int, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(clock, moment) } {
            Some(patience) => locks::rwlock_lock(object, true, patience, pc),
            None => error::INVALID,
        };
    rwlock_unlock = pthread_rwlock_unlock(object: usize) pc => locks::rwlock_unlock(object, pc);
    rwlock_destroy = pthread_rwlock_destroy(object: usize) pc => {
        locks::destroy(object, pc);
        0
    };

    barrier_wait = pthread_barrier_wait(object: usize) pc => if locks::barrier_wait(object, pc) { -1 } else { 0 };
    barrier_destroy = pthread_barrier_destroy(object: usize) pc => {
        locks::destroy(object, pc);
        0
    };

    spin_lock = pthread_spin_lock(object: usize) pc => locks::spin_lock(object, Patience::Endless, pc);
    try_spin_lock = pthread_spin_trylock(object: usize) pc => locks::spin_lock(object, Patience::None, pc);
    spin_unlock = pthread_spin_unlock(object: usize) pc => locks::spin_unlock(object, pc);
    spin_destroy = pthread_spin_destroy(object: usize) pc => {
        locks::destroy(object, pc);
        0
    };

    semaphore_wait = sem_wait(object: usize) pc =>
        answer(semaphores::semaphore_wait(object, Patience::Endless, pc));
    try_semaphore_wait = sem_trywait(object: usize) pc =>
        answer(semaphores::semaphore_wait(object, Patience::None, pc));
    timed_semaphore_wait = sem_timedwait(object: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        answer(match unsafe { limit(WALL, moment) } {
            Some(patience) => semaphores::semaphore_wait(object, patience, pc),
            None => error::INVALID,
        });
    clock_semaphore_wait = sem_clockwait(object: usize, clock: c_int, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        answer(match unsafe { limit(clock, moment) } {
            Some(patience) => semaphores::semaphore_wait(object, patience, pc),
            None => error::INVALID,
        });
    semaphore_post = sem_post(object: usize) pc => {
        semaphores::semaphore_post(object, pc);
        0
    };
    semaphore_value = sem_getvalue(object: usize, value: *mut c_int) pc => {
        // SAFETY: as above.
        unsafe { *value = semaphores::semaphore_value(object, pc) };
        0
    };
    semaphore_destroy = sem_destroy(object: usize) pc => {
        locks::destroy(object, pc);
        0
    };
}

/// Semaphores tell of errors by errno.
fn answer(error: c_int) -> c_int {
    if error == 0 { 0 } else { set_errno(error) }
}

hook! {
    pthread_mutex_init rdx => mutex_init;
    pthread_mutex_destroy rsi => mutex_destroy;
    pthread_mutex_lock rsi => lock;
    pthread_mutex_trylock rsi => try_lock;
    pthread_mutex_timedlock rdx => timed_lock;
    pthread_mutex_clocklock rcx => clock_lock;
    pthread_mutex_unlock rsi => unlock;
    pthread_mutex_consistent rsi => consistent;
    pthread_mutex_consistent_np rsi => consistent;
    pthread_cond_init rdx => cond_init;
    pthread_cond_destroy rsi => cond_destroy;
    pthread_cond_signal rsi => signal;
    pthread_cond_broadcast rsi => broadcast;
    pthread_rwlock_init rdx => rwlock_init;
    pthread_rwlock_destroy rsi => rwlock_destroy;
    pthread_rwlock_rdlock rsi => read_lock;
    pthread_rwlock_tryrdlock rsi => try_read_lock;
    pthread_rwlock_timedrdlock rdx => timed_read_lock;
    pthread_rwlock_clockrdlock rcx => clock_read_lock;
    pthread_rwlock_wrlock rsi => write_lock;
    pthread_rwlock_trywrlock rsi => try_write_lock;
    pthread_rwlock_timedwrlock rdx => timed_write_lock;
    pthread_rwlock_clockwrlock rcx => clock_write_lock;
    pthread_rwlock_unlock rsi => rwlock_unlock;
    pthread_barrier_init rcx => barrier_init;
    pthread_barrier_destroy rsi => barrier_destroy;
    pthread_barrier_wait rsi => barrier_wait;
    pthread_spin_init rdx => spin_init;
    pthread_spin_destroy rsi => spin_destroy;
    pthread_spin_lock rsi => spin_lock;
    pthread_spin_trylock rsi => try_spin_lock;
    pthread_spin_unlock rsi => spin_unlock;
    sem_init rcx => semaphore_init;
    sem_destroy rsi => semaphore_destroy;
    sem_trywait rsi => try_semaphore_wait;
    sem_post rsi => semaphore_post;
    sem_getvalue rdx => semaphore_value;
}

point! {
    pthread_cond_wait rdx => cond_wait;
    pthread_cond_timedwait rcx => cond_timed_wait;
    pthread_cond_clockwait r8 => cond_clock_wait;
    sem_wait rsi => semaphore_wait;
    sem_timedwait rdx => timed_semaphore_wait;
    sem_clockwait rcx => clock_semaphore_wait;
}

/// What libc writes into a once that is done.
const DONE: u32 = 2;

/// Whether the caller has to do it: 1 if so, 0 if it is done, 2 if libc is to decide.
unsafe extern "C" fn once_begin(once: *mut u32, pc: usize) -> u32 {
    if !active() {
        return 2;
    }
    // SAFETY: the program's own variable.
    let done = unsafe { *once } == DONE;
    u32::from(locks::once_enter(once as usize, done, pc))
}

unsafe extern "C" fn once_end(once: *mut u32, pc: usize) {
    // SAFETY: the program's own variable.
    unsafe { *once = DONE };
    locks::once_leave(once as usize, true, pc);
}

unsafe extern "C" fn once_outside(once: *mut u32, function: usize) -> c_int {
    // SAFETY: our own arguments.
    unsafe { real!(pthread_once(*mut u32, usize) -> c_int)(once, function) }
}

/// Asked about the frame of [`pthread_once`] while an exception, or the end of a thread that is cancelled, goes up through it. If
/// that comes out of the function, it has not been done, and the next one does it, as libc has it.
unsafe extern "C" fn once_unwound(
    _: c_int,
    phase: c_int,
    _: u64,
    _: *mut c_void,
    frame: *mut c_void,
) -> c_int {
    const CLEANUP: c_int = 2;
    const GO_ON: c_int = 8;
    // Numbers of registers, as debug information has them.
    const RBX: c_int = 3;
    const R12: c_int = 12;
    const R13: c_int = 13;
    let register = raddle_native::libc::next(c"_Unwind_GetGR");
    if phase & CLEANUP == 0 || register == 0 || !active() {
        return GO_ON;
    }
    // SAFETY: the unwinder's own function, for the frame that it asks about.
    let register = |number: c_int| unsafe {
        core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void, c_int) -> usize>(register)(
            frame, number,
        )
    };
    if register(R12) == 0 {
        locks::once_leave(register(RBX), false, register(R13));
    }
    GO_ON
}

/// Does something once. The function may throw: then this frame, which is none of Rust's, is left like any other, with
/// [`once_unwound`]. While the function runs r12 is 0.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_once(once: *mut u32, function: usize) -> c_int {
    core::arch::naked_asm!(
        ".cfi_startproc",
        // Relative to where this stands, in four bytes.
        ".cfi_personality 0x1b, {unwound}",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbx, -16",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset r12, -24",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset r13, -32",
        "mov rbx, rdi",
        "mov r12, rsi",
        "mov r13, [rsp + 24]",
        "mov rsi, r13",
        "call {begin}",
        "cmp eax, 1",
        "jb 2f",
        "ja 3f",
        "mov rax, r12",
        "xor r12d, r12d",
        "call rax",
        "mov r12d, 1",
        "mov rdi, rbx",
        "mov rsi, r13",
        "call {end}",
        "2:",
        "xor eax, eax",
        "jmp 4f",
        "3:",
        "mov rdi, rbx",
        "mov rsi, r12",
        "call {outside}",
        "4:",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        begin = sym once_begin,
        end = sym once_end,
        outside = sym once_outside,
        unwound = sym once_unwound,
    )
}

/// The first byte of a guard says that its variable is there.
unsafe extern "C" fn guard_acquire(guard: *mut u8, pc: usize) -> c_int {
    // SAFETY: the program's own guard.
    let done = unsafe { *guard } != 0;
    if active() {
        return c_int::from(locks::once_enter(guard as usize, done, pc));
    }
    // SAFETY: our own argument.
    unsafe { real!(__cxa_guard_acquire(*mut u8) -> c_int)(guard) }
}

unsafe extern "C" fn guard_release(guard: *mut u8, pc: usize) {
    const RELEASE: raddle_model::Order = raddle_model::Order::Release;
    if active() {
        // Who looks at the guard before it calls us does so by an atomic load.
        let atomic = Atomic { address: guard as usize, size: 1, pc };
        atomic.begin(raddle_model::Kind::Store, RELEASE).go();
        // SAFETY: the program's own guard.
        unsafe { guard.write_volatile(1) };
        atomic.done(true, true);
        locks::once_leave(guard as usize, true, pc);
    } else {
        // SAFETY: our own argument.
        unsafe { real!(__cxa_guard_release(*mut u8))(guard) };
    }
}

unsafe extern "C" fn guard_abort(guard: *mut u8, pc: usize) {
    if active() {
        locks::once_leave(guard as usize, false, pc);
    } else {
        // SAFETY: our own argument.
        unsafe { real!(__cxa_guard_abort(*mut u8))(guard) };
    }
}

hook! {
    __cxa_guard_acquire rsi => guard_acquire;
    __cxa_guard_release rsi => guard_release;
    __cxa_guard_abort rsi => guard_abort;
}
