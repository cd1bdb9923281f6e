//! Clocks and sleeps.

use core::ffi::{c_int, c_uint, c_void};
use raddle_native::run::active;
use raddle_native::time::{self, SECOND, TimeSpec};
use raddle_native::timers::{self, Event};

const INVALID: c_int = 22;
const ABSOLUTE: c_int = 1;
/// Clocks that a program may read the processor's time by.
const KNOWN_CLOCKS: core::ops::Range<c_int> = 0..12;

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

pub(crate) fn set_errno(error: c_int) -> c_int {
    // SAFETY: this thread's own.
    unsafe { *__errno_location() = error };
    -1
}

unsafe extern "C" fn sleep_(seconds: c_uint, pc: usize) -> c_uint {
    if !active() {
        // SAFETY: our own arguments; so in all calls of libc below.
        return unsafe { real!(sleep(c_uint) -> c_uint)(seconds) };
    }
    time::sleep(u64::from(seconds) * SECOND, pc);
    0
}

unsafe extern "C" fn usleep_(microseconds: c_uint, pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(usleep(c_uint) -> c_int)(microseconds) };
    }
    time::sleep(u64::from(microseconds) * 1000, pc);
    0
}

unsafe extern "C" fn nanosleep_(wanted: *const TimeSpec, rest: *mut TimeSpec, pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(nanosleep(*const TimeSpec, *mut TimeSpec) -> c_int)(wanted, rest) };
    }
    // SAFETY: the program's own variable.
    match unsafe { *wanted }.get() {
        Some(length) => {
            time::sleep(length, pc);
            0
        }
        None => set_errno(INVALID),
    }
}

unsafe extern "C" fn clock_nanosleep_(
    clock: c_int,
    flags: c_int,
    wanted: *const TimeSpec,
    rest: *mut TimeSpec,
    pc: usize,
) -> c_int {
    if !active() {
        let real = real!(clock_nanosleep(c_int, c_int, *const TimeSpec, *mut TimeSpec) -> c_int);
        // SAFETY: as above.
        return unsafe { real(clock, flags, wanted, rest) };
    }
    // SAFETY: the program's own variable.
    let Some(moment) = unsafe { *wanted }.get() else { return INVALID };
    time::sleep(if flags & ABSOLUTE != 0 { time::until(clock, moment) } else { moment }, pc);
    0
}

/// Reads a clock.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_gettime(clock: c_int, result: *mut TimeSpec) -> c_int {
    if !active() || !KNOWN_CLOCKS.contains(&clock) {
        // SAFETY: as above.
        return unsafe { real!(clock_gettime(c_int, *mut TimeSpec) -> c_int)(clock, result) };
    }
    // SAFETY: the program's own variable.
    unsafe { *result = TimeSpec::new(time::now(clock)) };
    0
}

/// Reads the clock on the wall.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn gettimeofday(result: *mut TimeSpec, zone: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(gettimeofday(*mut TimeSpec, *mut c_void) -> c_int)(result, zone) };
    }
    let now = TimeSpec::new(time::now(0));
    // A timeval is the same with microseconds.
    let now = TimeSpec { nanoseconds: now.nanoseconds / 1000, ..now };
    if !result.is_null() {
        // SAFETY: the program's own variable.
        unsafe { *result = now };
    }
    0
}

/// Reads the clock on the wall.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn time(result: *mut i64) -> i64 {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(time(*mut i64) -> i64)(result) };
    }
    let now = TimeSpec::new(time::now(0)).seconds;
    if !result.is_null() {
        // SAFETY: the program's own variable.
        unsafe { *result = now };
    }
    now
}

/// Processor time that was used: as much as there was time.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn clock() -> i64 {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(clock() -> i64)() };
    }
    (time::now(1) / 1000) as i64
}

unsafe extern "C" fn sched_yield_(pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(sched_yield() -> c_int)() };
    }
    time::offer(pc);
    0
}

/// The kernel's answer with libc's way to tell of errors.
fn answer(result: isize) -> c_int {
    if result < 0 { set_errno(-result as c_int) } else { result as c_int }
}

unsafe extern "C" fn timer_create_(clock: c_int, event: *const Event, id: *mut usize, pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(timer_create(c_int, *const Event, *mut usize) -> c_int)(clock, event, id) };
    }
    // SAFETY: the program's own variables.
    answer(unsafe { timers::create(clock, event, id, pc) })
}

/// Timers that libc has made, before there was anything to control, are not known by the kernel's number.
fn is_libcs(id: usize) -> bool {
    !active() || id > c_int::MAX as usize
}

/// A timer is no more.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_timer_delete(id: usize) -> c_int {
    if is_libcs(id) {
        // SAFETY: as above.
        return unsafe { real!(timer_delete(usize) -> c_int)(id) };
    }
    answer(timers::delete(id))
}

/// Says when a timer ends.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_timer_settime(id: usize, flags: c_int, new: usize, old: usize) -> c_int {
    if is_libcs(id) {
        // SAFETY: as above.
        return unsafe { real!(timer_settime(usize, c_int, usize, usize) -> c_int)(id, flags, new, old) };
    }
    answer(timers::set(id, flags, new, old))
}

/// When a timer ends.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_timer_gettime(id: usize, now: usize) -> c_int {
    if is_libcs(id) {
        // SAFETY: as above.
        return unsafe { real!(timer_gettime(usize, usize) -> c_int)(id, now) };
    }
    answer(timers::get(id, now))
}

/// How often a timer has ended unheard.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_timer_getoverrun(id: usize) -> c_int {
    if is_libcs(id) {
        // SAFETY: as above.
        return unsafe { real!(timer_getoverrun(usize) -> c_int)(id) };
    }
    answer(timers::overrun(id))
}

hook! {
    raddle_weak_timer_create rcx => timer_create_;
    sched_yield rdi => sched_yield_;
    pthread_yield rdi => sched_yield_;
    thrd_yield rdi => sched_yield_;
}

point! {
    sleep rsi => sleep_;
    usleep rsi => usleep_;
    nanosleep rdx => nanosleep_;
    clock_nanosleep r8 => clock_nanosleep_;
}
