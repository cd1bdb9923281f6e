//! A batch of runs is the same as the runs one by one: run `i` of a campaign is the plan with that
//! run's seed, whatever ran before it in the same engine and policy, and its digest says what the
//! recorded run says.

use crate::common::{Case, for_programs, size, tails};
use raddle_explore::target::{Digest, Flow, Sink, Target};
use raddle_model::{Plan, Rng};
use raddle_toy::{Instr, Program, ToyTarget, site_of};

#[derive(Default)]
struct Digests(Vec<Digest>);

impl Sink for Digests {
    fn run(&mut self, digest: &Digest) -> Flow {
        self.0.push(digest.clone());
        if self.0.len() == 8 { Flow::Stop } else { Flow::Continue }
    }
}

fn check(case: &Case) -> Result<bool, String> {
    let mut target = ToyTarget::new(case.program());
    for tail in tails() {
        let plan = Plan { seed: 5, tail, ..case.plan.clone() };
        let mut digests = Digests::default();
        target.sample(&plan, 3..100, &mut digests).expect("a toy always runs");
        if digests.0.len() != 8 {
            return Err(String::from("the batch did not stop when it was told to"));
        }
        for (digest, nth) in digests.0.into_iter().zip(3..) {
            let seed = Rng::seed_of_run(5, nth);
            let alone = target.run(&Plan { seed, ..plan.clone() }).expect("a toy always runs");
            let expected = Digest { run: nth, ..alone.digest };
            if digest != expected {
                return Err(format!(
                    "run {nth} under {} is another in a batch: {digest:?} and {expected:?}",
                    plan.tail.name()
                ));
            }
            let objects = alone.trace.events.iter().map(|event| event.op.object);
            let known =
                objects.filter(|object| object.is_some()).all(|object| object.index() < alone.objects.len());
            if !known || alone.tasks.len() != alone.trace.names.len() {
                return Err(String::from("an object or a task of the trace is not described"));
            }
        }
    }
    Ok(true)
}

#[test]
fn a_batch_is_the_same_as_its_runs_alone() {
    for_programs("target", size("replay_plans"), check);
}

#[test]
fn sites_are_instructions() {
    let target = ToyTarget::new(Program { objects: vec![], tasks: vec![vec![Instr::Yield, Instr::Yield]] });
    let place = target.place(site_of(0, 1));
    assert_eq!((place.line, place.function.as_str()), (2, "task 0"));
    assert_eq!(target.place(raddle_model::SiteId::UNKNOWN).line, 0);
}
