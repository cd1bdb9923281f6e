//! Events and traces: what happened in a run.

use crate::ids::{ObjectId, SiteId, TaskId};
use crate::objects::State;
use crate::op::{Op, Plain};
use crate::plan::Schedule;
use crate::taskset::TaskSet;
use crate::world::World;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Done, acquired, sent.
    Done,
    /// A try that could not be done.
    Failed,
    /// A timed operation that could not be done.
    TimedOut,
    /// A wait that ended without a notification.
    Spurious,
    /// The other side of the channel is gone.
    Closed,
    /// The task that was woken.
    Woke(TaskId),
    /// The task that was made.
    Spawned(TaskId),
    /// A number: chosen value, leader of a barrier, state of a once.
    Value(u32),
    /// An operation that its object forbids (unlocking what one does not hold).
    Misuse,
}

impl Outcome {
    /// The label of every [`Outcome::Spawned`].
    pub const SPAWNED: u64 = 6;

    /// A number that is the same for equal outcomes of equal partial orders: tasks by stable name.
    #[inline]
    pub fn label(self, world: &World) -> u64 {
        if let Outcome::Done = self { 0 } else { self.other_label(world) }
    }

    fn other_label(self, world: &World) -> u64 {
        match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::TimedOut => 2,
            Outcome::Spurious => 3,
            Outcome::Closed => 4,
            Outcome::Misuse => 5,
            Outcome::Woke(task) => world.task(task).name.wrapping_add(7),
            Outcome::Spawned(_) => Outcome::SPAWNED,
            Outcome::Value(value) => 16 + (u64::from(value) << 8),
        }
    }
}

/// An operation that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who did it.
    pub task: TaskId,
    /// Its index within the task.
    pub index: u32,
    /// What was done.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
}

/// A plain operation that happened, and succeeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainEvent {
    /// Who did it.
    pub task: TaskId,
    /// Its index within the task.
    pub index: u32,
    /// What was done.
    pub plain: Plain,
}

impl PlainEvent {
    /// The whole event.
    #[inline]
    pub fn event(self) -> Event {
        Event { task: self.task, index: self.index, op: self.plain.op(), outcome: Outcome::Done }
    }
}

/// A fold over the events of one run.
pub trait Analysis {
    /// Forgets the previous run.
    fn begin(&mut self);
    /// Takes one event; `world` is the state after it.
    fn event(&mut self, event: &Event, world: &World);
    /// The same for a plain one: an analysis that is always on may have a shorter way for it.
    #[inline]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        self.event(&event.event(), world);
    }
    /// The same where there are no more tasks than a word has bits, if it takes no call that comes back; otherwise it is
    /// false, and nothing has happened.
    #[inline(always)]
    fn plain_at_once(&mut self, event: PlainEvent, world: &World) -> bool {
        self.plain(event, world);
        true
    }
    /// Whether [`Analysis::again`] may be called for what happens from here on, until any other call.
    fn can_be_late(&self) -> bool {
        false
    }
    /// A task has done the same so often, a write each; `gives` comes after each of them, if it is something. The first of
    /// them was this event. `world` is the state after the last.
    fn again(&mut self, first: PlainEvent, gives: Option<Plain>, times: u32, world: &World) {
        let mut event = first;
        for _ in 0..times {
            for plain in core::iter::once(first.plain).chain(gives) {
                self.plain(PlainEvent { plain, ..event }, world);
                event.index += 1;
            }
        }
    }
    /// The same for a task that has made another, whose event is [`World::spawned`].
    #[inline]
    fn spawned(&mut self, task: TaskId, child: TaskId, site: SiteId, world: &World) {
        self.event(&world.spawned(task, child, site), world);
    }
    /// The same for a task that has ended the process, whose event is [`World::ended`].
    #[inline]
    fn ended(&mut self, task: TaskId, site: SiteId, world: &World) {
        self.event(&world.ended(task, site), world);
    }
    /// Whether [`Analysis::keep`] may be asked now.
    fn can_keep(&self) -> bool {
        false
    }
    /// Keeps what it is now in this place, over what was kept there before.
    fn keep(&mut self, place: usize) {
        let _ = place;
        unreachable!("raddle bug: an analysis that keeps nothing is to keep what it is");
    }
    /// Becomes what was kept in a place.
    fn recall(&mut self, place: usize) {
        let _ = place;
        unreachable!("raddle bug: an analysis that keeps nothing is to become what it was");
    }
}

impl Analysis for () {
    fn begin(&mut self) {}
    fn event(&mut self, _: &Event, _: &World) {}
}

impl<A: Analysis, B: Analysis> Analysis for (A, B) {
    #[inline]
    fn begin(&mut self) {
        self.0.begin();
        self.1.begin();
    }
    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        self.0.event(event, world);
        self.1.event(event, world);
    }
    #[inline]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        self.0.plain(event, world);
        self.1.plain(event, world);
    }
}

