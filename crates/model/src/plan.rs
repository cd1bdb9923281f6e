//! Plans: one run is a pure function of the program and its plan. A plan is data; everything that
//! a run may consult is in it.

use crate::ids::{SiteId, TaskId};
use crate::op::{Kind, Op};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// One decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Who runs next.
    Run(TaskId),
    /// Which value a choice takes.
    Choose(u32),
}

/// The decisions of a run. Points at which only one task could run are no decisions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Schedule {
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// A rolling check over (task, kind, index) of the events, one entry for each
    /// [`CHECK_INTERVAL`] of them. Empty if nobody recorded it.
    pub checks: Vec<u32>,
    /// The fingerprint that the whole run must have; 0 if nobody recorded it.
    pub fingerprint: u128,
}

/// Number of events between two entries of [`Schedule::checks`].
pub const CHECK_INTERVAL: u64 = 32;

/// Who decides after the prefix, with everything that was learned for it.
#[derive(Clone, PartialEq, Debug)]
pub enum Tail {
    /// Uniform over enabled tasks.
    Random,
    /// Random mutually independent subsets.
    Rapos,
    /// Priorities with `depth - 1` change points in a run of about `length` steps.
    Pct {
        /// Bug depth.
        depth: u32,
        /// Estimated number of steps.
        length: u64,
    },
    /// Partial-order sampling by random priorities of operations.
    Pos,
    /// Weights learned from earlier runs.
    Walks(Weights),
    /// Prefers what earlier runs have not covered.
    Coverage(Covered),
    /// The task that ran last goes on; now and then one is held back.
    Noise {
        /// One in so many points is disturbed.
        one_in: u32,
        /// Most steps for which a task is held back.
        strength: u32,
    },
    /// The task that ran last goes on; else the next in turn.
    Stay,
    /// The same, except where a switch is wished for and possible.
    Wishes(Wishes),
    /// These steps one by one, then quietly: what systematic search asks for.
    Steps(Steps),
    /// Nothing: the prefix is the whole run, and a run that goes on has diverged.
    None,
}

/// What `walks` learned from a recorded run: the accesses for which tasks contend.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Weights {
    /// Number of scheduling points of that run.
    pub length: u64,
    /// Sorted by name.
    pub tasks: Vec<TaskWeight>,
}

/// What `walks` learned of one task.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskWeight {
    /// Stable name.
    pub name: u64,
    /// Its contended accesses, in program order.
    pub accesses: Vec<Contended>,
}

/// An access that conflicts with one of another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contended {
    /// Index of the event within its task.
    pub index: u32,
    /// Where it stands.
    pub site: SiteId,
    /// What it accesses: a number that is the same for all accesses to one object, and means
    /// nothing else.
    pub object: u32,
    /// Whether it writes.
    pub write: bool,
}

/// Switches and choices to be made where they are possible: a schedule that can be edited, since what
/// it says of one task does not depend on what the others have done before.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Wishes {
    /// Sorted, at most one for each place.
    pub switches: Vec<Switch>,
    /// Values of choices, in the order in which they come up.
    pub choices: Vec<u32>,
}

/// Who is to run after a task has done so much.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Switch {
    /// Stable name of the task that ran last; 0 at the start of the run.
    pub from: u64,
    /// How many events it has had.
    pub events: u32,
    /// Stable name of the task that is to run.
    pub to: u64,
}

/// Steps to be taken first, and how to go on then. Unlike a prefix of decisions it names who runs at
/// *every* scheduling point, by stable name: a search can put it together from steps of several runs
/// without knowing who else could have run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// The first one is what main does before the first scheduling point: its task does not matter. They are shared: a
    /// search asks for very many runs, and changes only the last few steps from one to the next.
    pub steps: Arc<Vec<Step>>,
    /// Stable names of tasks that are not picked after these steps, until something happens that
    /// conflicts with what they are about to do. If only such are left the run is cut.
    pub sleep: Vec<u64>,
    /// Whether a task that fails only stops, and the others run on until none can: then what a run
    /// shows does not depend on the order of independent steps.
    pub run_on: bool,
    /// Time-outs of a task at one site in a row after which it waits until nobody else can run.
    pub timeouts_max: u32,
    /// Whether anybody may run after these steps, drawn by the plan's seed, rather than who ran last.
    pub random: bool,
    /// Whether giving a mutex back belongs to the step that took it, if that did nothing else: then it is no scheduling
    /// point. What conflicts with such a step conflicts with the taking, too. It loses partial orders if
    /// anything can be done to a mutex, or to the process, while another task holds it.
    pub sections: bool,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            steps: Arc::default(),
            sleep: Vec::new(),
            run_on: true,
            timeouts_max: u32::MAX,
            random: false,
            sections: false,
        }
    }
}

/// One task runs up to its next scheduling point.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Step {
    /// Stable name.
    pub task: u64,
    /// The values of the choices on the way; the first value for those that are not given.
    pub choices: Vec<u32>,
}

/// What `coverage` has seen so far: sorted sites and pairs of sites at which switches happened.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Covered {
    /// Sites that were switched away from.
    pub sites: Vec<SiteId>,
    /// (from, to) pairs.
    pub pairs: Vec<(SiteId, SiteId)>,
}

