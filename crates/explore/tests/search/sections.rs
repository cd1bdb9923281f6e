//! Taking a mutex and giving it back as one step: the same partial orders as if both were points, each once, unless
//! something can come between the two; then the search notices and begins anew.

use crate::classes::classes;
use crate::common::{Explored, RUNS_MAX, everywhere, finals, listing};
use crate::workers::{each_class_once, search_together};
use raddle_explore::target::{Ask, SearchRun, Target};
use raddle_explore::{Batch, Exhausted, Explorer, Odpor, Systematic};
use raddle_model::plan::Steps;
use raddle_model::{Kind, Plan, Rng, Tail, Verdict};
use raddle_toy::Instr::{Add, Join, Lock, Spawn, Unlock};
use raddle_toy::{Finals, How, Instr, Object, Program, Sketch, ToyRun, ToyTarget, Val, enumerate};
use std::collections::BTreeSet;

/// The same conditions, for a search that may join sections.
fn joining(plan: &Plan) -> Plan {
    Plan { tail: Tail::Steps(Steps { sections: true, ..Steps::default() }), ..plan.clone() }
}

/// What came of a search.
struct Joined {
    /// Its runs since it began anew, if it has.
    runs: Vec<Explored>,
    /// Those before.
    before: usize,
    /// Whether it still joined sections in the end.
    joins: bool,
    exhausted: Exhausted,
}

/// All runs of `odpor`. Whatever it finds must fail in the same way when it is repeated as it was taken.
fn search(program: &Program, plan: &Plan, runs_max: usize) -> Joined {
    let mut explorer = Systematic::new(Odpor::new(), joining(plan)).with_timeouts_max(u32::MAX);
    let mut target = ToyTarget::new(program.clone());
    let mut joined = Joined { runs: Vec::new(), before: 0, joins: true, exhausted: Exhausted::No };
    let Some(Batch::Search(mut searcher)) = explorer.next() else { panic!("a search gives itself away") };
    while let Ask::Run(plan) = searcher.next(0) {
        let run = target.run(&plan).expect("toys run");
        let Tail::Steps(Steps { sections, .. }) = plan.tail else { panic!("a search without steps") };
        if sections != joined.joins {
            assert!(joined.joins, "a search has changed its mind twice\n{}", listing(program));
            joined = Joined { before: joined.runs.len(), runs: Vec::new(), joins: false, ..joined };
        }
        searcher.learn(0, &plan, &run.digest, &run.trace);
        if let Verdict::Failed(failure) = &run.digest.verdict {
            let again = SearchRun::new(&plan, &run.digest, &run.trace).again.expect("it failed");
            assert!(!matches!(again.tail, Tail::Steps(Steps { sections: true, .. })));
            let again = target.run(&again).expect("toys run").digest.verdict;
            let same = matches!(&again, Verdict::Failed(again) if again.identity() == failure.identity());
            assert!(same, "{failure:?} became {again:?}\n{}", listing(program));
        }
        joined.runs.push(Explored { digest: run.digest, trace: run.trace });
        assert!(joined.runs.len() <= runs_max, "the search does not end\n{}", listing(program));
    }
    explorer.take_back(searcher);
    joined.exhausted = explorer.exhausted();
    joined
}

/// How many of the steps of its runs have given back what they took.
fn closed(joined: &Joined) -> usize {
    let closed = |run: &Explored| {
        let starts: BTreeSet<u32> = run.trace.log.picks.iter().map(|picked| picked.event).collect();
        let events = run.trace.events.iter().enumerate();
        events.filter(|(at, event)| event.op.kind == Kind::Unlock && !starts.contains(&(*at as u32))).count()
    };
    joined.runs.iter().map(closed).sum()
}

fn check(program: &Program, plan: &Plan, all: &[ToyRun]) -> Result<Joined, String> {
    let expected = classes(all);
    let joined = search(program, plan, 2 * all.len() + 1);
    each_class_once(&joined.runs, &expected, true)?;
    let ends: BTreeSet<Finals> = all.iter().map(|run| run.finals.clone()).collect();
    let taken = if joined.joins { joining(plan) } else { plan.clone() };
    if ends != joined.runs.iter().map(|run| finals(program, &taken, run)).collect() {
        return Err(String::from("other final states"));
    }
    if joined.exhausted == Exhausted::No && !all.iter().any(|run| run.trace.log.reached.cut) {
        return Err(String::from("it does not know that it is done"));
    }
    if joined.joins {
        let mut rng = Rng::new(all.len() as u64);
        for workers in 2..4 {
            let most = 2 * all.len() + 1;
            let (found, _) = search_together(program, &joining(plan), Odpor::new(), workers, &mut rng, most);
            each_class_once(&found, &expected, true)?;
        }
    }
    Ok(joined)
}

