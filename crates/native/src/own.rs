//! What the runtime calls where compilers mean `memcpy` and its relatives: the program's are accesses, and libc's may be in
//! the middle of being replaced. Most calls are for a few bytes, for which the processor's own repetition takes many
//! times as long as a move or two.

use core::arch::naked_asm;

macro_rules! own {
    ($($name:ident($($type:ty),*) -> $result:ty: $($line:literal),*;)*) => {$(
        #[doc = concat!("What the runtime calls instead of libc's: `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As libc's.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($(_: $type),*) -> $result {
            naked_asm!($($line),*)
        }
    )*};
}

/// Up to 32 bytes are moved by all loads, then all stores: it does not matter whether they overlap. More goes on at `2:`.
macro_rules! move_few {
    ($($more:literal),*) => {
        naked_asm!(
            "mov rax, rdi",
            "cmp rdx, 32",
            "ja 2f",
            "cmp edx, 16",
            "jae 3f",
            "cmp edx, 8",
            "jae 4f",
            "cmp edx, 4",
            "jae 5f",
            "test edx, edx",
            "jz 6f",
            // One to three: the first, the one in the middle, the last.
            "mov r9d, edx",
            "shr r9d, 1",
            "movzx ecx, byte ptr [rsi]",
            "movzx r8d, byte ptr [rsi + r9]",
            "movzx r10d, byte ptr [rsi + rdx - 1]",
            "mov [rdi], cl",
            "mov [rdi + r9], r8b",
            "mov [rdi + rdx - 1], r10b",
            "6:",
            "ret",
            "5:",
            "mov ecx, [rsi]",
            "mov r8d, [rsi + rdx - 4]",
            "mov [rdi], ecx",
            "mov [rdi + rdx - 4], r8d",
            "ret",
            "4:",
            "mov rcx, [rsi]",
            "mov r8, [rsi + rdx - 8]",
            "mov [rdi], rcx",
            "mov [rdi + rdx - 8], r8",
            "ret",
            "3:",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + rdx - 16], xmm1",
            "ret",
            "2:",
            $($more),*
        )
    };
}

/// What the runtime calls instead of libc's `memcpy`.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_own_memcpy(_: *mut u8, _: *const u8, _: usize) -> *mut u8 {
    move_few!(
        "cmp rdx, 256",
        "ja 8f",
        // The last 16 bytes are moved whatever was moved before.
        "movups xmm1, [rsi + rdx - 16]",
        "lea r8, [rdi + rdx - 16]",
        "7:",
        "movups xmm0, [rsi]",
        "movups [rdi], xmm0",
        "add rsi, 16",
        "add rdi, 16",
        "cmp rdi, r8",
        "jb 7b",
        "movups [r8], xmm1",
        "ret",
        "8:",
        "mov rcx, rdx",
        "rep movsb",
        "ret"
    )
}

/// What the runtime calls instead of libc's `memmove`.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raddle_own_memmove(_: *mut u8, _: *const u8, _: usize) -> *mut u8 {
    move_few!(
        "mov r8, rdi",
        "sub r8, rsi",
        "cmp r8, rdx",
        "jb 8f",
        "mov rcx, rdx",
        "rep movsb",
        "ret",
        // They overlap, and the end must be moved first. Then the beginning is no longer what it was.
        "8:",
        "movups xmm1, [rsi]",
        "7:",
        "movups xmm0, [rsi + rdx - 16]",
        "movups [rdi + rdx - 16], xmm0",
        "sub rdx, 16",
        "cmp rdx, 16",
        "ja 7b",
        "movups [rdi], xmm1",
        "ret"
    )
}

