//! Steps of runs as searches compare them: what a step is in other runs than its own, and how it relates to others.

use alloc::sync::Arc;
use raddle_model::plan::Step;
use raddle_model::{Access, Kind, ObjectId, Op};
use raddle_wire::Unpack;
use raddle_wire::journal::{Put, Take};

/// Ids of objects from here on mean the same in all runs: they stand for tasks.
pub(crate) const STABLE: u32 = 1 << 31;

/// A step of a run, as something that can be taken in another. Small, since searches copy them all the time.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    /// Who.
    pub(crate) task: u64,
    /// What it does.
    pub(crate) op: Op,
    /// What most letters do not have.
    pub(crate) more: Option<Box<More>>,
}

/// What is to be known of some letters.
#[derive(Clone, Default, Debug)]
pub(crate) struct More {
    /// The values it chose; those that are missing are anybody's guess.
    pub(crate) choices: Vec<u32>,
    /// The run that it comes from, if that has objects whose ids mean something only there; and the number
    /// under which it was announced.
    pub(crate) run: Option<(Arc<Origin>, u64)>,
}

/// A run that letters come from.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    /// What was announced in it, by its number. Sorted.
    pub(crate) announcements: Vec<(u64, Op)>,
}

impl Origin {
    fn find(&self, announced: u64) -> Option<&Op> {
        let at = self.announcements.binary_search_by_key(&announced, |pair| pair.0);
        at.ok().map(|at| &self.announcements[at].1)
    }
}

impl Letter {
    /// Writes it. Of the run that it comes from only the number is kept: objects that only that run knows are taken
    /// for any of their kind afterwards, which can repeat a partial order and never loses one.
    pub(crate) fn save(&self, put: &mut Put<'_>) {
        put.name(self.task);
        put.op(&self.op);
        put.flag(self.more.is_some());
        if let Some(more) = &self.more {
            put.list(more.choices.iter(), |put, &value| put.number(u64::from(value)));
            put.list(more.run.iter(), |put, (origin, announced)| {
                put.number(origin.number);
                put.name(*announced);
            });
        }
    }

    pub(crate) fn load(take: &mut Take<'_>) -> Result<Letter, Unpack> {
        let (task, op) = (take.name()?, take.op()?);
        let mut letter = Letter { task, op, more: None };
        if take.flag()? {
            let choices = take.list(Take::small)?;
            let run = take.list(|take| {
                let origin = Origin { number: take.number()?, announcements: Vec::new() };
                Ok((Arc::new(origin), take.name()?))
            })?;
            letter.more = Some(Box::new(More { choices, run: run.into_iter().next() }));
        }
        Ok(letter)
    }

    /// The values it chose.
    pub(crate) fn choices(&self) -> &[u32] {
        self.more.as_ref().map_or(&[], |more| &more.choices)
    }

    /// As a plan names it.
    pub(crate) fn step(&self) -> Step {
        let choices = self.more.as_ref().map_or(Vec::new(), |more| more.choices.clone());
        Step { task: self.task, choices }
    }

    fn run(&self) -> Option<&(Arc<Origin>, u64)> {
        self.more.as_ref()?.run.as_ref()
    }

    /// Whether two steps of different tasks conflict. `known` is the number of objects that both
    /// runs have in common. Others are compared in one of the runs, if it has announced both; if two
    /// objects may still be the same one, they are taken for it.
    #[inline]
    fn conflicts(&self, other: &Letter, known: u32) -> bool {
        if self.more.is_none() || other.more.is_none() {
            return self.op.conflicts(&other.op);
        }
        self.conflicts_in_runs(other, known)
    }

    fn conflicts_in_runs(&self, other: &Letter, known: u32) -> bool {
        let (a, b) = (&self.op, &other.op);
        let (Some((mine, announced)), Some((theirs, announced_there))) = (self.run(), other.run()) else {
            return a.conflicts(b);
        };
        if mine.number == theirs.number || !(is_new(a, known) && is_new(b, known)) {
            return a.conflicts(b);
        }
        if let Some(b) = mine.find(*announced_there) {
            return a.conflicts(b);
        }
        if let Some(a) = theirs.find(*announced) {
            return a.conflicts(b);
        }
        if a.kind == Kind::End || b.kind == Kind::End {
            return true;
        }
        let both_read = a.access() == Access::Read && b.access() == Access::Read;
        !both_read && family(a.kind) & family(b.kind) != 0
    }

    /// Whether both may be the same step of the same task.
    fn agrees(&self, other: &Letter) -> bool {
        self.choices().iter().zip(other.choices()).all(|(x, y)| x == y)
    }
}

/// Whether an operation is on an object that not all runs know by its id.
fn is_new(op: &Op, known: u32) -> bool {
    let new = |object: ObjectId| object.0 >= known && object.0 < STABLE;
    new(op.object) || new(op.second)
}

/// What kinds of objects an operation is on, a bit for each: different ones are different objects.
fn family(kind: Kind) -> u32 {
    match kind {
        Kind::Load | Kind::Store | Kind::Rmw => 1,
        Kind::CellRead | Kind::CellWrite => 1 << 1,
        Kind::Lock | Kind::Unlock => 1 << 2,
        Kind::NotifyOne | Kind::NotifyAll => 1 << 3,
        Kind::Wait | Kind::Wake => 1 << 2 | 1 << 3,
        Kind::ReadLock | Kind::WriteLock | Kind::ReadUnlock | Kind::WriteUnlock | Kind::Downgrade => 1 << 4,
        Kind::Acquire | Kind::Release => 1 << 5,
        Kind::Arrive | Kind::Leave => 1 << 6,
        Kind::OnceGet | Kind::OnceEnter | Kind::OnceDone => 1 << 7,
        Kind::Send
        | Kind::Handover
        | Kind::RecvReady
        | Kind::Recv
        | Kind::DropSender
        | Kind::DropReceiver => 1 << 8,
        _ => u32::MAX,
    }
}

/// How a step relates to another that comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    /// They are the same.
    Same,
    /// Neither minds the other.
    Apart,
    /// They conflict, or are the same but for the values they chose.
    Conflict,
}

impl Letter {
    /// How a step relates to another.
    #[inline]
    pub(crate) fn relation(&self, other: &Letter, known: u32) -> Relation {
        if other.task == self.task {
            return if self.agrees(other) { Relation::Same } else { Relation::Conflict };
        }
        if self.conflicts(other, known) { Relation::Conflict } else { Relation::Apart }
    }
}
