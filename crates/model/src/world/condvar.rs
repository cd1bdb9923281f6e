//! Condition variables where there are few tasks and nothing is unusual: the same rules as in `transitions`, written down
//! once more so that a step is one visit to its task and one to each of its objects.

use super::{Life, World};
use crate::ids::TaskId;
use crate::objects::State;
use crate::op::{Kind, Mode, Op};
use crate::trace::Outcome;

impl World {
    /// Whether an operation is one for [`World::announce_at_condvar`].
    #[inline]
    pub fn is_at_condvar(op: &Op) -> bool {
        matches!(op.kind, Kind::Wait | Kind::Wake | Kind::NotifyOne | Kind::NotifyAll)
            && op.mode == Mode::Block
    }

    /// As [`World::announce`], for an operation on a condition variable, while there are no more tasks than a word has
    /// bits.
    #[inline]
    pub fn announce_at_condvar(&mut self, task: TaskId, op: Op) -> bool {
        let entry = &mut self.tasks[task.index()];
        entry.is_about_to(op);
        let mut can = true;
        if op.kind == Kind::Wake {
            // One that nobody has woken waits at the condition variable only, unless it can leave alone.
            can = entry.woken || entry.spurious_left > 0;
            if can {
                let mutex = &mut self.objects[op.second.index()];
                mutex.waiting.insert_to::<true>(task);
                can = matches!(&mutex.state, State::Mutex(mutex) if mutex.available(task));
            }
        }
        if can {
            self.enabled.insert_to::<true>(task);
        }
        can
    }

    /// As [`World::step`], for what was announced like that. None, and nothing has happened, if it is not as simple.
    #[inline]
    pub fn step_at_condvar(&mut self, task: TaskId) -> Option<Outcome> {
        let entry = &mut self.tasks[task.index()];
        debug_assert!(entry.life == Life::Pending, "raddle bug: a step without an announcement");
        let Op { kind, object, second, .. } = entry.op;
        let [condvar, mutex] = match second.is_some() {
            true => self.objects.get_disjoint_mut([object.index(), second.index()]).ok()?.map(Some),
            false => [self.objects.get_mut(object.index()), None],
        };
        let condvar = condvar?;
        let State::Condvar(waiting) = &mut condvar.state else { return None };
        let outcome = match (kind, mutex) {
            (Kind::Wait, Some(mutex)) => {
                let State::Mutex(lock) = &mut mutex.state else { return None };
                if lock.owner != Some(task) {
                    return None;
                }
                // A recursive mutex is given back whole, and taken again as often when the wait ends.
                entry.ticket = core::mem::take(&mut lock.depth);
                lock.owner = None;
                entry.woken = false;
                waiting.waiters.push(task);
                mutex.version = mutex.version.wrapping_add(1);
                self.enabled.add::<true>(&mutex.waiting);
                Outcome::Done
            }
            (Kind::Wake, Some(mutex)) if entry.woken => {
                let State::Mutex(lock) = &mut mutex.state else { return None };
                lock.take(task, entry.ticket);
                mutex.version = mutex.version.wrapping_add(1);
                mutex.waiting.remove_from::<true>(task);
                self.enabled.take_out::<true>(&mutex.waiting);
                Outcome::Done
            }
            (Kind::NotifyOne | Kind::NotifyAll, None) if waiting.waiters.is_empty() => match kind {
                Kind::NotifyOne => Outcome::Done,
                _ => Outcome::Value(0),
            },
            (Kind::NotifyOne, None) if waiting.waiters.len() == 1 => {
                let woken = waiting.waiters.remove(0);
                self.rouse(woken);
                Outcome::Woke(woken)
            }
            _ => return None,
        };
        let condvar = &mut self.objects[object.index()];
        condvar.version = condvar.version.wrapping_add(1);
        self.enabled.remove_from::<true>(task);
        let entry = &mut self.tasks[task.index()];
        entry.life = Life::Running;
        entry.events += 1;
        entry.outcome = outcome;
        entry.looks = 0;
        Some(outcome)
    }
}