own! {
    raddle_own_memset(*mut u8, i32, usize) -> *mut u8: "mov rax, rdi", "movzx esi, sil", "mov r8, 0x0101010101010101", "imul r8, rsi", "cmp rdx, 16", "jb 3f",
        "cmp rdx, 256", "ja 8f",
        "movq xmm0, r8", "punpcklqdq xmm0, xmm0", "lea r9, [rdi + rdx - 16]",
        "7:", "movups [rdi], xmm0", "add rdi, 16", "cmp rdi, r9", "jb 7b", "movups [r9], xmm0", "ret",
        "3:", "cmp edx, 8", "jb 4f", "mov [rdi], r8", "mov [rdi + rdx - 8], r8", "ret",
        "4:", "cmp edx, 4", "jb 5f", "mov [rdi], r8d", "mov [rdi + rdx - 4], r8d", "ret",
        "5:", "test edx, edx", "jz 6f", "mov r9d, edx", "shr r9d, 1", "mov [rdi], r8b", "mov [rdi + r9], r8b",
        "mov [rdi + rdx - 1], r8b", "6:", "ret",
        "8:", "mov r9, rdi", "mov eax, esi", "mov rcx, rdx", "rep stosb", "mov rax, r9", "ret";
    // Eight bytes at a time; of eight that differ the first decides, which is the highest once they are turned round.
    raddle_own_memcmp(*const u8, *const u8, usize) -> i32: "xor eax, eax", "2:", "sub rdx, 8", "jb 4f", "mov rcx, [rdi]", "mov r8, [rsi]", "add rdi, 8", "add rsi, 8",
        "cmp rcx, r8", "je 2b", "bswap rcx", "bswap r8", "cmp rcx, r8", "sbb eax, eax", "or eax, 1", "ret",
        "4:", "add rdx, 8", "jz 6f", "5:", "movzx eax, byte ptr [rdi]", "movzx r8d, byte ptr [rsi]", "inc rdi", "inc rsi",
        "sub eax, r8d", "jnz 6f", "dec rdx", "jnz 5b", "6:", "ret";
    raddle_own_bcmp(*const u8, *const u8, usize) -> i32: "2:", "sub rdx, 8", "jb 4f", "mov rax, [rdi]", "sub rax, [rsi]", "jnz 3f", "add rdi, 8", "add rsi, 8",
        "jmp 2b", "3:", "mov eax, 1", "ret",
        "4:", "xor eax, eax", "add rdx, 8", "jz 6f", "5:", "mov al, [rdi]", "sub al, [rsi]", "jnz 6f", "inc rdi", "inc rsi",
        "dec rdx", "jnz 5b", "6:", "ret";
    raddle_own_strlen(*const u8) -> usize: "xor eax, eax", "2:", "cmp byte ptr [rdi + rax], 0", "je 3f", "inc rax", "jmp 2b", "3:", "ret";
}

#[cfg(test)]
mod tests {
    use super::*;
    type Move = unsafe extern "C" fn(*mut u8, *const u8, usize) -> *mut u8;

    const SIZES: core::ops::Range<usize> = 0..600;

    fn bytes() -> [u8; 1400] {
        core::array::from_fn(|at| (at * 7 + at / 251) as u8)
    }

    #[test]
    fn moves_of_all_sizes_move_just_these_bytes() {
        let (copy, shift): (Move, Move) = (raddle_own_memcpy, raddle_own_memmove);
        for size in SIZES {
            // Apart, and overlapping by more or less, upwards and downwards.
            for (how, from, to) in [
                (copy, 3, 701),
                (shift, 3, 701),
                (shift, 40, 41),
                (shift, 41, 40),
                (shift, 9, 40),
                (shift, 300, 9),
            ] {
                let mut here = bytes();
                let mut wanted = here;
                wanted.copy_within(from..from + size, to);
                // SAFETY: both lie within.
                let moved = unsafe { how(here.as_mut_ptr().add(to), here.as_ptr().add(from), size) };
                assert_eq!(moved as usize, here.as_ptr() as usize + to);
                assert!(here == wanted, "{size} from {from} to {to}");
            }
        }
    }

    #[test]
    fn all_sizes_are_set() {
        for size in SIZES {
            let mut here = bytes();
            let mut wanted = here;
            wanted[5..5 + size].fill(0xa7);
            // SAFETY: it lies within.
            let given = unsafe { raddle_own_memset(here.as_mut_ptr().add(5), 0x3a7, size) };
            assert_eq!(given as usize, here.as_ptr() as usize + 5);
            assert!(here == wanted, "{size}");
        }
    }

    #[test]
    fn the_first_difference_decides() {
        for size in 0..70 {
            let one = bytes();
            // SAFETY: both lie within.
            let both = |other: &[u8]| unsafe {
                (
                    raddle_own_memcmp(one.as_ptr(), other.as_ptr(), size),
                    raddle_own_bcmp(one.as_ptr(), other.as_ptr(), size),
                )
            };
            assert_eq!(both(&one), (0, 0), "{size}");
            for at in 0..70 {
                let mut other = one;
                // What comes after the first difference does not matter.
                other[at] = other[at].wrapping_add(100);
                other[at + 1] = 0;
                let (ordering, different) = both(&other);
                let wanted = one[..size].cmp(&other[..size]) as i32;
                assert_eq!((ordering.signum(), different != 0), (wanted, wanted != 0), "{size} {at}");
            }
        }
    }
}