/// The program, in which nobody tries a lock.
fn without_tries(mut program: Program) -> Program {
    for instr in program.tasks.iter_mut().flatten() {
        if let Lock(_, how, _) = instr {
            *how = How::Block;
        }
    }
    program
}

/// The program, whose main waits for nobody.
fn without_joins(mut program: Program) -> Program {
    program.tasks[0].retain(|instr| !matches!(instr, Join(_)));
    program
}

#[test]
fn sections_are_one_step_and_nothing_is_lost() {
    let mut rng = Rng::new(91);
    let (mut checked, mut nth, mut kept, mut anew, mut steps) = (0, 0, 0, 0, 0);
    while checked < raddle_tiers::size("search_programs") {
        nth += 1;
        let mut sketch = Sketch::random(&mut rng, 3, 4);
        // Mutexes, those that are taken twice and condition variables, beside anything else.
        sketch.families[0] = [0, 0, 0, 1, 3][nth % 5];
        if nth.is_multiple_of(2) {
            sketch.families[1] = 0;
        }
        let program = match nth % 7 {
            0 => sketch.program(),
            1 => without_joins(sketch.program()),
            _ => without_tries(sketch.program()),
        };
        let plan = Plan { spurious_max: u32::from(nth % 3 == 0), ..everywhere() };
        let Some(all) = enumerate(&program, &plan, RUNS_MAX) else { continue };
        checked += 1;
        match check(&program, &plan, &all) {
            Ok(joined) => {
                kept += usize::from(joined.joins);
                anew += usize::from(joined.before > 0);
                steps += closed(&joined);
            }
            Err(message) => panic!("program {nth}: {message}\n{}", listing(&program)),
        }
    }
    println!("{checked} programs: {kept} joined sections, {anew} began anew, {steps} steps were joined");
    assert!(kept > checked as usize / 4 && anew > checked as usize / 20 && steps > 500);
}

fn flat(tasks: Vec<Vec<Instr>>) -> Program {
    Program::flat(vec![Object::Mutex, Object::Atomic(0)], tasks)
}

fn section() -> Vec<Instr> {
    vec![Lock(0, How::Block, 0), Unlock(0)]
}

fn run(program: &Program) -> Joined {
    let all = enumerate(program, &everywhere(), RUNS_MAX).expect("a small program");
    check(program, &everywhere(), &all).expect("every class once")
}

/// Half as many points, and the same runs.
#[test]
fn an_empty_section_is_one_point() {
    let joined = run(&flat(vec![[section(), section()].concat(), section()]));
    assert!(joined.joins);
    assert_eq!((joined.runs.len(), closed(&joined)), (3, 9));
    let picks: BTreeSet<usize> = joined.runs.iter().map(|run| run.trace.log.picks.len()).collect();
    // Three sections, two exits, two joins, and the end.
    assert_eq!(picks, BTreeSet::from([8]));
}

/// What another task can see of what is in a section makes it several.
#[test]
fn a_section_with_something_in_it_is_none() {
    let full = vec![Lock(0, How::Block, 0), Add(1, Val::Const(1), 0), Unlock(0)];
    let joined = run(&flat(vec![full.clone(), full, vec![Add(1, Val::Const(1), 0)]]));
    assert!(joined.joins);
    assert_eq!(closed(&joined), 0);
}

/// Somebody may find the mutex held, or end everything while it is.
#[test]
fn whoever_can_come_between_makes_the_search_begin_anew() {
    for how in [How::Try, How::Timed(5)] {
        let joined = run(&flat(vec![section(), vec![Lock(0, how, 0)]]));
        assert!(!joined.joins);
        assert_eq!(joined.before, 1);
    }
    let program = Program { objects: vec![Object::Mutex], tasks: vec![vec![Spawn(1)], section()] };
    let joined = run(&program);
    assert!(!joined.joins);
    // Before it, while it is held, after it, and after the task's end.
    assert_eq!(joined.runs.len(), 4);
}

/// More than can be enumerated: each run is of another class.
#[test]
fn many_sections_of_several_tasks() {
    let tasks = vec![[section(), section(), section(), section(), section()].concat(); 4];
    let program = flat(tasks);
    let mut explorer = Systematic::new(Odpor::new(), joining(&everywhere()));
    let mut target = ToyTarget::new(program);
    let Some(Batch::Search(mut searcher)) = explorer.next() else { panic!("a search gives itself away") };
    let mut classes = BTreeSet::new();
    for number in 0..2_000 {
        let Ask::Run(plan) = searcher.next(0) else { panic!("there are more") };
        let run = target.run(&plan).expect("toys run");
        assert_eq!(run.digest.verdict, Verdict::Finished, "run {number}");
        assert!(classes.insert(run.digest.fingerprint), "run {number} is known");
        searcher.learn(0, &plan, &run.digest, &run.trace);
    }
}
