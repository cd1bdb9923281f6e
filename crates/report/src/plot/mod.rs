//! Charts as self-contained SVG text: the figures of `raddle bench`, for a page, a paper or a browser.
//!
//! The charts are drawn by a small writer of our own. A general plotting library would have to be
//! told every position anyway: the bars divided into segments exist in none, and text that never
//! overlaps needs widths that they take from the fonts of the machine, so that a golden file would
//! not be the same everywhere. Here equal input gives equal bytes.
//!
//! All charts have a light background of their own, a palette that stays apart for colour-blind readers, no
//! information in colour alone, text of at least 11 px, and a title and description for screen readers.

mod bars;
mod distribution;
mod lines;
mod number;
mod scale;
mod svg;

pub use bars::bars;
pub use distribution::distribution;
pub use lines::lines;

use raddle_analysis::statistics::Distinct;

/// How evenly strategies sample partial orders: a row for each subject, a column for each strategy.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// What the chart shows, in a few words.
    pub title: String,
    /// The columns.
    pub strategies: Vec<String>,
    /// The rows, from the top.
    pub subjects: Vec<Subject>,
}

/// One row of a [`Distribution`].
#[derive(Clone, Debug)]
pub struct Subject {
    /// The program under test.
    pub name: String,
    /// One for each strategy, in their order; `None` where nothing was measured.
    pub samples: Vec<Option<Sample>>,
}

/// The partial orders that one strategy sampled on one subject.
#[derive(Clone, Debug)]
pub struct Sample {
    /// How many runs were made.
    pub runs: u64,
    /// How many distinct partial orders they showed.
    pub distinct: u64,
    /// Whether `distinct` was counted; if not, `counts` is a uniform sample of the partial orders, and the
    /// widths drawn are shares of that sample.
    pub exact: bool,
    /// How often each partial order was seen, in any order.
    pub counts: Vec<u32>,
}

impl From<&Distinct> for Sample {
    fn from(seen: &Distinct) -> Self {
        let distinct = seen.distinct();
        Self { runs: seen.runs(), distinct: distinct.value, exact: distinct.exact, counts: seen.counts() }
    }
}

/// Means side by side, with how sure they are: a group for each subject, a bar for each strategy.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What the chart shows, in a few words.
    pub title: String,
    /// What the reader has to know besides: experiments, level of the intervals, whether less is better.
    pub note: String,
    /// What is measured, with its unit; stands above the axis.
    pub measure: String,
    /// The bars of each group.
    pub strategies: Vec<String>,
    /// The groups, from the left.
    pub groups: Vec<Group>,
    /// How the values are spread over the height.
    pub spacing: Spacing,
}

/// One group of bars.
#[derive(Clone, Debug)]
pub struct Group {
    /// The program under test.
    pub name: String,
    /// One for each strategy, in their order; `None` where nothing was measured.
    pub bars: Vec<Option<Bar>>,
}

/// A mean with its interval of confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The height of the bar; not negative.
    pub mean: f64,
    /// The lower end of the interval; may lie below zero, where it is cut off.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether some experiments ended before the event, so that the true mean is larger: drawn as "≥".
    pub at_least: bool,
}

/// How the values of an axis are spread over its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences take equal lengths; starts at zero.
    #[default]
    Linear,
    /// Equal ratios take equal lengths, for values that differ by orders of magnitude. Values that are not
    /// positive are drawn at the lower end.
    Logarithmic,
}

/// Curves over one axis, such as distinct partial orders over runs.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What the chart shows, in a few words.
    pub title: String,
    /// What the reader has to know besides; may be empty.
    pub note: String,
    /// What is measured along the x axis.
    pub across: String,
    /// What is measured along the y axis.
    pub measure: String,
    /// The curves.
    pub series: Vec<Series>,
    /// How the values are spread along the x axis.
    pub spacing_across: Spacing,
    /// How the values are spread along the y axis.
    pub spacing: Spacing,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// Stands at its end.
    pub name: String,
    /// Its points, x ascending.
    pub points: Vec<(f64, f64)>,
}

/// The colours of one strategy: dark enough for white text, the tone for bars and lines, and a pale one.
#[derive(Clone, Copy)]
struct Hue {
    dark: &'static str,
    tone: &'static str,
    pale: &'static str,
}

/// Okabe and Ito's palette, with a darker and a paler version of each.
const HUES: [Hue; 6] = [
    Hue { dark: "#a84a00", tone: "#d55e00", pale: "#f6c39b" },
    Hue { dark: "#005a8e", tone: "#0072b2", pale: "#9fcdec" },
    Hue { dark: "#00694d", tone: "#009e73", pale: "#92d8c1" },
    Hue { dark: "#8e3f6c", tone: "#cc79a7", pale: "#ecc9dc" },
    Hue { dark: "#7a5600", tone: "#e69f00", pale: "#f7d999" },
    Hue { dark: "#22638c", tone: "#56b4e9", pale: "#bfe1f6" },
];

fn hue(strategy: usize) -> Hue {
    HUES[strategy % HUES.len()]
}

/// The space around a chart, in pixels.
const MARGIN: f64 = 24.0;

#[cfg(test)]
mod tests;
