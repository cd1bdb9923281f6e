//! The shadow beside a plain model that remembers every access to every byte and has clocks of its own.

use super::{Access, Findings, How, Shadow};
use crate::blocks::{Blocks, Deed, Freed, RED_ZONE};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use raddle_analysis::clocks::Clocks;
use raddle_model::{Analysis, Dice, Event, Kind, ObjectId, Op, Outcome, Rng, SiteId, TaskId, World};

const TASKS: u32 = 3;
const LOCKS: u32 = 2;

/// An access as the model remembers it.
#[derive(Clone, Copy)]
struct Past {
    task: u32,
    time: u32,
    how: How,
    site: SiteId,
}

/// Vector clocks, and for each byte all that was done to it.
struct Model {
    clocks: Vec<Vec<u32>>,
    locks: Vec<Vec<u32>>,
    bytes: BTreeMap<usize, Vec<Past>>,
    // Eight bytes each.
    racy: BTreeSet<usize>,
    shared: BTreeSet<SiteId>,
}

impl Model {
    fn new() -> Model {
        let clock = |task: u32| (0..TASKS).map(|other| u32::from(other == task)).collect();
        Model {
            clocks: (0..TASKS).map(clock).collect(),
            locks: vec![vec![0; TASKS as usize]; LOCKS as usize],
            bytes: BTreeMap::new(),
            racy: BTreeSet::new(),
            shared: BTreeSet::new(),
        }
    }

    /// All that nothing orders before the access, with the first byte of theirs that it meets.
    fn access(&mut self, access: &Access) -> Vec<(usize, Past)> {
        let me = access.task.0;
        let mut races = Vec::new();
        for byte in access.address..access.address + access.size {
            let past = self.bytes.entry(byte).or_default();
            for old in past.iter() {
                let conflict = (old.how.write || access.how.write) && !(old.how.atomic && access.how.atomic);
                let ordered = old.task == me || old.time <= self.clocks[me as usize][old.task as usize];
                if conflict && !ordered {
                    races.push((byte, *old));
                }
            }
            let time = self.clocks[me as usize][me as usize];
            past.push(Past { task: me, time, how: access.how, site: access.site });
        }
        races
    }

    /// Granules in which there has been a race tell all sites that have been there.
    fn share(&mut self, access: &Access, races: &[(usize, Past)]) {
        self.racy.extend(races.iter().map(|(byte, _)| byte / 8));
        for granule in access.address / 8..=(access.address + access.size - 1) / 8 {
            if self.racy.contains(&granule) {
                for byte in granule * 8..granule * 8 + 8 {
                    self.shared.extend(self.bytes.get(&byte).into_iter().flatten().map(|past| past.site));
                }
            }
        }
    }

    fn forget(&mut self, start: usize, size: usize) {
        // Whole granules, as the shadow.
        let (start, end) = (start / 8 * 8, (start + size).next_multiple_of(8));
        self.bytes.retain(|byte, _| !(start..end).contains(byte));
        self.racy.retain(|granule| !(start..end).contains(&(granule * 8)));
    }