impl Covered {
    /// Whether a switch from `from` to `to` has happened.
    #[inline]
    pub fn contains(&self, from: SiteId, to: SiteId) -> bool {
        self.pairs.binary_search(&(from, to)).is_ok()
    }

    /// Adds a switch. Returns whether it is new.
    pub fn insert(&mut self, from: SiteId, to: SiteId) -> bool {
        let Err(at) = self.pairs.binary_search(&(from, to)) else {
            return false;
        };
        self.pairs.insert(at, (from, to));
        if let Err(at) = self.sites.binary_search(&from) {
            self.sites.insert(at, from);
        }
        true
    }

    /// Forgets all switches, keeping memory.
    pub fn clear(&mut self) {
        self.sites.clear();
        self.pairs.clear();
    }
}

/// Where the policy is asked (DESIGN §8). Frozen within a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PointSet {
    /// Whether every plain access is a point.
    pub all_accesses: bool,
    /// Whether giving a lock back is a point. It need not be until a try or timed operation on a
    /// lock was seen: a release moves left past everything else.
    pub releases: bool,
    /// Whether making a task is a point. It need not be, since it moves left past everything else; it
    /// is one for whoever wants the tasks to come into the world one by one, as in the RAPOS paper.
    pub spawns: bool,
    /// Sites of plain accesses that are known to race. Sorted.
    pub accesses: Vec<SiteId>,
}

impl PointSet {
    /// Every operation that can be told from its neighbours by another task is a point.
    pub fn everything() -> PointSet {
        PointSet { all_accesses: true, releases: true, spawns: false, accesses: Vec::new() }
    }

    /// Whether the policy is asked before this operation.
    #[inline]
    pub fn contains(&self, op: &Op) -> bool {
        self.contains_at(op.kind, op.site)
    }

    /// The same, from what it depends on.
    #[inline]
    pub fn contains_at(&self, kind: Kind, site: SiteId) -> bool {
        match kind {
            kind if SPECIAL >> kind as u32 & 1 == 0 => true,
            Kind::Unlock | Kind::ReadUnlock | Kind::WriteUnlock => self.releases,
            Kind::Spawn => self.spawns,
            Kind::CellRead | Kind::CellWrite | Kind::WideRead | Kind::WideWrite | Kind::Free => {
                self.all_accesses || self.contains_access(site)
            }
            _ => false,
        }
    }

    fn contains_access(&self, site: SiteId) -> bool {
        !self.accesses.is_empty() && self.accesses.binary_search(&site).is_ok()
    }
}

/// The kinds that are not points in every plan, one bit each.
const SPECIAL: u64 = 1 << Kind::Spawn as u32
    | 1 << Kind::Choose as u32
    | 1 << Kind::Fence as u32
    | 1 << Kind::Unlock as u32
    | 1 << Kind::ReadUnlock as u32
    | 1 << Kind::WriteUnlock as u32
    | 1 << Kind::CellRead as u32
    | 1 << Kind::CellWrite as u32
    | 1 << Kind::WideRead as u32
    | 1 << Kind::WideWrite as u32
    | 1 << Kind::Free as u32;

/// When timed operations time out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TimeMode {
    /// At any scheduling point.
    #[default]
    Any,
    /// Only when nobody else can run, the earliest deadline first.
    Lazy,
}

/// Whether spinning tasks wait for a change.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SpinMode {
    /// A task that repeats unchanged reads is not picked while another can run.
    #[default]
    Park,
    /// Spinning is like any other running.
    Off,
}

/// What to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Seed of everything random in the tail.
    pub seed: u64,
    /// Decisions to follow first.
    pub prefix: Schedule,
    /// Who decides then.
    pub tail: Tail,
    /// Where the policy is asked.
    pub points: PointSet,
    /// When timed operations time out.
    pub time: TimeMode,
    /// What happens to spinning tasks.
    pub spin: SpinMode,
    /// Number of spurious wake-ups a task may have in a run.
    pub spurious_max: u32,
    /// Number of events after which the run is given up.
    pub steps_max: u64,
}

impl Plan {
    /// A plan without a prefix.
    pub fn new(seed: u64, tail: Tail) -> Plan {
        Plan {
            seed,
            prefix: Schedule::default(),
            tail,
            points: PointSet::default(),
            time: TimeMode::default(),
            spin: SpinMode::default(),
            spurious_max: 0,
            steps_max: 1_000_000,
        }
    }

    /// The plan that repeats a recorded schedule under the same conditions, and nothing else.
    #[must_use]
    pub fn replaying(&self, schedule: Schedule) -> Plan {
        Plan { prefix: schedule, tail: Tail::None, ..self.clone() }
    }
}

/// The name by which people call a tail.
impl Tail {
    /// `random`, `rapos`, …
    pub fn name(&self) -> String {
        String::from(match self {
            Tail::Random => "random",
            Tail::Rapos => "rapos",
            Tail::Pct { .. } => "pct",
            Tail::Pos => "pos",
            Tail::Walks(_) => "walks",
            Tail::Coverage(_) => "coverage",
            Tail::Noise { .. } => "noise",
            Tail::Stay => "stay",
            Tail::Wishes(_) => "wishes",
            Tail::Steps(_) => "steps",
            Tail::None => "replay",
        })
    }
}
