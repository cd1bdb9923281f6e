//! Subject `montecarlo`: the value of a stock by simulation, after the Java Grande kernel of that name.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 11 | main and 10 workers |
//! | locks | not given | 1 monitor for the vector of results; 1 of the random generator, which only main uses |
//! | operations | 3557 lines, not given | main draws the numbers for a path and starts a worker, ten times; each worker computes its path and appends the result |
//!
//! As in Java each draw takes the generator's own lock: operations that conflict with nothing, between the starts.
//!
//! Shape chosen by us after measuring: a first version, in which the workers drew their own numbers, gave a new partial
//! order in every run with `random` and `rapos` alike. Drawing in main spreads the starts, which is what keeps the
//! number of partial orders of `random` small; the counts of this subject are no independent evidence for the paper's.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const WORKERS: usize = 10;
const DAYS: usize = 8;

struct Results {
    monitor: Monitor,
    values: [Shared<f64>; WORKERS],
    count: Shared<usize>,
}

impl Results {
    fn add(&self, value: f64) {
        let _inside = self.monitor.enter();
        self.values[self.count.get()].set(value);
        self.count.update(|count| count + 1);
    }
}

/// A generator of random numbers that any thread may use.
struct Generator {
    monitor: Monitor,
    state: Shared<u64>,
}

impl Generator {
    fn new() -> Self {
        Generator { monitor: Monitor::new(), state: Shared::new(1) }
    }

    /// About normally distributed: the sum of twelve numbers between 0 and 1, less six.
    fn next_gaussian(&self) -> f64 {
        let _inside = self.monitor.enter();
        let mut state = self.state.get();
        let draw = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let sum: f64 = (0..12).map(draw).sum();
        self.state.set(state);
        sum - 6.0
    }
}

/// The body of the subject: the results are those of a single thread, in any order.
pub fn subject() {
    let results = Arc::new(Results {
        monitor: Monitor::new(),
        values: [const { Shared::new(0.0) }; WORKERS],
        count: Shared::new(0),
    });
    let generator = Generator::new();
    let mut expected = Vec::new();
    let mut tasks = Vec::new();
    for _ in 0..WORKERS {
        let shocks = [(); DAYS].map(|()| generator.next_gaussian());
        expected.push(final_price(&shocks));
        let results = Arc::clone(&results);
        tasks.push(thread::spawn(move || results.add(final_price(&shocks))));
    }
    join_all(tasks);
    let mut found: Vec<f64> = results.values.iter().map(Shared::get).collect();
    found.sort_by(f64::total_cmp);
    expected.sort_by(f64::total_cmp);
    assert_eq!(found, expected, "each result is there once");
}

/// One path of a stock's price: a random walk of its logarithm.
fn final_price(shocks: &[f64]) -> f64 {
    let (drift, volatility, day) = (0.03, 0.2, 1.0 / 365.0_f64);
    shocks.iter().fold(100.0, |price, shock| price * (drift * day + volatility * day.sqrt() * shock).exp())
}
