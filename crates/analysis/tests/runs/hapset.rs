//! HaPSets: the sets printed beside figures 1 and 2 of the paper, case by case, and against the definition.

use crate::generate;
use crate::program::{Do, Program, Step, feed, run};
use Do::*;
use raddle_analysis::hapset::{Growth, Predecessors, pair};
use raddle_model::objects::State;
use raddle_model::{
    Event, HapSets, Kind, Mode, ObjectId, Op, Order, Outcome, Pair, Rng, SiteId, StatementId, TaskId,
};
use raddle_tiers::size;
use std::collections::BTreeSet;

/// The sets of a sequence of events.
fn learn<'a>(events: impl IntoIterator<Item = &'a Event>) -> HapSets {
    let mut sets = Predecessors::default();
    events.into_iter().for_each(|event| sets.take(event));
    HapSets::from_iter(sets.pairs())
}

/// The HaPSet of each statement, with `thr` left out: in the figures it tells nothing, since each statement
/// belongs to one thread.
fn printed(sets: &HapSets, names: &[(u32, &str)]) -> String {
    let name = |statement: StatementId| {
        names.iter().find(|(number, _)| *number == statement.0).map_or("?", |(_, name)| name)
    };
    let set = |(number, of): &(u32, &str)| {
        let before = sets.iter().filter(|pair| pair.of == StatementId(*number)).map(|pair| name(pair.before));
        format!("{of}{{{}}}", before.collect::<Vec<_>>().join(","))
    };
    names.iter().map(set).collect::<Vec<_>>().join(" ")
}

/// Figure 1: T1 allocates and frees, T2 uses. What T2 does to the memory itself nobody shares.
const FIGURE_1: [(u32, &str); 4] = [(101, "e1"), (201, "e2"), (203, "e3"), (102, "e4")];

fn figure_1() -> Program {
    const P: u32 = 0;
    let store = |value| Store(P, value, Order::SeqCst);
    let load = Load(P, Order::SeqCst);
    Program {
        objects: vec![State::Atomic],
        scripts: vec![
            vec![Spawn(1), Spawn(2), Join(1), Join(2)],
            vec![store(1), store(0)],
            vec![load, Need(1), load],
        ],
    }
}

/// The statements of figure 1 in the order in which a run did them.
fn order(steps: &[Step]) -> Vec<&'static str> {
    let name = |step: &Step| FIGURE_1.iter().find(|(site, _)| SiteId(*site) == step.event.op.site);
    steps.iter().filter_map(name).map(|(_, name)| *name).collect()
}

#[test]
fn figure_1_serial_execution() {
    let runs = (0..1_000).map(|seed| run(&figure_1(), seed));
    let serial =
        runs.into_iter().find(|steps| order(steps) == ["e1", "e2", "e3", "e4"]).expect("a serial run");
    let sets = learn(serial.iter().map(|step| &step.event));
    assert_eq!(printed(&sets, &FIGURE_1), "e1{} e2{e1} e3{} e4{e3}");
}

#[test]
fn figure_1_all_good_runs_and_the_bad_one() {
    let (mut good, mut bad) = (Growth::default(), HapSets::default());
    for seed in 0..1_000 {
        let steps = run(&figure_1(), seed);
        let sets = learn(steps.iter().map(|step| &step.event));
        if order(&steps) == ["e1", "e2", "e4", "e3"] {
            bad = sets;
        } else {
            good.learn(sets.iter().copied());
        }
    }
    assert_eq!(printed(good.sets(), &FIGURE_1), "e1{e2} e2{e1,e4} e3{} e4{e3}");
    // The pairs that give the bug away.
    assert_eq!(printed(&bad, &FIGURE_1), "e1{} e2{e1} e3{e4} e4{e2}");
    assert!(good.runs() > 500 && good.steps().len() <= 4, "{:?}", good.steps());
    assert_eq!(good.steps().last().map(|step| step.1), Some(good.sets().len() as u64));
}

/// Figure 2: T1 waits for x, looking at it under the lock A again and again; T2 sets it.
const FIGURE_2: [(u32, &str); 6] = [(2, "b"), (3, "c"), (4, "d"), (6, "f"), (7, "g"), (8, "h")];

