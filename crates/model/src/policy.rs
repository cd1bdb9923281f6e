//! The seam between the engine and the strategies: a policy sees what every task is about to do,
//! and says who does it.

use crate::ids::{ObjectId, SiteId, TaskId};
use crate::op::{Kind, Op};
use crate::taskset::TaskSet;
use crate::world::World;
use alloc::boxed::Box;

/// What a task is about to do, and whether it can.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Who.
    pub task: TaskId,
    /// What.
    pub op: Op,
    /// Whether it can be done now.
    pub enabled: bool,
}

/// The state at a scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// How many events have happened.
    pub step: u64,
    /// Who ran last.
    pub current: Option<TaskId>,
    /// Who may be picked. Never empty.
    pub enabled: &'a TaskSet,
    /// Everything else.
    pub world: &'a World,
}

impl<'a> View<'a> {
    /// What a live task is about to do.
    #[inline]
    pub fn op(&self, task: TaskId) -> &'a Op {
        &self.world.task(task).op
    }

    /// All live tasks with what they are about to do, enabled or not.
    pub fn pending(&self) -> impl Iterator<Item = Pending> + 'a {
        let View { world, enabled, .. } = *self;
        world.live().map(move |task| Pending {
            task,
            op: world.task(task).op,
            enabled: enabled.contains(task),
        })
    }

    /// Whether picking `task` would preempt the one that ran last: it could go on, and stands at
    /// no operation that offers the processor.
    pub fn preempts(&self, task: TaskId) -> bool {
        self.current.is_some_and(|current| {
            current != task && self.enabled.contains(current) && !self.op(current).offers_processor()
        })
    }
}

impl Op {
    /// Whether a switch away at this operation is no preemption.
    pub fn offers_processor(&self) -> bool {
        matches!(self.kind, Kind::Yield | Kind::Sleep | Kind::Park | Kind::Exit | Kind::End)
            || self.mode == crate::op::Mode::Timed
    }
}

/// What a policy says at a scheduling point.
#[derive(Debug)]
pub enum Pick {
    /// This enabled task does its operation.
    Run(TaskId),
    /// The run is of no further interest.
    Cut,
    /// The run has left the prefix that it was to follow.
    Diverged(Box<Divergence>),
}

/// Where and how a run left its prefix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Number of events before it.
    pub step: u64,
    /// Number of decisions before it.
    pub decision: usize,
    /// What the prefix expected.
    pub expected: alloc::string::String,
    /// What was there.
    pub found: alloc::string::String,
}

/// A choice of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What it is for: [`Kind::NotifyOne`] or [`Kind::Choose`].
    pub kind: Kind,
    /// How many values there are, at least 2.
    pub arity: u32,
    /// The object it concerns, if any.
    pub object: ObjectId,
    /// Where it stands.
    pub site: SiteId,
}

