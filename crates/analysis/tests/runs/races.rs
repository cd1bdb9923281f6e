//! The race detector against the oracle, on random programs.

use crate::generate::{self, ATOMICS, CELLS};
use crate::oracle::Oracle;
use crate::program::{Do, Program, Step, mutex, object, run};
use raddle_analysis::Races;
use raddle_analysis::races::{Race, RaceKind};
use raddle_model::{Analysis, Event, Kind, ObjectId, Rng};
use raddle_tiers::size;

pub(crate) fn watch(races: &mut Races, steps: &[Step]) {
    races.begin();
    for step in steps {
        races.event(&step.event, &step.world);
        if let Some(order) = step.failed {
            races.failed_exchange(order);
        }
    }
}

/// Places in the trace of both accesses.
fn places(events: &[Event], race: &Race) -> (usize, usize) {
    let place = |side: &raddle_analysis::races::Side| {
        let is = |e: &Event| e.task == side.task && e.index == side.index;
        let at = events.iter().position(is).expect("an event of this run");
        assert_eq!(events[at].op.site, side.site);
        at
    };
    (place(&race.earlier), place(&race.later))
}

/// Compares one object's reports with all its races; says whether there are any.
fn compare(oracle: &Oracle, found: &[Race], object: ObjectId, number: u64) -> bool {
    let all = oracle.races(object);
    let found: Vec<_> = found.iter().filter(|r| r.object == object).collect();
    for race in &found {
        let pair = places(&oracle.events, race);
        assert!(all.contains(&pair), "program {number}: false alarm {race:?}");
        let write = |at: usize| !matches!(oracle.events[at].op.kind, Kind::CellRead | Kind::Load);
        let kind = match (write(pair.0), write(pair.1)) {
            (true, true) => RaceKind::WriteWrite,
            (true, false) => RaceKind::WriteRead,
            _ => RaceKind::ReadWrite,
        };
        assert_eq!(race.kind, kind);
    }
    // Every statement has a site of its own and no script is run twice: the first race is reported.
    let first = all.iter().map(|&(_, later)| later).min();
    let reported = found.iter().map(|r| places(&oracle.events, r).1).min();
    assert_eq!(reported, first, "program {number}: first race on {object:?}");
    first.is_some()
}

#[test]
fn first_races_are_those_of_the_oracle() {
    for mixed in [false, true] {
        let mut races = Races::watching_at_once();
        let (mut racy, mut clean) = (0u32, 0u32);
        for number in 0..size("sync_programs") {
            let program = generate::program(&mut Rng::new(number), mixed);
            let steps = run(&program, number);
            let oracle = Oracle::new(&steps);
            watch(&mut races, &steps);
            for number_of_object in CELLS.into_iter().chain(ATOMICS) {
                let object = object(number_of_object);
                match compare(&oracle, races.findings(), object, number) {
                    true => racy += 1,
                    false => clean += 1,
                }
            }
        }
        assert!(racy > 1000 && clean > 1000, "{racy} racy, {clean} clean");
    }
}

/// Starting lazily finds the same, after the one repetition that it asks for.
#[test]
fn a_lazy_detector_finds_the_same() {
    for mixed in [false, true] {
        let mut eager = Races::watching_at_once();
        let mut lazy = Races::default();
        assert!(!lazy.watching());
        let mut repetitions = 0;
        for number in 0..2_000 {
            let program = generate::program(&mut Rng::new(number), mixed);
            let steps = run(&program, number);
            watch(&mut eager, &steps);
            watch(&mut lazy, &steps);
            while lazy.missed() {
                repetitions += 1;
                watch(&mut lazy, &steps);
            }
            let pairs = |races: &mut Races| -> Vec<_> {
                races.findings().iter().map(|r| (r.object, r.sites())).collect()
            };
            assert_eq!(pairs(&mut eager), pairs(&mut lazy), "program {number}");
        }
        assert_eq!(repetitions, 1 + u32::from(mixed));
    }
}

#[test]
fn without_plain_accesses_nothing_is_watched() {
    let program = Program {
        objects: vec![mutex()],
        scripts: vec![vec![Do::On(Kind::Lock, 0), Do::On(Kind::Unlock, 0)]],
    };
    let mut races = Races::default();
    watch(&mut races, &run(&program, 0));
    assert!(!races.missed() && !races.watching() && races.findings().is_empty());
}
