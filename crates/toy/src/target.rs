//! Toy programs as something that explorers can run.

use crate::machine::{Machine, ToyRun, instr_of};
use crate::program::Program;
use raddle_explore::target::{Digest, Flow, Learned, ObjectInfo, Place, Run, Sink, Target, TargetError};
use raddle_model::{ObjectId, Plan, Policy, Rng, SiteId};
use raddle_policy::Planned;
use std::ops::Range;

/// A program behind the toy front end. Its sites are its instructions.
#[derive(Clone, Debug)]
pub struct ToyTarget {
    /// What is run.
    pub program: Program,
}

impl ToyTarget {
    /// A target for `program`.
    pub fn new(program: Program) -> ToyTarget {
        ToyTarget { program }
    }
}

fn digest(run: u64, seed: u64, toy: &ToyRun) -> Digest {
    Digest {
        run,
        seed,
        verdict: toy.verdict.clone(),
        fingerprint: toy.fingerprint,
        steps: toy.trace.events.len() as u64,
        accesses: 0,
        decisions: toy.trace.schedule.decisions.len() as u64,
        tasks: toy.trace.names.len() as u32,
        learned: Learned { releases: toy.saw_try, ..Learned::default() },
    }
}

impl Target for ToyTarget {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let mut machine = Machine::new(&self.program, Planned::new(plan));
        let toy = machine.run(plan);
        let world = machine.engine().world();
        let objects = world.objects().iter().enumerate();
        Ok(Run {
            digest: digest(0, plan.seed, &toy),
            objects: objects
                .map(|(id, object)| ObjectInfo {
                    id: ObjectId(id as u32),
                    noun: String::from(object.state.noun()),
                    name: None,
                    site: object.site,
                })
                .collect(),
            tasks: (0..world.tasks().len() as u32)
                .map(|task| world.path(raddle_model::TaskId(task)))
                .collect(),
            trace: toy.trace,
        })
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        let mut machine = Machine::new(&self.program, Planned::new(plan));
        for run in runs {
            let seed = Rng::seed_of_run(plan.seed, run);
            machine.engine().policy_mut().restart(seed);
            let toy = machine.run(plan);
            if sink.run(&digest(run, seed, &toy)) == Flow::Stop {
                break;
            }
        }
        Ok(())
    }

    fn place(&self, site: SiteId) -> Place {
        let Some((body, at)) = instr_of(site) else {
            return Place::default();
        };
        Place { file: String::from("toy"), line: at as u32 + 1, column: 1, function: format!("task {body}") }
    }
}
