//! Processes that the program makes, and numbers that it draws from the kernel.

use crate::clocks::set_errno;
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_model::trace::Hidden;
use raddle_native::run::{self, active, with};
use raddle_native::{children, hidden};

/// Whether the program has made a process, which may have memory in common with this one.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Whether the program has made a process, which may have memory in common with this one.
#[inline(always)]
pub(crate) fn is_shared() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}

/// A copy of the process. It has the running thread only, and nobody controls it.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn fork() -> c_int {
    HAS_FORKED.store(true, Ordering::Relaxed);
    // The copy has whatever the others hold just now, and no operation says so.
    hidden::hides(Hidden::PROCESS);
    let life = children::expect();
    // SAFETY: libc's own.
    let child = unsafe { real!(fork() -> c_int)() };
    if child == 0 {
        run::deactivate();
    } else {
        life.begun();
    }
    child
}

/// The same: a copy that shares the memory would write into ours.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn vfork() -> c_int {
    // SAFETY: passed on to the caller.
    unsafe { fork() }
}

// A program may have functions of such names itself (see `common`).

/// What processes are made of: which one, program, what is done to files, attributes, arguments, environment.
type Spawn = unsafe extern "C" fn(*mut c_int, *const c_char, usize, usize, usize, usize) -> c_int;

/// A process that runs another program.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_posix_spawn(
    child: *mut c_int,
    path: *const c_char,
    actions: usize,
    attributes: usize,
    arguments: usize,
    environment: usize,
) -> c_int {
    let real: Spawn = real!(posix_spawn(*mut c_int, *const c_char, usize, usize, usize, usize) -> c_int);
    let life = children::expect();
    // SAFETY: our own arguments; so in all that follow.
    let result = unsafe { real(child, path, actions, attributes, arguments, environment) };
    life.begun();
    result
}

/// The same for a program that is looked for.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_posix_spawnp(
    child: *mut c_int,
    file: *const c_char,
    actions: usize,
    attributes: usize,
    arguments: usize,
    environment: usize,
) -> c_int {
    let real: Spawn = real!(posix_spawnp(*mut c_int, *const c_char, usize, usize, usize, usize) -> c_int);
    let life = children::expect();
    // SAFETY: as above.
    let result = unsafe { real(child, file, actions, attributes, arguments, environment) };
    life.begun();
    result
}

/// A command whose input or output is a stream.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_popen(command: *const c_char, how: *const c_char) -> *mut c_void {
    let life = children::expect();
    // SAFETY: as above.
    let stream = unsafe { real!(popen(*const c_char, *const c_char) -> *mut c_void)(command, how) };
    life.begun();
    stream
}

/// A command. What it leaves running is left.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_weak_system(command: *const c_char) -> c_int {
    let life = children::expect();
    // SAFETY: as above.
    let result = unsafe { real!(system(*const c_char) -> c_int)(command) };
    life.begun();
    result
}

/// Fills a buffer with numbers that are the same in every run of the same task.
fn draw(buffer: *mut u8, size: usize) {
    for at in 0..size {
        // SAFETY: the program's own buffer.
        unsafe { buffer.add(at).write(with(|run| run.draw()) as u8) };
    }
}

/// Random bytes.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn getrandom(buffer: *mut u8, size: usize, flags: c_uint) -> isize {
    if !active() {
        // SAFETY: our own arguments.
        return unsafe { real!(getrandom(*mut u8, usize, c_uint) -> isize)(buffer, size, flags) };
    }
    draw(buffer, size);
    size as isize
}

/// Random bytes.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn getentropy(buffer: *mut u8, size: usize) -> c_int {
    const AT_ONCE_MAX: usize = 256;
    const IO_ERROR: c_int = 5;
    if size > AT_ONCE_MAX {
        return set_errno(IO_ERROR);
    }
    if !active() {
        // SAFETY: our own arguments.
        return unsafe { real!(getentropy(*mut u8, usize) -> c_int)(buffer, size) };
    }
    draw(buffer, size);
    0
}

/// A random number.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn arc4random() -> c_uint {
    if !active() {
        // SAFETY: libc's own.
        return unsafe { real!(arc4random() -> c_uint)() };
    }
    with(|run| run.draw()) as c_uint
}

/// Random bytes.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn arc4random_buf(buffer: *mut c_void, size: usize) {
    if active() {
        draw(buffer.cast(), size);
    } else {
        // SAFETY: our own arguments.
        unsafe { real!(arc4random_buf(*mut c_void, usize))(buffer, size) };
    }
}

/// A random number below a bound.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn arc4random_uniform(bound: c_uint) -> c_uint {
    if !active() {
        // SAFETY: libc's own.
        return unsafe { real!(arc4random_uniform(c_uint) -> c_uint)(bound) };
    }
    // The part of 64 bits that lies below the bound: even enough for anybody.
    with(|run| ((u128::from(run.draw()) * u128::from(bound)) >> 64) as c_uint)
}
