//! The same figures for other tools: one object on one line.
//!
//! Written by hand, as every name is one of ours and needs no escaping.

use crate::contender::{COMPARISONS, CONTENDERS};
use crate::measure::Figures;
use crate::table::{verdict, worst};

pub(crate) fn render(figures: &[Figures]) -> String {
    let bodies = list(figures.iter().map(body));
    let worst = list(COMPARISONS.iter().map(|comparison| {
        let found = worst(figures, comparison);
        format!(
            r#"{{"ours":"{}","theirs":"{}","goal":{},"floor":{},"body":{},"ratio":{},"verdict":{}}}"#,
            comparison.ours,
            comparison.theirs,
            comparison.goal,
            comparison.floor,
            text(found.map(|(row, _)| row.body.to_string())),
            number(found.map(|(_, ratio)| ratio)),
            text(found.map(|(_, ratio)| verdict(ratio, comparison).to_owned())),
        )
    }));
    format!("{{\"schema\":1,\"unit\":\"executions per second\",\"bodies\":{bodies},\"worst\":{worst}}}\n")
}

fn body(row: &Figures) -> String {
    let speeds = CONTENDERS.iter().map(|one| format!(r#""{}":{}"#, one.name, number(row.speed(one.name))));
    let ratios = COMPARISONS
        .iter()
        .map(|one| format!(r#""{} / {}":{}"#, one.ours, one.theirs, number(row.ratio(one.ours, one.theirs))));
    let (speeds, ratios) = (speeds.collect::<Vec<_>>().join(","), ratios.collect::<Vec<_>>().join(","));
    format!(r#"{{"body":"{}","speeds":{{{speeds}}},"ratios":{{{ratios}}}}}"#, row.body)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "null".into(), |value| format!("{value:.3}"))
}

fn text(value: Option<String>) -> String {
    value.map_or_else(|| "null".into(), |value| format!("\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{Body, Work};

    #[test]
    fn one_line_with_the_figures_and_null_for_what_was_not_measured() {
        let body = Body { work: Work::Mutex, threads: 4, operations: 25 };
        let rounds = vec![("raddle pct", vec![30.0]), ("shuttle pct", vec![2.0])];
        let line = render(&[Figures { body, rounds }]);
        assert_eq!(line.matches('\n').count(), 1);
        for part in [
            r#""body":"mutex 4x25""#,
            r#""shuttle pct":2.000"#,
            r#""raddle pct / shuttle pct":15.000"#,
            r#""loom":null"#,
            r#""floor":10,"body":"mutex 4x25","ratio":15.000,"verdict":"floor held, goal missed""#,
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
    }
}
