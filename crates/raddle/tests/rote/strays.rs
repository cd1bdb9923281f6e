//! Runs that do something else than the one that leads them.

use super::{RealU64, searched, target};
use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use raddle_model::Verdict;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A program that does something else in some of its runs, whoever is picked.
fn fickle(other: fn(&AtomicU64)) -> impl Fn() + Send + Sync + 'static {
    let count = RealU64::new(0);
    move || {
        let odd = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 16 == 11;
        let x = Arc::new(AtomicU64::new(0));
        let task = {
            let x = x.clone();
            thread::spawn(move || {
                for round in 0..20 {
                    if odd && round == 4 {
                        other(&x);
                    }
                    x.fetch_add(1, SeqCst);
                }
            })
        };
        (0..20).for_each(|_| _ = x.fetch_add(1, SeqCst));
        task.join().unwrap();
    }
}

#[test]
fn a_run_that_strays_is_done_again_with_care() {
    let others: [fn(&AtomicU64); 9] = [
        |x| _ = x.load(SeqCst),
        |_| _ = AtomicU64::new(0).load(SeqCst),
        |_| drop(Mutex::new(0).lock()),
        |_| drop(Mutex::new(0).try_lock()),
        |_| _ = raddle::choose(3),
        |_| _ = raddle::time::Instant::now(),
        |_| drop(thread::spawn(|| ()).join()),
        |_| drop(std::panic::catch_unwind(|| panic!("caught"))),
        |_| thread::park_timeout(Duration::from_millis(1)),
    ];
    for (number, other) in others.into_iter().enumerate() {
        strays_once(fickle(other), number);
    }
}

fn strays_once(body: impl Fn() + Send + Sync + 'static, number: usize) {
    let mut target = target(body);
    let told = searched(&mut target, "odpor", 200).told;
    assert_eq!(told.len(), 200, "of {number}");
    assert_eq!(target.strayed_runs(), 1, "of {number}: nobody is led by what cannot be trusted");
    let strayed = told.iter().filter(|(verdict, ..)| *verdict == Verdict::Cut).count();
    // What is done with care has an end of its own: it finishes, or has left the steps of its plan.
    assert!(strayed == 0, "{strayed} runs of {number} ended where they strayed");
}

/// A round of a task, which may do something else in it.
type Round = fn(&[AtomicU64; 2], &Mutex<u64>, bool);

/// One task of many rounds, another beside it, and objects that both have used before.
fn differs_once(round: Round) -> impl Fn() + Send + Sync + 'static {
    let count = RealU64::new(0);
    move || {
        let odd = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 16 == 11;
        let shared = Arc::new(([AtomicU64::new(0), AtomicU64::new(0)], Mutex::new(0)));
        let (atomics, mutex) = &*shared;
        atomics.iter().for_each(|atomic| _ = atomic.load(SeqCst));
        drop(mutex.lock());
        let task = {
            let shared = shared.clone();
            thread::spawn(move || (0..20).for_each(|number| round(&shared.0, &shared.1, odd && number == 4)))
        };
        for _ in 0..10 {
            atomics[0].fetch_add(1, SeqCst);
            drop(mutex.lock());
        }
        drop(task.join());
    }
}

/// Where it is called is where either operation is done.
#[track_caller]
fn add_or_load(atomic: &AtomicU64, load: bool) -> u64 {
    if load { atomic.load(SeqCst) } else { atomic.fetch_add(1, SeqCst) }
}

/// Whether somebody got a mutex that it had already.
static TAKEN_TWICE: AtomicBool = AtomicBool::new(false);

