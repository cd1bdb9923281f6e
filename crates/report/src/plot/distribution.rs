//! Figure 6 of the RAPOS paper: how evenly each strategy samples partial orders.
//!
//! Every sample is one bar, divided into a segment for each distinct partial order, as wide as its share
//! of the runs, the most frequent first. A strategy that keeps finding the same few gives wide blocks on
//! the left; an even one gives many segments of the same small width.
//!
//! Partial orders too rare to be drawn apart share one hatched segment that says how many they are, so
//! the size of the picture does not grow with the number of runs.

use super::number::{percent, whole};
use super::svg::{Anchor, FAINT_INK, Font, HEAD, LABEL, NOTE, SMALL, Svg, TITLE, width_of};
use super::{Distribution, Hue, MARGIN, Sample, hue};

const BAR_HEIGHT: f64 = 22.0;
const ROW_HEIGHT: f64 = 56.0;
const COLUMN_WIDTH_MIN: f64 = 300.0;
const COLUMN_GAP: f64 = 32.0;
/// Segments narrower than this are not drawn one by one, in pixels.
const DRAWN_MIN: f64 = 0.5;
/// Segments at least this wide say their share under the pointer, in pixels.
const TIP_MIN: f64 = 6.0;

/// Draws the chart as SVG.
pub fn distribution(chart: &Distribution) -> String {
    let mut svg = Svg::new();
    let samples = || chart.subjects.iter().flat_map(|subject| subject.samples.iter().flatten());
    let names =
        chart.subjects.iter().map(|subject| width_of(&subject.name, LABEL)).fold(0.0, f64::max).ceil() + 20.0;
    let column =
        samples().map(|sample| width_of(&caption(sample), SMALL)).fold(COLUMN_WIDTH_MIN, f64::max).ceil();
    let left = |strategy: usize| MARGIN + names + strategy as f64 * (column + COLUMN_GAP);
    let right = (left(chart.strategies.len()) - COLUMN_GAP).max(left(0));
    let reading = "Each segment is one distinct partial order, as wide as its share of the runs, the most frequent \
                   first. Wide segments are repeated work.";

    for strategy in 0..chart.strategies.len() {
        define_hatching(&mut svg, strategy);
    }
    let mut y = svg.paragraph((MARGIN, MARGIN - 6.0), TITLE, right - MARGIN, &chart.title) + 2.0;
    // On whole pixels, so that segments one pixel wide stay sharp.
    y = svg.paragraph((MARGIN, y), NOTE, right - MARGIN, reading).ceil() + 30.0;
    for (strategy, name) in chart.strategies.iter().enumerate() {
        svg.rect(
            (left(strategy), y - 11.0),
            (12.0, 12.0),
            &format!(r#"rx="2" fill="{}""#, hue(strategy).tone),
        );
        svg.text((left(strategy) + 18.0, y), HEAD, Anchor::Start, name);
    }
    y += 14.0;
    let mut merged = false;
    for subject in &chart.subjects {
        svg.text((MARGIN, y + BAR_HEIGHT / 2.0 + 4.5), LABEL, Anchor::Start, &subject.name);
        for strategy in 0..chart.strategies.len() {
            let at = (left(strategy), y);
            match subject.samples.get(strategy).and_then(Option::as_ref) {
                Some(sample) if sample.counts.iter().any(|&count| count > 0) => {
                    merged |= bar(&mut svg, at, column, sample, strategy);
                    frame(&mut svg, at, column, hue(strategy));
                    svg.text((at.0, y + BAR_HEIGHT + 14.0), SMALL, Anchor::Start, &caption(sample));
                }
                _ => absent(&mut svg, at, column),
            }
        }
        y += ROW_HEIGHT;
    }
    for strategy in 0..chart.strategies.len() {
        axis(&mut svg, (left(strategy), y - 8.0), column);
    }
    y += 18.0;
    if merged {
        let share = percent(DRAWN_MIN / column);
        let note = format!(
            "Hatched: all partial orders that make up less than {share} of the runs each, too narrow to draw one by one."
        );
        y = svg.paragraph((MARGIN, y), NOTE, right - MARGIN, &note);
    }
    svg.finish(right + MARGIN, y + MARGIN - 6.0, &chart.title, &description(chart))
}

fn caption(sample: &Sample) -> String {
    let about = if sample.exact { "" } else { "≈ " };
    let (distinct, runs) = (whole(sample.distinct), whole(sample.runs));
    format!("{about}{distinct} distinct in {runs} runs · largest {}", percent(largest_share(sample)))
}

fn largest_share(sample: &Sample) -> f64 {
    let largest = sample.counts.iter().copied().max().unwrap_or(0);
    f64::from(largest) / sample.runs.max(1) as f64
}

/// Draws one bar; true if some partial orders had to share the hatched segment.
fn bar(svg: &mut Svg, (x, y): (f64, f64), width: f64, sample: &Sample, strategy: usize) -> bool {
    let hue = hue(strategy);
    let mut counts = sample.counts.clone();
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let mut from = x;
    let mut drawn = 0;
    // Equal counts together: a thousand segments of one width are one dashed line.
    for equal in counts.chunk_by(|a, b| a == b) {
        let each = width * f64::from(equal[0]) / total;
        if each < DRAWN_MIN {
            let rare = sample.distinct.saturating_sub(drawn as u64);
            hatched(svg, (from, y), x + width - from, rare, strategy);
            return true;
        }
        let shades = if drawn % 2 == 0 { [hue.dark, hue.pale] } else { [hue.pale, hue.dark] };
        if each < TIP_MIN {
            narrow(svg, (from, y), each, equal.len(), shades);
        } else {
            let share = f64::from(equal[0]) / sample.runs.max(1) as f64;
            for at in 0..equal.len() {
                wide(svg, (from + at as f64 * each, y), each, share, (shades[at % 2], hue));
            }
        }
        from += each * equal.len() as f64;
        drawn += equal.len();
    }
    false
}

/// Without it a pale last segment would fade into the page.
fn frame(svg: &mut Svg, (x, y): (f64, f64), width: f64, hue: Hue) {
    let outline = format!(r#"fill="none" stroke="{}""#, hue.dark);
    svg.rect((x - 0.5, y - 0.5), (width + 1.0, BAR_HEIGHT + 1.0), &outline);
}

fn wide(svg: &mut Svg, (x, y): (f64, f64), width: f64, share: f64, (shade, hue): (&str, Hue)) {
    let share = percent(share);
    svg.rect_with_tip(
        (x, y),
        (width, BAR_HEIGHT),
        &format!(r#"fill="{shade}""#),
        &format!("{share} of the runs"),
    );
    let ink = if shade == hue.dark { "#ffffff" } else { super::svg::INK };
    let font = Font { ink, ..SMALL };
    if width_of(&share, font) + 6.0 <= width {
        svg.text((x + width / 2.0, y + BAR_HEIGHT / 2.0 + 4.0), font, Anchor::Middle, &share);
    }
}

/// `count` segments of alternating shade: a ground, and a line across it dashed at the width of a segment.
fn narrow(svg: &mut Svg, (x, y): (f64, f64), each: f64, count: usize, [ground, dashes]: [&str; 2]) {
    let width = each * count as f64;
    svg.rect((x, y), (width, BAR_HEIGHT), &format!(r#"fill="{ground}""#));
    if count > 1 {
        // Four decimals, since the error adds up along the line.
        let rest = format!(r#"stroke="{dashes}" stroke-width="{BAR_HEIGHT}" stroke-dasharray="{each:.4}""#);
        let middle = y + BAR_HEIGHT / 2.0;
        svg.line((x + each, middle), (x + width, middle), &rest);
    }
}

fn hatched(svg: &mut Svg, (x, y): (f64, f64), width: f64, count: u64, strategy: usize) {
    let tip = format!("{} rare partial orders", whole(count));
    let fill = format!(r#"fill="url(#raddle-rare-{strategy})""#);
    svg.rect_with_tip((x, y), (width, BAR_HEIGHT), &fill, &tip);
    let label = format!("{} rare", whole(count));
    let font = Font { ink: super::svg::INK, ..SMALL };
    let room = width_of(&label, font) + 8.0;
    if room + 12.0 <= width {
        let middle = x + width / 2.0;
        svg.rect(
            (middle - room / 2.0, y + 3.0),
            (room, BAR_HEIGHT - 6.0),
            r##"rx="3" fill="#ffffff" fill-opacity="0.9""##,
        );
        svg.text((middle, y + BAR_HEIGHT / 2.0 + 4.0), font, Anchor::Middle, &label);
    }
}

fn define_hatching(svg: &mut Svg, strategy: usize) {
    let Hue { tone, pale, .. } = hue(strategy);
    svg.raw(&format!(
        r#"<defs><pattern id="raddle-rare-{strategy}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" fill="{pale}"/><rect width="1.6" height="5" fill="{tone}"/></pattern></defs>"#
    ));
}

fn absent(svg: &mut Svg, (x, y): (f64, f64), width: f64) {
    let outline = format!(r#"fill="none" stroke="{FAINT_INK}" stroke-dasharray="4 3""#);
    svg.rect((x + 0.5, y + 0.5), (width - 1.0, BAR_HEIGHT - 1.0), &outline);
    svg.text((x + 8.0, y + BAR_HEIGHT / 2.0 + 4.0), SMALL, Anchor::Start, "not measured");
}

fn axis(svg: &mut Svg, (x, y): (f64, f64), width: f64) {
    let stroke = format!(r#"stroke="{FAINT_INK}""#);
    svg.line((x, y), (x + width, y), &stroke);
    for (tick, label) in ["0", "25", "50", "75", "100%"].iter().enumerate() {
        let at = x + width * tick as f64 / 4.0;
        svg.line((at, y), (at, y + 4.0), &stroke);
        let anchor = match tick {
            0 => Anchor::Start,
            4 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text((at, y + 17.0), SMALL, anchor, label);
    }
}

/// The chart in words, for screen readers: every number that stands in a caption.
fn description(chart: &Distribution) -> String {
    let mut lines = vec!["Distinct partial orders by subject and strategy.".to_string()];
    for subject in &chart.subjects {
        for (strategy, sample) in chart.strategies.iter().zip(&subject.samples) {
            let told = sample.as_ref().map_or("not measured".into(), caption);
            lines.push(format!("{}, {strategy}: {told}.", subject.name));
        }
    }
    lines.join(" ")
}
