//! Places in libc that make system calls, changed so that they come to us by a jump. A call that comes as a signal takes as
//! long as ten calls: the program's state is written to memory and read again, all of it. So a place is changed when it has been
//! seen once, in this process's own copy of libc's code, if it is written as compilers do it:
//!
//! ```text
//!     mov eax, NUMBER         becomes         jmp to a piece of code of our own
//!     syscall                 stays, for whoever jumps to it
//! ```
//!
//! For the program nothing is different from a system call: all registers but those that the kernel changes are kept, and
//! nothing is written to its stack, not even below its end. We work on the stack for signals, as we would otherwise.

use super::call;
use crate::signals;
use crate::site;
use crate::sys::{self, nr};
use core::arch::global_asm;
use core::ops::Range;

global_asm!(
    ".hidden raddle_site_call",
    ".globl raddle_site_call",
    ".cfi_startproc",
    ".cfi_undefined rip",
    // rax: the number; r11: where to go on. rcx and r11 are the kernel's to change.
    "raddle_site_call:",
    "mov rcx, rsp",
    // Whoever is on the stack for signals stays there: below are others who want to go on.
    "cmp qword ptr [rip + {busy}], 0",
    "jne 2f",
    "cmp rcx, [rip + {top}]",
    "ja 3f",
    "cmp rcx, [rip + {bottom}]",
    "jae 2f",
    "3:",
    "mov rsp, [rip + {top}]",
    "jmp 4f",
    "2:",
    "sub rsp, 128",
    "4:",
    "and rsp, -16",
    "push rcx",
    "push r11",
    "push qword ptr [rip + {busy}]",
    "mov qword ptr [rip + {busy}], 1",
    "push r9",
    "push r8",
    "push r10",
    "push rdx",
    "push rsi",
    "push rdi",
    "sub rsp, 264",
    "movaps [rsp], xmm0",
    "movaps [rsp + 16], xmm1",
    "movaps [rsp + 32], xmm2",
    "movaps [rsp + 48], xmm3",
    "movaps [rsp + 64], xmm4",
    "movaps [rsp + 80], xmm5",
    "movaps [rsp + 96], xmm6",
    "movaps [rsp + 112], xmm7",
    "movaps [rsp + 128], xmm8",
    "movaps [rsp + 144], xmm9",
    "movaps [rsp + 160], xmm10",
    "movaps [rsp + 176], xmm11",
    "movaps [rsp + 192], xmm12",
    "movaps [rsp + 208], xmm13",
    "movaps [rsp + 224], xmm14",
    "movaps [rsp + 240], xmm15",
    "mov rdi, rax",
    "lea rsi, [rsp + 264]",
    "call {made}",
    "movaps xmm0, [rsp]",
    "movaps xmm1, [rsp + 16]",
    "movaps xmm2, [rsp + 32]",
    "movaps xmm3, [rsp + 48]",
    "movaps xmm4, [rsp + 64]",
    "movaps xmm5, [rsp + 80]",
    "movaps xmm6, [rsp + 96]",
    "movaps xmm7, [rsp + 112]",
    "movaps xmm8, [rsp + 128]",
    "movaps xmm9, [rsp + 144]",
    "movaps xmm10, [rsp + 160]",
    "movaps xmm11, [rsp + 176]",
    "movaps xmm12, [rsp + 192]",
    "movaps xmm13, [rsp + 208]",
    "movaps xmm14, [rsp + 224]",
    "movaps xmm15, [rsp + 240]",
    "add rsp, 264",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop r10",
    "pop r8",
    "pop r9",
    "pop qword ptr [rip + {busy}]",
    "pop r11",
    "pop rcx",
    "mov rsp, rcx",
    "jmp r11",
    ".cfi_endproc",
    busy = sym BUSY,
    top = sym TOP,
    bottom = sym BOTTOM,
    made = sym made,
);

unsafe extern "C" {
    fn raddle_site_call();
}

/// Whether a call goes on. A run that ends in the middle of one leaves it so; it is put back as all memory is.
static mut BUSY: usize = 0;
/// The stack for signals.
static mut TOP: usize = 0;
static mut BOTTOM: usize = 0;

extern "C" fn made(number: usize, args: &[usize; 6]) -> isize {
    call(number, *args)
}

/// Bytes before the end of a call that are looked at: the two instructions, and what shows that they are two.
const LOOKED_AT: usize = 10;
const LOAD: usize = 5;
const CALL: usize = 2;

/// Whether these bytes, the last of which end a call, load this number and make the call.
fn is_plain(bytes: &[u8; LOOKED_AT], number: usize) -> bool {
    let number = (number as u32).to_le_bytes();
    let [a, b, before, 0xb8, n0, n1, n2, n3, 0x0f, 0x05] = *bytes else { return false };
    // It may be the end of another instruction: a load of another register, or of a part; or a constant that is put into
    // memory, or worked with, whose address ends in that byte.
    // Or an address that is put together from a register and a constant (`lea`, or a load from there).
    let prefixed = matches!(before, 0x40..=0x4f | 0x63 | 0x66 | 0x8b | 0x8d);
    let constant = |opcode: u8| matches!(opcode, 0xc7 | 0x81 | 0x69 | 0xf7);
    let in_memory = constant(b) && before & 0xc0 == 0x40 || constant(a) && b & 0xc7 == 0x44;
    [n0, n1, n2, n3] == number && !prefixed && !in_memory
}

const PAGE: usize = 4096;
/// For code of our own.
const AREA: usize = 2 * PAGE;
/// Bytes of each piece.
const PIECE: usize = 32;

