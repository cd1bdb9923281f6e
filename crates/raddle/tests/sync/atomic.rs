//! Atomics: every operation gives what std's gives; and inside a run, interleavings.

use crate::common::{failure_of, outcomes, passes};
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};
use raddle::thread;
use std::collections::BTreeSet;

const ORDER: Ordering = Ordering::SeqCst;

#[test]
fn a_load_and_a_store_are_not_one_step() {
    let seen = outcomes(|| {
        let atomic = Arc::new(AtomicUsize::new(0));
        let other = atomic.clone();
        let add = |atomic: &AtomicUsize| atomic.store(atomic.load(ORDER) + 1, ORDER);
        let task = thread::spawn(move || add(&other));
        add(&atomic);
        task.join().unwrap();
        atomic.load(ORDER)
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn read_modify_writes_are_one_step() {
    passes(|| {
        let atomic = Arc::new(AtomicUsize::new(0));
        let other = atomic.clone();
        let task = thread::spawn(move || {
            other.fetch_add(1, ORDER);
            other.fetch_update(ORDER, ORDER, |value| Some(value + 1)).unwrap();
        });
        atomic.update(ORDER, ORDER, |value| value + 1);
        atomic.try_update(ORDER, ORDER, |value| Some(value + 1)).unwrap();
        task.join().unwrap();
        assert_eq!(atomic.load(ORDER), 4);
    });
}

/// The same calls on an atomic of std's and one of ours, and what they gave.
macro_rules! all_integer_operations {
    ($($name:ident),+) => {{
        let mut results: Vec<String> = Vec::new();
        $(
            let atomic = $name::new(5);
            results.push(format!("{}", atomic.load(ORDER)));
            atomic.store(6, ORDER);
            results.push(format!("{}", atomic.swap(7, ORDER)));
            results.push(format!("{:?}", atomic.compare_exchange(7, 8, ORDER, ORDER)));
            results.push(format!("{:?}", atomic.compare_exchange(7, 9, ORDER, ORDER)));
            results.push(format!("{:?}", atomic.compare_exchange_weak(1, 9, ORDER, ORDER)));
            #[expect(deprecated, reason = "std still has it")]
            results.push(format!("{}", atomic.compare_and_swap(8, 12, ORDER)));
            results.push(format!("{}", atomic.fetch_add(120, ORDER)));
            results.push(format!("{}", atomic.fetch_sub(1, ORDER)));
            results.push(format!("{}", atomic.fetch_and(0x5a, ORDER)));
            results.push(format!("{}", atomic.fetch_nand(0x3c, ORDER)));
            results.push(format!("{}", atomic.fetch_or(3, ORDER)));
            results.push(format!("{}", atomic.fetch_xor(0x55, ORDER)));
            results.push(format!("{}", atomic.fetch_max(9, ORDER)));
            results.push(format!("{}", atomic.fetch_min(3, ORDER)));
            results.push(format!("{:?}", atomic.fetch_update(ORDER, ORDER, |v| (v > 100).then_some(1))));
            results.push(format!("{:?}", atomic.try_update(ORDER, ORDER, |v| Some(v ^ 1))));
            results.push(format!("{}", atomic.update(ORDER, ORDER, |v| v ^ 2)));
            results.push(format!("{atomic:?}"));
            let mut atomic = atomic;
            *atomic.get_mut() ^= 4;
            // SAFETY: nobody else has the atomic.
            results.push(format!("{}", unsafe { *atomic.as_ptr() }));
            results.push(format!("{}", atomic.into_inner()));
            results.push(format!("{:?}", $name::default()));
            results.push(format!("{:?}", $name::from(3)));
        )+
        results
    }};
}

fn ours() -> Vec<String> {
    use raddle::sync::atomic::*;
    all_integer_operations!(
        AtomicU8,
        AtomicU16,
        AtomicU32,
        AtomicU64,
        AtomicUsize,
        AtomicI8,
        AtomicI16,
        AtomicI32,
        AtomicI64,
        AtomicIsize
    )
}

fn theirs() -> Vec<String> {
    use std::sync::atomic::*;
    all_integer_operations!(
        AtomicU8,
        AtomicU16,
        AtomicU32,
        AtomicU64,
        AtomicUsize,
        AtomicI8,
        AtomicI16,
        AtomicI32,
        AtomicI64,
        AtomicIsize
    )
}

#[test]
fn integers_do_what_stds_do() {
    let theirs = theirs();
    assert_eq!(ours(), theirs);
    passes(move || assert_eq!(ours(), theirs));
}

#[test]
fn booleans() {
    let operations = || {
        let atomic = AtomicBool::new(false);
        assert!(!atomic.fetch_not(ORDER));
        assert!(atomic.fetch_and(true, ORDER) && atomic.fetch_nand(true, ORDER));
        assert!(!atomic.fetch_or(true, ORDER) && atomic.fetch_xor(true, ORDER));
        assert_eq!(atomic.compare_exchange(false, true, ORDER, ORDER), Ok(false));
        assert!(atomic.swap(false, ORDER) && !atomic.into_inner());
        assert!(!AtomicBool::default().into_inner() && AtomicBool::from(true).into_inner());
    };
    operations();
    passes(operations);
}

#[test]
fn pointers() {
    let operations = || {
        let mut values = [1_u32, 2, 3];
        let first = &raw mut values[0];
        let atomic = AtomicPtr::new(first);
        assert_eq!(atomic.fetch_ptr_add(2, ORDER), first);
        assert_eq!(atomic.fetch_ptr_sub(1, ORDER), first.wrapping_add(2));
        assert_eq!(atomic.fetch_byte_add(4, ORDER), first.wrapping_add(1));
        assert_eq!(atomic.fetch_byte_sub(4, ORDER), first.wrapping_add(2));
        assert_eq!(atomic.fetch_or(1, ORDER), first.wrapping_add(1));
        assert_eq!(atomic.fetch_xor(1, ORDER), first.wrapping_add(1).wrapping_byte_add(1));
        assert_eq!(atomic.fetch_and(!0, ORDER), first.wrapping_add(1));
        // SAFETY: it points to the second element.
        assert_eq!(unsafe { *atomic.load(ORDER) }, 2);
        assert_eq!(atomic.swap(first, ORDER), first.wrapping_add(1));
        assert_eq!(format!("{atomic:?} {atomic:p}"), format!("{first:?} {first:p}"));
        assert!(AtomicPtr::<u32>::default().into_inner().is_null());
    };
    operations();
    passes(operations);
}

#[test]
fn orders_that_std_forbids_are_forbidden() {
    let failure = failure_of(|| AtomicU32::new(0).store(1, Ordering::Acquire));
    assert!(failure.contains("acquire store"), "{failure}");
    let failure = failure_of(|| {
        AtomicU32::new(0).load(Ordering::Release);
    });
    assert!(failure.contains("release load"), "{failure}");
}

#[test]
fn works_outside_a_run() {
    let atomic = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    atomic.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    fence(ORDER);
    assert_eq!(atomic.into_inner(), 4000);
}