/// Who decides within a run.
pub trait Policy {
    /// Picks one of `view.enabled`.
    fn pick(&mut self, view: &View<'_>) -> Pick;

    /// Whether `task`, which could do the plain operation that it is at, goes on at once; `others` are
    /// those that could run instead. Yes is as good as a pick; after a no, [`Policy::pick`] is asked.
    #[inline]
    fn stays(&mut self, task: TaskId, others: &TaskSet, world: &World) -> bool {
        let _ = (task, others, world);
        false
    }

    /// At how many points, this one first, it would say so of `task` while these others can run, one bit each, and there are
    /// `tasks` tasks, no more than 64. Fewer are never wrong. [`Policy::spent`] comes before anything else is asked.
    #[inline]
    fn spell(&self, task: TaskId, others: u64, tasks: usize) -> u64 {
        let _ = (task, others, tasks);
        0
    }

    /// A task has gone on at so many of these points; `alone` if there were no others.
    #[inline]
    fn spent(&mut self, points: u64, alone: bool) {
        let _ = (points, alone);
    }

    /// As [`Policy::pick`] where these can run, one bit each, and there are no more than 64 tasks, if the policy has a short
    /// way for it. Otherwise it must be asked in the other way next. Also says what [`Policy::spell`] would at the task's next
    /// point, if the others can still run then, and nobody else.
    #[inline]
    fn pick_at_once(&mut self, enabled: u64, world: &World) -> Option<(TaskId, u64)> {
        let _ = (enabled, world);
        None
    }

    /// As [`Policy::stays`] in a run of a search, if it takes no call to say yes. A no may be wrong.
    #[inline]
    fn stays_in_search(&mut self, task: TaskId, world: &World) -> bool {
        let _ = (task, world);
        false
    }

    /// As [`Policy::pick`] in a run of a search, where `current` ran last and cannot go on or has announced a plain operation, if it takes no
    /// call to say. No policy decides by this: [`Policy::goes_on_in_search`] is called if it is done. Nobody may be wrong.
    #[inline]
    fn next_in_search(&self, enabled: u64, current: TaskId, world: &World) -> Option<TaskId> {
        let _ = (enabled, current, world);
        None
    }

    /// What [`Policy::next_in_search`] has said is done.
    #[inline]
    fn goes_on_in_search(&mut self) {}

    /// Whether this policy looks at nothing but who can run, from here on: then [`Policy::draw`] is as
    /// good as [`Policy::pick`].
    #[inline]
    fn is_blind(&self) -> bool {
        false
    }

    /// Picks one of those that can run, one bit each. Asked of blind policies only.
    #[inline]
    fn draw(&mut self, enabled: u64) -> TaskId {
        TaskId(enabled.trailing_zeros())
    }

    /// The same where there are several, if that takes no time; otherwise nothing has happened. `again`: they will most likely be
    /// those of the next draw, too.
    #[inline]
    fn draw_at_once(&mut self, enabled: u64, again: bool) -> Option<TaskId> {
        let _ = again;
        Some(self.draw(enabled))
    }

    /// The same if these are those of an earlier draw.
    #[inline]
    fn draw_again(&mut self, enabled: u64) -> Option<TaskId> {
        let _ = enabled;
        None
    }

    /// Chooses a value below `choice.arity`, or says how the run diverged.
    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>>;

    /// The run has ended by itself after `step` events: says so if it should have gone on.
    fn finished(&mut self, step: u64) -> Result<(), Box<Divergence>> {
        let _ = step;
        Ok(())
    }

    /// Forgets the run, and begins another that differs in its seed only.
    fn restart(&mut self, seed: u64);

    /// Goes on, at the beginning of a run, as if so many points of a search's steps had passed. There was nothing to
    /// choose at them.
    fn skip(&mut self, points: usize) {
        let _ = points;
        unreachable!("raddle bug: points of a run are left out that is no search's");
    }

    /// Whether [`Policy::reseed`] may be asked now. Never where a pick hung on the seed: there must have been main alone
    /// to pick so far, and nothing to choose.
    fn can_reseed(&self) -> bool {
        false
    }

    /// Becomes, in the midst of the run, what it would be had the run begun with this seed and all else been the same:
    /// runs that differ in their seeds only have their beginnings in common, and need not all begin anew.
    fn reseed(&mut self, seed: u64) {
        let _ = seed;
        unreachable!("raddle bug: a policy that cannot be given another seed is given one");
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        (**self).pick(view)
    }
    fn stays(&mut self, task: TaskId, others: &TaskSet, world: &World) -> bool {
        (**self).stays(task, others, world)
    }
    fn spell(&self, task: TaskId, others: u64, tasks: usize) -> u64 {
        (**self).spell(task, others, tasks)
    }
    fn spent(&mut self, points: u64, alone: bool) {
        (**self).spent(points, alone);
    }
    #[inline]
    fn pick_at_once(&mut self, enabled: u64, world: &World) -> Option<(TaskId, u64)> {
        (**self).pick_at_once(enabled, world)
    }
    #[inline(always)]
    fn stays_in_search(&mut self, task: TaskId, world: &World) -> bool {
        (**self).stays_in_search(task, world)
    }
    #[inline(always)]
    fn next_in_search(&self, enabled: u64, current: TaskId, world: &World) -> Option<TaskId> {
        (**self).next_in_search(enabled, current, world)
    }
    #[inline(always)]
    fn goes_on_in_search(&mut self) {
        (**self).goes_on_in_search();
    }
    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        (**self).choose(choice)
    }
    fn is_blind(&self) -> bool {
        (**self).is_blind()
    }
    fn draw(&mut self, enabled: u64) -> TaskId {
        (**self).draw(enabled)
    }
    fn draw_at_once(&mut self, enabled: u64, again: bool) -> Option<TaskId> {
        (**self).draw_at_once(enabled, again)
    }
    fn draw_again(&mut self, enabled: u64) -> Option<TaskId> {
        (**self).draw_again(enabled)
    }
    fn finished(&mut self, step: u64) -> Result<(), Box<Divergence>> {
        (**self).finished(step)
    }
    fn restart(&mut self, seed: u64) {
        (**self).restart(seed);
    }
    fn skip(&mut self, points: usize) {
        (**self).skip(points);
    }
    fn can_reseed(&self) -> bool {
        (**self).can_reseed()
    }
    fn reseed(&mut self, seed: u64) {
        (**self).reseed(seed);
    }
}