    fn acquire(&mut self, task: usize, lock: usize) {
        let [mine, theirs] = [&mut self.clocks[task], &mut self.locks[lock]];
        mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    fn release(&mut self, task: usize, lock: usize) {
        self.locks[lock] = self.clocks[task].clone();
        self.clocks[task][task] += 1;
    }
}

fn event(task: u32, kind: Kind, object: u32, outcome: Outcome) -> Event {
    Event { task: TaskId(task), index: 0, op: Op::new(kind, ObjectId(object), SiteId(9)), outcome }
}

/// Clocks of tasks that nothing orders yet.
fn clocks(model: &mut Model, world: &World) -> Clocks {
    let mut clocks = Clocks::default();
    clocks.begin();
    for child in 1..TASKS {
        clocks.event(&event(0, Kind::Spawn, 0, Outcome::Spawned(TaskId(child))), world);
        model.clocks[child as usize][0] = model.clocks[0][0];
        model.clocks[0][0] += 1;
    }
    clocks
}

/// What the running task does, as the hooks do it: first the quick look, and if that is not enough the whole. True
/// if the quick look was enough.
fn hook(shadow: &mut Shadow, access: &Access, clocks: &Clocks, findings: &mut Findings) -> bool {
    let Access { address, size, how, site, task, point } = *access;
    macro_rules! has {
        ($($size:literal)*) => {
            match (size, how.write) {
                $(($size, false) => shadow.has::<$size, false>(address, site),
                ($size, true) => shadow.has::<$size, true>(address, site),)*
                _ => false,
            }
        };
    }
    if !how.atomic && has!(1 2 4 8 16) {
        assert!(!point, "a scheduling point was passed over");
        return true;
    }
    let time = clocks.now(task).time;
    if how.atomic && !point && size.is_power_of_two() && shadow.renews(access, time, clocks) {
        return true;
    }
    shadow.access(access, time, clocks, findings);
    if !how.atomic {
        shadow.stays(task, time);
    }
    false
}

fn some_access(rng: &mut Rng, task: u32, sites: u32) -> Access {
    let sizes = [1, 2, 4, 8, 16, 1 + rng.below(64) as usize];
    let site = SiteId(1 + rng.below(sites));
    Access {
        address: 0x7ff0 + rng.below(48) as usize,
        size: sizes[rng.below(6) as usize],
        how: How { write: rng.below(3) == 0, atomic: rng.below(3) == 0 },
        task: TaskId(task),
        site,
        point: site.0 == 1 && sites > 2,
    }
}

/// One random run. How many accesses the quick look was enough for.
fn compare(seed: u64, sites: u32) -> u32 {
    let mut rng = Rng::new(seed);
    let world = World::default();
    let mut model = Model::new();
    let mut clocks = clocks(&mut model, &world);
    let (mut shadow, mut findings) = (Shadow::default(), Findings::default());
    let (mut task, mut quick) = (0u32, 0);
    for step in 0..120 {
        match rng.below(24) {
            0 | 1 => {
                task = rng.below(TASKS);
                shadow.moved();
            }
            2 => {
                let (start, size) = (0x7ff0 + rng.below(48) as usize, 1 + rng.below(24) as usize);
                shadow.forget(start, size);
                model.forget(start, size);
            }
            kind @ (3 | 4) => {
                let lock = rng.below(LOCKS);
                let kind = if kind == 3 { Kind::Lock } else { Kind::Unlock };
                clocks.event(&event(task, kind, lock, Outcome::Done), &world);
                shadow.moved();
                match kind {
                    Kind::Lock => model.acquire(task as usize, lock as usize),
                    _ => model.release(task as usize, lock as usize),
                }
            }
            _ => {
                let access = some_access(&mut rng, task, sites);
                let before = model.racy.clone();
                let races = model.access(&access);
                model.share(&access, &races);
                quick += u32::from(hook(&mut shadow, &access, &clocks, &mut findings));
                // What is reported is a race, and at that byte.
                let reported = core::mem::take(&mut findings.races);
                for record in &reported {
                    let is = |(byte, old): &(usize, Past)| {
                        old.task == record.task().0
                            && old.site == record.site
                            && old.how == record.how()
                            && *byte == record.meets(access.address)
                    };
                    assert!(races.iter().any(is), "seed {seed}, step {step}: {record:?} is none");
                }
                if shadow.thrown_out > 0 {
                    return quick;
                }
                // While no record had to be thrown out, the first race in every granule is reported.
                let new: Vec<&usize> = model.racy.difference(&before).collect();
                assert!(
                    new.is_empty() || !reported.is_empty(),
                    "seed {seed}, step {step}: a race in {new:?}"
                );
                let told: BTreeSet<SiteId> = findings.shared.iter().copied().collect();
                if sites <= 3 {
                    assert_eq!(told, model.shared, "seed {seed}, step {step}: {access:?}");
                }
            }
        }
    }
    quick
}

#[test]
fn the_shadow_finds_what_a_plain_model_finds() {
    let mut quick = 0;
    for seed in 0..raddle_tiers::size("shadow_runs") {
        for sites in [2, 3, 6] {
            quick += compare(seed, sites);
        }
    }
    assert!(quick > 0, "the quick look was never enough");
}

#[test]
fn nothing_is_passed_over_that_must_not_be_touched() {
    let world = {
        let mut world = World::default();
        world.begin(0);
        world
    };
    let mut quick = 0;
    for seed in 0..raddle_tiers::size("shadow_runs") {
        let mut rng = Rng::new(seed);
        let mut model = Model::new();
        let clocks = clocks(&mut model, &world);
        let (mut shadow, mut findings, mut blocks) =
            (Shadow::default(), Findings::default(), Blocks::default());
        let mut allowed: BTreeMap<usize, bool> = BTreeMap::new();
        // Three places that blocks of some size come to and go from, as libc gives memory out again.
        let mut places: [Option<usize>; 3] = [None; 3];
        let deed = Deed { task: TaskId::MAIN, site: SiteId(3), call: None };
        for _ in 0..200 {
            let at = rng.below(3) as usize;
            let (raw, start) = (0x4fc0 + at * 64, 0x4fc0 + at * 64 + RED_ZONE);
            match (rng.below(12), places[at]) {
                (0, None) => {
                    let size = 1 + rng.below(24) as usize;
                    let end = Blocks::end(start, size);
                    shadow.forget(raw, end - raw);
                    blocks.give(raw, start, size, deed);
                    (raw..end).for_each(|byte| {
                        allowed.insert(byte, (start..start + size).contains(&byte));
                    });
                    places[at] = Some(size);
                }
                (0, Some(size)) => {
                    assert!(matches!(blocks.take(start, deed, &world), Freed::Kept(_)));
                    shadow.forget(start, size);
                    (start..start + size).for_each(|byte| {
                        allowed.insert(byte, false);
                    });
                    places[at] = None;
                }
                _ => {
                    let size = [1, 2, 4, 8][rng.below(4) as usize];
                    let address = raw + rng.below(64) as usize;
                    let how = How { write: rng.below(2) == 0, atomic: rng.below(2) == 0 };
                    let access =
                        Access { address, size, how, task: TaskId::MAIN, site: SiteId(1), point: false };
                    let fine = (address..address + size).all(|byte| allowed.get(&byte) != Some(&false));
                    assert_eq!(blocks.check(address, size), fine, "seed {seed}: {access:?}");
                    if fine {
                        quick += u32::from(hook(&mut shadow, &access, &clocks, &mut findings));
                    } else {
                        // A run ends here; this one goes on without having done it.
                        let mut untouched = Findings::default();
                        let passed = hook(&mut shadow, &access, &clocks, &mut untouched);
                        assert!(!passed, "seed {seed}: {access:?} was passed over");
                        shadow.forget(address, size);
                    }
                }
            }
        }
    }
    assert!(quick > 0, "the quick look was never enough");
}
