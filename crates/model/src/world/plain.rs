//! Plain operations ([`Plain`]) in the world: the same rules as for all others, written down once more
//! so that a step is one visit to its task and one to its object.

use super::{Life, Task, World, wrong};
use crate::ids::{ObjectId, SiteId, TaskId};
use crate::objects::{Object, State};
use crate::op::{Kind, Mode, Op, Plain, Span, Touch};
use crate::taskset::TaskSet;
use crate::trace::{Event, Outcome, PlainEvent};

/// What life and bareness of a task are, as one number, that [`Task::is_ready`].
const READY: u16 = Life::Running as u16 | 1 << 8;

impl World {
    /// As [`World::announce`]. `LOW`: there are no more tasks than a [`TaskSet`]'s word has bits.
    #[inline(always)]
    pub fn announce_plain<const LOW: bool>(&mut self, task: TaskId, plain: Plain) -> bool {
        let enabled = self.tell::<LOW>(task, plain);
        // A running task is in no set, so there is nothing to take out.
        if enabled {
            self.enabled.insert_to::<LOW>(task);
        }
        enabled
    }

    /// The same, but for the set of those who can run.
    #[inline(always)]
    pub(super) fn tell<const LOW: bool>(&mut self, task: TaskId, plain: Plain) -> bool {
        // Who only writes can. What cannot be is left to whoever finds out why it did not go on: to complain here takes a
        // place on the stack.
        let calm = LOW && plain.touch == Touch::Write;
        let entry = match self.tasks.get_mut(task.index()) {
            None if calm => return false,
            entry => entry.expect("raddle bug: nobody announces"),
        };
        if !entry.is_ready() {
            if calm && entry.life != Life::Running {
                return false;
            }
            entry.strip();
        }
        if plain.touch == Touch::Read {
            entry.keep_changed_at();
        } else {
            entry.told = true;
        }
        entry.op.kind = plain.kind;
        entry.op.order = plain.order;
        entry.op.object = plain.object;
        entry.op.site = plain.site;
        entry.life = Life::Pending;
        entry.touch = Some(plain.touch);
        entry.bare = true;
        match plain.touch {
            Touch::Take => {
                let object = &mut self.objects[plain.object.index()];
                let State::Mutex(mutex) = &object.state else { wrong(plain.kind, &object.state) };
                if mutex.owner != Some(task) || !mutex.recursive {
                    object.waiting.insert_to::<LOW>(task);
                }
                mutex.available(task)
            }
            Touch::Join => {
                let object = &mut self.objects[plain.object.index()];
                object.waiting.insert_to::<LOW>(task);
                has_exited(object)
            }
            _ => true,
        }
    }

    /// Whether a running task could do a plain operation at once.
    #[inline(always)]
    pub fn can(&self, task: TaskId, plain: Plain) -> bool {
        match plain.touch {
            Touch::Take => {
                matches!(&self.object(plain.object).state, State::Mutex(mutex) if mutex.available(task))
            }
            Touch::Give => {
                matches!(&self.object(plain.object).state, State::Mutex(mutex) if mutex.owner == Some(task))
            }
            Touch::Join => has_exited(self.object(plain.object)),
            _ => true,
        }
    }

    /// The task does what it was about to do, if that is plain and succeeds; otherwise nothing has
    /// happened.
    #[inline(always)]
    pub fn step_plain<const LOW: bool>(&mut self, task: TaskId) -> Option<PlainEvent> {
        let touch = self.tasks[task.index()].touch?;
        self.step_plain_as::<LOW>(task, touch)
    }

