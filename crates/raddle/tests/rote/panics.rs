//! Sections that are given back while somebody panics, by rote.

use super::{RealU64, Shared, Whole, Work, assert_told_the_same, search, target};
use raddle::sync::Arc;
use raddle::{Check, thread};
use raddle_model::Verdict;

/// Takes a mutex and gives it back when it is dropped.
struct Late(Arc<Shared>, usize);

impl Drop for Late {
    fn drop(&mut self) {
        (0..2).for_each(|_| self.0.section(self.1));
    }
}

/// Unlike a panic this calls no hook, so that runs are led beyond it.
fn unwind_through(late: Late) {
    let unwinds = std::panic::AssertUnwindSafe(move || {
        let _late = late;
        std::panic::resume_unwind(Box::new("late"));
    });
    drop(std::panic::catch_unwind(unwinds));
}

/// Who gives a mutex back while somebody panics may poison it, and must not if it has taken it then.
#[test]
fn sections_that_end_in_a_panic_are_told_the_same_by_rote() {
    let works: [Work; 4] = [
        // Its own section.
        |shared, task| {
            (0..2).for_each(|_| shared.section(0));
            if task == 0 {
                shared.poison(1);
            }
            (0..2).for_each(|_| shared.section(1));
        },
        // The second of two is open, after one more of the same place.
        |shared, task| {
            for round in 0..3 {
                let guard = shared.mutexes[0].lock().unwrap_or_else(|error| error.into_inner());
                let ends = std::panic::AssertUnwindSafe(move || {
                    let _guard = guard;
                    if task == 1 && round == 1 {
                        std::panic::resume_unwind(Box::new("ends"));
                    }
                });
                drop(std::panic::catch_unwind(ends));
            }
            (0..2).for_each(|_| shared.section(0));
        },
        // Whole sections of a task that unwinds.
        |shared, task| {
            shared.section(0);
            if task == 1 {
                unwind_through(Late(shared.clone(), 0));
            }
            (0..2).for_each(|_| shared.section(0));
        },
        // The same, and another task comes to its own meanwhile.
        |shared, _| {
            shared.section(0);
            unwind_through(Late(shared.clone(), 1));
            shared.section(1);
        },
    ];
    for (number, work) in works.into_iter().enumerate() {
        let (led, runs) = assert_told_the_same(work, "odpor", 600, number);
        assert!(led > runs / 2, "of {number}: only {led} of {runs} runs were led");
    }
}

/// A run that ends while a task unwinds leaves nothing of that to other runs.
#[test]
fn runs_that_end_while_a_task_unwinds_are_led_and_lead() {
    use std::sync::atomic::Ordering::Relaxed;

    for sections in 3..8 {
        let [panics, cut] = [(); 2].map(|()| Arc::new(RealU64::new(0)));
        let body = {
            let (panics, cut) = (panics.clone(), cut.clone());
            move || {
                panics.fetch_add(u64::from(std::thread::panicking() || thread::panicking()), Relaxed);
                let (shared, unwinding) = (Arc::new(Shared::default()), Arc::new(RealU64::new(0)));
                let (unwinds, begun) = (shared.clone(), unwinding.clone());
                // What all runs begin with.
                (0..12).for_each(|_| shared.section(1));
                drop(thread::spawn(move || {
                    (0..4).for_each(|_| unwinds.section(1));
                    begun.store(1, Relaxed);
                    unwind_through(Late(unwinds.clone(), 0));
                    begun.store(0, Relaxed);
                    unwinds.section(1);
                }));
                (0..sections).for_each(|_| shared.section(1));
                // Nobody waits for the other.
                cut.fetch_add(unwinding.load(Relaxed), Relaxed);
            }
        };
        let (mut by_rote, mut whole) = (target(body.clone()), Whole(target(body.clone())));
        let (found, expected) = (search(&mut by_rote, "odpor", 300), search(&mut whole, "odpor", 300));
        assert_eq!((by_rote.strayed_runs(), found.len()), (0, expected.len()), "{sections}");
        for (run, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(found == expected, "{sections}, run {run}\n{found:?}\n{expected:?}");
        }
        Check::new().strategy("random").runs(300).explore(body).expect("runs");
        let [panics, cut] = [panics, cut].map(|count| count.load(Relaxed));
        assert!(panics == 0 && cut > 20, "{panics} seem to panic, {cut} ended while a task unwound");
    }
}

/// Where the run before gave it back without a panic the run strays. It must not be taken for the end of the section that the
/// state has open to which the run is led, though that be of the same task and mutex, and nothing be missing in the end.
#[test]
fn what_is_given_back_in_a_panic_ends_no_section_that_is_yet_to_come() {
    let count = RealU64::new(0);
    let body = move || {
        let other = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 11;
        let shared = Arc::new(Shared::default());
        drop(shared.mutexes[0].lock());
        let task = {
            let shared = shared.clone();
            thread::spawn(move || {
                for time in 0..40 + u8::from(other) {
                    let ends = std::panic::AssertUnwindSafe(|| {
                        let _guard = shared.mutexes[0].lock();
                        if other && time == 4 {
                            std::panic::resume_unwind(Box::new("ends"));
                        }
                    });
                    drop(std::panic::catch_unwind(ends));
                }
            })
        };
        drop(shared.mutexes[0].lock());
        task.join().unwrap();
    };
    let mut target = target(body);
    let told = search(&mut target, "odpor", 100);
    assert_eq!((told.len(), target.strayed_runs()), (41, 1));
    assert!(told.iter().all(|(verdict, ..)| *verdict == Verdict::Finished), "{told:?}");
}
