//! Means of repeated experiments: how sure a mean is, and whether one is really larger than another.
//!
//! Student's interval for one sample, and Welch's test for two, which does not assume that both spread
//! equally: the number of runs that two strategies need until a failure rarely does.

use super::beta::student_above;
use libm::sqrt;

/// A sample in three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values there are.
    pub count: usize,
    /// Their mean; not a number if there is no value.
    pub mean: f64,
    /// Their sample standard deviation (divided by `count - 1`); zero for fewer than two values.
    pub deviation: f64,
}

impl Summary {
    /// Summarises a sample.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        // Two passes: the textbook formula in one pass cancels when the spread is small beside the mean.
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = if count < 2 { 0.0 } else { sqrt(squares / (count - 1) as f64) };
        Self { count, mean, deviation }
    }

    /// The two-sided Student interval for the true mean; unbounded for fewer than two values.
    ///
    /// It assumes that the mean of the sample is about normal, which 25 experiments justify for the
    /// quantities measured here.
    ///
    /// # Panics
    /// If `level` is not between 0 and 1.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        check(level);
        if self.count < 2 {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let reach =
            student_quantile((self.count - 1) as f64, (1.0 - level) / 2.0) * sqrt(self.variance_of_mean());
        (self.mean - reach, self.mean + reach)
    }

    fn variance_of_mean(&self) -> f64 {
        self.deviation * self.deviation / self.count as f64
    }
}

/// Whether the true mean of `a` is greater than that of `b`, by Welch's one-sided test at `level`.
///
/// Fewer than two values on either side prove nothing. Two samples without any spread are compared
/// as they are.
///
/// # Panics
/// If `level` is not between 0 and 1.
pub fn greater(a: &[f64], b: &[f64], level: f64) -> bool {
    check(level);
    let (a, b) = (Summary::of(a), Summary::of(b));
    if a.count < 2 || b.count < 2 || a.mean.partial_cmp(&b.mean) != Some(core::cmp::Ordering::Greater) {
        return false;
    }
    let (from_a, from_b) = (a.variance_of_mean(), b.variance_of_mean());
    let variance = from_a + from_b;
    if variance == 0.0 {
        return true;
    }
    let freedom = variance * variance
        / (from_a * from_a / (a.count - 1) as f64 + from_b * from_b / (b.count - 1) as f64);
    student_above((a.mean - b.mean) / sqrt(variance), freedom) < 1.0 - level
}

/// The value that a Student variable of `freedom` degrees exceeds with probability `above`, which is
/// positive and at most a half.
pub fn student_quantile(freedom: f64, above: f64) -> f64 {
    assert!(freedom > 0.0 && above > 0.0 && above <= 0.5, "no quantile for {above} at {freedom} degrees");
    let (mut low, mut high) = (0.0, 1.0);
    while student_above(high, freedom) > above {
        (low, high) = (high, high * 2.0);
    }
    loop {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high || high < f64::MIN_POSITIVE {
            return high;
        }
        if student_above(middle, freedom) > above { low = middle } else { high = middle }
    }
}

fn check(level: f64) {
    assert!(level > 0.0 && level < 1.0, "a level of confidence lies between 0 and 1, not at {level}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn quantiles_as_in_the_tables() {
        let table = [
            (1.0, [0.32491969623290634, 6.313751514675037, 63.656741162871526, 636.6192487687897]),
            (2.0, [0.2886751345948128, 2.9199855803537242, 9.924843200918287, 31.599054576445365]),
            (5.0, [0.2671808657041451, 2.0150483733330233, 4.032142983555228, 6.868826625881276]),
            (24.0, [0.25617339831779157, 1.710882079909428, 2.796939504774456, 3.745398619290096]),
            (24.5, [0.25611537460619793, 1.7094823754122985, 2.792083429678077, 3.735041348921243]),
            (1e6, [0.25334717053784184, 1.6448551507220404, 2.5758342201053344, 3.2905364612487222]),
        ];
        for (freedom, row) in table {
            for (above, expected) in [0.4, 0.05, 0.005, 0.0005].into_iter().zip(row) {
                close(student_quantile(freedom, above), expected);
            }
        }
    }

    #[test]
    fn summary_of_a_small_sample() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((summary.count, summary.mean), (8, 5.0));
        close(summary.deviation, sqrt(32.0 / 7.0));
        let (low, high) = summary.interval(0.95);
        // 5 ± 2.3646 · 2.1381 / √8, with the quantile from a table.
        assert!((low - 3.2125).abs() < 1e-4 && (high - 6.7875).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn a_large_offset_does_not_hide_the_spread() {
        close(Summary::of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]).deviation, 1.0);
    }

    #[test]
    fn too_few_values_say_so() {
        assert!(Summary::of(&[]).mean.is_nan());
        assert_eq!(Summary::of(&[3.0]).interval(0.99), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(!greater(&[100.0], &[1.0, 2.0], 0.99));
    }

    /// Two samples of unequal spread: t = 2.45536, 24.9885 degrees of freedom, one-sided p = 0.010689,
    /// from an independent implementation.
    const A: [f64; 15] =
        [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    const B: [f64; 15] =
        [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];

    #[test]
    fn welch_decides_at_the_right_level() {
        assert!(greater(&B, &A, 0.9893));
        assert!(!greater(&B, &A, 0.9894));
        assert!(!greater(&A, &B, 0.5));
        // Few values and unequal sizes, where the degrees of freedom (2.66052) matter most: p = 0.0097979.
        let (a, b) = ([9.0, 14.0, 11.5], [3.0, 4.0, 3.5, 5.5, 2.0]);
        assert!(greater(&a, &b, 0.9902));
        assert!(!greater(&a, &b, 0.9903));
    }

    #[test]
    fn samples_without_spread_are_compared_as_they_are() {
        assert!(greater(&[300.0; 25], &[299.0; 25], 0.99));
        assert!(!greater(&[300.0; 25], &[300.0; 25], 0.99));
    }

    #[test]
    fn the_level_is_kept_under_equality() {
        // Both samples from one distribution: at 99% about one in a hundred verdicts is wrong. 2,000
        // pairs, so 20 expected; the exact bound is the one that the samplers are held to.
        let mut state = 42_u64;
        let mut draw = || {
            let mut sum = 0.0;
            for _ in 0..12 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                sum += (state >> 11) as f64 / (1_u64 << 53) as f64;
            }
            sum
        };
        let wrong = (0..2_000)
            .filter(|_| {
                let a: [f64; 25] = core::array::from_fn(|_| draw());
                let b: [f64; 25] = core::array::from_fn(|_| draw());
                greater(&a, &b, 0.99)
            })
            .count() as u64;
        assert!(super::super::binomial::accepts(2_000, 1, 100, wrong, 0.999), "{wrong} of 2,000");
    }
}
