//! Functions of libc's that use what all threads have in common: files by their names, positions in files, the environment,
//! sequences of random numbers. They are passed on as they are. A search that goes by dependence does not know that their
//! order matters, so it is noted who calls them (`raddle_native::hidden`), and the search says so in the end.
//!
//! A program may have a function of such a name itself: these are weak. `raddle_weak_getenv` becomes `getenv` when the
//! runtime is packed.

use core::ffi::CStr;
use raddle_model::trace::Hidden;
use raddle_native::hidden::{numbers_file, uses};

const PREFIX: usize = "raddle_weak_".len();

/// What libc calls it.
const fn name(prefixed: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(prefixed.as_bytes().split_at(PREFIX).1) {
        Ok(name) => name,
        Err(_) => panic!(),
    }
}

/// A function that hands all on to libc's, whatever its arguments are, and takes note of the first three before.
macro_rules! noted {
    ($($note:path => $($name:ident)*;)*) => {$($(
        noted! { @one $name $note }
    )*)*};
    (@one $name:ident $note:path) => {
        #[doc = concat!("`", stringify!($name), "`, of which it is noted who calls it.")]
        ///
        /// # Safety
        /// As libc's.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            static ADDRESS: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
            #[used]
            #[cfg_attr(target_os = "linux", unsafe(link_section = "raddle_reals"))]
            static REAL: $crate::hook::Real =
                $crate::hook::Real { name: name(concat!(stringify!($name), "\0")), address: &ADDRESS };
            extern "C" fn note(first: usize, second: usize, third: usize) {
                if ADDRESS.load(core::sync::atomic::Ordering::Relaxed) == 0 {
                    REAL.find();
                }
                if raddle_native::run::active() {
                    $note(first, second, third);
                }
            }
            core::arch::naked_asm!(
                ".cfi_startproc",
                // Also how many numbers are in the other registers, which nobody touches here.
                "push rax",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                ".cfi_def_cfa_offset 64",
                "call {note}",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "pop rax",
                ".cfi_def_cfa_offset 8",
                "jmp [rip + {real}]",
                ".cfi_endproc",
                note = sym note,
                real = sym ADDRESS,
            )
        }
    };
}

// Which of what the process has one of; other numbers are handles of threads, which are addresses.
const ENVIRONMENT: usize = 1;
const DIRECTORY: usize = 2;
const RANDOM: usize = 3;
const TOKENS: usize = 4;
const CALENDAR: usize = 5;
const LOCALE: usize = 6;
const MASK: usize = 7;

/// Which processors there are for the process, or another process that will have the same.
fn parts(_: usize, _: usize, _: usize) {
    raddle_native::server::part();
}

/// All names of files together: which of them mean the same file only the kernel knows.
const NAMES: usize = usize::MAX;

fn reads_environment(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, ENVIRONMENT, false);
}

fn writes_environment(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, ENVIRONMENT, true);
}

fn reads_directory(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, DIRECTORY, false);
}

fn writes_directory(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, DIRECTORY, true);
}

fn draws(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, RANDOM, true);
}

fn cuts(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, TOKENS, true);
}

fn reckons(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, CALENDAR, true);
}

fn sets_locale(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, LOCALE, true);
}

fn sets_mask(_: usize, _: usize, _: usize) {
    uses(Hidden::PROCESS, MASK, true);
}

fn looks_up(_: usize, _: usize, _: usize) {
    uses(Hidden::FILES, NAMES, false);
}

/// A file that is new, and open.
fn makes(_: usize, _: usize, _: usize) {
    numbers_file();
    uses(Hidden::FILES, NAMES, true);
}

fn changes_names(_: usize, _: usize, _: usize) {
    uses(Hidden::FILES, NAMES, true);
}

/// Other flags than those to read what is there.
const CHANGES: usize = 0o3 | 0o100 | 0o1000;

fn opens(_: usize, flags: usize, _: usize) {
    numbers_file();
    uses(Hidden::FILES, NAMES, flags & CHANGES != 0);
}

