//! The HaPSets printed beside figures 1 and 2: learned again from the examples there.

use super::measure::HANG;
use crate::problem::Problem;
use raddle::tool::{self, LibraryTarget};
use raddle_explore::campaign::{self, Limits, Summary};
use raddle_explore::hapset::{Guided, Known, Under};
use raddle_explore::target::TargetError;
use raddle_explore::{Explorer, Sample, Systematic};
use raddle_model::{Plan, PointSet, SpinMode, Tail};
use raddle_policy::Strategy;
use raddle_subjects::hapset::figures::{figure_1, figure_2, statements};
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;

/// Random runs of figure 1: enough to see all good ones.
const RUNS: u64 = 1_000;

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    /// How the sets were learned.
    how: &'static str,
    runs: u64,
    sets: String,
    paper: &'static str,
    same: bool,
}

/// Both figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Problem> {
    let points = PointSet { all_accesses: true, ..PointSet::default() };
    let plan = Plan { points, spin: SpinMode::Off, ..Plan::new(0, Tail::Stay) };
    let random = Sample::new(Strategy::Random, plan.clone());
    let first = learn(figure_1, random, RUNS, &["e1", "e2", "e3", "e4"])?;
    let guided = Systematic::new(Guided::new(Known::default(), Under::Dpor, 0), plan);
    let second = learn(figure_2, guided, RUNS, &["g", "c", "b", "f"])?;
    let figure = |name, how, (runs, sets): (u64, String), paper: &'static str| {
        let same = sets == paper;
        Figure { name, how, runs, sets, paper, same }
    };
    Ok(vec![
        figure("figure 1", "from the good ones of random runs", first, "e1{e2} e2{e1,e4} e3{} e4{e3}"),
        figure("figure 2", "by the guided search, which ends then", second, "g{c} c{g} b{f} f{b}"),
    ])
}

/// The number of runs, and the HaPSet of each statement.
fn learn(
    body: fn(),
    mut explorer: impl Explorer,
    runs: u64,
    names: &[&'static str],
) -> Result<(u64, String), Problem> {
    let mut target = LibraryTarget::new(Arc::new(body), HANG).with_hapsets(true);
    let limits = Limits { runs, stop_after: 0, races: false };
    let told = |TargetError { message }| Problem::new(message, "this is a bug of raddle's: please report it");
    let Summary { progress, hapsets, .. } =
        campaign::run(&mut target, &mut explorer, &limits, &mut || false, &mut |_| ()).map_err(told)?;
    let statements = statements(names);
    let set = |&(name, line): &(&str, u32)| {
        let of = hapsets.sets().iter().filter(|pair| tool::statement(pair.of).frame.line == line);
        let lines: Vec<u32> = of.map(|pair| tool::statement(pair.before).frame.line).collect();
        let before = statements.iter().filter(|(_, line)| lines.contains(line)).map(|(name, _)| *name);
        format!("{name}{{{}}}", before.collect::<Vec<_>>().join(","))
    };
    Ok((progress.runs, statements.iter().map(set).collect::<Vec<_>>().join(" ")))
}

/// For people.
pub(crate) fn text(figures: &[Figure]) -> String {
    let mut out = String::from("figures 1 and 2: HaPSets of the statements\n");
    for Figure { name, how, runs, sets, paper, same } in figures {
        let verdict = if *same { "as in the paper" } else { "NOT as in the paper" };
        let _ = writeln!(out, "  {name}, {runs} runs, {how}: {sets}, {verdict}");
        if !same {
            let _ = writeln!(out, "    paper: {paper}");
        }
    }
    out
}
