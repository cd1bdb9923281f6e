//! Atomic operations on sixteen bytes. Rust has no type for them; the processor has one instruction, which all others
//! are made of. Their arguments take two registers each, so where a function was called from comes on the stack.

use crate::atomics::{arrive, arrive_exchange, order};
use core::arch::asm;
use raddle_model::Kind;

const SIZE: usize = 16;

/// Compares and exchanges. Gives back what was there.
///
/// # Safety
/// The program says that sixteen bytes, aligned, lie there.
unsafe fn exchange_if(address: usize, expected: u128, value: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: as the caller says. The compiler keeps rbx for itself, so it is put back.
    unsafe {
        asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            in("rdi") address,
            inout("rsi") value as u64 => _,
            in("rcx") (value >> 64) as u64,
            inout("rax") low,
            inout("rdx") high,
            options(nostack),
        );
    }
    u128::from(low) | u128::from(high) << 64
}

/// What is there: written back as it was, since there is no other indivisible way to read it.
///
/// # Safety
/// As above.
unsafe fn get(address: usize) -> u128 {
    // SAFETY: as above.
    unsafe { exchange_if(address, 0, 0) }
}

fn change(address: usize, order: i32, pc: usize, kind: Kind, how: impl Fn(u128) -> u128) -> u128 {
    let atomic = arrive(kind, address, SIZE, order, pc);
    // SAFETY: the program says that an atomic of this size lies there.
    let mut old = unsafe { get(address) };
    loop {
        // SAFETY: as above.
        let found = unsafe { exchange_if(address, old, how(old)) };
        if found == old {
            if let Some(atomic) = atomic {
                atomic.done(true, how(old) != old);
            }
            return old;
        }
        old = found;
    }
}

unsafe extern "C" fn load(address: usize, order: i32, pc: usize) -> u128 {
    if let Some(atomic) = arrive(Kind::Load, address, SIZE, order, pc) {
        atomic.done(false, false);
    }
    // SAFETY: as above.
    unsafe { get(address) }
}

unsafe extern "C" fn store(address: usize, value: u128, order: i32, pc: usize) {
    change(address, order, pc, Kind::Store, |_| value);
}

macro_rules! changes {
    ($($inner:ident = |$old:ident, $value:ident| $new:expr;)*) => {$(
        unsafe extern "C" fn $inner(address: usize, $value: u128, order: i32, pc: usize) -> u128 {
            change(address, order, pc, Kind::Rmw, |$old| $new)
        }
    )*};
}

changes! {
    swap = |_old, value| value;
    add = |old, value| old.wrapping_add(value);
    sub = |old, value| old.wrapping_sub(value);
    and = |old, value| old & value;
    or = |old, value| old | value;
    xor = |old, value| old ^ value;
    nand = |old, value| !(old & value);
}

fn compare(address: usize, expected: u128, value: u128, success: i32, failure: i32, pc: usize) -> u128 {
    let atomic = arrive_exchange(address, SIZE, success, pc);
    // SAFETY: as above.
    let found = unsafe { exchange_if(address, expected, value) };
    match atomic {
        Some(atomic) if found == expected => atomic.done(true, expected != value),
        Some(atomic) => atomic.failed(order(failure)),
        None => {}
    }
    found
}

unsafe extern "C" fn exchange(
    address: usize,
    expected: *mut u128,
    value: u128,
    order: i32,
    failure: i32,
    pc: usize,
) -> bool {
    // SAFETY: the program's own variable.
    let old = unsafe { *expected };
    let found = compare(address, old, value, order, failure, pc);
    if found != old {
        // SAFETY: as above.
        unsafe { *expected = found };
    }
    found == old
}

unsafe extern "C" fn value(
    address: usize,
    expected: u128,
    value: u128,
    order: i32,
    failure: i32,
    pc: usize,
) -> u128 {
    compare(address, expected, value, order, failure, pc)
}

hook! {
    __tsan_atomic128_load rdx => load;
    __tsan_atomic128_store r8 => store;
    __tsan_atomic128_exchange r8 => swap;
    __tsan_atomic128_fetch_add r8 => add;
    __tsan_atomic128_fetch_sub r8 => sub;
    __tsan_atomic128_fetch_and r8 => and;
    __tsan_atomic128_fetch_or r8 => or;
    __tsan_atomic128_fetch_xor r8 => xor;
    __tsan_atomic128_fetch_nand r8 => nand;
}

/// The address comes where a seventh register would be, if there were one.
macro_rules! stacked {
    ($($name:ident => $inner:path, $before:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, with the place that it was called from.")]
        ///
        /// # Safety
        /// As for the function of this name that the program expects.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                // Said for whoever looks for callers.
                ".cfi_startproc",
                $before,
                "call {inner}",
                "add rsp, 24",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                inner = sym $inner,
            )
        }
    )*};
}

stacked! {
    // One more on the stack: the address.
    __tsan_atomic128_compare_exchange_strong => exchange,
        "mov rax, [rsp]\nsub rsp, 16\npush rax\n.cfi_def_cfa_offset 32";
    __tsan_atomic128_compare_exchange_weak => exchange,
        "mov rax, [rsp]\nsub rsp, 16\npush rax\n.cfi_def_cfa_offset 32";
    // The order of a failure is there already; the address goes behind it.
    __tsan_atomic128_compare_exchange_val => value,
        "mov rax, [rsp]\nmov r10, [rsp + 8]\nsub rsp, 8\npush rax\npush r10\n.cfi_def_cfa_offset 32";
}
