//! Virtual time, chance and hints.

use crate::verdict::{passes, passes_runs};
use raddle::rand;
use raddle::sync::atomic::{AtomicBool, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use raddle::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::collections::BTreeSet;

#[test]
fn a_clock_shows_what_was_slept() {
    passes(|| {
        let begun = Instant::now();
        let calendar = SystemTime::now();
        thread::sleep(Duration::from_secs(100));
        assert!(begun.elapsed() >= Duration::from_secs(100));
        assert!(begun.elapsed() < Duration::from_secs(101));
        assert!(calendar.elapsed().unwrap() >= Duration::from_secs(100));
        assert!(Instant::now() < Instant::now(), "each reading takes time");
        let year = Duration::from_secs(31_536_000);
        assert!(UNIX_EPOCH + year * 30 < calendar && calendar < UNIX_EPOCH + year * 31);
    });
}

#[test]
fn time_passes_along_with_what_is_heard() {
    passes(|| {
        let begun = Instant::now();
        let handle = thread::spawn(|| thread::sleep(Duration::from_secs(5)));
        let lock = Arc::new(Mutex::new(()));
        drop(lock.lock().unwrap());
        assert!(begun.elapsed() < Duration::from_secs(1), "somebody else's sleep does not concern us");
        handle.join().unwrap();
        assert!(begun.elapsed() >= Duration::from_secs(5));
    });
}

#[test]
fn who_only_looks_at_the_clock_sees_time_pass() {
    let waits = || {
        let until = Instant::now() + Duration::from_secs(1);
        let mut readings = 0;
        while Instant::now() <= until {
            readings += 1;
        }
        readings
    };
    passes(move || {
        let first = waits();
        assert!(first < 2_000, "a second took {first} readings");
        thread::sleep(Duration::from_secs(1));
        assert_eq!(waits(), first, "who has slept begins again with short ones");
        let begun = Instant::now();
        let waiter = thread::spawn(waits);
        assert_eq!(waiter.join().unwrap(), first, "each task counts its own readings");
        assert!(begun.elapsed() >= Duration::from_secs(1), "who hears of it has waited, too");
    });
}

#[test]
fn arithmetic_is_that_of_std() {
    let body = || {
        let now = Instant::now();
        let later = now + Duration::from_millis(5);
        assert_eq!(later - now, Duration::from_millis(5));
        assert_eq!(now - later, Duration::ZERO);
        assert_eq!(now.checked_duration_since(later), None);
        assert_eq!(later.saturating_duration_since(now), Duration::from_millis(5));
        assert_eq!(later - Duration::from_millis(5), now);
        let mut moved = now;
        moved += Duration::from_secs(1);
        moved -= Duration::from_secs(1);
        assert_eq!(moved, now);
        assert!(now.checked_sub(Duration::from_secs(1)).is_some());
        assert!(now.checked_add(Duration::MAX).is_none());
        let real: std::time::SystemTime = SystemTime::now().into();
        assert!(SystemTime::from(real) > UNIX_EPOCH);
    };
    passes(body);
    body();
}

#[test]
fn real_and_virtual_moments_lie_on_different_clocks() {
    let real = Instant::now();
    passes(move || {
        assert!(real < Instant::now());
        assert_eq!(real.elapsed(), Duration::ZERO);
    });
}

#[test]
fn a_spin_loop_lets_others_run() {
    passes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let handle = thread::spawn(move || theirs.store(true, Ordering::Release));
        while !flag.load(Ordering::Acquire) {
            raddle::hint::spin_loop();
        }
        handle.join().unwrap();
    });
    raddle::hint::spin_loop();
    assert_eq!(raddle::hint::black_box(1), 1);
}

#[test]
fn every_outcome_of_a_choice_comes() {
    static SEEN: std::sync::Mutex<BTreeSet<(usize, i8, bool)>> = std::sync::Mutex::new(BTreeSet::new());
    passes_runs(2_000, || {
        let seen = (raddle::choose(3), rand::random_range(-2..=1), rand::random_bool(0.000_001));
        assert_eq!(rand::random_range(7..8), 7);
        assert!(!rand::random_bool(0.0) && rand::random_bool(1.0));
        SEEN.lock().unwrap().insert(seen);
    });
    assert_eq!(SEEN.lock().unwrap().len(), 3 * 4 * 2);
}

#[test]
fn wide_values() {
    static SEEN: std::sync::Mutex<BTreeSet<u64>> = std::sync::Mutex::new(BTreeSet::new());
    let body = || {
        SEEN.lock().unwrap().insert(rand::random());
        let fraction: f64 = rand::random();
        assert!((0.0..1.0).contains(&fraction));
        assert!((0.0..1.0).contains(&rand::random::<f32>()));
        assert!(rand::random_range(1_u64 << 40..) >= 1 << 40);
        let mut values = [1, 2, 3, 4, 5];
        rand::shuffle(&mut values);
        assert!(values.contains(rand::pick(&values).unwrap()));
        values.sort_unstable();
        assert_eq!(values, [1, 2, 3, 4, 5]);
        assert_eq!(rand::pick::<u8>(&[]), None);
        let mut buffer = [0; 33];
        rand::fill(&mut buffer);
        assert_ne!(buffer, [0; 33]);
    };
    passes_runs(100, body);
    assert!(SEEN.lock().unwrap().len() >= 100);
    body();
}

#[test]
fn a_choice_from_nothing_is_an_error() {
    let panic = std::panic::catch_unwind(|| raddle::choose(0)).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("something to choose from"));
}
