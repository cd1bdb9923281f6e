//! The time that runs of a search take. To ask for it takes as long as a good part of a short run, so not every one of those is
//! timed.

use std::time::{Duration, Instant};

/// The time of the runs of one batch of a search.
#[derive(Default)]
pub(super) struct Clock {
    running: Duration,
    /// How long the last one took that was timed, and whether that was short.
    last: Duration,
    short: bool,
    /// Runs since then.
    since: u32,
}

impl Clock {
    /// A run that is shorter is short.
    const SHORT: Duration = Duration::from_micros(50);
    /// So many short runs count as long as one of them took. Subtrees of searches have sizes like powers of two: what is timed must not
    /// always be the first run of one, which is longer than the others.
    const TIMED_EVERY: u32 = 17;

    /// A run begins. The time, if it is to be timed.
    #[inline]
    pub(super) fn looks(&mut self) -> Option<Instant> {
        self.since += 1;
        (!self.short || self.since >= Clock::TIMED_EVERY).then(Instant::now)
    }

    /// It has ended. The time, if it was timed.
    #[inline]
    pub(super) fn ran_since(&mut self, began: Option<Instant>) -> Option<Instant> {
        let began = began?;
        let now = Instant::now();
        self.last = now - began;
        self.running += self.last * self.since;
        (self.short, self.since) = (self.last < Clock::SHORT, 0);
        Some(now)
    }

    /// The time of all, those after the last one that was timed included.
    pub(super) fn running(&self) -> Duration {
        self.running + self.last * self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_timed_and_some_of_the_short_ones() {
        let mut clock = Clock::default();
        let long = clock.looks().map(|now| now - Clock::SHORT);
        assert!(clock.ran_since(long).is_some() && clock.running() >= Clock::SHORT);
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
        // Those that come after that count, too.
        (clock.running, clock.last) = (Clock::SHORT, Duration::from_micros(1));
        assert!(clock.looks().is_none() && clock.ran_since(None).is_none());
        assert_eq!(clock.running(), Clock::SHORT + Duration::from_micros(1));
    }
}