/// What is compared of each call is compared in each: an operation that differs in one thing from the one before is another.
#[test]
fn a_run_strays_with_its_object_its_site_or_its_kind() {
    let rounds: [Round; 16] = [
        // Something is in a section where nothing was, or the other way round, or it is left open.
        |atomics, mutex, other| {
            let guard = mutex.lock();
            if other {
                atomics[0].fetch_add(1, SeqCst);
            }
            drop(guard);
        },
        |atomics, mutex, other| {
            let guard = mutex.lock();
            if !other {
                atomics[0].fetch_add(1, SeqCst);
            }
            drop(guard);
        },
        |atomics, mutex, other| {
            let guard = mutex.lock();
            if other {
                std::mem::forget(guard)
            } else {
                drop(guard)
            }
            atomics[0].fetch_add(1, SeqCst);
        },
        |atomics, _, other| _ = atomics[usize::from(other)].fetch_add(1, SeqCst),
        |atomics, _, other| {
            let adds: [fn(&AtomicU64) -> u64; 2] = [|x| x.fetch_add(1, SeqCst), |x| x.fetch_add(1, SeqCst)];
            adds[usize::from(other)](&atomics[0]);
        },
        |atomics, _, other| _ = add_or_load(&atomics[0], other),
        // Taken again where it would be given back, by its holder.
        |_, mutex, other| {
            (0..1 + u8::from(other)).for_each(|time| {
                let guard = mutex.lock();
                TAKEN_TWICE.fetch_or(time == 1, std::sync::atomic::Ordering::Relaxed);
                if other { std::mem::forget(guard) } else { drop(guard) }
            });
        },
        |_, mutex, other| {
            let guard = mutex.lock();
            if other {
                *mutex.lock().unwrap() += 1;
            }
            drop(guard);
        },
        // Given back in a panic of which no hook tells, or taken in one, too.
        |_, mutex, other| {
            let ends = std::panic::AssertUnwindSafe(|| {
                let _guard = mutex.lock();
                if other {
                    std::panic::resume_unwind(Box::new("ends"));
                }
            });
            drop(std::panic::catch_unwind(ends));
        },
        |_, mutex, other| {
            struct Late<'a>(&'a Mutex<u64>);
            impl Drop for Late<'_> {
                fn drop(&mut self) {
                    drop(self.0.lock());
                }
            }
            let ends = std::panic::AssertUnwindSafe(|| {
                let _late = Late(mutex);
                if other {
                    std::panic::resume_unwind(Box::new("late"));
                }
            });
            drop(std::panic::catch_unwind(ends));
        },
        // The same, and once more after it, as if the first had not been.
        |_, mutex, other| {
            for time in 0..1 + u8::from(other) {
                let ends = std::panic::AssertUnwindSafe(|| {
                    let _guard = mutex.lock();
                    if other && time == 0 {
                        std::panic::resume_unwind(Box::new("ends"));
                    }
                });
                drop(std::panic::catch_unwind(ends));
            }
        },
        // Something is done by who unwinds and is given up there, so that another carrier goes on.
        |atomics, mutex, other| {
            struct Late<'a>(&'a AtomicU64);
            impl Drop for Late<'_> {
                fn drop(&mut self) {
                    self.0.fetch_add(1, SeqCst);
                }
            }
            let ends = std::panic::AssertUnwindSafe(|| {
                let _late = other.then(|| Late(&atomics[0]));
                if other {
                    std::panic::resume_unwind(Box::new("late"));
                }
            });
            drop(std::panic::catch_unwind(ends));
            drop(mutex.lock());
        },
        // Once more than before, or once less.
        |atomics, mutex, other| {
            (0..3 + u8::from(other)).for_each(|_| drop(mutex.lock()));
            atomics[0].fetch_add(1, SeqCst);
        },
        |atomics, mutex, other| {
            (0..3 - u8::from(other)).for_each(|_| drop(mutex.lock()));
            atomics[0].fetch_add(1, SeqCst);
        },
        |atomics, _, other| {
            (0..3 + u8::from(other)).for_each(|_| _ = atomics[0].fetch_add(1, SeqCst));
            atomics[0].load(SeqCst);
        },
        |atomics, _, other| {
            (0..3 - u8::from(other)).for_each(|_| _ = atomics[0].fetch_add(1, SeqCst));
            atomics[0].load(SeqCst);
        },
    ];
    rounds.into_iter().enumerate().for_each(|(number, round)| strays_once(differs_once(round), number));
    assert!(!TAKEN_TWICE.load(std::sync::atomic::Ordering::Relaxed), "two guards of one mutex at a time");
}
