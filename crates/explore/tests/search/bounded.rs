//! `dfs` runs every interleaving once; `pcb` exactly those with few preemptions.

use crate::common::{Explored, everywhere, for_programs, search};
use raddle_explore::target::Target;
use raddle_explore::{Batch, Dfs, Dpor, Exhausted, Explorer, Odpor, Pcb, Systematic};
use raddle_model::{Choice, Decision, Divergence, Pick, Plan, Policy, Tail, Trace, View};
use raddle_policy::Planned;
use raddle_toy::Instr::{Load, Store, Yield};
use raddle_toy::{Machine, Object, Program, ToyRun, ToyTarget, Val};
use std::collections::{BTreeMap, BTreeSet};

type Interleaving = Vec<(bool, u32)>;

pub(crate) fn key(decisions: &[Decision]) -> Interleaving {
    let key = |decision: &Decision| match *decision {
        Decision::Run(task) => (true, task.0),
        Decision::Choose(value) => (false, value),
    };
    decisions.iter().map(key).collect()
}

/// Counts the preemptions of another policy, by the definition in the model.
struct Counting {
    inner: Planned,
    preemptions: u32,
}

impl Policy for Counting {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let pick = self.inner.pick(view);
        if let Pick::Run(task) = pick {
            self.preemptions += u32::from(view.preempts(task));
        }
        pick
    }
    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        self.inner.choose(choice)
    }
    fn restart(&mut self, seed: u64) {
        self.inner.restart(seed);
        self.preemptions = 0;
    }
}

/// Each interleaving with the number of its preemptions.
fn counted(program: &Program, plan: &Plan, runs: &[ToyRun]) -> BTreeMap<Interleaving, u32> {
    let count = |run: &ToyRun| (key(&run.trace.schedule.decisions), preemptions(program, plan, &run.trace));
    runs.iter().map(count).collect()
}

/// The preemptions of a run.
pub(crate) fn preemptions(program: &Program, plan: &Plan, trace: &Trace) -> u32 {
    let replay = Plan { prefix: trace.schedule.clone(), ..plan.clone() };
    let inner = Planned::new(&Plan { tail: Tail::Stay, ..replay.clone() });
    let mut machine = Machine::new(program, Counting { inner, preemptions: 0 });
    let again = machine.run(&replay);
    assert_eq!(again.trace.events, trace.events);
    machine.engine().policy_mut().preemptions
}

#[test]
fn dfs_runs_every_interleaving_once() {
    for_programs(11, raddle_tiers::size("search_interleavings"), |program, plan, runs| {
        let mut expected: Vec<_> = runs.iter().map(|run| key(&run.trace.schedule.decisions)).collect();
        let (found, exhausted) = search(program, plan, Dfs::new(), runs.len() + 1);
        let mut found: Vec<_> = found.iter().map(|run| key(&run.trace.schedule.decisions)).collect();
        expected.sort();
        found.sort();
        if expected != found {
            return Err(format!("{} interleavings, dfs ran {}", expected.len(), found.len()));
        }
        let spun = runs.iter().any(|run| run.parked);
        let cut = runs.iter().any(|run| run.trace.log.reached.cut);
        match exhausted {
            Exhausted::Yes if !spun && !cut => Ok(()),
            Exhausted::Within(_) if spun && !cut => Ok(()),
            Exhausted::No if cut => Ok(()),
            other => Err(format!("spun {spun}, cut {cut}, but exhausted: {other:?}")),
        }
    });
}

#[test]
fn random_dfs_runs_every_interleaving_once_in_another_order() {
    let mut moved = false;
    for_programs(13, raddle_tiers::size("search_interleavings"), |program, plan, runs| {
        let order = |dfs: Dfs| -> Vec<Interleaving> {
            let (found, _) = search(program, plan, dfs, runs.len() + 1);
            found.iter().map(|run| key(&run.trace.schedule.decisions)).collect()
        };
        let (mut plain, mut random) = (order(Dfs::new()), order(Dfs::shuffled(5)));
        assert_eq!(random, order(Dfs::shuffled(5)));
        moved |= plain != random;
        plain.sort();
        random.sort();
        if plain == random { Ok(()) } else { Err(String::from("other interleavings")) }
    });
    assert!(moved);
}

