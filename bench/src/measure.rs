//! How the figures are taken.
//!
//! For each contender the number of executions that fills a slice of time is found first. Then come the
//! rounds: in each, every contender runs once, one after the other, so that whatever else the machine
//! does falls on all of them. A speed is the median over the rounds. A ratio is the median over the
//! rounds of the ratio within a round: neighbours in time are compared, not the machine's moods.

use crate::bodies::{Body, EXECUTIONS};
use crate::contender::{CONTENDERS, Contender};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How much time is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    rounds: usize,
    slice: Duration,
}

/// For figures that are quoted.
pub(crate) const FULL: Effort = Effort { rounds: 7, slice: Duration::from_millis(100) };

/// For a look.
pub(crate) const QUICK: Effort = Effort { rounds: 3, slice: Duration::from_millis(15) };

/// Executions per second on one body: for each contender, one figure a round.
pub(crate) struct Figures {
    pub(crate) body: Body,
    pub(crate) rounds: Vec<(&'static str, Vec<f64>)>,
}

impl Figures {
    /// A contender's executions per second; none if it was not measured.
    pub(crate) fn speed(&self, name: &str) -> Option<f64> {
        self.of(name).map(|rounds| median(rounds.to_vec()))
    }

    /// How many times faster one contender is than another; none unless both were measured.
    pub(crate) fn ratio(&self, ours: &str, theirs: &str) -> Option<f64> {
        let pairs = self.of(ours)?.iter().zip(self.of(theirs)?);
        Some(median(pairs.map(|(ours, theirs)| ours / theirs).collect()))
    }

    fn of(&self, name: &str) -> Option<&[f64]> {
        self.rounds.iter().find(|(contender, _)| *contender == name).map(|(_, rounds)| rounds.as_slice())
    }
}

/// Measures all contenders on one body.
pub(crate) fn body(body: Body, effort: Effort) -> Figures {
    let executions: Vec<u64> =
        CONTENDERS.iter().map(|contender| fill(contender, body, effort.slice)).collect();
    let mut rounds: Vec<_> = CONTENDERS.iter().map(|contender| (contender.name, Vec::new())).collect();
    for _ in 0..effort.rounds {
        for ((contender, (_, speeds)), executions) in CONTENDERS.iter().zip(&mut rounds).zip(&executions) {
            let (done, time) = clock(contender, body, *executions);
            speeds.push(done as f64 / time.as_secs_f64());
        }
    }
    Figures { body, rounds }
}

/// The number of executions that takes about a slice of time. Finding it warms the contender up, too.
fn fill(contender: &Contender, body: Body, slice: Duration) -> u64 {
    let mut executions = 1;
    loop {
        let (done, time) = clock(contender, body, executions);
        if time >= slice / 4 {
            // Where the machine stood still for a moment, few executions seem to fill a slice: the quicker of two counts.
            let again = clock(contender, body, executions);
            let speed = [(done, time), again].map(|(done, time)| done as f64 / time.as_secs_f64());
            let filling = speed[0].max(speed[1]) * slice.as_secs_f64();
            if executions as f64 * 4.0 >= filling {
                return (filling.ceil() as u64).max(1);
            }
        }
        executions *= 4;
    }
}

/// How many executions were really done, and in what time.
fn clock(contender: &Contender, body: Body, executions: u64) -> (u64, Duration) {
    let before = EXECUTIONS.load(Ordering::Relaxed);
    let start = Instant::now();
    (contender.run)(body, executions);
    let time = start.elapsed();
    let done = EXECUTIONS.load(Ordering::Relaxed) - before;
    assert!(done >= executions, "{} did {done} executions of {body}, not {executions}", contender.name);
    (done, time)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::Work;

    #[test]
    fn the_median_is_the_middle_of_the_sorted_values() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
    }

    #[test]
    fn a_ratio_is_taken_within_rounds() {
        // The machine was ten times slower in the last two rounds; the ratio is 2 in every round but one.
        let rounds = vec![("a", vec![20.0, 2.0, 2.0]), ("b", vec![10.0, 1.0, 0.5])];
        let figures = Figures { body: Body { work: Work::Mutex, threads: 2, operations: 5 }, rounds };
        assert_eq!(figures.ratio("a", "b"), Some(2.0));
        assert_eq!(figures.speed("a"), Some(2.0));
        assert_eq!(figures.ratio("a", "c"), None);
    }
}
