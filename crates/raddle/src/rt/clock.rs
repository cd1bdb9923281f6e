//! The time that runs of a search take, and what the search does between them. To ask for it takes as long as a good part of a short
//! run, so not every one of those is timed. What is not timed is taken to be like what is: whatever else the machine does meanwhile
//! falls on both alike, and must not be taken for the search because it was no timed run.

use std::time::{Duration, Instant};

/// The time of one batch of a search.
pub(super) struct Clock {
    /// Of the runs, and of the search, as far as is known: what was timed counts for what was not.
    running: Duration,
    searching: Duration,
    /// When a run ended that was timed, or when all began, and for how many runs what the search does then counts.
    ended: Option<(Instant, u32)>,
    /// Whether the last run that was timed was short.
    short: bool,
    /// Runs since then.
    since: u32,
    begun: Instant,
}

impl Clock {
    /// A run that is shorter is short.
    const SHORT: Duration = Duration::from_micros(50);
    /// So many short runs count as long as one of them took. Subtrees of searches have sizes like powers of two: what is timed must not
    /// always be the first run of one, which is longer than the others.
    const TIMED_EVERY: u32 = 17;

    /// The search is at it.
    pub(super) fn new() -> Clock {
        let begun = Instant::now();
        let (running, searching) = (Duration::ZERO, Duration::ZERO);
        Clock { running, searching, ended: Some((begun, 1)), short: false, since: 0, begun }
    }

    /// When all began.
    pub(super) fn begun(&self) -> Instant {
        self.begun
    }

    /// A run begins. The time, if it is to be timed.
    #[inline]
    pub(super) fn looks(&mut self) -> Option<Instant> {
        self.since += 1;
        let timed = !self.short || self.since >= Clock::TIMED_EVERY;
        if !timed && self.ended.is_none() {
            return None;
        }
        let now = Instant::now();
        self.searched_until(now);
        timed.then_some(now)
    }

    /// It has ended, and the search is at it. The time, if the run was timed.
    #[inline]
    pub(super) fn ran_since(&mut self, began: Option<Instant>) -> Option<Instant> {
        let began = began?;
        let now = Instant::now();
        self.running += (now - began) * self.since;
        self.ended = Some((now, self.since));
        (self.short, self.since) = (now - began < Clock::SHORT, 0);
        Some(now)
    }

    fn searched_until(&mut self, now: Instant) {
        if let Some((ended, runs)) = self.ended.take() {
            self.searching += (now - ended) * runs;
        }
    }

    /// All is over: the time that went into the search itself.
    pub(super) fn searched(mut self) -> Duration {
        let now = Instant::now();
        self.searched_until(now);
        let (running, searching) = (self.running.as_secs_f64(), self.searching.as_secs_f64());
        if searching > 0.0 {
            (now - self.begun).mul_f64(searching / (running + searching))
        } else {
            Duration::ZERO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_timed_and_some_of_the_short_ones() {
        let mut clock = Clock::new();
        let long = clock.looks().map(|now| now - Clock::SHORT);
        assert!(clock.ran_since(long).is_some() && clock.running >= Clock::SHORT);
        let timed = |clock: &mut Clock| {
            // As if it had begun just now, however slow this machine is.
            let began = clock.looks().map(|_| Instant::now());
            clock.ran_since(began);
            clock.short = true;
            began.is_some()
        };
        // The last one was long; from here on all are short.
        let runs = 1 + 3 * Clock::TIMED_EVERY;
        assert_eq!((0..runs).filter(|_| timed(&mut clock)).count(), 4);
    }

    #[test]
    fn what_was_not_timed_is_like_what_was() {
        let ago = |clock: &Clock, time| clock.begun.checked_sub(time).unwrap_or(clock.begun);
        let time = Duration::from_millis(50);
        let mut clock = Clock::new();
        // Three quarters of what was timed were runs, and nothing was timed since.
        (clock.running, clock.searching, clock.ended) = (3 * time, time, None);
        clock.begun = ago(&clock, 16 * time);
        let all = clock.begun.elapsed();
        let searched = clock.searched();
        assert!(searched >= all / 4 && searched < all / 2, "{searched:?}");
        // A run that was all of a batch: what came before it and after it counts once.
        let mut clock = Clock::new();
        clock.ended = Some((ago(&clock, time), 1));
        let began = clock.looks();
        assert!(began.is_some() && clock.searching >= time);
        clock.ran_since(began);
        assert!(clock.ended.is_some() && clock.searched() > Duration::ZERO);
    }
}
