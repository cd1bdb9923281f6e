//! Atomic operations. Under control each is a scheduling point and then happens in the program's own memory; its
//! memory order concerns sync order only. Values are sequentially consistent.

use crate::processes::is_shared;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, fence};
use raddle_model::{Kind, ObjectId, Op, Order};
use raddle_native::atomic::Atomic;
use raddle_native::run::{self, active, with};

/// The order that C's number stands for. Consume is treated as acquire, as compilers do.
pub(crate) fn order(number: i32) -> Order {
    match number & 0xff {
        0 => Order::Relaxed,
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// Comes to an access and waits for its turn. None if nobody controls the process.
#[inline(always)]
pub(crate) fn arrive(
    kind: Kind,
    address: usize,
    size: usize,
    memory_order: i32,
    pc: usize,
) -> Option<Atomic> {
    let atomic = Atomic { address, size, pc };
    active().then(|| {
        atomic.begin(kind, order(memory_order)).go();
        atomic
    })
}

/// The same for a compare-exchange.
#[inline(always)]
pub(crate) fn arrive_exchange(address: usize, size: usize, memory_order: i32, pc: usize) -> Option<Atomic> {
    let atomic = Atomic { address, size, pc };
    active().then(|| {
        atomic.begin_exchange(order(memory_order)).go();
        atomic
    })
}

macro_rules! atomics {
    ($($module:ident $int:ty, $atomic:ident:
        $load:ident $store:ident $swap:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident
        $strong:ident $weak:ident $val:ident;)*) => {$(
        mod $module {
            use super::*;

            const SIZE: usize = size_of::<$int>();

            fn at<'a>(address: usize) -> &'a $atomic {
                // SAFETY: the program says that an atomic of this size lies there.
                unsafe { $atomic::from_ptr(address as *mut $int) }
            }

            pub(super) unsafe extern "C" fn load(address: usize, order: i32, pc: usize) -> $int {
                if let Some(atomic) = arrive(Kind::Load, address, SIZE, order, pc) {
                    atomic.done(false, false);
                }
                at(address).load(SeqCst)
            }

            pub(super) unsafe extern "C" fn store(address: usize, value: $int, order: i32, pc: usize) {
                let atomic = arrive(Kind::Store, address, SIZE, order, pc);
                if let Some(atomic) = atomic
                    && !is_shared()
                {
                    let old = at(address).load(Relaxed);
                    at(address).store(value, Relaxed);
                    return atomic.done(true, old != value);
                }
                let old = at(address).swap(value, SeqCst);
                if let Some(atomic) = atomic {
                    atomic.done(true, old != value);
                }
            }

            #[inline(always)]
            fn change(address: usize, order: i32, pc: usize, how: impl Fn($int) -> $int) -> $int {
                let atomic = arrive(Kind::Rmw, address, SIZE, order, pc);
                if let Some(atomic) = atomic
                    && !is_shared()
                {
                    // All threads are on one kernel thread.
                    let old = at(address).load(Relaxed);
                    at(address).store(how(old), Relaxed);
                    atomic.done(true, how(old) != old);
                    return old;
                }
                let result = at(address).fetch_update(SeqCst, SeqCst, |old| Some(how(old)));
                let (Ok(old) | Err(old)) = result;
                if let Some(atomic) = atomic {
                    atomic.done(true, how(old) != old);
                }
                old
            }

            pub(super) unsafe extern "C" fn swap(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |_| value)
            }
            pub(super) unsafe extern "C" fn add(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| old.wrapping_add(value))
            }
            pub(super) unsafe extern "C" fn sub(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| old.wrapping_sub(value))
            }
            pub(super) unsafe extern "C" fn and(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| old & value)
            }
            pub(super) unsafe extern "C" fn or(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| old | value)
            }
            pub(super) unsafe extern "C" fn xor(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| old ^ value)
            }
            pub(super) unsafe extern "C" fn nand(address: usize, value: $int, order: i32, pc: usize) -> $int {
                change(address, order, pc, |old| !(old & value))
            }

            pub(super) unsafe extern "C" fn exchange(
                address: usize,
                expected: *mut $int,
                value: $int,
                order: i32,
                failure: i32,
                pc: usize,
            ) -> bool {
                // SAFETY: the program's own variable.
                let old = unsafe { *expected };
                match compare(address, old, value, order, failure, pc) {
                    Ok(_) => true,
                    Err(found) => {
                        // SAFETY: as above.
                        unsafe { *expected = found };
                        false
                    }
                }
            }

            pub(super) unsafe extern "C" fn value(
                address: usize,
                expected: $int,
                value: $int,
                order: i32,
                failure: i32,
                pc: usize,
            ) -> $int {
                let (Ok(found) | Err(found)) = compare(address, expected, value, order, failure, pc);
                found
            }

            #[inline(always)]
            fn compare(
                address: usize,
                expected: $int,
                value: $int,
                order: i32,
                failure: i32,
                pc: usize,
            ) -> Result<$int, $int> {
                let atomic = arrive_exchange(address, SIZE, order, pc);
                let result = at(address).compare_exchange(expected, value, SeqCst, SeqCst);
                match (atomic, result) {
                    (Some(atomic), Ok(_)) => atomic.done(true, expected != value),
                    (Some(atomic), Err(_)) => atomic.failed(super::order(failure)),
                    (None, _) => {}
                }
                result
            }
        }

        hook! {
            $load rdx => $module::load;
            $store rcx => $module::store;
            $swap rcx => $module::swap;
            $add rcx => $module::add;
            $sub rcx => $module::sub;
            $and rcx => $module::and;
            $or rcx => $module::or;
            $xor rcx => $module::xor;
            $nand rcx => $module::nand;
            $strong r9 => $module::exchange;
            $weak r9 => $module::exchange;
            $val r9 => $module::value;
        }
    )*};
}

atomics! {
    bits8 u8, AtomicU8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
        __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
        __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val;
    bits16 u16, AtomicU16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or
        __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong
        __tsan_atomic16_compare_exchange_weak __tsan_atomic16_compare_exchange_val;
    bits32 u32, AtomicU32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or
        __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong
        __tsan_atomic32_compare_exchange_weak __tsan_atomic32_compare_exchange_val;
    bits64 u64, AtomicU64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or
        __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong
        __tsan_atomic64_compare_exchange_weak __tsan_atomic64_compare_exchange_val;
}

unsafe extern "C" fn thread_fence(memory_order: i32, pc: usize) {
    if active() {
        let site = with(|run| run.site(pc));
        run::arrive(Op::new(Kind::Fence, ObjectId::NONE, site).order(order(memory_order)));
    }
    fence(SeqCst);
}

hook! {
    __tsan_atomic_thread_fence rsi => thread_fence;
}

/// Orders nothing between threads.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn __tsan_atomic_signal_fence(_: i32) {}
