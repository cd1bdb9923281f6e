//! Assignments of structures as gcc has them: it calls the hook of the write, then the hook of the read, and does both after
//! that. So the two are one operation, and nobody may come in between. Only the code tells: on the way from the one hook to the
//! call of the other nothing is written, as it is after the hook of any other write.

/// Most instructions that make ready the second call.
const MOST: usize = 16;

/// What an instruction is, and its length.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    /// It changes registers alone.
    Over(usize),
    Call(usize),
    Other,
}

use Step::{Call, Other, Over};

/// Where the hook of the read will return to, if the hook of a write that returns to `pc` is the first half of an
/// assignment.
pub(crate) fn other_half(pc: usize) -> Option<usize> {
    let mut at = pc;
    for _ in 0..MOST {
        // SAFETY: the program's code, of which no more is read than it would execute.
        match unsafe { step(at as *const u8) } {
            Over(length) => at += length,
            Call(length) => return Some(at + length),
            Other => return None,
        }
    }
    None
}

/// # Safety
/// There must be an instruction.
unsafe fn step(code: *const u8) -> Step {
    // SAFETY: the caller says so; nothing is looked at beyond what the bytes before it say to be part of it.
    let byte = |at: usize| unsafe { *code.add(at) };
    let prefix = usize::from(byte(0) & 0xf0 == 0x40);
    let long = prefix == 1 && byte(0) & 8 != 0;
    let register = |at: usize| byte(prefix + at) >= 0xc0;
    match byte(prefix) {
        0xe8 => Call(prefix + 5),
        0xff if byte(prefix + 1) == 0x15 => Call(prefix + 6),
        // A number into a register.
        0xb8..=0xbf => Over(prefix + if long { 9 } else { 5 }),
        // Something into a register: mov, lea, movslq, add, sub, xor; movzb and its like.
        0x8b | 0x8d | 0x63 | 0x03 | 0x2b | 0x33 => Over(prefix + 1 + operand(|at| byte(prefix + 1 + at))),
        0x0f if matches!(byte(prefix + 1), 0xb6 | 0xb7 | 0xbe | 0xbf) => {
            Over(prefix + 2 + operand(|at| byte(prefix + 2 + at)))
        }
        // The same the other way round, if that is a register, too; and with a number.
        0x89 | 0x01 | 0x29 | 0x31 if register(1) => Over(prefix + 2),
        0x83 | 0xc1 if register(1) => Over(prefix + 3),
        0x81 | 0xc7 if register(1) => Over(prefix + 6),
        0x05 => Over(prefix + 5),
        0x98 | 0x90 => Over(prefix + 1),
        _ => Other,
    }
}

/// Bytes that say where something lies.
fn operand(byte: impl Fn(usize) -> u8) -> usize {
    let (way, base) = (byte(0) >> 6, byte(0) & 7);
    let indexed = way != 3 && base == 4;
    let distance = match way {
        3 => 0,
        0 if base == 5 || indexed && byte(1) & 7 == 5 => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    1 + usize::from(indexed) + distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &[u8]) -> Option<usize> {
        let start = code.as_ptr() as usize;
        other_half(start).map(|end| end - start)
    }

    #[test]
    fn a_call_that_nothing_is_written_before_is_the_other_half() {
        // mov $12, %esi; lea 0x0(%rip), %rax; mov %rax, %rdi; call
        let plain = [0xbe, 12, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0, 0x48, 0x89, 0xc7, 0xe8, 1, 2, 3, 4];
        assert_eq!(of(&plain), Some(plain.len()));
        // mov -0x20(%rbp), %rax; movslq 8(%rax,%rcx,4), %rdi; mov 0x100(%rsp), %r8; call *0x0(%rip)
        let loads = [
            0x48, 0x8b, 0x45, 0xe0, 0x48, 0x63, 0x7c, 0x88, 8, 0x4c, 0x8b, 0x84, 0x24, 0, 1, 0, 0, 0xff,
            0x15, 0, 0, 0, 0,
        ];
        assert_eq!(of(&loads), Some(loads.len()));
    }

    #[test]
    fn whoever_writes_first_has_written() {
        // movl $1, 0x0(%rip); mov %eax, -4(%rbp); movb %al, (%rdx); ret; rep movsq
        for code in [
            &[0xc7, 5, 0, 0, 0, 0, 1, 0, 0, 0][..],
            &[0x89, 0x45, 0xfc],
            &[0x88, 2],
            &[0xc3],
            &[0xf3, 0x48, 0xa5],
        ] {
            let mut all = alloc::vec::Vec::from([0xb8, 1, 0, 0, 0]);
            all.extend_from_slice(code);
            all.extend_from_slice(&[0xe8, 0, 0, 0, 0]);
            assert_eq!(of(&all), None, "{code:x?}");
        }
        assert_eq!(of(&[0x90; MOST + 1]), None);
    }
}
