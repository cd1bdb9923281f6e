//! Runs of a search are told of while it goes on. Each must be told once, in its turn, whoever hears of them says stop or not, and the
//! search must be where it would be without that.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::tool::LibraryTarget;
use raddle::{Check, thread};
use raddle_explore::explorer::{Batch, explorer};
use raddle_explore::target::{Flow, SearchRun, Target};
use raddle_model::plan::Steps;
use raddle_model::{Plan, Tail};
use std::collections::BTreeSet;
use std::time::Duration;

/// Orders of two tasks that take a mutex seven times each.
const RUNS: u64 = 3_432;

fn body() {
    let counter = Arc::new(Mutex::new(0));
    let add = |counter: Arc<Mutex<u32>>| (0..7).for_each(|_| *counter.lock().expect("nobody panics") += 1);
    let other = counter.clone();
    let handles = [thread::spawn(move || add(other)), thread::spawn(move || add(counter))];
    handles.into_iter().for_each(|handle| handle.join().expect("nobody panics"));
}

/// All runs of a search whose listener says after each time what it has heard then means: their numbers, how many were heard while the
/// search went on, and their distinct fingerprints.
fn search(jobs: usize, flow: impl Fn(u64) -> Flow) -> (Vec<u64>, u64, usize) {
    let mut target = LibraryTarget::new(std::sync::Arc::new(body), Duration::from_secs(60)).with_jobs(jobs);
    let steps = Steps { sections: true, ..Steps::default() };
    let plan = Plan { steps_max: 10_000, ..Plan::new(0, Tail::Steps(steps)) };
    let mut explorer = explorer(raddle_policy::parse("odpor").expect("a strategy"), plan);
    let (mut numbers, mut heard, mut fingerprints) = (Vec::new(), 0, BTreeSet::new());
    loop {
        let Some(Batch::Search(search)) = explorer.next() else { panic!("it is not over") };
        let mut take = |runs: &[SearchRun], numbers: &mut Vec<u64>| {
            for run in runs {
                let mut blank = raddle_explore::told::Brief::BLANK;
                let digest = run.told.read(&mut blank);
                numbers.push(digest.run);
                fingerprints.insert(digest.fingerprint);
            }
        };
        let begin = numbers.len() as u64;
        let mut hear = |runs: &[SearchRun]| {
            take(runs, &mut numbers);
            heard += runs.len() as u64;
            flow(heard)
        };
        let searched = target.search_aloud(search, begin..u64::MAX, &mut hear).expect("runs");
        take(&searched.runs, &mut numbers);
        explorer.take_back(searched.search);
        if searched.over {
            return (numbers, heard, fingerprints.len());
        }
    }
}

#[test]
fn each_run_is_told_once_and_in_its_turn() {
    let all: Vec<u64> = (0..RUNS).collect();
    let (numbers, heard, orders) = search(1, |_| Flow::Continue);
    assert_eq!((&numbers, orders as u64), (&all, RUNS));
    assert!((1..=RUNS).contains(&heard), "{heard} were heard");
    // Whoever says stop gets the rest another time, and nothing twice.
    let (numbers, heard, orders) = search(1, |_| Flow::Stop);
    assert_eq!((&numbers, orders as u64), (&all, RUNS));
    assert!((1..=RUNS).contains(&heard), "{heard} were heard");
}

/// They end in any order, so that they are told when all have stopped.
#[test]
fn runs_that_go_on_beside_each_other_are_not_heard_of_meanwhile() {
    let (numbers, heard, orders) = search(2, |_| Flow::Continue);
    assert_eq!((numbers, heard, orders as u64), ((0..RUNS).collect(), 0, RUNS));
}

/// Nothing is begun after a run that has failed, and what was heard before it counts.
#[test]
fn a_failure_is_found_behind_what_was_heard() {
    let failing = || {
        let (turns, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let add = move |turns: Arc<AtomicUsize>, last: Arc<AtomicUsize>, me: usize| {
            for turn in 0..8 {
                // Whoever comes first in every round: the last order that is tried.
                if turns.fetch_add(1, SeqCst) == turn && me == 2 {
                    last.fetch_add(1, SeqCst);
                }
            }
        };
        let others = (turns.clone(), last.clone());
        let first = thread::spawn({
            let (turns, last) = (turns.clone(), last.clone());
            move || add(turns, last, 1)
        });
        let second = thread::spawn(move || add(others.0, others.1, 2));
        first.join().expect("nobody panics");
        second.join().expect("nobody panics");
        assert!(last.load(SeqCst) < 8, "the second went before the first");
    };
    let report = Check::new().strategy("odpor").runs(u64::MAX).explore(failing).expect("it can be checked");
    assert!(report.failed());
    let whole =
        Check::new().strategy("odpor").runs(u64::MAX).jobs(2).explore(failing).expect("it can be checked");
    assert!(whole.failed());
}
