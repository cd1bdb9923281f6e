//! What the oracle tests share: random programs, the conditions they are run under, the policies
//! that are tried, and the runner that shrinks what fails.

pub(crate) mod channels;
pub(crate) mod front;
pub(crate) mod real;
pub(crate) mod reference;
pub(crate) mod states;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use raddle_model::plan::{Covered, Weights};
use raddle_model::{Plan, PointSet, Schedule, Tail, TimeMode, Verdict};
use raddle_toy::{Body, Program, Sketch, ToyRun, enumerate, sketch};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// How large a sweep is.
pub(crate) fn size(name: &str) -> u64 {
    raddle_tiers::size(name)
}

/// Runs after which an enumeration is given up and the program left out.
pub(crate) const RUNS_MAX: usize = 3_000;

/// Every policy there is: a new one is one line here.
pub(crate) fn tails() -> Vec<Tail> {
    vec![
        Tail::Random,
        Tail::Rapos,
        Tail::Pct { depth: 3, length: 20 },
        Tail::Pos,
        Tail::Noise { one_in: 3, strength: 4 },
        Tail::Walks(Weights::default()),
        Tail::Coverage(Covered::default()),
        Tail::Stay,
    ]
}

/// A program and the conditions it is run under.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) sketch: Sketch,
    pub(crate) plan: Plan,
}

impl Case {
    pub(crate) fn program(&self) -> Program {
        self.sketch.program()
    }
}

/// The ways in which plans differ besides seed, prefix and tail.
pub(crate) fn conditions() -> Vec<Plan> {
    let base = Plan { points: PointSet::everything(), steps_max: 500, ..Plan::new(0, Tail::Random) };
    vec![
        base.clone(),
        Plan { points: PointSet::default(), ..base.clone() },
        Plan { time: TimeMode::Lazy, ..base.clone() },
        Plan { spurious_max: 1, ..base },
    ]
}

/// Random programs with at most `tasks_max` tasks of at most `steps_max` steps.
pub(crate) fn sketches(tasks_max: usize, steps_max: usize) -> impl Strategy<Value = Sketch> {
    let gene = any::<u32>;
    let families = [0..sketch::FAMILIES, 0..sketch::FAMILIES];
    let main = vec(gene(), 0..=1);
    let tasks = vec(vec(gene(), 1..=steps_max), 2..=tasks_max);
    (families, main, tasks).prop_map(|(families, main, tasks)| Sketch { families, main, tasks })
}

/// Checks `count` random programs, each under one of the conditions, and shrinks the first that
/// fails. `check` says whether the program was small enough to be checked at all; most must be.
pub(crate) fn for_programs(name: &str, count: u64, check: impl Fn(&Case) -> Result<bool, String>) {
    let conditions = conditions();
    let cases = (sketches(3, 3), 0..conditions.len())
        .prop_map(move |(sketch, nth)| Case { sketch, plan: conditions[nth].clone() });
    let config = Config {
        cases: count as u32,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    // The same programs every time, and others for each test.
    let mut seed = [0; 32];
    seed.iter_mut().zip(name.bytes()).for_each(|(byte, letter)| *byte = letter);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let checked = Cell::new(0);
    let outcome = runner.run(&cases, |case| match check(&case) {
        Ok(small) => {
            checked.set(checked.get() + u64::from(small));
            Ok(())
        }
        Err(message) => Err(TestCaseError::fail(message)),
    });
    match outcome {
        Ok(()) => {
            println!("{name}: {} of {count} programs were small enough", checked.get());
            assert!(checked.get() * 2 > count, "most programs are too large to be enumerated");
        }
        Err(TestError::Fail(reason, case)) => panic!("{name}: {reason}\n{}", listing(&case)),
        Err(error) => panic!("{name}: {error}"),
    }
}

/// A case for people.
pub(crate) fn listing(case: &Case) -> String {
    let mut text =
        format!("{:?}\n{:?}\n", case.sketch, Plan { prefix: Schedule::default(), ..case.plan.clone() });
    for (body, code) in case.program().tasks.iter().enumerate() {
        text += &format!("task {body}\n");
        for (at, instr) in code.iter().enumerate() {
            text += &format!("  {at} {instr:?}\n");
        }
    }
    text
}

/// A plan in which every operation is a scheduling point.
pub(crate) fn everywhere() -> Plan {
    Plan { points: PointSet::everything(), steps_max: 2_000, ..Plan::new(0, Tail::Random) }
}

/// All runs of a program that is known to be small.
pub(crate) fn all(program: &Program, plan: &Plan) -> Vec<ToyRun> {
    enumerate(program, plan, 500_000).expect("a small program")
}

/// How the runs of a program end: `finished` or the kind of a failure, each with its messages.
pub(crate) fn ends(program: &Program, plan: &Plan) -> BTreeMap<String, BTreeSet<String>> {
    let mut ends: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in all(program, plan) {
        let messages = ends.entry(run.finals.end).or_default();
        if let Verdict::Failed(failure) = run.verdict {
            messages.insert(failure.message);
        }
    }
    ends
}

/// What the task of a body observes in the runs that finish.
pub(crate) fn observed(program: &Program, plan: &Plan, body: Body) -> BTreeSet<Vec<u64>> {
    let finished = all(program, plan).into_iter().filter(|run| run.verdict == Verdict::Finished);
    finished.filter_map(|run| run.finals.observed[body].clone()).collect()
}