fn event(task: u32, kind: Kind, object: u32, site: u32) -> Event {
    let op = Op::new(kind, ObjectId(object), SiteId(site));
    Event { task: TaskId(task), index: 0, op, outcome: Outcome::Done }
}

fn waits() -> [Event; 3] {
    [event(1, Kind::Lock, 0, 2), event(1, Kind::Load, 1, 3), event(1, Kind::Unlock, 0, 4)]
}

fn sets_it() -> [Event; 3] {
    [event(2, Kind::Lock, 0, 6), event(2, Kind::Store, 1, 7), event(2, Kind::Unlock, 0, 8)]
}

#[test]
fn figure_2_busy_waiting() {
    for rounds in [1, 2, 10] {
        let events: Vec<Event> =
            std::iter::repeat_n(waits(), rounds).flatten().chain(sets_it()).chain(waits()).collect();
        assert_eq!(printed(&learn(&events), &FIGURE_2), "b{f} c{g} d{} f{b} g{c} h{}", "{rounds} rounds");
    }
}

/// Section 5.2: what the two runs of the guided search teach.
#[test]
fn figure_2_continuous_learning() {
    let first: Vec<Event> = sets_it().into_iter().chain(waits()).collect();
    assert_eq!(printed(&learn(&first), &FIGURE_2), "b{f} c{g} d{} f{} g{} h{}");
    let second: Vec<Event> = waits().into_iter().chain(sets_it()).chain(waits()).collect();
    let new: Vec<Pair> =
        learn(&second).iter().filter(|pair| !learn(&first).contains(pair)).copied().collect();
    assert_eq!(printed(&HapSets::from_iter(new), &FIGURE_2), "b{} c{} d{} f{b} g{c} h{}");
}

#[test]
fn thr_is_the_order_of_creation() {
    let turns = |tasks: [u32; 2]| learn(&tasks.map(|task| event(task, Kind::Store, 0, 5)));
    let of = |older| HapSets::from_iter([Pair { of: StatementId(5), older, before: StatementId(5) }]);
    assert_eq!(turns([1, 2]), of(false));
    assert_eq!(turns([7, 3]), of(true));
    assert_ne!(turns([1, 2]), turns([2, 1]));
}

#[test]
fn an_unlock_counts_only_before_a_try() {
    let held = [event(1, Kind::Lock, 0, 1), event(1, Kind::Unlock, 0, 2)];
    let then = |mode| {
        let mut last = event(2, Kind::Lock, 0, 3);
        last.op.mode = mode;
        printed(&learn(held.iter().chain([&last])), &[(3, "lock"), (1, "taken"), (2, "given")])
    };
    assert_eq!(then(Mode::Block), "lock{taken} taken{} given{}");
    assert_eq!(then(Mode::Try), "lock{given} taken{} given{}");
}

#[test]
fn a_wait_gives_its_mutex_back() {
    let condvar = |task, kind, site| {
        let mut event = event(task, kind, 0, site);
        event.op.second = if kind == Kind::NotifyOne { ObjectId::NONE } else { ObjectId(1) };
        event
    };
    let events = [
        event(1, Kind::Lock, 1, 1),
        condvar(1, Kind::Wait, 2),
        event(2, Kind::Lock, 1, 3),
        condvar(2, Kind::NotifyOne, 4),
        event(2, Kind::Unlock, 1, 5),
        condvar(1, Kind::Wake, 2),
    ];
    let names = [(1, "lock"), (2, "wait"), (3, "lock'"), (4, "notify"), (5, "unlock'")];
    // Waking takes the mutex after the notifier did. That it follows its notification is no order of its own.
    assert_eq!(printed(&learn(&events), &names), "lock{} wait{lock'} lock'{lock} notify{wait} unlock'{}");
}

