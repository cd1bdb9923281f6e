//! What a campaign takes does not grow with the number of its runs: memory, files and threads after
//! many runs are what they were once everything was warm.
#![cfg(target_os = "linux")]

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Check, Report, thread};
use raddle_analysis::statistics::Distinct;
use std::fs;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How far the resident memory may grow. One leaked allocation a run would be more than this in the
/// shorter tier already.
const GROWTH_BYTES_MAX: i64 = 2 << 20;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Taken {
    resident_bytes: i64,
    files: usize,
    threads: usize,
}

fn taken() -> Taken {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: i64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    let count = |directory| fs::read_dir(directory).unwrap().count();
    // Pages have 4 KiB on all that this is tested on; on others the bound is a little tighter or wider.
    Taken { resident_bytes: pages * 4096, files: count("/proc/self/fd"), threads: count("/proc/self/task") }
}

/// What was taken in the run `warm` of the current campaign, and in its last.
static SEEN: std::sync::Mutex<[Option<Taken>; 2]> = std::sync::Mutex::new([None; 2]);
static BODIES: AtomicU64 = AtomicU64::new(0);

/// Checks `body` for so many runs, and compares what is taken after `warm` of them with the end.
fn flat(name: &str, runs: u64, warm: u64, jobs: usize, body: fn()) -> Report {
    BODIES.store(0, Ordering::Relaxed);
    let watched = move || {
        let number = BODIES.fetch_add(1, Ordering::Relaxed);
        if number == warm || number == runs - 1 {
            SEEN.lock().unwrap()[usize::from(number != warm)] = Some(taken());
        }
        body();
    };
    let check = Check::new().runs(runs).jobs(jobs).time(Duration::from_secs(100_000));
    let report = check.explore(watched).unwrap();
    let [Some(before), Some(after)] = std::mem::take(&mut *SEEN.lock().unwrap()) else {
        panic!("{name}: there were not so many runs")
    };
    let growth = after.resident_bytes - before.resident_bytes;
    println!("{name}: {runs} runs, {before:?} after {warm}, then {growth:+} bytes");
    assert!(growth < GROWTH_BYTES_MAX, "{name}: {before:?} has become {after:?}");
    assert!(after.files <= before.files && after.threads <= before.threads, "{name}: {before:?}, {after:?}");
    assert!(!report.failed() && report.runs() == runs, "{}", report.text());
    report
}

fn small() {
    let sum = Arc::new(Mutex::new(0));
    let other = thread::spawn({
        let sum = sum.clone();
        move || *sum.lock().unwrap() += 1
    });
    *sum.lock().unwrap() += 1;
    other.join().unwrap();
}

/// So many partial orders that hardly any comes up twice.
fn various() {
    let last = Arc::new(AtomicUsize::new(0));
    let step = |last: &AtomicUsize| (0..40).for_each(|i| last.store(i, Ordering::SeqCst));
    let other = thread::spawn({
        let last = last.clone();
        move || step(&last)
    });
    step(&last);
    other.join().unwrap();
}

// One test: what another one takes meanwhile would be counted too.
#[test]
fn memory_stays_flat() {
    let runs = raddle_tiers::size("memory_runs");
    flat("small", runs, runs / 10, 1, small);
    flat("small, two jobs", runs, runs / 10, 2, small);
    // The set of fingerprints grows until it is estimated rather than kept.
    let exact = Distinct::EXACT_MAX_DEFAULT as u64;
    let report = flat("various", runs.max(exact * 3 / 2), exact * 5 / 4, 1, various);
    let distinct = report.distinct_partial_orders() as f64 / report.runs() as f64;
    assert!((0.95..1.05).contains(&distinct), "{}", report.text());
    assert!(report.text().contains("about"), "{}", report.text());
}
