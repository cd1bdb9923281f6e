//! Programs that searches are known to trip over: the counterexamples to a literal reading of
//! algorithm 2 of Wang, Said and Gupta (ICSE 2011), and runs that are cut short.

use crate::classes::classes;
use crate::common::{everywhere, search};
use crate::workers::{each_class_once, search_together};
use raddle_explore::target::Target;
use raddle_explore::told::Brief;
use raddle_explore::{Batch, Dfs, Dpor, Exhausted, Explorer, Odpor, Systematic};
use raddle_model::{FailureKind, Plan, Rng, Verdict};
use raddle_toy::Instr::{
    Acquire, AssertNot, Choose, End, Jump, Load, Lock, NotifyOne, Release, Spawn, Store, Unlock, Wait, Yield,
};
use raddle_toy::{How, Instr, Object, Program, ToyTarget, Val, enumerate};
use std::collections::BTreeSet;

const ONE: Val = Val::Const(1);

/// Both reductions against enumeration; how the runs of `odpor` ended.
fn check(program: &Program, plan: &Plan) -> BTreeSet<String> {
    let all = enumerate(program, plan, 1_000_000).expect("a small program");
    let expected = classes(&all);
    let (dpor, exhausted) = search(program, plan, Dpor::new(), all.len() + 1);
    let whole = dpor.iter().filter(|run| run.digest.verdict != Verdict::Cut);
    assert_eq!(whole.map(|run| run.digest.fingerprint).collect::<BTreeSet<_>>(), expected);
    assert_eq!(exhausted, Exhausted::Yes);
    let (odpor, exhausted) = search(program, plan, Odpor::new(), all.len() + 1);
    assert_eq!(odpor.len(), expected.len());
    assert_eq!(odpor.iter().map(|run| run.digest.fingerprint).collect::<BTreeSet<_>>(), expected);
    assert_eq!(exhausted, Exhausted::Yes);
    for seed in 0..12 {
        let (mut rng, workers) = (Rng::new(seed), 2 + seed as usize % 4);
        let most = 2 * all.len() + 1;
        let (found, exhausted) = search_together(program, plan, Odpor::new(), workers, &mut rng, most);
        each_class_once(&found, &expected, true).expect("what one worker runs");
        assert_eq!(exhausted, Exhausted::Yes);
        let (found, exhausted) = search_together(program, plan, Dpor::new(), workers, &mut rng, most);
        each_class_once(&found, &expected, false).expect("what one worker reaches");
        assert_eq!(exhausted, Exhausted::Yes);
    }
    let end = |verdict: &Verdict| match verdict {
        Verdict::Failed(failure) => String::from(failure.kind.name()),
        other => format!("{other:?}"),
    };
    odpor.iter().map(|run| end(&run.digest.verdict)).collect()
}

fn ends(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| String::from(name)).collect()
}

