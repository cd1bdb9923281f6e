//! Speed of a run, for tuning: `probe` alone measures a table, `probe STRATEGY mutex|atomic THREADS
//! OPERATIONS RUNS` one body, which suits a counter of instructions.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use raddle_analysis::statistics::Distinct;
use raddle_explore::target::{Digest, Flow, Sink, Target};
use raddle_model::{Plan, Tail, Verdict};

fn mutex(threads: usize, n: usize) {
    let m = Arc::new(Mutex::new(0));
    let hs: Vec<_> = (0..threads)
        .map(|_| {
            let m = m.clone();
            thread::spawn(move || {
                for _ in 0..n {
                    *m.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
    assert_eq!(*m.lock().unwrap(), threads * n);
}

fn atomic(threads: usize, n: usize) {
    let m = Arc::new(AtomicUsize::new(0));
    let hs: Vec<_> = (0..threads)
        .map(|_| {
            let m = m.clone();
            thread::spawn(move || {
                for _ in 0..n {
                    m.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
    assert_eq!(m.load(Ordering::SeqCst), threads * n);
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args[i].parse::<usize>().expect("a number");
    if args.len() == 5 {
        let (t, n) = (number(2), number(3));
        print(&args[1], &args[0], t, n, number(4) as u64);
        return;
    }
    for strategy in ["random", "pct"] {
        for (t, n) in [(2, 5), (2, 25), (2, 250), (4, 5), (4, 25), (4, 250), (100, 25)] {
            let runs = (4_000_000 / (t * n)) as u64;
            print("mutex", strategy, t, n, runs);
            print("atomic", strategy, t, n, runs);
        }
    }
}
fn print(work: &str, strategy: &str, t: usize, n: usize, runs: u64) {
    let tail = match strategy {
        "pct" => Tail::Pct { depth: 3, length: (2 * t * n) as u64 },
        name => raddle_policy::parse(name).expect("a strategy").tail(),
    };
    let (ns, steps, distinct) = match work {
        "mutex" => probe(runs, tail, move || mutex(t, n)),
        _ => probe(runs, tail, move || atomic(t, n)),
    };
    println!(
        "{strategy} {work} {t}x{n}: {ns:.0} ns/run {:.1} ns/event ({steps} events, {distinct} distinct)",
        ns / steps as f64
    );
}

/// Nanoseconds a run, events a run, distinct partial orders.
fn probe(runs: u64, tail: Tail, body: impl Fn() + Send + Sync + 'static) -> (f64, u64, usize) {
    let mut target = raddle::__private::target(body);
    let plan = Plan::new(0, tail);
    let mut count = Count::default();
    target.sample(&plan, 0..1, &mut count).expect("a warm-up run");
    let begun = std::time::Instant::now();
    target.sample(&plan, 0..runs, &mut count).expect("runs");
    let time = begun.elapsed().as_secs_f64() / runs as f64 * 1e9;
    (time, count.steps / (runs + 1), count.distinct.distinct().value as usize)
}

#[derive(Default)]
struct Count {
    steps: u64,
    distinct: Distinct,
}

impl Sink for Count {
    fn run(&mut self, digest: &Digest) -> Flow {
        assert_eq!(digest.verdict, Verdict::Finished);
        self.steps += digest.steps;
        self.distinct.insert(digest.fingerprint);
        Flow::Continue
    }
}
