//! Shrinking against the optimum, which enumeration of all schedules gives.

use crate::programs::{fig1, store, two_bugs};
use raddle_explore::target::Target;
use raddle_explore::{Effort, ShrinkError, minimize};
use raddle_model::{Choice, Divergence, FailureKind, Pick, Plan, Policy, Rng, SiteId, Tail, Verdict, View};
use raddle_toy::Instr::{AssertNot, Load, Lock, Unlock};
use raddle_toy::{How, Instr, Machine, Object, Program, ToyTarget};
use std::collections::BTreeMap;

/// Walks the tree of decisions in order, and counts preemptions.
#[derive(Default)]
struct Counting {
    path: Vec<(u32, u32)>,
    position: usize,
    preemptions: u32,
}

impl Counting {
    fn take(&mut self, arity: u32) -> u32 {
        if self.position == self.path.len() {
            self.path.push((0, arity));
        }
        self.position += 1;
        self.path[self.position - 1].0
    }

    fn advance(&mut self) -> bool {
        self.path.truncate(self.position);
        self.position = 0;
        self.preemptions = 0;
        while let Some((taken, arity)) = self.path.pop() {
            if taken + 1 < arity {
                self.path.push((taken + 1, arity));
                return true;
            }
        }
        false
    }
}

impl Policy for Counting {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let rank = if view.enabled.len() > 1 { self.take(view.enabled.len()) } else { 0 };
        let task = view.enabled.nth(rank).unwrap();
        self.preemptions += u32::from(view.preempts(task));
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.take(choice.arity))
    }

    fn restart(&mut self, _: u64) {}
}

type Identity = (FailureKind, Vec<SiteId>);

/// The fewest preemptions of each failure.
fn optimum(program: &Program, budget: usize) -> Option<BTreeMap<Identity, u32>> {
    let mut machine = Machine::new(program, Counting::default());
    let mut fewest = BTreeMap::new();
    for _ in 0..budget {
        let run = machine.run(&Plan::new(0, Tail::Stay));
        let policy = machine.engine().policy_mut();
        if let Verdict::Failed(failure) = run.verdict {
            let best = fewest.entry(failure.identity()).or_insert(u32::MAX);
            *best = policy.preemptions.min(*best);
        }
        if !policy.advance() {
            return Some(fewest);
        }
    }
    None
}

/// Tasks that store, look, fail and lock, at random.
fn random_program(rng: &mut Rng) -> Program {
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    let tasks = 2 + below(2);
    let length = if tasks == 2 { 5 } else { 3 };
    let body = |_| {
        let mut instrs: Vec<Instr> = Vec::new();
        for _ in 0..length {
            match below(4) {
                0 => instrs.extend([Load(below(2), 0), AssertNot(0, 1 + below(3) as u64)]),
                1 => instrs.extend([Lock(2, How::Block, 0), store(below(2), below(4) as u64), Unlock(2)]),
                _ => instrs.push(store(below(2), below(4) as u64)),
            }
        }
        instrs
    };
    let tasks = (0..tasks).map(body).collect();
    Program::flat(vec![Object::Atomic(0), Object::Atomic(0), Object::Mutex], tasks)
}

/// Shrinks random failing runs. Returns for each the optimum and what was reached.
fn shrink_all(program: &Program, seeds: u64) -> Vec<(u32, u32)> {
    let Some(optima) = optimum(program, 40_000) else { return Vec::new() };
    let mut target = ToyTarget::new(program.clone());
    let mut reached = Vec::new();
    for seed in 0..seeds {
        let plan = Plan::new(seed, Tail::Random);
        let Verdict::Failed(failure) = target.run(&plan).unwrap().digest.verdict else { continue };
        let small = minimize(&mut target, &plan, Effort::default(), &mut |_| true).unwrap();
        let again = target.run(&small.plan).unwrap();
        assert_eq!(again.digest.verdict, small.run.digest.verdict);
        assert_eq!(again.trace.events, small.run.trace.events);
        let Verdict::Failed(same) = again.digest.verdict else { panic!("it does not fail any more") };
        assert_eq!(same.identity(), failure.identity());
        assert!(small.preemptions >= optima[&same.identity()], "fewer than there can be: {program:?}");
        assert_eq!(
            minimize(&mut target, &plan, Effort::default(), &mut |_| true).unwrap(),
            small,
            "not deterministic"
        );
        reached.push((optima[&same.identity()], small.preemptions));
    }
    reached
}

#[test]
fn known_programs_shrink_to_the_optimum() {
    for program in [fig1(), two_bugs()] {
        let reached = shrink_all(&program, 300);
        assert!(!reached.is_empty());
        for (best, found) in reached {
            assert_eq!(best, found, "{program:?}");
        }
    }
}

#[test]
fn random_programs_mostly_shrink_to_the_optimum() {
    let mut rng = Rng::new(11);
    let (mut all, mut at_the_optimum, mut excess, mut hard) = (0, 0, 0, 0);
    for _ in 0..150 {
        for (best, found) in shrink_all(&random_program(&mut rng), 6) {
            all += 1;
            hard += u32::from(best > 0);
            at_the_optimum += u32::from(best == found);
            excess += found - best;
        }
    }
    println!("{at_the_optimum} of {all} at the optimum, {excess} preemptions too many; {hard} need any");
    assert!(all > 100 && hard > 20, "the programs are too tame: {all}, {hard}");
    assert!(at_the_optimum * 100 >= all * 99, "{at_the_optimum} of {all}");
}

#[test]
fn what_does_not_fail_is_not_shrunk() {
    let mut target = ToyTarget::new(fig1());
    let quiet = Plan::new(0, Tail::Stay);
    // Staying runs the writer to its end first, which fails; the other way round does not.
    let error = (0..50).find_map(|seed| {
        minimize(&mut target, &Plan::new(seed, Tail::Random), Effort::default(), &mut |_| true).err()
    });
    assert_eq!(error, Some(ShrinkError::DoesNotFail(String::from("finished"))));
    assert_eq!(minimize(&mut target, &quiet, Effort::default(), &mut |_| true).unwrap().preemptions, 0);
}

#[test]
fn the_number_of_runs_is_bounded() {
    let mut target = ToyTarget::new(two_bugs());
    let plan = (0..).map(|seed| Plan::new(seed, Tail::Random));
    let plan =
        plan.into_iter().find(|plan| matches!(target.run(plan).unwrap().digest.verdict, Verdict::Failed(_)));
    let plan = plan.as_ref().unwrap();
    let steps = target.run(plan).unwrap().trace.events.len() as u64;
    let few = |runs| Effort { runs, ..Effort::default() };
    let short = |runs| Effort { events: runs * steps, ..Effort::default() };
    for runs in [1, 2, 5, 10] {
        for effort in [few(runs), short(runs)] {
            let small = minimize(&mut target, plan, effort, &mut |_| true).unwrap();
            assert!(matches!(small.run.digest.verdict, Verdict::Failed(_)));
            // The first two and the last, one to see that the switches tell the run, and the one that it is in.
            let most = if effort.runs == runs { runs + 4 } else { 4 * runs + 4 };
            assert!(small.runs <= most, "{} runs for {effort:?}", small.runs);
        }
        let (mut left, mut before) = (runs, 0.0);
        let mut goes_on = |done: f64| {
            assert!((before..=1.0).contains(&done), "from {before} to {done}");
            before = done;
            left = left.saturating_sub(1);
            left > 0
        };
        let small = minimize(&mut target, plan, Effort::default(), &mut goes_on).unwrap();
        assert!(matches!(small.run.digest.verdict, Verdict::Failed(_)) && small.runs <= runs + 4);
    }
}
