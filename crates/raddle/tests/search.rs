//! Systematic search through the library: the published numbers of partial orders, exactly, and what is
//! said when a search cannot be complete.

use raddle::cell::RaceCell;
use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, mpsc};
use raddle::{Check, Report, thread};
use std::time::Duration;

fn check(strategy: &str) -> Check {
    Check::new().strategy(strategy).runs(10_000_000).time(Duration::from_secs(600)).all_points(true)
}

fn explore(strategy: &str, body: impl Fn() + Send + Sync + 'static) -> Report {
    check(strategy).explore(body).expect("there is something to explore")
}

/// Runs of `odpor`: one for each partial order.
fn orders(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let report = explore("odpor", body);
    assert!(!report.failed(), "{}", report.text());
    assert!(report.exhausted(), "{}", report.text());
    assert_eq!(report.runs(), report.distinct_partial_orders());
    report.runs()
}

fn largest(name: &str) -> u64 {
    raddle_tiers::size(name)
}

/// Runs each closure on a thread of its own, and joins all.
fn on_threads(bodies: Vec<Box<dyn FnOnce() + Send>>) {
    let handles: Vec<_> = bodies.into_iter().map(thread::spawn).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

/// Atomics that main has used before anybody else: a search that knows them tells them apart in all runs.
fn atomics(count: usize) -> Arc<Vec<AtomicU64>> {
    let atomics: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    atomics.iter().for_each(|atomic| atomic.store(0, SeqCst));
    Arc::new(atomics)
}

#[test]
fn readers_and_one_writer() {
    for count in 2..=largest("count_readers") {
        let body = move || {
            let x = Arc::new(AtomicU64::new(0));
            let mut bodies: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
            let writer = x.clone();
            bodies.push(Box::new(move || writer.store(1, SeqCst)));
            for _ in 0..count {
                let x = x.clone();
                bodies.push(Box::new(move || {
                    x.load(SeqCst);
                }));
            }
            on_threads(bodies);
        };
        assert_eq!(orders(body), 1 << count, "{count} readers");
    }
}

#[test]
fn the_last_zero_of_an_array() {
    for n in 2..=largest("count_lastzero") as usize {
        let body = move || {
            let a = atomics(n + 1);
            let mut bodies: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
            let array = a.clone();
            bodies.push(Box::new(move || {
                let mut i = n;
                while array[i].load(SeqCst) != 0 {
                    i -= 1;
                }
            }));
            for i in 1..=n {
                let array = a.clone();
                bodies.push(Box::new(move || {
                    let before = array[i - 1].load(SeqCst);
                    array[i].store(before + 1, SeqCst);
                }));
            }
            on_threads(bodies);
        };
        assert_eq!(orders(body), (n as u64 + 3) << (n - 2), "n = {n}");
    }
}

/// A hash table of 128; each task puts four messages in, at the first free place.
#[test]
fn indexer() {
    for count in 12..=largest("count_indexer") {
        let body = move || {
            let table = atomics(128);
            let task = |task: u64| -> Box<dyn FnOnce() + Send> {
                let table = table.clone();
                Box::new(move || {
                    for message in 1..=4 {
                        let word = message * 11 + task;
                        let mut place = (word * 7 % 128) as usize;
                        while table[place].compare_exchange(0, word, SeqCst, SeqCst).is_err() {
                            place = (place + 1) % 128;
                        }
                    }
                })
            };
            on_threads((0..count).map(task).collect());
        };
        assert_eq!(orders(body), 8u64.pow(count as u32 - 11), "{count} tasks");
    }
}

/// 26 blocks and 32 inodes, each behind a lock.
#[test]
fn filesystem() {
    for count in 14..=largest("count_filesystem") {
        let body = move || {
            let mutexes = |count| {
                let mutexes: Vec<Mutex<usize>> = (0..count).map(|_| Mutex::new(0)).collect();
                mutexes.iter().for_each(|mutex| drop(mutex.lock()));
                Arc::new(mutexes)
            };
            let (inodes, blocks) = (mutexes(32), mutexes(26));
            let task = |task: u64| -> Box<dyn FnOnce() + Send> {
                let (inodes, blocks) = (inodes.clone(), blocks.clone());
                Box::new(move || {
                    let i = task as usize % 32;
                    let mut inode = inodes[i].lock().unwrap();
                    let mut b = i * 2 % 26;
                    while *inode == 0 {
                        let mut busy = blocks[b].lock().unwrap();
                        if *busy == 0 {
                            *busy = 1;
                            *inode = b + 1;
                        }
                        b = (b + 1) % 26;
                    }
                })
            };
            on_threads((0..count).map(task).collect());
        };
        assert_eq!(orders(body), 1 << (count - 13), "{count} tasks");
    }
}

#[test]
fn atomic_increments() {
    for count in 2..=largest("count_increments") {
        let body = move || {
            let x = Arc::new(AtomicU64::new(0));
            let task = |_| -> Box<dyn FnOnce() + Send> {
                let x = x.clone();
                Box::new(move || {
                    x.fetch_add(1, SeqCst);
                })
            };
            on_threads((0..count).map(task).collect());
        };
        assert_eq!(orders(body), (1..=count).product::<u64>(), "{count} tasks");
    }
}

#[test]
fn store_buffering() {
    let body = || {
        let (x, y) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (x2, y2) = (x.clone(), y.clone());
        let other = thread::spawn(move || {
            y2.store(1, SeqCst);
            x2.load(SeqCst)
        });
        x.store(1, SeqCst);
        let read = y.load(SeqCst);
        assert!(read + other.join().unwrap() > 0);
    };
    assert_eq!(orders(body), 3);
}

#[test]
fn increments_in_two_parts() {
    for (count, expected) in [(2, 4), (3, 36)] {
        let atomic = move || {
            let x = Arc::new(AtomicU64::new(0));
            let task = |_| -> Box<dyn FnOnce() + Send> {
                let x = x.clone();
                Box::new(move || x.store(x.load(SeqCst) + 1, SeqCst))
            };
            on_threads((0..count).map(task).collect());
        };
        assert_eq!(orders(atomic), expected);
        let plain = move || {
            let x = Arc::new(RaceCell::new(0));
            let task = |_| -> Box<dyn FnOnce() + Send> {
                let x = x.clone();
                Box::new(move || x.set(x.get() + 1))
            };
            on_threads((0..count).map(task).collect());
        };
        let report = check("odpor").races(false).explore(plain).unwrap();
        assert_eq!((report.runs(), report.exhausted()), (expected, true));
    }
}

fn racy() {
    let x = Arc::new(RaceCell::new(0));
    let y = x.clone();
    let other = thread::spawn(move || y.set(y.get() + 1));
    x.set(x.get() + 1);
    other.join().unwrap();
    assert_eq!(x.get(), 2);
}

/// Racy accesses are found on the way, and the search begins anew with them as points.
#[test]
fn a_search_learns_where_to_switch() {
    for strategy in ["dfs", "random-dfs", "pcb", "pcb:bound=2", "dpor", "odpor"] {
        let report = Check::new().strategy(strategy).races(false).stop_after(0).explore(racy).unwrap();
        let kinds: Vec<&str> = report.failures().iter().map(|found| found.kind()).collect();
        assert_eq!(kinds, ["assertion"], "{strategy}: {}", report.text());
        assert!(report.exhausted(), "{strategy}: {}", report.text());
        assert!(report.text().contains("all there are"), "{}", report.text());
    }
    let report = Check::new().strategy("pcb:bound=0").races(false).stop_after(0).explore(racy).unwrap();
    assert_eq!(report.exhausted_within(), Some("with at most 0 preemptions"), "{}", report.text());
}

fn philosophers() {
    let forks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let task = |left: usize| {
        let forks = forks.clone();
        thread::spawn(move || {
            let _first = forks[left].lock().unwrap();
            let _second = forks[1 - left].lock().unwrap();
        })
    };
    let [a, b] = [task(0), task(1)];
    a.join().unwrap();
    b.join().unwrap();
}

#[test]
fn every_search_finds_a_deadlock_that_replays() {
    for strategy in ["dfs", "random-dfs", "pcb", "pcb:bound=1", "dpor", "odpor"] {
        let report = Check::new().strategy(strategy).explore(philosophers).unwrap();
        let [found] = report.failures() else { panic!("{strategy}: {}", report.text()) };
        assert_eq!(found.kind(), "deadlock", "{strategy}");
        let schedule = found.schedule().to_owned();
        let again = std::panic::catch_unwind(|| raddle::replay(&schedule, philosophers));
        let message = again.unwrap_err().downcast::<String>().expect("a text");
        assert!(message.contains("deadlock"), "{strategy}: {message}");
    }
}

/// Threads that wait for each other in every way there is: each partial order once. Unless main has
/// used an object before, runs that part early may not know it for the same one, and some are repeated.
#[test]
fn odpor_runs_each_partial_order_once() {
    let body = |used: bool| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let (sender, receiver) = mpsc::sync_channel(1);
        if used {
            drop(pair.0.lock());
            pair.1.notify_all();
            assert!(receiver.try_recv().is_err());
        }
        let other = pair.clone();
        let waiter = thread::spawn(move || {
            let (mutex, condvar) = &*other;
            let mut count = mutex.lock().unwrap();
            while *count == 0 {
                count = condvar.wait(count).unwrap();
            }
            sender.send(*count).unwrap();
        });
        let other = pair.clone();
        let timed = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            let _ = other.1.wait_timeout(guard, Duration::from_millis(1)).unwrap();
        });
        let picked = raddle::rand::choose(2);
        *pair.0.lock().unwrap() += 1 + picked;
        pair.1.notify_all();
        assert_eq!(receiver.recv().unwrap(), 1 + picked);
        waiter.join().unwrap();
        timed.join().unwrap();
    };
    for used in [true, false] {
        let report = explore("odpor", move || body(used));
        assert!(!report.failed() && report.exhausted(), "{}", report.text());
        let dpor = explore("dpor", move || body(used));
        assert_eq!(dpor.distinct_partial_orders(), report.distinct_partial_orders());
        assert!(dpor.exhausted());
        if used {
            assert_eq!(report.runs(), report.distinct_partial_orders());
        }
    }
}

