//! Fingerprints that leave something out, or put something in that does not belong there, are
//! caught by the oracle: among all runs of random programs, fingerprints must be equal exactly when
//! the plain graphs are. The right fingerprint passes the same oracle over the same runs.

use crate::common::size;
use raddle_analysis::fingerprint::{Exact, Hashing, Recipe};
use raddle_model::{Analysis, Dice, Kind, ObjectId, Op, Outcome, Plan, Rng, SiteId, Trace, World};
use raddle_toy::sketch::FAMILIES;
use raddle_toy::{Graph, Instr, Program, Sketch, run};
use std::collections::BTreeMap;

/// The fingerprint of a trace by a recipe.
fn fingerprint<R: Recipe + Default>(trace: &Trace) -> u128 {
    // Only the names of tasks are looked at, and they depend on nothing but the spawns.
    let mut world = World::default();
    world.begin(0);
    let mut hashing = Hashing::<R>::default();
    hashing.begin();
    for event in &trace.events {
        if let Outcome::Spawned(_) = event.outcome {
            world.announce(event.task, Op::new(Kind::Spawn, ObjectId::NONE, SiteId::UNKNOWN));
            assert_eq!(world.step(event.task, 0), event.outcome);
        }
        hashing.event(event, &world);
    }
    hashing.value()
}

/// Objects as both front ends number them: in the order in which the run has first used them. (Those of these programs have
/// their numbers from the beginning.)
fn numbered_by_use(trace: &Trace) -> Trace {
    let mut numbers = BTreeMap::new();
    let mut trace = trace.clone();
    for event in &mut trace.events {
        for object in [&mut event.op.object, &mut event.op.second] {
            if object.is_some() {
                let next = ObjectId(numbers.len() as u32);
                *object = *numbers.entry(*object).or_insert(next);
            }
        }
    }
    trace
}

/// Graphs and fingerprints that belong together.
#[derive(Default)]
struct Oracle {
    graphs: BTreeMap<Graph, u128>,
    fingerprints: BTreeMap<u128, Graph>,
}

impl Oracle {
    fn agrees(&mut self, graph: &Graph, fingerprint: u128) -> bool {
        let known = *self.graphs.entry(graph.clone()).or_insert(fingerprint);
        let other = self.fingerprints.entry(fingerprint).or_insert_with(|| graph.clone());
        known == fingerprint && other == graph
    }
}

/// Programs that belong to one oracle. What main joins is a function of its past in every single
/// program, so that within one the edge from an exit to its join says nothing that the other edges
/// do not say; between a program and the one that joins in another order it does.
fn siblings(nth: u64, rng: &mut Rng) -> Vec<Program> {
    let mut sketch = Sketch::random(rng, 3, 2);
    // Every family of operations has its turn.
    sketch.families[0] = (nth % u64::from(FAMILIES)) as u8;
    let program = sketch.program();
    let mut other = program.clone();
    let joins = other.tasks[0].iter().position(|instr| matches!(instr, Instr::Join(_)));
    other.tasks[0][joins.expect("main joins its tasks")..].reverse();
    vec![program, other]
}

/// Random runs of each program: they differ more than the first ones of an enumeration.
const RUNS: u64 = 100;

/// The number of runs after which a fingerprint is caught, if it is within the limit.
fn caught_after<R: Recipe + Default>(limit: u64) -> Option<u64> {
    let mut rng = Rng::new(3);
    let conditions = crate::common::conditions();
    let mut runs = 0;
    for nth in 0.. {
        if runs >= limit {
            break;
        }
        let plan = &conditions[rng.below(conditions.len() as u32) as usize];
        let mut oracle = Oracle::default();
        for program in siblings(nth, &mut rng) {
            for seed in 0..RUNS {
                let run = run(&program, &Plan { seed, ..plan.clone() });
                runs += 1;
                let numbered = numbered_by_use(&run.trace);
                if !oracle.agrees(&Graph::of(&run.trace), fingerprint::<R>(&numbered)) {
                    return Some(runs);
                }
            }
        }
    }
    None
}

fn must_be_caught<R: Recipe + Default>(what: &str) {
    let limit = size("mutant_runs");
    let caught = caught_after::<R>(limit);
    println!("{what}: caught after {caught:?} runs");
    assert!(caught.is_some_and(|runs| runs <= limit), "{what} was not caught within {limit} runs");
}

#[test]
fn the_right_fingerprint_is_not_caught() {
    assert_eq!(caught_after::<Exact>(size("mutant_runs") / 10), None);
}

/// Reads neither see writes nor are seen by them. (Half of that would be no mutant: a read that
/// names the write before it has said where it stands among the writes.)
#[test]
fn a_fingerprint_without_read_write_edges_is_caught() {
    #[derive(Default)]
    struct NoReadWrite;
    impl Recipe for NoReadWrite {
        fn extents(op: &Op) -> [ObjectId; 2] {
            let reads = matches!(op.kind, Kind::Load | Kind::CellRead);
            if reads { [ObjectId::NONE; 2] } else { [op.object, op.second] }
        }
    }
    must_be_caught::<NoReadWrite>("no edge between reads and writes");
}

#[test]
fn a_fingerprint_without_join_edges_is_caught() {
    #[derive(Default)]
    struct NoJoin;
    impl Recipe for NoJoin {
        fn extents(op: &Op) -> [ObjectId; 2] {
            if op.kind == Kind::Join { [ObjectId::NONE; 2] } else { [op.object, op.second] }
        }
    }
    must_be_caught::<NoJoin>("no edge from an exit to its join");
}

#[test]
fn a_fingerprint_without_wake_up_edges_is_caught() {
    #[derive(Default)]
    struct NoWake;
    impl Recipe for NoWake {
        fn extents(op: &Op) -> [ObjectId; 2] {
            if op.kind == Kind::Wake { [ObjectId::NONE, op.second] } else { [op.object, op.second] }
        }
    }
    must_be_caught::<NoWake>("no edge between notifications and wake-ups");
}

#[test]
fn a_fingerprint_that_names_objects_by_dense_id_is_caught() {
    #[derive(Default)]
    struct Named;
    impl Recipe for Named {
        fn label(op: &Op) -> u64 {
            u64::from(op.object.0) << 24
        }
    }
    must_be_caught::<Named>("objects named by dense id");
}
