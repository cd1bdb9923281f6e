//! Exact bounds for frequencies: how many of `n` runs may fail if each fails with probability `p`, and
//! which `p` a count of failures is compatible with.
//!
//! Both follow from the binomial distribution itself, not from its normal approximation, and each tail
//! is given half of the error: `accepts(n, p, k)` holds exactly when `p` lies in `interval(k, n)`
//! (Clopper and Pearson, 1934). A test that compares a sampler with its enumerated probability at
//! level 0.999 thus fails a right sampler in at most one of a thousand seeds.

use super::beta::{Part, at_most, quantile_above, quantile_below};

/// The probabilities that `successes` in `n` runs are compatible with: lowest and highest.
///
/// # Panics
/// If `successes` exceeds `n`, `n` is zero, or `level` is not between 0 and 1.
pub fn interval(successes: u64, n: u64, level: f64) -> (f64, f64) {
    assert!(n > 0 && successes <= n, "{successes} successes in {n} runs");
    let tail = tail_of(level);
    let (k, others) = (successes as f64, (n - successes) as f64);
    let low = if successes == 0 { 0.0 } else { quantile_below(tail, k, others + 1.0) };
    let high = if successes == n { 1.0 } else { quantile_above(tail, k + 1.0, others) };
    (low, high)
}

/// Whether `successes` in `n` runs may come from the probability `p_num / p_den`.
///
/// The probability is a fraction because an enumeration gives one, and a decimal would not be it.
///
/// # Panics
/// If `successes` exceeds `n`, `p_num` exceeds `p_den`, `p_den` is zero, or `level` is not between 0 and 1.
pub fn accepts(n: u64, p_num: u64, p_den: u64, successes: u64, level: f64) -> bool {
    assert!(successes <= n, "{successes} successes in {n} runs");
    let (p, tail) = (fraction(p_num, p_den), tail_of(level));
    probability_at_most(n, p, successes) > tail && probability_at_least(n, p, successes) > tail
}

/// The least and the greatest number of successes that [`accepts`] lets pass, for messages and tables;
/// `None` if there is none, which needs a very small `n` or `level`.
pub fn acceptance(n: u64, p_num: u64, p_den: u64, level: f64) -> Option<(u64, u64)> {
    let (p, tail) = (fraction(p_num, p_den), tail_of(level));
    let least = first(n, |k| probability_at_most(n, p, k) > tail)?;
    let beyond = first(n, |k| probability_at_least(n, p, k) <= tail).unwrap_or(n + 1);
    (least < beyond).then(|| (least, beyond - 1))
}

fn tail_of(level: f64) -> f64 {
    assert!(level > 0.0 && level < 1.0, "a level of confidence lies between 0 and 1, not at {level}");
    (1.0 - level) / 2.0
}

fn fraction(num: u64, den: u64) -> Part {
    assert!(den > 0 && num <= den, "{num}/{den} is not a probability");
    Part { of: num as f64 / den as f64, rest: (den - num) as f64 / den as f64 }
}

fn probability_at_most(n: u64, p: Part, k: u64) -> f64 {
    if k >= n { 1.0 } else { at_most(p.complement(), (n - k) as f64, k as f64 + 1.0) }
}

fn probability_at_least(n: u64, p: Part, k: u64) -> f64 {
    if k == 0 { 1.0 } else { at_most(p, k as f64, (n - k) as f64 + 1.0) }
}

