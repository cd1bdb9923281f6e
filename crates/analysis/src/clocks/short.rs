//! The short way: atomics and mutexes of few tasks, where the object has been used before. The clocks end up as by the
//! general way, which a test compares; but an event is one visit to the task, one to the object, and one to their rows.

use super::{Clock, Clocks, Edges, Release};
use crate::clocks::Epoch;
use raddle_model::objects::State;
use raddle_model::{Kind, Plain, PlainEvent, TaskId, Touch, World};

impl Clocks {
    /// Takes an event, if it can be done this way, and says when that was by the task's clock. Otherwise nothing has
    /// happened.
    #[inline(always)]
    pub fn at_once(&mut self, event: PlainEvent, world: &World) -> Option<i32> {
        let PlainEvent { task, plain, .. } = event;
        if !self.bank.is_narrow() || self.edges == Edges::Certain {
            return None;
        }
        // What kind of operation it may be is known where this is compiled.
        if matches!(plain.touch, Touch::Join | Touch::Exit) {
            return Some(self.ended(task, plain, world));
        }
        let found = (self.tasks.get_mut(task.index()), self.objects.get_mut(plain.object.index()));
        let (Some(clock), Some(carried)) = found else { return None };
        let first = &mut carried.first;
        // Nobody has released anything there yet.
        if first.by.time == 0 {
            return None;
        }
        let (own, time) = (clock.row, clock.time);
        let Plain { kind, touch, order, .. } = plain;
        match touch {
            Touch::Write if kind == Kind::Rmw && order.acquires() && order.releases() => {
                self.bank.exchange(own, first.row, task);
            }
            Touch::Write if kind == Kind::Store && order.releases() => {
                self.bank.leave(own, first.row, task);
            }
            Touch::Give if kind == Kind::Unlock => self.bank.leave(own, first.row, task),
            Touch::Read if kind == Kind::Load && order.acquires() => {
                self.bank.learn(own, first.row);
                return Some(time);
            }
            Touch::Take if kind == Kind::Lock => {
                self.bank.learn(own, first.row);
                return Some(time);
            }
            _ => return None,
        }
        first.by = Epoch { task, time };
        clock.time = time + 1;
        clock.last = Release { kind, object: plain.object, site: plain.site };
        Some(time)
    }

    /// A task ends, or has been waited for. What it has left is its own clock, which no longer changes.
    #[inline(never)]
    fn ended(&mut self, task: TaskId, plain: Plain, world: &World) -> i32 {
        let Clock { row, time, .. } = self.tasks[task.index()];
        if plain.kind == Kind::Join {
            let State::Task { task: child, .. } = world.object(plain.object).state else {
                panic!("raddle bug: a join of another object")
            };
            self.bank.learn(row, self.tasks[child.index()].row);
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::{Analysis, Dice, ObjectId, Order, Rng, SiteId};

    const KINDS: [(Kind, Touch); 7] = [
        (Kind::Load, Touch::Read),
        (Kind::Store, Touch::Write),
        (Kind::Rmw, Touch::Write),
        (Kind::Lock, Touch::Take),
        (Kind::Unlock, Touch::Give),
        (Kind::Join, Touch::Join),
        (Kind::Exit, Touch::Exit),
    ];
    const ORDERS: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    /// Random operations, one way and the other; sometimes there are more tasks than a narrow row has columns.
    #[test]
    fn the_short_way_is_the_general_way() {
        let mut rng = Rng::new(3);
        let mut short = 0;
        for _ in 0..300 {
            let tasks = 1 + rng.below(10);
            let mut world = World::default();
            world.begin(0);
            let mut clocks = [(); 2].map(|()| Clocks::default());
            clocks.iter_mut().for_each(Analysis::begin);
            for _ in 0..tasks {
                let event = world.perform_spawn(TaskId::MAIN, SiteId(7));
                clocks.iter_mut().for_each(|clocks| clocks.event(&event, &world));
            }
            for index in 0..60 {
                let task = TaskId(rng.below(tasks + 1));
                let (kind, touch) = KINDS[rng.below(7) as usize];
                let order = ORDERS[rng.below(5) as usize];
                let object = match kind {
                    Kind::Join | Kind::Exit => world.task(TaskId(rng.below(tasks + 1))).object,
                    _ => ObjectId(50 + rng.below(3)),
                };
                let plain = Plain { kind, touch, order, object, site: SiteId(100 + index) };
                let event = PlainEvent { task, index, plain };
                let [one, other] = &mut clocks;
                let at_once = one.at_once(event, &world).is_some();
                short += u32::from(at_once);
                if !at_once {
                    one.event(&event.event(), &world);
                }
                other.event(&event.event(), &world);
                for task in (0..=tasks).map(TaskId) {
                    assert_eq!(one.heard(task), other.heard(task), "{event:?}");
                    assert_eq!(one.now(task), other.now(task), "{event:?}");
                    let begin = Epoch { task, time: 1 };
                    assert_eq!(one.released_since(begin), other.released_since(begin), "{event:?}");
                }
            }
        }
        assert!((2_000..15_000).contains(&short), "{short} of 18000");
    }
}