/// Which places were changed.
#[derive(Debug)]
pub(in crate::reset) struct Sites {
    /// Where libc's code is.
    code: Range<usize>,
    /// Our own; 0 if there is none yet.
    area: usize,
    used: usize,
    /// It cannot be done here.
    hopeless: bool,
}

impl Sites {
    /// None is changed yet.
    pub(in crate::reset) fn new() -> Sites {
        let (bottom, top) = signals::stack();
        // SAFETY: written before anybody comes by a jump, by the one thread that there is.
        unsafe { (BOTTOM, TOP) = (bottom, top) };
        let known = site::a_function_of_libc();
        let mut code = 0..0;
        site::each_segment(|base, part| {
            let here = base + part.start()..base + part.end();
            if part.is_executable() && !part.is_writable() && here.contains(&known) {
                code = here;
            }
        });
        Sites { code, area: 0, used: 0, hopeless: false }
    }

    /// A call with this number has come as a signal: it goes on at `after`. From now on it comes by a jump, if it can.
    pub(super) fn seen(&mut self, after: usize, number: usize) {
        let within_page = after % PAGE >= LOOKED_AT;
        if self.hopeless
            || !within_page
            || !self.code.contains(&after)
            || !self.code.contains(&(after - LOOKED_AT))
        {
            return;
        }
        // SAFETY: code that has just been executed, within a page.
        let bytes = unsafe { ((after - LOOKED_AT) as *const [u8; LOOKED_AT]).read() };
        if is_plain(&bytes, number) && !self.change(after, number) {
            self.hopeless = true;
        }
    }

    fn change(&mut self, after: usize, number: usize) -> bool {
        const READ_WRITE: usize = 3;
        const READ_EXECUTE: usize = 5;
        const ALL: usize = 7;
        if self.area == 0 {
            self.area = area_near(&self.code);
        }
        if self.area == 0 || self.used + PIECE > AREA {
            return false;
        }
        let (piece, place) = (self.area + self.used, after - CALL - LOAD);
        let allow = |page: usize, size: usize, what: usize| {
            // SAFETY: our own code, or a page of libc's, which stays executable.
            unsafe { sys::call3(nr::MPROTECT, page & !(PAGE - 1), size, what) == 0 }
        };
        let Ok(distance) = i32::try_from(piece as isize - (place + LOAD) as isize) else { return false };
        if !allow(self.area, AREA, READ_WRITE) {
            return false;
        }
        let [n0, n1, n2, n3] = (number as u32).to_le_bytes();
        let [d0, d1, d2, d3] = distance.to_le_bytes();
        // SAFETY: room of our own.
        unsafe {
            let at = |offset: usize| (piece + offset) as *mut u8;
            // mov eax, number; mov r11, after; mov rcx, ours; jmp rcx
            at(0).cast::<[u8; 7]>().write([0xb8, n0, n1, n2, n3, 0x49, 0xbb]);
            at(7).cast::<usize>().write_unaligned(after);
            at(15).cast::<[u8; 2]>().write([0x48, 0xb9]);
            at(17).cast::<usize>().write_unaligned(raddle_site_call as *const () as usize);
            at(25).cast::<[u8; 2]>().write([0xff, 0xe1]);
        }
        self.used += PIECE;
        if !allow(self.area, AREA, READ_EXECUTE) || !allow(place, PAGE, ALL) {
            return false;
        }
        // SAFETY: the page can be written now, and the one thread that there is executes something else.
        unsafe { (place as *mut [u8; LOAD]).write([0xe9, d0, d1, d2, d3]) };
        allow(place, PAGE, READ_EXECUTE)
    }
}

/// Memory that code can be reached from and reach by a short jump; 0 if there is none.
fn area_near(code: &Range<usize>) -> usize {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NOREPLACE: usize = 0x2 | 0x20 | 0x10_0000;
    const STEP: usize = 1 << 20;
    const STEPS: usize = 1 << 10;
    let above = (code.end + STEP) & !(STEP - 1);
    let below = (code.start & !(STEP - 1)).saturating_sub(STEP);
    for wish in (0..STEPS).flat_map(|step| [below.saturating_sub(step * STEP), above + step * STEP]) {
        let args = [wish, AREA, READ_WRITE, PRIVATE_ANONYMOUS_NOREPLACE, usize::MAX, 0];
        // SAFETY: a new mapping where nothing is changes nothing that exists. It stays when the run is over, and what it holds
        // is not put back: nobody can write to it.
        let address = unsafe { sys::call(nr::MMAP, args) };
        if address == wish as isize {
            return wish;
        }
        if address > 0 {
            // SAFETY: nobody knows of it yet.
            unsafe { sys::call3(nr::MUNMAP, address as usize, AREA, 0) };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_call_is_known_by_its_two_instructions() {
        let is_plain = |before: [u8; 3], load: u8, number: usize| {
            let [a, b, c] = before;
            super::is_plain(&[a, b, c, load, 1, 1, 0, 0, 0x0f, 0x05], number)
        };
        // mov edi, [rsp + 8]; je; mov r8d, eax.
        for before in [[0x7c, 0x24, 0x08], [0x00, 0x74, 0x17], [0x41, 0x89, 0xc0]] {
            assert!(is_plain(before, 0xb8, 0x101), "{before:x?}");
            assert!(!is_plain(before, 0xb8, 0x102) && !is_plain(before, 0xb9, 0x101));
        }
        // mov r8d, number; mov dword ptr [rsp - 72], number; mov dword ptr [rdi - 72], number; a short constant; lea edi, [rax + number].
        for before in [[0, 0, 0x41], [0xc7, 0x44, 0x24], [0, 0xc7, 0x47], [0, 0, 0x66], [0, 0, 0x8d]] {
            assert!(!is_plain(before, 0xb8, 0x101), "{before:x?}");
        }
    }
}
