//! Curves, such as the number of distinct partial orders over the number of runs.
//!
//! Each curve carries its name at its end, in its colour and with its own dashes, so no legend is needed.

use super::number::short;
use super::scale::Scale;
use super::svg::{Anchor, Font, GRID, HEAD, INK, LABEL, NOTE, SMALL, Svg, TITLE, width_of};
use super::{Lines, MARGIN, Series, hue};

const PLOT_WIDTH: f64 = 560.0;
const PLOT_HEIGHT: f64 = 320.0;
const AXIS_WIDTH: f64 = 60.0;
/// Between the names of two curves that end close to each other.
const NAME_HEIGHT: f64 = 17.0;
const DASHES: [&str; 6] = [
    "",
    r#" stroke-dasharray="8 4""#,
    r#" stroke-dasharray="2 3""#,
    r#" stroke-dasharray="10 3 2 3""#,
    r#" stroke-dasharray="14 3""#,
    r#" stroke-dasharray="6 2 2 2 2 2""#,
];

/// Draws the chart as SVG.
pub fn lines(chart: &Lines) -> String {
    let mut svg = Svg::new();
    let names = chart.series.iter().map(|series| width_of(&series.name, HEAD)).fold(0.0, f64::max);
    let width = AXIS_WIDTH + PLOT_WIDTH + 16.0 + names;
    let mut y = svg.paragraph((MARGIN, MARGIN - 6.0), TITLE, width, &chart.title) + 2.0;
    y = svg.paragraph((MARGIN, y), NOTE, width, &chart.note) + 8.0;
    let measure = chart.spacing.named(&chart.measure);
    svg.text((MARGIN, y + 14.0), LABEL, Anchor::Start, &measure);
    let plane = Plane::of(chart, y + 34.0);
    plane.draw_axes(&mut svg, &chart.spacing_across.named(&chart.across));
    for (at, series) in chart.series.iter().enumerate() {
        let (tone, dashes) = (hue(at).tone, DASHES[at % DASHES.len()]);
        let rest =
            format!(r#"fill="none" stroke="{tone}" stroke-width="2.2" stroke-linejoin="round"{dashes}"#);
        svg.polyline(finite(series).map(|point| plane.place(point)), &rest);
    }
    plane.draw_names(&mut svg, &chart.series);
    let height = plane.floor() + 46.0 + MARGIN;
    svg.finish(MARGIN + width + MARGIN, height, &chart.title, &description(chart))
}

/// From values to positions.
struct Plane {
    across: Scale,
    up: Scale,
    top: f64,
}

impl Plane {
    const LEFT: f64 = MARGIN + AXIS_WIDTH;
    const RIGHT: f64 = Self::LEFT + PLOT_WIDTH;

    fn of(chart: &Lines, top: f64) -> Self {
        let points = || chart.series.iter().flat_map(finite);
        let across = || points().map(|(x, _)| x);
        Self {
            across: Scale::fit(across(), chart.spacing_across, 6).tight(across()),
            up: Scale::fit(points().map(|(_, y)| y), chart.spacing, 6),
            top,
        }
    }

    fn floor(&self) -> f64 {
        self.top + PLOT_HEIGHT
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (Self::LEFT + PLOT_WIDTH * self.across.place(x), self.floor() - PLOT_HEIGHT * self.up.place(y))
    }

    fn draw_axes(&self, svg: &mut Svg, across: &str) {
        let floor = self.floor();
        let (grid, ink) = (format!(r#"stroke="{GRID}""#), format!(r#"stroke="{INK}""#));
        for &tick in &self.up.ticks {
            let (_, y) = self.place((0.0, tick));
            svg.line((Self::LEFT, y), (Self::RIGHT, y), &grid);
            svg.text((Self::LEFT - 8.0, y + 4.0), SMALL, Anchor::End, &short(tick));
        }
        for &tick in &self.across.ticks {
            let (x, _) = self.place((tick, 0.0));
            svg.line((x, floor), (x, floor + 4.0), &ink);
            svg.text((x, floor + 18.0), SMALL, Anchor::Middle, &short(tick));
        }
        svg.line((Self::LEFT, floor), (Self::RIGHT, floor), &ink);
        let middle = (Self::LEFT + Self::RIGHT) / 2.0;
        svg.text((middle, floor + 40.0), LABEL, Anchor::Middle, across);
    }

    /// Each name beside the end of its curve, moved apart where they would overlap.
    fn draw_names(&self, svg: &mut Svg, series: &[Series]) {
        let ends: Vec<_> = series
            .iter()
            .enumerate()
            .filter_map(|(at, series)| Some((at, self.place(finite(series).last()?))))
            .collect();
        let heights = ends.iter().map(|(_, end)| end.1).collect();
        for (&(at, end), y) in ends.iter().zip(apart(heights, self.top, self.floor() - 4.0)) {
            let leader = format!(r#"stroke="{}""#, hue(at).tone);
            svg.line((end.0 + 3.0, end.1), (Self::RIGHT + 12.0, y), &leader);
            let font = Font { ink: hue(at).dark, ..HEAD };
            svg.text((Self::RIGHT + 16.0, y + 4.5), font, Anchor::Start, &series[at].name);
        }
    }
}

fn finite(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// Moves heights as little as a simple sweep can, so that no two names overlap.
fn apart(heights: Vec<f64>, top: f64, floor: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let mut moved = heights;
    let mut least = top;
    for &at in &order {
        moved[at] = moved[at].max(least);
        least = moved[at] + NAME_HEIGHT;
    }
    let mut most = floor;
    for &at in order.iter().rev() {
        moved[at] = moved[at].min(most);
        most = moved[at] - NAME_HEIGHT;
    }
    moved
}

/// The chart in words, for screen readers: where each curve ends.
fn description(chart: &Lines) -> String {
    let told = chart.series.iter().map(|series| match finite(series).last() {
        Some((x, y)) => format!("{}: {} at {}.", series.name, short(y), short(x)),
        None => format!("{}: no points.", series.name),
    });
    [format!("{} over {}.", chart.measure, chart.across)]
        .into_iter()
        .chain(told)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        let moved = apart(vec![100.0, 101.0, 320.0, 99.0], 34.0, 320.0);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT));
        assert!(sorted[0] >= 34.0 && sorted[3] <= 320.0);
        // The order is kept.
        assert!(moved[3] < moved[0] && moved[0] < moved[1] && moved[1] < moved[2]);
    }
}
