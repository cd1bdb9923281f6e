//! The one table for people, and under it the worst ratio against each peer beside its goal.

use crate::contender::{COMPARISONS, CONTENDERS, Comparison};
use crate::measure::Figures;
use std::fmt::Write;

/// The body on which a comparison comes out worst, and its ratio; none unless both were measured.
pub(crate) fn worst<'a>(figures: &'a [Figures], comparison: &Comparison) -> Option<(&'a Figures, f64)> {
    let ratios = figures.iter().filter_map(|row| Some((row, row.ratio(comparison.ours, comparison.theirs)?)));
    ratios.min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// What a worst ratio means.
pub(crate) fn verdict(ratio: f64, comparison: &Comparison) -> &'static str {
    if ratio >= comparison.goal {
        "goal met"
    } else if ratio >= comparison.floor {
        "floor held, goal missed"
    } else {
        "under the floor"
    }
}

pub(crate) fn render(figures: &[Figures]) -> String {
    let mut text =
        String::from("executions per second, and ratios within a round; medians over the rounds\n\n");
    line(&mut text, "body", CONTENDERS.iter().map(|contender| contender.name.to_owned()), headings(figures));
    for row in figures {
        let speeds = CONTENDERS.iter().map(|contender| cell(row.speed(contender.name), ""));
        line(&mut text, &row.body.to_string(), speeds, ratios(row));
    }
    text.push('\n');
    for comparison in COMPARISONS {
        text += &conclusion(figures, comparison);
    }
    text
}

fn line(text: &mut String, body: &str, speeds: impl Iterator<Item = String>, ratios: Vec<String>) {
    write!(text, "{body:<14}").expect("writing to a string");
    for cell in speeds.chain(ratios) {
        write!(text, "{cell:>22}").expect("writing to a string");
    }
    text.push('\n');
}

/// A ratio has a column only if it was measured.
fn headings(figures: &[Figures]) -> Vec<String> {
    let measured = COMPARISONS.iter().filter(|comparison| worst(figures, comparison).is_some());
    measured.map(heading).collect()
}

fn heading(Comparison { ours, theirs, .. }: &Comparison) -> String {
    format!("{} x {theirs}", ours.strip_prefix("raddle ").unwrap_or(ours))
}

fn ratios(row: &Figures) -> Vec<String> {
    COMPARISONS
        .iter()
        .filter_map(|one| row.ratio(one.ours, one.theirs))
        .map(|it| cell(Some(it), "x"))
        .collect()
}

fn cell(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.*}{unit}", usize::from(value < 1000.0)))
}

fn conclusion(figures: &[Figures], comparison: &Comparison) -> String {
    let Comparison { ours, theirs, goal, floor } = comparison;
    let result = match worst(figures, comparison) {
        Some((row, ratio)) => format!("{ratio:.1}x on {}: {}", row.body, verdict(ratio, comparison)),
        None => "not measured".into(),
    };
    format!("worst, {ours} against {theirs}: {result} (goal {goal}x, never under {floor}x)\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{Body, Work};

    fn row(operations: usize, ours: f64) -> Figures {
        let body = Body { work: Work::Atomic, threads: 2, operations };
        Figures { body, rounds: vec![("raddle random", vec![ours]), ("shuttle random", vec![1.0])] }
    }

    #[test]
    fn the_conclusion_is_the_worst_body_not_the_mean() {
        let text = render(&[row(5, 90.0), row(25, 12.0), row(250, 30.0)]);
        let wanted = "worst, raddle random against shuttle random: 12.0x on atomic 2x25: floor held, goal missed \
                      (goal 20x, never under 10x)";
        assert!(text.lines().any(|line| line == wanted), "{text}");
        assert!(
            text.contains("raddle random against loom: not measured (goal 40x, never under 20x)"),
            "{text}"
        );
    }

    #[test]
    fn verdicts_follow_goal_and_floor() {
        let verdicts = [20.0, 19.9, 10.0, 9.9].map(|ratio| verdict(ratio, &COMPARISONS[0]));
        assert_eq!(
            verdicts,
            ["goal met", "floor held, goal missed", "floor held, goal missed", "under the floor"]
        );
    }
}
