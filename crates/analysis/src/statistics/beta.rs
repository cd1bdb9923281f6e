//! The regularised incomplete beta function, from which the binomial and Student distributions follow.
//!
//! A continued fraction (evaluated by Lentz's method) under a leading term. The leading term is a binomial
//! probability and is computed by Loader's saddle-point expansion ("Fast and accurate computation of
//! binomial probabilities", 2000): the difference of three log-gammas would lose eight digits at ten
//! million runs, and acceptance at the edge of a region would be noise.

use core::f64::consts::PI;
use libm::{exp, lgamma, log, sqrt};

/// A number in 0..=1 together with its complement, each to full relative precision.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) of: f64,
    pub(super) rest: f64,
}

impl Part {
    pub(super) fn new(of: f64) -> Self {
        Self { of, rest: 1.0 - of }
    }

    pub(super) fn complement(self) -> Self {
        Self { of: self.rest, rest: self.of }
    }
}

/// The probability that a Beta(`a`, `b`) variable is at most `x`. `a` and `b` are positive.
pub(super) fn at_most(x: Part, a: f64, b: f64) -> f64 {
    debug_assert!(a > 0.0 && b > 0.0);
    if x.of <= 0.0 {
        0.0
    } else if x.rest <= 0.0 {
        1.0
    } else if x.of * (a + b + 2.0) <= a + 1.0 {
        lower(x, a, b)
    } else {
        // The continued fraction converges fast only below the mean: use the symmetry above it.
        1.0 - lower(x.complement(), b, a)
    }
}

/// The argument below which a Beta(`a`, `b`) variable lies with the given probability.
pub(super) fn quantile_below(probability: f64, a: f64, b: f64) -> f64 {
    threshold(|x| at_most(x, a, b) < probability)
}

/// The argument above which a Beta(`a`, `b`) variable lies with the given probability: precise where
/// `quantile_below(1 - probability)` would round the probability away.
pub(super) fn quantile_above(probability: f64, a: f64, b: f64) -> f64 {
    threshold(|x| at_most(x.complement(), b, a) > probability)
}

/// Where a predicate that holds near zero ceases to hold, by bisection down to the last bit.
fn threshold(holds: impl Fn(Part) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high || high < f64::MIN_POSITIVE {
            return middle;
        }
        if holds(Part::new(middle)) { low = middle } else { high = middle }
    }
}

/// Far more than are needed: about `sqrt(max(a, b))`, which is 3,000 at ten million runs.
const ROUNDS_MAX: u32 = 200_000;

/// Didonato and Morris's continued fraction ("Algorithm 708", 1992): its only difference of large
/// numbers, `a·(1-x) - b·x`, is precise because both parts of `x` are.
fn lower(x: Part, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let leading = term(a, a + b, x) * a * b / (a + b);
    if leading == 0.0 {
        return 0.0;
    }
    let excess = a * x.rest - b * x.of + 1.0;
    let mut fraction = away_from_zero(a * excess / (a + 1.0));
    let (mut ratio, mut inverse) = (fraction, 0.0);
    for round in 1..=ROUNDS_MAX {
        let m = f64::from(round);
        let before = a + 2.0 * m - 1.0;
        let above = (a + m - 1.0) * (a + b + m - 1.0) * m * (b - m) * x.of * x.of / (before * before);
        let beside =
            m + m * (b - m) * x.of / before + (a + m) * (excess + m * (1.0 + x.rest)) / (before + 2.0);
        inverse = 1.0 / away_from_zero(beside + above * inverse);
        ratio = away_from_zero(beside + above / ratio);
        let change = ratio * inverse;
        fraction *= change;
        if (change - 1.0).abs() < 4.0 * f64::EPSILON {
            return leading / fraction;
        }
    }
    panic!("[raddle bug] the incomplete beta function at ({a}, {b}) did not converge");
}

/// `k` successes in `n` trials of probability `p`; neither `k` nor `n - k` is zero, nor need they be whole.
fn term(k: f64, n: f64, p: Part) -> f64 {
    let others = n - k;
    // Both differences from the mean are one number; it is taken on the side where less cancels.
    let excess = if p.of < p.rest { k - n * p.of } else { n * p.rest - others };
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(others)
        - deviance(k, n * p.of, excess)
        - deviance(others, n * p.rest, -excess);
    exp(exponent) * sqrt(n / (2.0 * PI * k * others))
}

/// `ln n!` minus Stirling's formula for it.
fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - log(2.0 * PI) / 2.0;
    }
    let inverse = 1.0 / n;
    let square = inverse * inverse;
    let terms = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    inverse * terms.iter().rev().fold(0.0, |sum, term| sum * square + term)
}

/// `x ln(x/mean) - difference`, without cancellation where the difference, `x - mean`, is small.
fn deviance(x: f64, mean: f64, difference: f64) -> f64 {
    if difference.abs() >= 0.1 * (x + mean) {
        return x * log(x / mean) - difference;
    }
    // With v = difference / (x + mean): x/mean = (1 + v)/(1 - v), whose logarithm is an odd series in v.
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The probability that a Student variable of `freedom` degrees is above `t`, for `t` at least zero.
pub(super) fn student_above(t: f64, freedom: f64) -> f64 {
    let whole = freedom + t * t;
    at_most(Part { of: freedom / whole, rest: t * t / whole }, freedom / 2.0, 0.5) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected, "{found:e} instead of {expected:e}");
    }

    #[test]
    fn agrees_with_closed_forms() {
        for x in [1e-9, 0.01, 0.3, 0.5, 0.77, 0.999] {
            for a in [0.5, 1.0, 3.0, 40.0] {
                close(at_most(Part::new(x), a, 1.0), libm::pow(x, a), 1e-13);
                close(at_most(Part::new(x), 1.0, a), -libm::expm1(a * libm::log1p(-x)), 1e-13);
            }
            close(at_most(Part::new(x), 0.5, 0.5), 2.0 / PI * libm::asin(sqrt(x)), 1e-13);
        }
    }

    #[test]
    fn is_symmetric_and_half_in_the_middle() {
        for a in [0.5, 7.0, 1e3, 5e6] {
            close(at_most(Part::new(0.5), a, a), 0.5, 1e-11);
        }
        let (x, a, b) = (Part::new(0.31), 2.5, 9.0);
        close(at_most(x, a, b) + at_most(x.complement(), b, a), 1.0, 1e-15);
    }

    #[test]
    fn quantiles_invert() {
        for (a, b) in [(0.5, 12.0), (3.0, 4.0), (1.0, 1e7), (6e6, 4e6)] {
            for probability in [1e-6, 0.005, 0.5, 0.995] {
                let below = Part::new(quantile_below(probability, a, b));
                close(at_most(below, a, b), probability, 1e-8);
                let above = Part::new(quantile_above(probability, a, b));
                close(at_most(above.complement(), b, a), probability, 1e-8);
            }
        }
    }
}