/// A task that panics where nobody joins it, and main that panics: the others run on, nothing is lost.
#[test]
fn a_panic_ends_only_its_task() {
    let body = || {
        let x = Arc::new(AtomicU64::new(0));
        let (y, z) = (x.clone(), x.clone());
        thread::spawn(move || y.store(1, SeqCst));
        thread::spawn(move || z.store(2, SeqCst));
        assert_ne!(x.load(SeqCst), 2);
    };
    for strategy in ["dfs", "dpor", "odpor"] {
        let report = Check::new().strategy(strategy).stop_after(0).explore(body).unwrap();
        let kinds: Vec<&str> = report.failures().iter().map(|found| found.kind()).collect();
        assert_eq!(kinds, ["assertion"], "{strategy}: {}", report.text());
        assert!(report.exhausted(), "{strategy}: {}", report.text());
    }
}

#[test]
fn a_limit_is_not_the_end() {
    let body = || {
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        let other = thread::spawn(move || (0..5).for_each(|i| y.store(i, SeqCst)));
        (0..5).for_each(|i| x.store(i, SeqCst));
        other.join().unwrap();
    };
    let report = Check::new().strategy("odpor").runs(100).explore(body).unwrap();
    assert_eq!((report.runs(), report.exhausted(), report.exhausted_within()), (100, false, None));
    let [low, about, high] = report.summary().runs_left.expect("a search can tell");
    assert!(0 < low && low <= about && about <= high, "{}", report.text());
    assert!(report.text().contains("of the search is done"), "{}", report.text());
    let report = Check::new().strategy("hapset").jobs(2).explore(body).unwrap();
    assert!(report.notes().iter().any(|note| note.contains("one job instead of 2")), "{}", report.text());
    let report = Check::new().strategy("odpor").explore(body).unwrap();
    assert_eq!((report.runs(), report.exhausted()), (252, true));
    for strategy in ["odpor", "dpor"] {
        let report = Check::new().strategy(strategy).runs(252).explore(body).unwrap();
        assert_eq!(
            (report.runs(), report.exhausted()),
            (252, true),
            "the last run that is allowed is the last"
        );
        let report = Check::new().strategy(strategy).runs(251).explore(body).unwrap();
        assert_eq!((report.runs(), report.exhausted()), (251, false), "{strategy}");
    }
    let endless = || {
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        thread::spawn(move || {
            loop {
                y.fetch_add(1, SeqCst);
            }
        });
        while x.load(SeqCst) < 1_000_000 {}
    };
    let report =
        Check::new().strategy("odpor").steps_max(50).runs(50).stop_after(0).explore(endless).unwrap();
    assert!(!report.exhausted() && report.exhausted_within().is_none());
    assert_eq!(report.failures()[0].kind(), "steps");
}