/// Who waits in the first run never gets what it waits for: only a search that looks at operations
/// that could not be done finds the other orders.
#[test]
fn two_locks_in_opposite_orders_whose_first_run_deadlocks() {
    let both =
        |a, b| vec![Lock(a, How::Block, 0), Yield, Lock(b, How::Block, 0), Load(2, 1), Unlock(b), Unlock(a)];
    let objects = vec![Object::Mutex, Object::Mutex, Object::Atomic(0)];
    let program = Program::flat(objects, vec![both(0, 1), both(1, 0)]);
    let (runs, _) = search(&program, &everywhere(), Dpor::new(), 1_000);
    let first = &runs[0].digest.verdict;
    assert!(matches!(first, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    assert_eq!(check(&program, &everywhere()), ends(&["deadlock", "Finished"]));
}

/// The first conflicting step is not the one to be reversed: the semaphore leads from one to the other.
#[test]
fn three_tasks_on_a_variable_with_a_semaphore() {
    let tasks = vec![
        vec![Store(0, ONE), Release(1, 1)],
        vec![Acquire(1, 1, How::Block, 0), Store(0, Val::Const(2))],
        vec![Load(0, 0), Store(0, Val::Const(3))],
    ];
    let program = Program::flat(vec![Object::Atomic(0), Object::Semaphore(0)], tasks);
    assert_eq!(check(&program, &everywhere()), ends(&["Finished"]));
}

/// What sleep sets do to the rule of 2005: the writer sleeps after the first step of either reader, so
/// nobody finds from there that the other reader must come first.
#[test]
fn two_readers_that_do_something_first() {
    let reader = |own| vec![Store(own, ONE), Load(0, 0)];
    let tasks = vec![vec![Store(0, ONE)], reader(1), reader(2)];
    let program = Program::flat(vec![Object::Atomic(0); 3], tasks);
    assert_eq!(check(&program, &everywhere()), ends(&["Finished"]));
}

#[test]
fn one_permit_for_three() {
    let task = vec![Acquire(1, 1, How::Block, 0), Load(0, 0), Store(0, ONE), Release(1, 1)];
    let program = Program::flat(vec![Object::Atomic(0), Object::Semaphore(1)], vec![task; 3]);
    check(&program, &everywhere());
}

/// A notification that wakes one of several, chosen freely.
#[test]
fn every_waiter_may_be_woken() {
    let waiter = vec![Lock(0, How::Block, 0), Wait(1, 0, How::Block, 0), Store(2, ONE), Unlock(0)];
    let notifier = vec![Lock(0, How::Block, 0), NotifyOne(1), Unlock(0), Load(2, 0)];
    let objects = vec![Object::Mutex, Object::Condvar, Object::Atomic(0)];
    let program = Program::flat(objects, vec![waiter.clone(), waiter, notifier]);
    check(&program, &everywhere());
}

/// Choices in a row, before the first operation too, next to steps that race.
#[test]
fn every_value_is_chosen() {
    let chooser =
        vec![Choose(2, 0), Store(0, Val::Reg(0)), Choose(3, 1), Choose(2, 2), Store(1, Val::Reg(1))];
    let reader = vec![Load(0, 0), Choose(2, 1), Load(1, 0)];
    let mut program = Program::flat(vec![Object::Atomic(0); 2], vec![chooser, reader]);
    program.tasks[0].insert(0, Choose(2, 3));
    check(&program, &everywhere());
}

/// A value that is chosen after two others have raced: their reversal must be tried with each value.
#[test]
fn a_value_beside_a_race() {
    let arrive = Instr::Barrier(1, 0);
    let tasks = vec![vec![arrive, arrive], vec![arrive], vec![Store(0, ONE), Choose(2, 0)]];
    let program = Program::flat(vec![Object::Atomic(0), Object::Barrier(2)], tasks);
    check(&program, &everywhere());
}

/// Sequences that end with a step which chooses, beside others that do not conflict with it: what sleeps for those
/// is known only when that step was run.
#[test]
fn a_value_beside_what_waits_for_it() {
    let tasks = vec![
        vec![Store(0, ONE)],
        vec![Load(0, 0), Choose(2, 0), Store(1, ONE)],
        vec![Load(0, 0), Load(1, 1)],
        vec![Load(0, 0), Choose(2, 0)],
    ];
    let program = Program::flat(vec![Object::Atomic(0); 2], tasks);
    check(&program, &everywhere());
}

/// The end of the process while others are at work.
#[test]
fn a_process_that_is_ended_in_the_middle() {
    for detached in [vec![Store(0, ONE), Load(1, 0)], vec![Choose(2, 0), End]] {
        let main = vec![Spawn(1), Spawn(2), Load(0, 0)];
        let other = vec![Store(1, ONE), Store(0, Val::Const(2))];
        let program = Program { objects: vec![Object::Atomic(0); 2], tasks: vec![main, detached, other] };
        assert_eq!(check(&program, &everywhere()), ends(&["Finished"]));
    }
}

/// The same for one who waits for a mutex that nobody has taken yet.
#[test]
fn a_process_that_is_ended_before_a_mutex_is_taken() {
    let detached = vec![Lock(0, How::Block, 0), Unlock(0)];
    let program = Program { objects: vec![Object::Mutex], tasks: vec![vec![Spawn(1)], detached] };
    assert_eq!(check(&program, &everywhere()), ends(&["Finished"]));
}

/// A task that fails stops; the others run on, so that what they could have done is not lost.
#[test]
fn a_failed_assertion_ends_only_its_task() {
    let fails = vec![Load(0, 0), AssertNot(0, 1), Store(1, ONE)];
    let holds = vec![Lock(2, How::Block, 1), Load(0, 0), AssertNot(0, 1), Unlock(2)];
    let writer = vec![Store(0, ONE), Load(1, 0), Lock(2, How::Block, 1), Store(0, Val::Const(2)), Unlock(2)];
    let objects = vec![Object::Atomic(0), Object::Atomic(0), Object::Mutex];
    let program = Program::flat(objects, vec![fails, holds, writer]);
    assert_eq!(check(&program, &everywhere()), ends(&["Finished", "assertion"]));
}

fn endless() -> Program {
    let forever: Vec<Instr> = vec![Store(0, ONE), Store(0, Val::Const(2)), Jump(0)];
    Program::flat(vec![Object::Atomic(0)], vec![forever, vec![Load(0, 0)]])
}

/// A bound that was reached is never passed off as everything.
#[test]
fn an_endless_program_is_not_exhausted() {
    let plan = Plan { steps_max: 20, ..everywhere() };
    let (_, exhausted) = search(&endless(), &plan, Odpor::new(), 10_000);
    assert_eq!(exhausted, Exhausted::No);
    let (_, exhausted) = search(&endless(), &plan, Dpor::new(), 10_000);
    assert_eq!(exhausted, Exhausted::No);
    let (_, exhausted) = search(&endless(), &plan, Dfs::new(), 10_000);
    assert_eq!(exhausted, Exhausted::No);
}

/// Spinning is followed as far as it is new.
#[test]
fn a_spin_loop_is_exhausted_modulo_its_iterations() {
    let spins = vec![Load(0, 0), Instr::JumpUnless(0, 1, 0), Load(1, 1)];
    let program = Program::flat(vec![Object::Atomic(0); 2], vec![spins, vec![Store(1, ONE), Store(0, ONE)]]);
    let (runs, exhausted) = search(&program, &everywhere(), Odpor::new(), 10_000);
    assert_eq!(exhausted, Exhausted::Within(String::from("modulo spin iterations")));
    assert!(runs.len() > 3);
}

/// A task that polls would time out for ever: after so many time-outs in a row it waits until nobody else
/// can run, and the search says so. What is within the bound is run, and nothing else.
#[test]
fn a_task_that_polls_is_exhausted_within_its_time_outs() {
    let polls = vec![
        Lock(0, How::Block, 0),
        Load(2, 0),
        Instr::JumpIf(0, 1, 5),
        Wait(1, 0, How::Timed(5), 1),
        Jump(1),
        Unlock(0),
    ];
    let sets = vec![Store(2, ONE), NotifyOne(1)];
    let objects = vec![Object::Mutex, Object::Condvar, Object::Atomic(0)];
    let program = Program::flat(objects, vec![polls, sets]);
    for timeouts_max in [1, 2] {
        let steps = raddle_model::plan::Steps { timeouts_max, ..Default::default() };
        let plan = Plan { tail: raddle_model::Tail::Steps(steps), ..everywhere() };
        let all = enumerate(&program, &plan, 100_000).expect("a small program");
        let reached = |search: Systematic<Odpor>| {
            let mut target = ToyTarget::new(program.clone());
            let mut explorer = search.with_timeouts_max(timeouts_max);
            let mut found = BTreeSet::new();
            while let Some(Batch::Search(search)) = explorer.next() {
                let searched = target.search(search, 0..u64::MAX).expect("toys run");
                for run in &searched.runs {
                    let mut blank = Brief::BLANK;
                    let digest = run.told.read(&mut blank);
                    found.extend((digest.verdict != Verdict::Cut).then_some(digest.fingerprint));
                }
                explorer.take_back(searched.search);
            }
            (found, explorer.exhausted())
        };
        let (found, exhausted) = reached(Systematic::new(Odpor::new(), plan.clone()));
        let Exhausted::Within(bound) = exhausted else { panic!("{exhausted:?}") };
        assert!(bound.contains("in a row"), "{bound}");
        assert_eq!(found, classes(&all));
    }
}

/// A worker is at a step of which nobody knows yet what it chooses, while another finds a sequence that comes behind it
/// and does not mind it at first. Whoever took that now would sleep on the step whatever it chooses, and leave out the
/// other value: it must wait.
#[test]
fn nothing_behind_a_step_that_may_choose_is_taken_before_it_has() {
    let writes = vec![Store(0, ONE)];
    let chooses = vec![Load(0, 0), Choose(2, 1)];
    let later = vec![Store(1, ONE), Store(0, Val::Const(2))];
    let objects = vec![Object::Atomic(0), Object::Atomic(0)];
    let program = Program::flat(objects, vec![writes, chooses, later]);
    let all = enumerate(&program, &everywhere(), 1_000_000).expect("a small program");
    let expected = classes(&all);
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let workers = 2 + seed as usize % 3;
        let most = 2 * all.len() + 1;
        let (found, exhausted) =
            search_together(&program, &everywhere(), Odpor::new(), workers, &mut rng, most);
        each_class_once(&found, &expected, true).expect("what one worker runs");
        assert_eq!(exhausted, Exhausted::Yes);
    }
}
