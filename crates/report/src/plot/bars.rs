//! Figure 7 of the RAPOS paper: means by subject and strategy, each with its interval of confidence.

use super::number::short;
use super::scale::Scale;
use super::svg::{Anchor, Font, GRID, HEAD, INK, LABEL, NOTE, SMALL, Svg, TITLE, width_of};
use super::{Bar, Bars, Group, MARGIN, hue};

const PLOT_HEIGHT: f64 = 300.0;
const BAR_WIDTH_MIN: f64 = 32.0;
const BAR_GAP: f64 = 4.0;
const GROUP_GAP: f64 = 32.0;
const PLOT_WIDTH_MIN: f64 = 440.0;
/// Room for the numbers of the axis.
const AXIS_WIDTH: f64 = 56.0;
const VALUE: Font = Font { ink: INK, ..SMALL };

/// Draws the chart as SVG.
pub fn bars(chart: &Bars) -> String {
    let layout = Layout::of(chart);
    let (left, right) = (layout.left(), layout.right());
    let mut svg = Svg::new();
    let mut y = svg.paragraph((MARGIN, MARGIN - 6.0), TITLE, right - MARGIN, &chart.title) + 2.0;
    y = svg.paragraph((MARGIN, y), NOTE, right - MARGIN, &chart.note) + 8.0;
    y = legend(&mut svg, chart, y, right);
    let measure = chart.spacing.named(&chart.measure);
    svg.text((MARGIN, y + 18.0), LABEL, Anchor::Start, &measure);
    // Room for the number above the tallest bar.
    let axis = Axis::of(chart, y + 46.0);
    for &tick in &axis.scale.ticks {
        let y = axis.height_at(tick);
        svg.line((left, y), (right, y), &format!(r#"stroke="{GRID}""#));
        svg.text((left - 8.0, y + 4.0), SMALL, Anchor::End, &short(tick));
    }
    for (at, group) in chart.groups.iter().enumerate() {
        let centre = left + (at as f64 + 0.5) * (layout.group + GROUP_GAP);
        draw_group(&mut svg, chart, group, (layout.bar, centre), &axis);
    }
    let ink = format!(r#"stroke="{INK}""#);
    svg.line((left, axis.floor), (right, axis.floor), &ink);
    let (width, height) = (right + MARGIN, axis.floor + 26.0 + MARGIN);
    svg.finish(width, height, &chart.title, &description(chart))
}

/// The vertical axis: from values to heights.
struct Axis {
    scale: Scale,
    floor: f64,
}

impl Axis {
    fn of(chart: &Bars, top: f64) -> Self {
        // An interval that reaches (almost) to zero must not stretch a logarithmic axis without end.
        let values = shown(chart).flat_map(|bar| [bar.mean, bar.high, bar.low.max(bar.mean / 10.0)]);
        let scale = Scale::fit(values, chart.spacing, 6);
        Self { scale, floor: top + PLOT_HEIGHT }
    }

    fn height_at(&self, value: f64) -> f64 {
        self.floor - PLOT_HEIGHT * self.scale.place(value)
    }
}

fn shown(chart: &Bars) -> impl Iterator<Item = &Bar> {
    chart.groups.iter().flat_map(|group| group.bars.iter().flatten())
}

/// Widths that leave room for the longest number and the longest name.
struct Layout {
    bar: f64,
    group: f64,
    groups: usize,
}

impl Layout {
    fn of(chart: &Bars) -> Self {
        let widest = shown(chart).map(|bar| width_of(&number(bar), VALUE)).fold(BAR_WIDTH_MIN, f64::max);
        let strategies = chart.strategies.len().max(1) as f64;
        let groups = chart.groups.len().max(1);
        let names = chart.groups.iter().map(|group| width_of(&group.name, LABEL)).fold(0.0, f64::max);
        let least = PLOT_WIDTH_MIN / groups as f64 - GROUP_GAP;
        let group = (strategies * (widest + BAR_GAP) - BAR_GAP).max(names).max(least).ceil();
        // Wider groups, up to a point, get wider bars rather than empty space.
        let bar = ((group + BAR_GAP) / strategies - BAR_GAP).min(widest * 1.6);
        Self { bar, group, groups }
    }

    fn left(&self) -> f64 {
        MARGIN + AXIS_WIDTH
    }

    fn right(&self) -> f64 {
        self.left() + self.groups as f64 * (self.group + GROUP_GAP)
    }
}

fn draw_group(svg: &mut Svg, chart: &Bars, group: &Group, (width, centre): (f64, f64), axis: &Axis) {
    let strategies = chart.strategies.len();
    let used = strategies as f64 * (width + BAR_GAP) - BAR_GAP;
    for strategy in 0..strategies {
        let x = centre - used / 2.0 + strategy as f64 * (width + BAR_GAP);
        let middle = x + width / 2.0;
        let Some(bar) = group.bars.get(strategy).copied().flatten() else {
            svg.text((middle, axis.floor - 6.0), SMALL, Anchor::Middle, "none");
            continue;
        };
        let tip = format!("{}, {}: {}", group.name, chart.strategies[strategy], told(&bar));
        let fill = format!(r#"fill="{}""#, hue(strategy).tone);
        let y = axis.height_at(bar.mean);
        svg.rect_with_tip((x, y), (width, axis.floor - y), &fill, &tip);
        let top = whisker(svg, middle, &bar, axis).min(y);
        svg.text_on_grid((middle, top - 6.0), VALUE, &number(&bar));
    }
    svg.text((centre, axis.floor + 20.0), HEAD, Anchor::Middle, &group.name);
}

/// The interval as a line with two ends; returns the height of the upper one.
fn whisker(svg: &mut Svg, middle: f64, bar: &Bar, axis: &Axis) -> f64 {
    let height_at = |value: f64| axis.height_at(if value.is_finite() { value } else { bar.mean });
    let (low, high) = (height_at(bar.low), height_at(bar.high));
    // White beneath, so that it can be seen on the darkest bar too.
    for stroke in [
        r##"stroke="#ffffff" stroke-width="3.5" stroke-opacity="0.7""##,
        r##"stroke="#1f2328" stroke-width="1.5""##,
    ] {
        svg.line((middle, high), (middle, low), stroke);
        svg.line((middle - 6.0, high), (middle + 6.0, high), stroke);
        // An end below the axis is not shown as if it were on it.
        if low < axis.floor {
            svg.line((middle - 6.0, low), (middle + 6.0, low), stroke);
        }
    }
    high
}

fn legend(svg: &mut Svg, chart: &Bars, y: f64, right: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, y + 14.0);
    for (strategy, name) in chart.strategies.iter().enumerate() {
        let width = 18.0 + width_of(name, LABEL);
        if x > MARGIN && x + width > right {
            (x, y) = (MARGIN, y + 20.0);
        }
        svg.rect((x, y - 11.0), (12.0, 12.0), &format!(r#"rx="2" fill="{}""#, hue(strategy).tone));
        svg.text((x + 18.0, y), LABEL, Anchor::Start, name);
        x += width + 18.0;
    }
    y + 8.0
}

fn number(bar: &Bar) -> String {
    let least = if bar.at_least { "≥ " } else { "" };
    format!("{least}{}", short(bar.mean))
}

fn told(bar: &Bar) -> String {
    format!("{} ({} to {})", number(bar), short(bar.low), short(bar.high))
}

/// The chart in words, for screen readers.
fn description(chart: &Bars) -> String {
    let mut lines = vec![format!("{}.", chart.measure)];
    for group in &chart.groups {
        for (strategy, bar) in chart.strategies.iter().zip(&group.bars) {
            let told = bar.as_ref().map_or("none".into(), told);
            lines.push(format!("{}, {strategy}: {told}.", group.name));
        }
    }
    lines.join(" ")
}