/// A body that does not do the same under the same plan is told, and nothing is claimed.
#[test]
fn a_program_that_is_not_deterministic_is_told() {
    let calls = std::sync::atomic::AtomicU64::new(0);
    let body = move || {
        let nth = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        let other = thread::spawn(move || {
            if nth < 3 {
                y.store(1, SeqCst);
            }
            y.load(SeqCst);
        });
        x.store(2, SeqCst);
        if nth < 3 {
            x.load(SeqCst);
            x.load(SeqCst);
        }
        other.join().unwrap();
    };
    let report = Check::new().strategy("dfs").stop_after(0).explore(body).unwrap();
    assert!(!report.exhausted(), "{}", report.text());
    assert!(report.failures().iter().any(|found| found.kind() == "nondeterminism"), "{}", report.text());
}

#[raddle::test(strategy = "dpor", runs = 1_000)]
fn the_attribute_takes_a_search() {
    let x = Arc::new(Mutex::new(0));
    let y = x.clone();
    let other = thread::spawn(move || *y.lock().unwrap() += 1);
    *x.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*x.lock().unwrap(), 2);
}

/// A run that never comes back takes its carrier with it, not the search.
#[test]
fn a_run_that_hangs_is_told_and_the_search_goes_on() {
    let body = || {
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        let other = thread::spawn(move || (1..3).for_each(|i| y.store(i, SeqCst)));
        if x.load(SeqCst) == 1 {
            std::thread::sleep(Duration::from_secs(3_600));
        }
        other.join().unwrap();
    };
    for strategy in ["dfs", "odpor"] {
        let report = Check::new().strategy(strategy).hang_ms(300).stop_after(0).explore(body).unwrap();
        let kinds: Vec<&str> = report.failures().iter().map(|found| found.kind()).collect();
        assert_eq!(kinds, ["hang"], "{strategy}: {}", report.text());
        assert!(!report.exhausted() && report.runs() > report.failing_runs(), "{strategy}");
    }
}

