//! Streams of libc's: the program's buffers that they read and write are accesses like any other, and whoever has
//! locked a stream with `flockfile` keeps it from the others.
//!
//! A lock of a stream that the program takes itself is a mutex of ours and not libc's: a thread that is switched away
//! from while it has it must not hold up the kernel thread that runs all others. Once there is one, every call on that stream
//! takes it. Before that nothing can come between the beginning and the end of a call, and nothing is a scheduling point.
//!
//! What goes through a stream to a file that the run has made, a pipe for instance, is a call on that file: another thread may wait for it.

use crate::strings::{length, touched};
use core::ffi::c_int;
use raddle_model::trace::Hidden;
use raddle_native::locks::{self, Patience};
use raddle_native::run::{active, with};
use raddle_native::{hidden, io};

unsafe extern "C" {
    static stdin: usize;
    static stdout: usize;
    static stderr: usize;
    fn fileno(stream: usize) -> c_int;
}

mod number {
    pub(super) const READ: usize = 0;
    pub(super) const WRITE: usize = 1;
    pub(super) const CLOSE: usize = 3;
}

/// Libc's list of arguments, where they lie and which come next.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arguments {
    offsets: [u32; 2],
    areas: [usize; 2],
}

/// Does something on a stream, when nobody else has locked it.
fn on<R>(stream: usize, number: usize, pc: usize, work: impl FnOnce() -> R) -> R {
    let locked = active() && with(|run| run.objects.sync(stream).is_some());
    uses(stream, locked);
    if locked {
        locks::lock_stream(stream, Patience::Endless, pc);
    }
    let file = begin(stream, number, pc);
    let result = work();
    if file.is_some() {
        io::after(pc);
    }
    if locked {
        locks::unlock_stream(stream, pc);
    }
    result
}

/// Comes to the file behind a stream, if it is one of the run's own.
fn begin(stream: usize, number: usize, pc: usize) -> Option<c_int> {
    if !active() || stream == 0 {
        return None;
    }
    // SAFETY: the program's own stream.
    let file = Some(unsafe { fileno(stream) }).filter(|&fd| io::is_ours(fd))?;
    io::before(file, number, pc);
    Some(file)
}

unsafe extern "C" fn close(stream: usize, pc: usize) -> c_int {
    let file = begin(stream, number::CLOSE, pc);
    hidden::uses(Hidden::FILES, stream, true);
    hidden::gives_back(Hidden::FILES, stream);
    hidden::numbers_file();
    // SAFETY: as above.
    let result = unsafe { real!(fclose(usize) -> c_int)(stream) };
    if let Some(fd) = file {
        io::closed(fd);
        io::after(pc);
    }
    result
}

/// Those who have locked a stream are ordered by that, but not with those who use it without.
fn uses(stream: usize, locked: bool) {
    // What is printed the program does not see again.
    // SAFETY: libc's own variables.
    if unsafe { stream != stdout && stream != stderr } {
        hidden::uses(Hidden::FILES, stream, !locked);
    }
}

unsafe extern "C" fn lock(stream: usize, pc: usize) {
    if active() {
        uses(stream, true);
        locks::lock_stream(stream, Patience::Endless, pc);
    } else {
        // SAFETY: our own arguments; so in all calls of libc below.
        unsafe { real!(flockfile(usize))(stream) };
    }
}

unsafe extern "C" fn try_lock(stream: usize, pc: usize) -> c_int {
    if active() {
        uses(stream, true);
        return locks::lock_stream(stream, Patience::None, pc);
    }
    // SAFETY: as above.
    unsafe { real!(ftrylockfile(usize) -> c_int)(stream) }
}

unsafe extern "C" fn unlock(stream: usize, pc: usize) {
    if active() {
        locks::unlock_stream(stream, pc);
    } else {
        // SAFETY: as above.
        unsafe { real!(funlockfile(usize))(stream) };
    }
}

unsafe extern "C" fn write(buffer: usize, size: usize, count: usize, stream: usize, pc: usize) -> usize {
    touched(buffer, size.saturating_mul(count), false, pc);
    // SAFETY: as above.
    on(stream, number::WRITE, pc, || unsafe {
        real!(fwrite(usize, usize, usize, usize) -> usize)(buffer, size, count, stream)
    })
}

/// What is written is known afterwards only.
unsafe extern "C" fn read(buffer: usize, size: usize, count: usize, stream: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let read = on(stream, number::READ, pc, || unsafe {
        real!(fread(usize, usize, usize, usize) -> usize)(buffer, size, count, stream)
    });
    touched(buffer, size * read, true, pc);
    read
}

unsafe extern "C" fn read_line(buffer: usize, size: c_int, stream: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let line = on(stream, number::READ, pc, || unsafe {
        real!(fgets(usize, c_int, usize) -> usize)(buffer, size, stream)
    });
    if line != 0 {
        // SAFETY: libc has ended it.
        touched(buffer, unsafe { length(buffer, usize::MAX) } + 1, true, pc);
    }
    line
}

unsafe extern "C" fn write_text(text: usize, stream: usize, pc: usize) -> c_int {
    // SAFETY: the program's text; and as above.
    touched(text, unsafe { length(text, usize::MAX) } + 1, false, pc);
    // SAFETY: as above.
    on(stream, number::WRITE, pc, || unsafe { real!(fputs(usize, usize) -> c_int)(text, stream) })
}

