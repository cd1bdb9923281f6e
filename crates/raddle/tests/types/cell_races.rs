//! Cells: plain accesses are seen, races are found, and the sites of races become scheduling points.

use crate::verdict::{failure_of, passes};
use raddle::cell::{RaceCell, UnsafeCell};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

fn two(body: impl Fn() + Send + Sync + 'static) {
    let body = std::sync::Arc::new(body);
    let theirs = body.clone();
    let handle = thread::spawn(move || theirs());
    body();
    handle.join().unwrap();
}

#[test]
fn an_unsynchronized_write_is_a_race() {
    let (kind, _) = failure_of(|| {
        let cell = Arc::new(RaceCell::new(0));
        two(move || cell.set(1));
    });
    assert_eq!(kind, "race");
}

#[test]
fn a_lost_update_is_found_at_racing_sites() {
    let report = raddle::Check::new()
        .runs(2_000)
        .out(std::env::temp_dir().join(format!("raddle-test-cell-{}", std::process::id())))
        .explore(|| {
            let cell = Arc::new(RaceCell::new(0));
            two({
                let cell = cell.clone();
                move || cell.update(|n| n + 1)
            });
            assert_eq!(cell.get(), 2, "an update was lost");
        })
        .unwrap();
    let found = |kind: &str| report.failures().iter().any(|found| found.kind() == kind);
    assert!(found("race") && found("assertion"), "{}", report.text());
}

#[test]
fn a_lock_orders_accesses() {
    passes(|| {
        let cell = Arc::new((Mutex::new(()), RaceCell::new(0), Protected(UnsafeCell::new(0))));
        two({
            let cell = cell.clone();
            move || {
                let _lock = cell.0.lock().unwrap();
                cell.1.update(|n| n + 1);
                // SAFETY: the lock is held.
                cell.2.0.with_mut(|value| unsafe { *value += 1 });
            }
        });
        assert_eq!(cell.1.get(), 2);
        // SAFETY: nobody else is left.
        assert_eq!(cell.2.0.with(|value| unsafe { *value }), 2);
    });
}

struct Protected(UnsafeCell<u32>);
// SAFETY: tests touch it under a lock, or inside a run, where one task runs at a time.
unsafe impl Sync for Protected {}

#[test]
fn reads_of_an_unsafe_cell_do_not_race_and_a_write_does() {
    passes(|| {
        let cell = Arc::new(Protected(UnsafeCell::new(5)));
        // SAFETY: nobody writes.
        two(move || assert_eq!(cell.0.with(|value| unsafe { *value }), 5));
    });
    let (kind, _) = failure_of(|| {
        let cell = Arc::new(Protected(UnsafeCell::new(5)));
        let theirs = cell.clone();
        // SAFETY: one task runs at a time.
        let handle = thread::spawn(move || theirs.0.with_mut(|value| unsafe { *value = 6 }));
        // SAFETY: as above.
        cell.0.with(|value| unsafe { *value });
        handle.join().unwrap();
    });
    assert_eq!(kind, "race");
}

/// A loop that only looks at a cell lets others run, also where its site is no scheduling point yet.
#[test]
fn a_loop_on_a_plain_flag_ends() {
    let report = raddle::Check::new()
        .runs(200)
        .races(false)
        .out(std::env::temp_dir().join(format!("raddle-test-cell-{}", std::process::id())))
        .explore(|| {
            let flag = Arc::new(RaceCell::new(false));
            let theirs = flag.clone();
            let handle = thread::spawn(move || {
                thread::yield_now();
                theirs.set(true);
            });
            while !flag.get() {}
            handle.join().unwrap();
        })
        .unwrap();
    assert!(!report.failed(), "{}", report.text());
}

#[test]
fn the_rest_of_the_interface() {
    let mut cell = UnsafeCell::new(1);
    *cell.get_mut() = 2;
    // SAFETY: nobody else has it.
    unsafe { *cell.get() += 1 };
    assert_eq!(UnsafeCell::raw_get(&raw const cell), cell.get());
    assert_eq!(cell.into_inner(), 3);
    let unsized_cell: &UnsafeCell<[u8]> = &UnsafeCell::new([1, 2, 3]);
    // SAFETY: nobody else has it.
    assert_eq!(unsized_cell.with(|value| unsafe { (&*value).len() }), 3);
    let mut cell: RaceCell<u8> = RaceCell::default();
    *cell.get_mut() = 4;
    assert_eq!((cell.replace(5), cell.get(), cell.into_inner()), (4, 5, 5));
}

#[test]
fn outside_of_runs_a_lock_guards_it() {
    let cell = std::sync::Arc::new(RaceCell::new([0_u64; 8]));
    let threads: Vec<_> = (1..4)
        .map(|n| {
            let cell = cell.clone();
            thread::spawn(move || {
                for _ in 0..1000 {
                    cell.set([n; 8]);
                    let seen = cell.get();
                    assert!(seen.iter().all(|value| *value == seen[0]), "torn: {seen:?}");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