/// Several workers run what one runs, if the search comes to its end.
#[test]
fn several_jobs_share_a_search() {
    static COUNT: Mutex<u32> = Mutex::new(0);
    let stores = || {
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        let other = thread::spawn(move || (0..5).for_each(|i| y.store(i, SeqCst)));
        (0..5).for_each(|i| x.store(i, SeqCst));
        other.join().unwrap();
    };
    let racy = || {
        let x = Arc::new(raddle::cell::RaceCell::new(0));
        let y = x.clone();
        let other = thread::spawn(move || y.set(y.get() + 1));
        x.set(x.get() + 1);
        other.join().unwrap();
    };
    let with_static = || {
        let other = thread::spawn(|| (0..3).for_each(|_| *COUNT.lock().unwrap() += 1));
        (0..3).for_each(|_| *COUNT.lock().unwrap() += 1);
        other.join().unwrap();
    };
    let bodies: [(&str, fn()); 3] = [("stores", stores), ("racy", racy), ("static", with_static)];
    for (name, body) in bodies {
        for strategy in ["odpor", "dpor", "dfs", "random-dfs", "pcb:bound=2"] {
            let check = |jobs| {
                let check = Check::new().strategy(strategy).runs(100_000).stop_after(0).jobs(jobs);
                check.explore(body).unwrap()
            };
            let (one, several) = (check(1), check(3));
            let told = format!("{name}, {strategy}: {}{}", one.text(), several.text());
            let what = |report: &Report| {
                let bound = report.exhausted_within().map(String::from);
                (report.exhausted(), bound, report.distinct_partial_orders())
            };
            assert_eq!(what(&one), what(&several), "{told}");
            // Where the search begins anew some runs of the first pass may be under way.
            if name != "racy" && strategy != "dpor" {
                assert_eq!(one.runs(), several.runs(), "{told}");
            }
            let kinds = |report: &Report| {
                report.failures().iter().map(|found| found.kind().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(kinds(&one), kinds(&several), "{told}");
            assert_eq!(several.text().contains("one job instead of 3"), name == "static", "{told}");
        }
    }
}

/// A run of a search goes on after its first failure, and what is reported does not: a race may lie before that or behind it.
#[test]
fn races_are_found_though_every_run_fails() {
    for strategy in ["dfs", "dpor", "odpor"] {
        let report = check(strategy).stop_after(0).explore(|| {
            let cell = Arc::new(RaceCell::new(0));
            let other = cell.clone();
            let writes = thread::spawn(move || other.set(1));
            // Nobody ever notifies it.
            let (mutex, condvar) = (Mutex::new(()), Condvar::new());
            let waits = thread::spawn(move || drop(condvar.wait(mutex.lock().unwrap())));
            cell.set(2);
            writes.join().unwrap();
            waits.join().unwrap();
        });
        let report = report.expect("there is something to explore");
        let kinds: Vec<_> = report.failures().iter().map(|found| found.kind()).collect();
        assert!(kinds.contains(&"deadlock") && kinds.contains(&"race"), "{strategy}: {}", report.text());
        assert!(!kinds.contains(&"nondeterminism") && report.exhausted(), "{strategy}: {}", report.text());
    }
}