    /// The same for a task that is about to do this to an object.
    #[inline(always)]
    pub fn step_plain_as<const LOW: bool>(&mut self, task: TaskId, touch: Touch) -> Option<PlainEvent> {
        let entry = &mut self.tasks[task.index()];
        debug_assert!(entry.touch == Some(touch), "raddle bug: a step that was not announced");
        let Op { kind, order, object, site, .. } = entry.op;
        happen::<LOW>(&mut self.objects[object.index()], &mut self.enabled, task, touch)?;
        self.enabled.remove_from::<LOW>(task);
        entry.life = Life::Running;
        entry.touch = None;
        let event = entry.plain_event::<true>(task, Plain { kind, touch, order, object, site });
        if touch == Touch::Exit {
            self.leave::<LOW>(task);
        }
        Some(event)
    }

    /// A running task does a plain operation without announcing it, if it succeeds. [`Task::op`] does
    /// not tell of it.
    #[inline(always)]
    pub fn perform_plain<const LOW: bool>(&mut self, task: TaskId, plain: Plain) -> Option<PlainEvent> {
        let entry = &mut self.tasks[task.index()];
        assert!(entry.life == Life::Running, "raddle bug: a task that is about to do one thing does another");
        happen::<LOW>(&mut self.objects[plain.object.index()], &mut self.enabled, task, plain.touch)?;
        let event = entry.plain_event::<false>(task, plain);
        if plain.touch == Touch::Exit {
            self.leave::<LOW>(task);
        }
        Some(event)
    }

    /// A running task makes another without announcing it. As above, [`Task::op`] does not tell of it.
    #[inline]
    pub fn perform_spawn(&mut self, parent: TaskId, site: SiteId) -> Event {
        let child = self.perform_spawn_only(parent, site);
        self.spawned(parent, child, site)
    }

    /// The same without its event. Which task was made.
    #[inline]
    pub fn perform_spawn_only(&mut self, parent: TaskId, site: SiteId) -> TaskId {
        let child = TaskId(self.tasks.len() as u32);
        let (name, index) = self.perform_at_once(parent, Outcome::Spawned(child)).next_child();
        self.push_task(Some(parent), name, index, site)
    }

    /// The event of a task that has just made another.
    pub fn spawned(&self, task: TaskId, child: TaskId, site: SiteId) -> Event {
        let op = Op::new(Kind::Spawn, ObjectId::NONE, site);
        Event { task, index: self.task(task).events - 1, op, outcome: Outcome::Spawned(child) }
    }

    /// A running task ends the process without announcing it. As above, [`Task::op`] does not tell of it.
    #[inline]
    pub fn perform_end(&mut self, task: TaskId) {
        self.perform_at_once(task, Outcome::Done);
    }

    /// The event of a task that has just done so.
    pub fn ended(&self, task: TaskId, site: SiteId) -> Event {
        let op = Op::new(Kind::End, ObjectId::NONE, site);
        Event { task, index: self.task(task).events - 1, op, outcome: Outcome::Done }
    }

    #[inline]
    fn perform_at_once(&mut self, task: TaskId, outcome: Outcome) -> &mut Task {
        let entry = &mut self.tasks[task.index()];
        assert!(entry.life == Life::Running, "raddle bug: a task that is about to do one thing does another");
        entry.events += 1;
        entry.outcome = outcome;
        entry.bare = false;
        entry.looks = 0;
        entry
    }

    /// Whether whoever owns what a task waits for, which cannot do a plain operation on it, can go on itself. Then
    /// nobody waits in a circle.
    #[inline]
    pub fn is_owned_by_one_that_can(&self, object: ObjectId) -> bool {
        match &self.object(object).state {
            State::Mutex(mutex) => mutex.owner.is_some_and(|owner| self.enabled.contains(owner)),
            State::Task { task, .. } => self.enabled.contains(*task),
            _ => false,
        }
    }

    #[inline]
    fn leave<const LOW: bool>(&mut self, task: TaskId) {
        self.tasks[task.index()].life = Life::Exited;
        self.live.remove_from::<LOW>(task);
    }
}