fn opens_at(_: usize, _: usize, flags: usize) {
    numbers_file();
    uses(Hidden::FILES, NAMES, flags & CHANGES != 0);
}

fn opens_stream(_: usize, mode: usize, _: usize) {
    numbers_file();
    // SAFETY: the program's own text.
    let mode = unsafe { CStr::from_ptr(mode as *const core::ffi::c_char) }.to_bytes();
    uses(Hidden::FILES, NAMES, !mode.starts_with(b"r") || mode.contains(&b'+'));
}

/// A position in a file, or what is in it.
fn moves(file: usize, _: usize, _: usize) {
    uses(Hidden::FILES, file, true);
    // Those that are given a stream have no such number.
    if let Ok(fd) = i32::try_from(file) {
        raddle_native::mappings::calls_on(fd);
    }
}

fn moves_second(_: usize, file: usize, _: usize) {
    uses(Hidden::FILES, file, true);
}

fn moves_third(_: usize, _: usize, file: usize) {
    uses(Hidden::FILES, file, true);
}

noted! {
    reads_environment => raddle_weak_getenv raddle_weak_secure_getenv;
    writes_environment => raddle_weak_setenv raddle_weak_unsetenv raddle_weak_putenv
        raddle_weak_clearenv;
    reads_directory => raddle_weak_getcwd;
    writes_directory => raddle_weak_chdir raddle_weak_fchdir;
    draws => raddle_weak_rand raddle_weak_srand raddle_weak_random raddle_weak_srandom
        raddle_weak_drand48 raddle_weak_lrand48 raddle_weak_mrand48 raddle_weak_srand48;
    cuts => raddle_weak_strtok;
    reckons => raddle_weak_localtime raddle_weak_gmtime raddle_weak_asctime raddle_weak_ctime;
    sets_locale => raddle_weak_setlocale;
    sets_mask => raddle_weak_umask;
    looks_up => raddle_weak_access raddle_weak_faccessat raddle_weak_stat raddle_weak_lstat
        raddle_weak_fstatat raddle_weak_stat64 raddle_weak_lstat64 raddle_weak_fstatat64
        raddle_weak_statx raddle_weak_opendir raddle_weak_readlink raddle_weak_realpath;
    changes_names => raddle_weak_unlink raddle_weak_unlinkat raddle_weak_rename raddle_weak_renameat
        raddle_weak_mkdir raddle_weak_mkdirat raddle_weak_rmdir raddle_weak_link raddle_weak_symlink
        raddle_weak_truncate raddle_weak_truncate64 raddle_weak_chmod raddle_weak_remove
        raddle_weak_mkfifo raddle_weak_mkdtemp;
    makes => raddle_weak_creat raddle_weak_creat64 raddle_weak_mkstemp raddle_weak_mkstemp64
        raddle_weak_tmpfile raddle_weak_tmpfile64;
    opens => raddle_weak_open raddle_weak_open64;
    opens_at => raddle_weak_openat raddle_weak_openat64;
    opens_stream => raddle_weak_fopen raddle_weak_fopen64;
    moves => raddle_weak_lseek raddle_weak_lseek64 raddle_weak_ftruncate raddle_weak_ftruncate64
        raddle_weak_pread raddle_weak_pread64 raddle_weak_pwrite raddle_weak_pwrite64
        raddle_weak_fseek raddle_weak_fseeko raddle_weak_fseeko64 raddle_weak_ftello64
        raddle_weak_ftell raddle_weak_ftello raddle_weak_rewind;
    moves_second => raddle_weak_ungetc;
    moves_third => raddle_weak_getline;
    parts => raddle_weak_sched_getaffinity raddle_weak_sched_setaffinity raddle_weak_get_nprocs
        raddle_weak_sysconf;
}

#[expect(non_snake_case, reason = "libc's names have two underscores")]
pub mod at_the_end {
    //! What is registered for the end of the process, or of a thread.

    use super::name;

    noted! {
        crate::start::registers => raddle_weak___cxa_atexit raddle_weak_on_exit
            raddle_weak___cxa_thread_atexit_impl;
    }
}