/// The least number in `0..=n` for which `holds`, which stays true once it is.
fn first(n: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, n + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    (low <= n).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_known_counts() {
        // From independent implementations, the very small ones in 50 digits; the first three are in textbooks.
        let known = [
            (0, 10, 0.95, 0.0, 0.3084971078187607),
            (3, 10, 0.95, 0.0667395111777345, 0.6524528500599973),
            (10, 10, 0.95, 0.6915028921812392, 1.0),
            (7, 20, 0.99, 0.11387976326673242, 0.6565685842319211),
            (6_250, 100_000, 0.999, 0.060009303681962806, 0.06505695818749355),
            (25_000, 100_000, 0.999, 0.24550828147445783, 0.2545295356628216),
            (0, 10_000_000, 0.99, 0.0, 5.298315962939937e-7),
            (1, 10_000_000, 0.99, 5.012541822288007e-10, 7.430127111445836e-7),
            (2_500_000, 10_000_000, 0.999, 0.24954956500536635, 0.2504508126401003),
        ];
        for (successes, n, level, low, high) in known {
            let found = interval(successes, n, level);
            assert!((found.0 - low).abs() <= 1e-11 * low, "{successes}/{n}: {found:?}");
            assert!((found.1 - high).abs() <= 1e-11 * high, "{successes}/{n}: {found:?}");
        }
    }

    #[test]
    fn regions_of_known_probabilities() {
        let known = [
            (10, 1, 2, 0.95, 2, 8),
            (20, 1, 10, 0.99, 0, 6),
            (1_000, 1, 1_000, 0.99, 0, 4),
            (100_000, 1, 16, 0.999, 6_000, 6_503),
            (100_000, 1, 4, 0.999, 24_550, 25_451),
            (10_000_000, 1, 16, 0.99, 623_029, 626_973),
            (10_000_000, 1, 4, 0.999, 2_495_495, 2_504_507),
        ];
        for (n, num, den, level, least, greatest) in known {
            assert_eq!(acceptance(n, num, den, level), Some((least, greatest)), "{n} at {num}/{den}");
            assert!(accepts(n, num, den, least, level) && accepts(n, num, den, greatest, level));
            assert!(least == 0 || !accepts(n, num, den, least - 1, level));
            assert!(!accepts(n, num, den, greatest + 1, level));
        }
    }

    #[test]
    fn a_wrong_probability_is_refused() {
        // The figures of PAPERS: 1/16 is not the printed 1/32, and 1/4 is neither 1/5 nor 1/3.
        assert!(accepts(100_000, 1, 16, 6_250, 0.999));
        assert!(!accepts(100_000, 1, 32, 6_250, 0.999));
        assert!(!accepts(100_000, 1, 5, 25_000, 0.999));
        assert!(!accepts(100_000, 1, 3, 25_000, 0.999));
    }

    #[test]
    fn acceptance_and_interval_are_two_sides_of_one_thing() {
        for n in [1, 2, 13, 60] {
            for successes in 0..=n {
                let (low, high) = interval(successes, n, 0.98);
                for num in 0..=97 {
                    let p = num as f64 / 97.0;
                    assert_eq!(
                        accepts(n, num, 97, successes, 0.98),
                        low <= p && p <= high,
                        "{successes}/{n}, {p}"
                    );
                }
            }
        }
    }

    #[test]
    fn coverage_holds_by_enumeration() {
        // The refused counts have at most the probability that the level leaves, in each tail.
        let (n, num, den) = (30_u64, 1_u64, 7_u64);
        let mut term = libm::pow(6.0 / 7.0, 30.0);
        let (mut below, mut above) = (0.0, 0.0);
        let (least, greatest) = acceptance(n, num, den, 0.95).unwrap();
        for k in 0..=n {
            below += if k < least { term } else { 0.0 };
            above += if k > greatest { term } else { 0.0 };
            term *= (n - k) as f64 / (k + 1) as f64 / 6.0;
        }
        assert!(below <= 0.025 && above <= 0.025, "{below} {above}");
        assert!(below + above > 0.005, "not needlessly wide");
    }

    #[test]
    fn certainty_and_impossibility() {
        assert!(accepts(1_000, 0, 1, 0, 0.999) && !accepts(1_000, 0, 1, 1, 0.999));
        assert!(accepts(1_000, 1, 1, 1_000, 0.999) && !accepts(1_000, 1, 1, 999, 0.999));
        assert_eq!(acceptance(0, 1, 2, 0.9), Some((0, 0)));
    }

    #[test]
    #[should_panic(expected = "11 successes in 10 runs")]
    fn more_successes_than_runs() {
        interval(11, 10, 0.95);
    }
}
