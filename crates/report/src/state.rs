//! Who holds what and who waits, folded over events.
//!
//! A trace has no initial state (the permits of a semaphore, the capacity of a channel), so the
//! model's world cannot be rebuilt from it; what people ask for can.

use raddle_model::{Event, Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// Something a task holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Who.
    pub task: TaskId,
    /// What.
    pub object: ObjectId,
    /// Whether others may hold it too.
    pub shared: bool,
    /// Where it was taken.
    pub site: SiteId,
    /// The event that took it.
    pub step: usize,
}

/// The state after some events.
#[derive(Clone, Default, Debug)]
pub struct State {
    step: usize,
    held: Vec<Held>,
    exited: BTreeSet<ObjectId>,
    tokens: BTreeSet<ObjectId>,
    woken: BTreeSet<TaskId>,
    waiting: BTreeMap<TaskId, ObjectId>,
    messages: BTreeMap<ObjectId, i64>,
    rounds: BTreeMap<ObjectId, u32>,
    tickets: BTreeMap<TaskId, u32>,
}

impl State {
    /// The state after all of `events`.
    pub fn after(events: &[Event]) -> State {
        let mut state = State::default();
        events.iter().for_each(|event| state.event(event));
        state
    }

    /// Everything that is held, in the order in which it was taken.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// Whether a task's wait at a condition variable has been ended by a notification.
    pub fn is_woken(&self, task: TaskId) -> bool {
        self.woken.contains(&task)
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event) {
        let Event { task, op, outcome, .. } = *event;
        let missed = matches!(outcome, Outcome::Failed | Outcome::TimedOut | Outcome::Misuse);
        match op.kind {
            Kind::Wake => self.wake(task, &op),
            _ if missed => {}
            Kind::Lock | Kind::WriteLock => self.take(task, op.object, false, op.site),
            Kind::ReadLock => self.take(task, op.object, true, op.site),
            Kind::OnceEnter if outcome == Outcome::Value(0) => {
                self.take(task, op.object, false, op.site);
            }
            Kind::Unlock | Kind::ReadUnlock | Kind::WriteUnlock | Kind::OnceDone => {
                self.give(task, op.object);
            }
            Kind::Downgrade => {
                self.give(task, op.object);
                self.take(task, op.object, true, op.site);
            }
            Kind::Wait => {
                while self.give(task, op.second) {}
                self.woken.remove(&task);
                self.waiting.insert(task, op.object);
            }
            Kind::NotifyOne => {
                if let Outcome::Woke(woken) = outcome {
                    self.woken.insert(woken);
                }
            }
            Kind::NotifyAll => {
                let here = self.waiting.iter().filter(|(_, at)| **at == op.object);
                self.woken.extend(here.map(|(task, _)| *task));
            }
            Kind::Exit => {
                self.exited.insert(op.object);
            }
            Kind::Unpark => {
                self.tokens.insert(op.object);
            }
            Kind::Park => {
                self.tokens.remove(&op.object);
            }
            Kind::Send if outcome == Outcome::Done => *self.messages.entry(op.object).or_default() += 1,
            Kind::Recv if outcome == Outcome::Done => *self.messages.entry(op.object).or_default() -= 1,
            Kind::Arrive => self.arrive(task, op.object, outcome),
            _ => {}
        }
        self.step += 1;
    }

    fn take(&mut self, task: TaskId, object: ObjectId, shared: bool, site: SiteId) {
        let step = self.step;
        self.held.push(Held { task, object, shared, site, step });
    }

    /// Gives the latest hold of an object back; any task's, if `task` has none, as for read guards
    /// that were handed on.
    fn give(&mut self, task: TaskId, object: ObjectId) -> bool {
        let own = |held: &Held| held.task == task && held.object == object;
        let at = self.held.iter().rposition(own);
        let shared = |held: &Held| held.shared && held.object == object;
        match at.or_else(|| self.held.iter().rposition(shared)) {
            Some(at) => {
                self.held.remove(at);
                true
            }
            None => false,
        }
    }

    /// However a wait ends, the mutex is taken again.
    fn wake(&mut self, task: TaskId, op: &Op) {
        self.waiting.remove(&task);
        self.woken.remove(&task);
        self.take(task, op.second, false, op.site);
    }

    fn arrive(&mut self, task: TaskId, barrier: ObjectId, outcome: Outcome) {
        let round = self.rounds.entry(barrier).or_default();
        self.tickets.insert(task, *round);
        if outcome == Outcome::Value(1) {
            *round += 1;
        }
    }

    /// Who holds an object so that `task` cannot have it.
    pub fn holders(&self, object: ObjectId) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(move |held| held.object == object)
    }

    /// Whether `task` would have to wait for `op` now, as far as events tell: a semaphore counts
    /// as exhausted and a bounded channel as never full.
    pub fn blocks(&self, task: TaskId, op: &Op) -> bool {
        if op.mode != Mode::Block {
            return false;
        }
        let mut holders = self.holders(op.object);
        match op.kind {
            Kind::Lock | Kind::WriteLock | Kind::OnceEnter => holders.next().is_some(),
            Kind::ReadLock => holders.any(|held| !held.shared),
            Kind::Wake => !self.is_woken(task) || self.holders(op.second).next().is_some(),
            Kind::Join => !self.exited.contains(&op.object),
            Kind::Park => !self.tokens.contains(&op.object),
            Kind::Recv => self.messages.get(&op.object).is_none_or(|&count| count <= 0),
            Kind::Handover => self.messages.get(&op.object).is_some_and(|&count| count > 0),
            Kind::Leave => self.rounds.get(&op.object) == self.tickets.get(&task),
            Kind::Acquire => true,
            _ => false,
        }
    }
}