/// Depth first the first decisions are the last to change. With restarts the 17th run begins in another way, and so do
/// more and more; and still each interleaving is run once.
#[test]
fn random_dfs_begins_anew() {
    let stores = vec![Store(0, Val::Const(1)); 6];
    let program = Program::flat(vec![Object::Atomic(0)], vec![stores.clone(), stores]);
    let interleavings = |dfs: Dfs| -> Vec<Interleaving> {
        let (found, exhausted) = search(&program, &everywhere(), dfs, 10_000);
        assert_eq!(exhausted, Exhausted::Yes);
        found.iter().map(|run| key(&run.trace.schedule.decisions)).collect()
    };
    let beginnings = |runs: &[Interleaving]| -> usize {
        runs.iter().map(|decisions| &decisions[..5]).collect::<BTreeSet<_>>().len()
    };
    let (plain, random) = (interleavings(Dfs::new()), interleavings(Dfs::shuffled(5)));
    assert_eq!((plain.len(), random.len()), (6_435, 6_435));
    assert_eq!(random.iter().collect::<BTreeSet<_>>().len(), 6_435);
    assert_eq!(beginnings(&plain[..100]), 1);
    assert_eq!([16, 17].map(|runs| beginnings(&random[..runs])), [1, 2]);
    assert!(beginnings(&random[..100]) > 4);
}

#[test]
fn pcb_runs_exactly_the_interleavings_within_its_bound() {
    for_programs(12, raddle_tiers::size("search_interleavings"), |program, plan, runs| {
        let all = counted(program, plan, runs);
        for bound in 0..3 {
            let within = all.iter().filter(|&(_, &count)| count <= bound);
            let expected: Vec<_> = within.map(|(interleaving, _)| interleaving.clone()).collect();
            let (found, exhausted) = search(program, plan, Pcb::new(Some(bound)), runs.len() + 1);
            let mut found: Vec<_> = found.iter().map(|run| key(&run.trace.schedule.decisions)).collect();
            found.sort();
            if found != expected {
                return Err(format!("bound {bound}: {} expected, {} run", expected.len(), found.len()));
            }
            let whole = expected.len() == all.len();
            if whole == matches!(exhausted, Exhausted::Within(ref bound) if bound.contains("preemption")) {
                return Err(format!("bound {bound}, whole {whole}, but exhausted: {exhausted:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn pcb_without_a_bound_goes_on_until_nothing_is_left_out() {
    let one = Val::Const(1);
    let tasks = vec![vec![Store(0, one), Load(1, 0), Yield], vec![Store(1, one), Load(0, 0)]];
    let program = Program::flat(vec![Object::Atomic(0); 2], tasks);
    let (all, _) = search(&program, &everywhere(), Dfs::new(), 100_000);
    let (found, exhausted) = search(&program, &everywhere(), Pcb::new(None), 1_000_000);
    assert_eq!(exhausted, Exhausted::Yes);
    let set = |runs: &[Explored]| {
        runs.iter().map(|run| key(&run.trace.schedule.decisions)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(set(&all), set(&found));
    let (none, exhausted) = search(&program, &everywhere(), Pcb::new(Some(0)), 1_000);
    assert!(none.len() < all.len());
    assert_eq!(exhausted, Exhausted::Within(String::from("with at most 0 preemptions")));
}

/// In the middle of a search that branches evenly, what is left lies within the interval; at the end
/// nothing is left.
#[test]
fn what_is_left_is_estimated() {
    let store = |value| Store(0, Val::Const(value));
    let program = Program::flat(vec![Object::Atomic(0)], vec![vec![store(1), store(2), store(3)]; 2]);
    let check = |name: &str, total: usize, mut explorer: Box<dyn Explorer>| {
        let mut target = ToyTarget::new(program.clone());
        let mut inside = 0;
        let mut runs = 0;
        while let Some(Batch::Search(search)) = explorer.next() {
            let searched = target.search(search, runs..u64::MAX).expect("toys run");
            runs += searched.runs.len() as u64;
            explorer.take_back(searched.search);
            let left = total as f64 - runs as f64;
            let outlook = explorer.outlook();
            inside += outlook.is_some_and(|known| known.low <= left && left <= known.high) as usize;
        }
        assert_eq!(runs as usize, total, "{name}");
        assert!(explorer.outlook().is_none());
        assert!(4 * inside >= total, "{name}: {inside} of {total} intervals hold");
    };
    let plan = everywhere();
    let total = |found: (Vec<Explored>, Exhausted)| found.0.len();
    let dfs = total(search(&program, &plan, Dfs::new(), 10_000));
    check("dfs", dfs, Box::new(Systematic::new(Dfs::new(), plan.clone())));
    let odpor = total(search(&program, &plan, Odpor::new(), 10_000));
    check("odpor", odpor, Box::new(Systematic::new(Odpor::new(), plan.clone())));
    let dpor = total(search(&program, &plan, Dpor::new(), 10_000));
    check("dpor", dpor, Box::new(Systematic::new(Dpor::new(), plan)));
}
