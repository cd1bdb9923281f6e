//! From values to positions on an axis, and the values worth a tick.

use super::Spacing;

impl Spacing {
    /// What is measured, with a word about the spacing where the reader must know it.
    pub(super) fn named(self, measure: &str) -> String {
        match self {
            Self::Linear => measure.into(),
            Self::Logarithmic => format!("{measure} (logarithmic)"),
        }
    }
}

/// One axis: its range is widened to round numbers.
pub(super) struct Scale {
    low: f64,
    high: f64,
    spacing: Spacing,
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// An axis on which all `values` fit, with about `ticks` ticks. Only finite values count.
    pub(super) fn fit(values: impl Iterator<Item = f64>, spacing: Spacing, ticks: usize) -> Self {
        let finite = values.filter(|value| value.is_finite());
        match spacing {
            Spacing::Linear => Self::linear(finite.fold(0.0, f64::max), ticks),
            Spacing::Logarithmic => {
                let (low, high) = finite
                    .filter(|&value| value > 0.0)
                    .fold((f64::MAX, 0.0), |(low, high), value| (value.min(low), value.max(high)));
                if high > 0.0 {
                    Self::logarithmic(low, high, ticks)
                } else {
                    Self::logarithmic(1.0, 10.0, ticks)
                }
            }
        }
    }

    fn linear(high: f64, ticks: usize) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let rough = high / ticks as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|&step| step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let count = (high / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=count as usize).map(|tick| tick as f64 * step).collect();
        Self { low: 0.0, high: count * step, spacing: Spacing::Linear, ticks }
    }

    /// Ends at 1, 2 or 5 times a power of ten. All of those are ticks if they are few, else powers only.
    fn logarithmic(low: f64, high: f64, ticks: usize) -> Self {
        let first = low.log10().floor() as i32;
        let last = high.log10().ceil() as i32;
        let steps = |factors: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
                .collect()
        };
        let all = steps(&[1.0, 2.0, 5.0]);
        let from = all.iter().rposition(|&step| step <= low * 1.000_001).unwrap_or(0);
        let upto = all.iter().position(|&step| step >= high * 0.999_999).unwrap_or(all.len() - 1);
        let upto = upto.max(from + 1);
        let shown = all[from..=upto].to_vec();
        let (low, high) = (all[from], all[upto]);
        let within = |step: &f64| (low..=high).contains(step);
        let powers: Vec<f64> = steps(&[1.0]).into_iter().filter(within).collect();
        let ticks = if shown.len() <= ticks * 3 / 2 || powers.len() < 3 { shown } else { powers };
        Self { low, high, spacing: Spacing::Logarithmic, ticks }
    }

    /// Ends at the largest of `values` instead of the next round number: for axes along which there is data up
    /// to the end, and names beside it.
    pub(super) fn tight(mut self, values: impl Iterator<Item = f64>) -> Self {
        let high = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        if high > self.low {
            self.high = high;
            self.ticks.retain(|&tick| tick <= high);
        }
        self
    }

    /// Where `value` stands between the ends of the axis: 0 to 1, cut off at both.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic if value <= self.low => 0.0,
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        place.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64], spacing: Spacing) -> Vec<f64> {
        Scale::fit(values.iter().copied(), spacing, 6).ticks
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_values() {
        assert_eq!(ticks(&[3.0, 615.0], Spacing::Linear), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(ticks(&[1.0], Spacing::Linear), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(&[], Spacing::Linear).last(), Some(&1.0));
        assert_eq!(ticks(&[f64::INFINITY, 5.0], Spacing::Linear).last(), Some(&5.0));
    }

    #[test]
    fn logarithmic_ticks() {
        assert_eq!(
            ticks(&[14.0, 615.0], Spacing::Logarithmic),
            [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        );
        assert_eq!(ticks(&[1.0, 2e5], Spacing::Logarithmic), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!(ticks(&[0.0], Spacing::Logarithmic).first(), Some(&1.0));
        assert_eq!(ticks(&[10.0], Spacing::Logarithmic), [10.0, 20.0]);
    }

    #[test]
    fn places_run_from_zero_to_one() {
        let scale = Scale::fit([10.0, 1000.0].into_iter(), Spacing::Logarithmic, 6);
        assert!((scale.place(100.0) - 0.5).abs() < 1e-12);
        assert_eq!((scale.place(-3.0), scale.place(1e9)), (0.0, 1.0));
        let scale = Scale::fit([82.0].into_iter(), Spacing::Linear, 4).tight([82.0].into_iter());
        assert_eq!((scale.place(82.0), scale.ticks), (1.0, vec![0.0, 25.0, 50.0, 75.0]));
        let scale = Scale::fit([80.0].into_iter(), Spacing::Linear, 4);
        assert_eq!((scale.place(20.0), scale.place(-1.0)), (0.25, 0.0));
    }
}
