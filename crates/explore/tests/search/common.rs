//! What the tests of the searches share: programs, their enumeration, and running a search to its end.

use raddle_explore::target::{Ask, Digest, Target};
use raddle_explore::{Batch, Exhausted, Explorer, Search, Systematic};
use raddle_model::plan::Steps;
use raddle_model::{Plan, PointSet, Rng, Schedule, Tail, TimeMode, Trace};
use raddle_toy::{Finals, Program, Sketch, ToyRun, ToyTarget, enumerate};

/// Interleavings after which a program is left out.
pub(crate) const RUNS_MAX: usize = 4_000;

/// A plan in which every operation is a scheduling point, and runs end as they do in a search.
pub(crate) fn everywhere() -> Plan {
    let tail = Tail::Steps(Steps::default());
    Plan { points: PointSet::everything(), steps_max: 500, ..Plan::new(0, tail) }
}

/// The ways in which plans differ that matter to a search.
pub(crate) fn conditions() -> Vec<Plan> {
    vec![
        everywhere(),
        Plan { spurious_max: 1, ..everywhere() },
        Plan { time: TimeMode::Any, seed: 1, ..everywhere() },
    ]
}

/// Calls `check` with random programs, each small enough to be enumerated, until there were `count`.
pub(crate) fn for_programs(
    seed: u64,
    count: u64,
    mut check: impl FnMut(&Program, &Plan, &[ToyRun]) -> Result<(), String>,
) {
    let mut rng = Rng::new(seed);
    let conditions = conditions();
    let (mut checked, mut tried) = (0, 0);
    while checked < count {
        tried += 1;
        let sketch = Sketch::random(&mut rng, 3, 3);
        let program = sketch.program();
        let plan = &conditions[tried % conditions.len()];
        if let Some(runs) = enumerate(&program, plan, RUNS_MAX) {
            checked += 1;
            if let Err(message) = check(&program, plan, &runs) {
                panic!("program {tried}: {message}\n{}", listing(&program));
            }
        }
    }
    println!("{checked} of {tried} random programs were small enough");
}

/// A program for people.
pub(crate) fn listing(program: &Program) -> String {
    let mut text = format!("{:?}\n", program.objects);
    for (body, code) in program.tasks.iter().enumerate() {
        text += &format!("task {body}\n");
        for (at, instr) in code.iter().enumerate() {
            text += &format!("  {at} {instr:?}\n");
        }
    }
    text
}

/// A run of a search.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) digest: Digest,
    pub(crate) trace: Trace,
}

/// Every run of a search, and whether it has exhausted the program.
pub(crate) fn search(
    program: &Program,
    plan: &Plan,
    search: impl Search,
    runs_max: usize,
) -> (Vec<Explored>, Exhausted) {
    let mut explorer = Systematic::new(search, plan.clone()).with_timeouts_max(u32::MAX);
    let mut target = ToyTarget::new(program.clone());
    let mut runs = Vec::new();
    let Some(Batch::Search(mut searcher)) = explorer.next() else { panic!("a search gives itself away") };
    while let Ask::Run(plan) = searcher.next(0) {
        let run = target.run(&plan).expect("toys run");
        searcher.learn(0, &plan, &run.digest, &run.trace);
        runs.push(Explored { digest: run.digest, trace: run.trace });
        assert!(runs.len() <= runs_max, "the search does not end\n{}", listing(program));
    }
    explorer.take_back(searcher);
    (runs, explorer.exhausted())
}

/// The final state of a run.
pub(crate) fn finals(program: &Program, plan: &Plan, run: &Explored) -> Finals {
    let decisions = run.trace.schedule.decisions.clone();
    let prefix = Schedule { decisions, ..Schedule::default() };
    raddle_toy::run(program, &Plan { prefix, ..plan.clone() }).finals
}
