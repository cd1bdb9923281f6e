//! `Barrier` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Barrier};
use raddle::thread;
use std::collections::BTreeSet;

#[test]
fn nobody_passes_before_all_are_there_and_one_leads() {
    let leaders = outcomes(|| {
        let shared = Arc::new((Barrier::new(3), AtomicUsize::new(0)));
        let waits = |me: usize, shared: Arc<(Barrier, AtomicUsize)>| {
            move || {
                let mut led = Vec::new();
                for round in 1..=2 {
                    shared.1.fetch_add(1, Ordering::SeqCst);
                    if shared.0.wait().is_leader() {
                        led.push((round, me));
                    }
                    assert!(shared.1.load(Ordering::SeqCst) >= 3 * round);
                }
                led
            }
        };
        let tasks = [1, 2].map(|me| thread::spawn(waits(me, shared.clone())));
        let mut led = waits(0, shared)();
        tasks.into_iter().for_each(|task| led.extend(task.join().unwrap()));
        led.sort_unstable();
        assert_eq!(led.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [1, 2]);
        led[0].1
    });
    assert_eq!(leaders, BTreeSet::from([0, 1, 2]));
}

#[test]
fn too_few_is_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        Barrier::new(2).wait();
    }));
}

#[test]
fn none_counts_as_one() {
    passes(|| assert!(Barrier::new(0).wait().is_leader() && Barrier::new(1).wait().is_leader()));
    assert!(Barrier::new(0).wait().is_leader());
}

#[test]
fn works_outside_then_inside_then_outside() {
    let barrier = Arc::new(Barrier::new(2));
    let meet = |barrier: &Barrier| {
        let leaders: usize = std::thread::scope(|scope| {
            let tasks = [scope.spawn(|| barrier.wait()), scope.spawn(|| barrier.wait())];
            tasks.into_iter().map(|task| usize::from(task.join().unwrap().is_leader())).sum()
        });
        assert_eq!(leaders, 1);
    };
    meet(&barrier);
    let shared = barrier.clone();
    passes(move || {
        let other = shared.clone();
        let task = thread::spawn(move || other.wait().is_leader());
        assert_ne!(shared.wait().is_leader(), task.join().unwrap());
    });
    meet(&barrier);
    assert_eq!(format!("{barrier:?}"), "Barrier { .. }");
    assert_eq!(format!("{:?}", Barrier::new(1).wait()), "BarrierWaitResult { is_leader: true }");
}