impl<A: Analysis> Analysis for Option<A> {
    #[inline]
    fn begin(&mut self) {
        if let Some(analysis) = self {
            analysis.begin();
        }
    }
    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        if let Some(analysis) = self {
            analysis.event(event, world);
        }
    }
    #[inline]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        if let Some(analysis) = self {
            analysis.plain(event, world);
        }
    }
}

/// What happened in a run, in full.
///
/// What each task was about to do at a step is the operation of its next event or, if it had none
/// before the run ended, its entry in `pending`: nothing that a search needs is left out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    /// All events in the order in which they happened.
    pub events: Vec<Event>,
    /// What the tasks that were alive at the end were about to do.
    pub pending: Vec<(TaskId, Op)>,
    /// Stable name of each task.
    pub names: Vec<u64>,
    /// The task that made each task; main has none.
    pub parents: Vec<Option<TaskId>>,
    /// The decisions that led here.
    pub schedule: Schedule,
    /// What a search wants to know beyond that; empty unless the plan was one of a search.
    pub log: Log,
}

/// How a run came to be what it is, for whoever searches through all runs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Log {
    /// Every scheduling point, those with one task included.
    pub picks: Vec<Picked>,
    /// Every choice among at least two values.
    pub chosen: Vec<Chosen>,
    /// What each object was when it was registered.
    pub objects: Vec<State>,
    /// For each task the object that stands for it, and its park token.
    pub task_objects: Vec<[ObjectId; 2]>,
    /// The first failure of a run that went on, as the number of picks before it.
    pub failed_at: Option<u32>,
    /// What kept the run from being everything it could have been.
    pub reached: Reached,
}

/// A scheduling point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picked {
    /// Number of events before it: the picked task's operation is that event.
    pub event: u32,
    /// Number of objects that were registered.
    pub objects: u32,
    /// Who could be picked.
    pub enabled: TaskSet,
}

/// A choice of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Number of picks before it.
    pub pick: u32,
    /// Number of values.
    pub arity: u32,
    /// The value.
    pub value: u32,
}

/// Bounds that a run has met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reached {
    /// The run was ended before its end: by the bound of steps, or a crash.
    pub cut: bool,
    /// A spinning task was held back.
    pub spin: bool,
    /// A task that had timed out often enough was held back.
    pub timeouts: bool,
    /// Something whose order matters and is seen by nobody.
    pub hidden: Hidden,
}

impl Reached {
    /// What another run has met, too.
    pub fn add(&mut self, other: Reached) {
        self.cut |= other.cut;
        self.spin |= other.spin;
        self.timeouts |= other.timeouts;
        self.hidden.add(other.hidden);
    }
}

/// What tasks do to each other, or to what they have in common, without an operation that says so: searches that go by
/// dependence do not know that its order matters. A set, one bit for each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hidden(pub u8);

impl Hidden {
    /// Signals to other tasks: what they interrupt, and who handles them.
    pub const SIGNALS: Hidden = Hidden(1);
    /// Requests that a task end, wherever it is.
    pub const CANCELLATIONS: Hidden = Hidden(2);
    /// Calls on files that the run has not made itself, and on streams.
    pub const FILES: Hidden = Hidden(4);
    /// What a process has one of: environment, directory, sequence of random numbers, names of its threads.
    pub const PROCESS: Hidden = Hidden(8);

    /// Calls that give files or keys their numbers, or give numbers back.
    pub const NUMBERS: Hidden = Hidden(16);
    /// Accesses to several parts of one atomic.
    pub const PARTS: Hidden = Hidden(32);

    /// One kind more, or several.
    pub fn add(&mut self, more: Hidden) {
        self.0 |= more.0;
    }

    /// Whether this kind is among them.
    pub fn has(self, kind: Hidden) -> bool {
        self.0 & kind.0 != 0
    }
}

/// Keeps every event.
#[derive(Default, Debug)]
pub struct Recorder {
    /// The events so far.
    pub events: Vec<Event>,
}

impl Analysis for Recorder {
    fn begin(&mut self) {
        self.events.clear();
    }
    fn event(&mut self, event: &Event, _: &World) {
        self.events.push(*event);
    }
}

/// Where a site is, for people and for what must survive a rebuild.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Place {
    /// Source file; empty if unknown.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Function; empty if unknown.
    pub function: String,
}

impl Place {
    /// `src/lib.rs:12:5`, or nothing if the place is unknown.
    pub fn link(&self) -> String {
        match self {
            Place { file, .. } if file.is_empty() => String::new(),
            Place { file, line, column: 0, .. } => format!("{file}:{line}"),
            Place { file, line, column, .. } => format!("{file}:{line}:{column}"),
        }
    }
}

/// What an object is, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectInfo {
    /// Its id in the trace.
    pub id: ObjectId,
    /// `mutex`, `atomic`, …
    pub noun: String,
    /// What the program calls it, if that is known.
    pub name: Option<String>,
    /// Where it was first used.
    pub site: SiteId,
}