unsafe extern "C" fn write_line(text: usize, pc: usize) -> c_int {
    // SAFETY: the program's text; and as above.
    unsafe {
        touched(text, length(text, usize::MAX) + 1, false, pc);
        on(stdout, number::WRITE, pc, || real!(puts(usize) -> c_int)(text))
    }
}

unsafe extern "C" fn write_character(character: c_int, stream: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    on(stream, number::WRITE, pc, || unsafe { real!(fputc(c_int, usize) -> c_int)(character, stream) })
}

unsafe extern "C" fn write_character_out(character: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { write_character(character, stdout, pc) }
}

unsafe extern "C" fn read_character(stream: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    on(stream, number::READ, pc, || unsafe { real!(fgetc(usize) -> c_int)(stream) })
}

unsafe extern "C" fn read_character_in(pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { read_character(stdin, pc) }
}

unsafe extern "C" fn flush(stream: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    on(stream, number::WRITE, pc, || unsafe { real!(fflush(usize) -> c_int)(stream) })
}

unsafe extern "C" fn print_to(stream: usize, format: usize, list: *mut Arguments, pc: usize) -> c_int {
    // SAFETY: as above.
    on(stream, number::WRITE, pc, || unsafe {
        real!(vfprintf(usize, usize, *mut Arguments) -> c_int)(stream, format, list)
    })
}

unsafe extern "C" fn print(format: usize, list: *mut Arguments, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { print_to(stdout, format, list, pc) }
}

type PrintInto = unsafe extern "C" fn(usize, usize, usize, *mut Arguments) -> c_int;

/// How long the text will be is asked first, so that the access is told before it happens.
unsafe extern "C" fn print_into(
    buffer: usize,
    size: usize,
    format: usize,
    list: *mut Arguments,
    pc: usize,
) -> c_int {
    let real: PrintInto = real!(vsnprintf(usize, usize, usize, *mut Arguments) -> c_int);
    // SAFETY: as above; the list is used twice, the first time as a copy.
    unsafe {
        if active() && size > 0 {
            let mut copy = *list;
            let length = real(0, 0, format, &raw mut copy);
            touched(buffer, (length.max(0) as usize).saturating_add(1).min(size), true, pc);
        }
        real(buffer, size, format, list)
    }
}

unsafe extern "C" fn print_into_all(buffer: usize, format: usize, list: *mut Arguments, pc: usize) -> c_int {
    // SAFETY: as above: the program says that there is room.
    unsafe { print_into(buffer, c_int::MAX as usize, format, list, pc) }
}

hook! {
    flockfile rsi => lock;
    ftrylockfile rsi => try_lock;
    funlockfile rsi => unlock;
    fwrite r8 => write;
    fread r8 => read;
    fgets rcx => read_line;
    fputs rdx => write_text;
    puts rsi => write_line;
    fputc rdx => write_character;
    putc rdx => write_character;
    putchar rsi => write_character_out;
    fgetc rsi => read_character;
    getc rsi => read_character;
    getchar rdi => read_character_in;
    fflush rsi => flush;
    fclose rsi => close;
    vfprintf rcx => print_to;
    vprintf rdx => print;
    vsnprintf r8 => print_into;
    vsprintf rcx => print_into_all;
}

/// A function with as many arguments as it is given: they are put where libc's list of arguments says that they are. The
/// number is that of the bytes of those that have names; the registers are those after them, for the list and for the
/// address that it returns to.
macro_rules! variadic {
    ($($name:ident $named:literal $list:ident $pc:ident => $inner:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As libc's.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov r10, [rsp]",
                "sub rsp, 216",
                ".cfi_def_cfa_offset 224",
                "mov [rsp + 32], rdi",
                "mov [rsp + 40], rsi",
                "mov [rsp + 48], rdx",
                "mov [rsp + 56], rcx",
                "mov [rsp + 64], r8",
                "mov [rsp + 72], r9",
                "movaps [rsp + 80], xmm0",
                "movaps [rsp + 96], xmm1",
                "movaps [rsp + 112], xmm2",
                "movaps [rsp + 128], xmm3",
                "movaps [rsp + 144], xmm4",
                "movaps [rsp + 160], xmm5",
                "movaps [rsp + 176], xmm6",
                "movaps [rsp + 192], xmm7",
                concat!("mov dword ptr [rsp], ", $named),
                "mov dword ptr [rsp + 4], 48",
                "lea r11, [rsp + 224]",
                "mov [rsp + 8], r11",
                "lea r11, [rsp + 32]",
                "mov [rsp + 16], r11",
                concat!("mov ", stringify!($pc), ", r10"),
                concat!("mov ", stringify!($list), ", rsp"),
                "call {inner}",
                "add rsp, 216",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                inner = sym $inner,
            )
        }
    )*};
}

variadic! {
    printf 8 rsi rdx => print;
    fprintf 16 rdx rcx => print_to;
    sprintf 16 rdx rcx => print_into_all;
    snprintf 24 rcx r8 => print_into;
}