/// An access to two words meets others in both of them: it is no lock.
#[test]
fn the_second_word_is_accessed_like_the_first() {
    let both = |task, kind, site| {
        let mut event = event(task, kind, 0, site);
        event.op.second = ObjectId(1);
        event
    };
    let names = [(1, "two"), (2, "second"), (3, "two'")];
    let learned = |second| {
        let one = event(2, second, 1, 2);
        let events = [both(1, Kind::CellRead, 1), one, both(3, Kind::CellRead, 3)];
        printed(&learn(&events), &names)
    };
    assert_eq!(learned(Kind::CellWrite), "two{} second{two} two'{second}");
    // Reads commute, in the second word too.
    assert_eq!(learned(Kind::CellRead), "two{} second{} two'{}");
}

/// Of an access to any memory its words tell what it met; and before it has happened it may meet anything.
#[test]
fn wide_accesses_are_told_by_their_words() {
    let wide = |task, kind, site| {
        let mut event = event(task, kind, 0, site);
        event.op.object = ObjectId::NONE;
        event
    };
    let events = [
        wide(1, Kind::WideWrite, 1),
        event(1, Kind::CellWrite, 0, 1),
        event(1, Kind::CellWrite, 1, 1),
        event(2, Kind::CellRead, 1, 2),
        event(2, Kind::CellRead, 2, 3),
    ];
    assert_eq!(
        printed(&learn(&events), &[(1, "copy"), (2, "meets"), (3, "misses")]),
        "copy{} meets{copy} misses{}"
    );
    let meets = |a: &Event, b: &Event| pair(a.task, &a.op, b.task, &b.op).is_some();
    assert!(meets(&events[4], &events[0]) && meets(&events[0], &events[4]));
    assert!(!meets(&event(2, Kind::CellRead, 1, 2), &wide(1, Kind::WideRead, 1)));
    assert!(!meets(&event(2, Kind::Lock, 1, 2), &events[0]));
}

/// The definition, without any bookkeeping: for each event and each other task, the last event of that task
/// that could have come after it, unless an access of its own to that object lies between.
fn by_definition(events: &[Event]) -> BTreeSet<Pair> {
    let woken = |op: &Op| op.kind == Kind::Wake && op.mode == Mode::Block;
    let touches = |op: &Op, object: ObjectId| {
        object.is_some() && (op.object == object && !woken(op) || op.second == object)
    };
    let mut pairs = BTreeSet::new();
    for (at, event) in events.iter().enumerate() {
        for object in [event.op.object, event.op.second].into_iter().filter(|&o| touches(&event.op, o)) {
            let past = || events[..at].iter().enumerate().rev().filter(|(_, e)| touches(&e.op, object));
            let own = past().find(|(_, e)| e.task == event.task).map(|(i, _)| i + 1).unwrap_or(0);
            let tasks: BTreeSet<TaskId> = past().map(|(_, e)| e.task).filter(|&t| t != event.task).collect();
            for task in tasks {
                let met = past().filter(|(i, e)| *i >= own && e.task == task).find_map(|(_, earlier)| {
                    // On this object alone.
                    let on = |op: &Op| {
                        if op.object == object {
                            Op { second: ObjectId::NONE, ..*op }
                        } else {
                            let kind = if op.kind == Kind::Wait { Kind::Unlock } else { Kind::Lock };
                            Op::new(kind, object, op.site)
                        }
                    };
                    let (now, then) = (on(&event.op), on(&earlier.op));
                    now.may_be_coenabled(&then).then(|| pair(event.task, &now, task, &then))
                });
                pairs.extend(met.flatten());
            }
        }
    }
    pairs
}

#[test]
fn random_programs_against_the_definition() {
    let mut rng = Rng::new(17);
    let mut most = 0;
    for number in 0..size("hapset_programs") {
        let program = generate::program(&mut rng, true);
        let steps = run(&program, rng.next_u64());
        let events: Vec<Event> = steps.iter().map(|step| step.event).collect();
        let mut sets = Predecessors::default();
        feed(&steps, &mut sets);
        let learned: BTreeSet<Pair> = sets.pairs().collect();
        assert_eq!(learned, by_definition(&events), "program {number}: {program:?}");
        most = most.max(learned.len());
    }
    assert!(most > 10, "the programs have something to learn from: {most}");
}
