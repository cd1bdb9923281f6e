//! Pages that have one cell for all are what they would be with cells of their own: two shadows go through the same
//! random ranges, and one of them does not know of such pages.

use super::cell::{Cell, GRANULE};
use super::{Access, Findings, How, Shadow};
use crate::pages::PAGE;
use alloc::collections::BTreeSet;
use raddle_analysis::clocks::Clocks;
use raddle_model::{Analysis, Dice, Event, Kind, ObjectId, Op, Outcome, Rng, SiteId, TaskId, World};

const TASKS: u32 = 4;
const FIRST: usize = 0x10_0000;
const PAGES: usize = 6;

fn event(task: u32, kind: Kind, object: u32, outcome: Outcome) -> Event {
    Event { task: TaskId(task), index: 0, op: Op::new(kind, ObjectId(object), SiteId(9)), outcome }
}

/// Whole pages, parts of pages, and a few bytes.
fn some_range(rng: &mut Rng) -> (usize, usize) {
    let start = FIRST + rng.below(PAGES as u32) as usize * PAGE;
    let (start, size) = match rng.below(6) {
        0 => (start + rng.below(PAGE as u32) as usize, 1 + rng.below(2 * PAGE as u32) as usize),
        1 => (start + 8 * rng.below(512) as usize, 8),
        _ => (start, PAGE * (1 + rng.below(3) as usize)),
    };
    (start, size.min(FIRST + PAGES * PAGE - start))
}

fn cell_at(shadow: &mut Shadow, address: usize) -> Cell {
    match shadow.even.get(address, &mut shadow.pages) {
        Some(cell) => cell,
        None => shadow.pages.get(address).expect("a page").0[address % PAGE / GRANULE],
    }
}

/// What races, each once.
fn races(findings: &mut Findings) -> BTreeSet<(u32, u32, bool, bool)> {
    let told = core::mem::take(&mut findings.races);
    told.iter()
        .map(|record| (record.task().0, record.site.0, record.how().write, record.how().atomic))
        .collect()
}

/// One random run. How many accesses were told for a whole page at once.
fn compare(seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let world = World::default();
    let mut clocks = Clocks::default();
    clocks.begin();
    for child in 1..TASKS {
        clocks.event(&event(0, Kind::Spawn, 0, Outcome::Spawned(TaskId(child))), &world);
    }
    let (mut even, mut plain) = (Shadow::default(), Shadow::default());
    let (mut found, mut expected) = (Findings::default(), Findings::default());
    let (mut task, mut whole) = (0, 0);
    for step in 0..60 {
        match rng.below(12) {
            0 | 1 => task = rng.below(TASKS),
            2 => {
                let (start, size) = some_range(&mut rng);
                even.forget(start, size);
                plain.forget(start, size);
            }
            kind @ (3 | 4) => {
                let kind = if kind == 3 { Kind::Lock } else { Kind::Unlock };
                clocks.event(&event(task, kind, rng.below(2), Outcome::Done), &world);
            }
            _ => {
                let (address, size) = some_range(&mut rng);
                let how = How { write: rng.below(2) == 0, atomic: false };
                let site = SiteId(1 + rng.below(8));
                let access =
                    Access { address, size, how, task: TaskId(task), site, point: rng.below(9) == 0 };
                let time = clocks.now(access.task).time;
                even.access(&access, time, &clocks, &mut found);
                plain.access_cells(&access, time, &clocks, &mut expected);
                assert_eq!(races(&mut found), races(&mut expected), "seed {seed}, step {step}");
                assert_eq!(found.shared, expected.shared, "seed {seed}, step {step}");
                assert_eq!(even.thrown_out, plain.thrown_out, "seed {seed}, step {step}");
                whole += usize::from(!even.even.is_empty());
            }
        }
        for address in (FIRST..FIRST + PAGES * PAGE).step_by(GRANULE) {
            let (one, other) = (cell_at(&mut even, address), cell_at(&mut plain, address));
            assert_eq!(one, other, "seed {seed}, step {step}, {address:x}");
        }
    }
    whole
}

#[test]
fn even_pages_are_what_pages_with_cells_are() {
    let runs = raddle_tiers::size("shadow_pages");
    let whole: usize = (0..runs).map(compare).sum();
    assert!(whole > 10 * runs as usize, "{whole} in {runs} runs: no page was even");
}