impl Task {
    /// Whether it runs, and has nothing to leave behind before it announces a plain operation.
    // Both at one look.
    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        u16::from(self.life as u8) | u16::from(self.bare) << 8 == READY
    }

    /// What is left of the last operation and no plain one has.
    // No call: it would keep the rest from having all registers.
    #[inline(always)]
    fn strip(&mut self) {
        assert!(self.life == Life::Running, "raddle bug: a task announces twice");
        self.op.mode = Mode::Block;
        self.op.second = ObjectId::NONE;
        self.op.span = Span::WHOLE;
        self.op.arg = 0;
        self.outcome = Outcome::Done;
    }

    /// What is to be in `op` is not what has last changed something.
    #[inline(always)]
    pub(super) fn keep_changed_at(&mut self) {
        self.changed_at = self.changed_at();
        self.told = false;
    }

    /// Where its last plain operation stands that may have changed something.
    #[inline]
    pub fn changed_at(&self) -> SiteId {
        if self.told { self.op.site } else { self.changed_at }
    }

    /// One more event of this task, a plain one. `TOLD`: that which it has announced.
    // What is seldom anything else is looked at, and not written again.
    #[inline(always)]
    pub(super) fn plain_event<const TOLD: bool>(&mut self, task: TaskId, plain: Plain) -> PlainEvent {
        let index = self.events;
        self.events = index + 1;
        if !TOLD && !self.bare {
            self.outcome = Outcome::Done;
        }
        if plain.touch != Touch::Read {
            if !TOLD {
                self.changed_at = plain.site;
                self.told = false;
            }
            // Both at one look.
            if u64::from(self.looks) | u64::from(self.looks_before) << 32 != 0 {
                self.looks_before = self.looks;
                self.looks = 0;
            }
        }
        PlainEvent { task, index, plain }
    }
}

#[inline]
fn has_exited(object: &Object) -> bool {
    matches!(object.state, State::Task { exited: true, .. })
}

/// Whether an object is one to which this can be done.
#[inline(always)]
pub(super) fn fits(object: &Object, touch: Touch) -> bool {
    match touch {
        Touch::Take | Touch::Give => matches!(object.state, State::Mutex(_)),
        Touch::Join | Touch::Exit => matches!(object.state, State::Task { .. }),
        Touch::Read | Touch::Write => true,
    }
}

/// A plain operation happens to its object. None, and nothing has happened, if it does not succeed.
#[inline(always)]
pub(super) fn happen<const LOW: bool>(
    object: &mut Object,
    enabled: &mut TaskSet,
    task: TaskId,
    touch: Touch,
) -> Option<()> {
    if touch >= Touch::Take && touch < Touch::Exit {
        let State::Mutex(mutex) = &mut object.state else { wrong(Kind::Lock, &object.state) };
        if touch == Touch::Take {
            if !mutex.available(task) {
                return None;
            }
            mutex.take(task, 1);
            object.waiting.remove_from::<LOW>(task);
            enabled.take_out::<LOW>(&object.waiting);
        } else {
            if !mutex.give(task) {
                return None;
            }
            if mutex.owner.is_none() {
                enabled.add::<LOW>(&object.waiting);
            }
        }
    } else if matches!(touch, Touch::Join | Touch::Exit) {
        end::<LOW>(object, enabled, task, touch)?;
    }
    object.version = object.version.wrapping_add(u32::from(!touch.reads()));
    Some(())
}

/// The end of a task, and waiting for it.
#[inline]
fn end<const LOW: bool>(
    object: &mut Object,
    enabled: &mut TaskSet,
    task: TaskId,
    touch: Touch,
) -> Option<()> {
    let State::Task { exited, .. } = &mut object.state else { wrong(Kind::Join, &object.state) };
    if touch == Touch::Join {
        if !*exited {
            return None;
        }
        object.waiting.remove_from::<LOW>(task);
        return Some(());
    }
    *exited = true;
    enabled.add::<LOW>(&object.waiting);
    Some(())
}
