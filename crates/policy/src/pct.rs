//! `pct`: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS
//! 2010). Tasks have random distinct priorities and the highest that can run does; at `depth - 1`
//! random steps the task that has just run falls below all that have not fallen. A bug of depth d in
//! a run of at most k steps of n tasks is found with probability at least 1/(n·k^(d−1)).
//!
//! Steps are scheduling points. Deviations:
//! - A task that is made later takes a random place among those that have not fallen, which gives
//!   the same distribution as drawing all places at the start.
//! - Fairness, which the paper leaves to the program: a task that arrives at a yield falls to the
//!   bottom, one that arrives at a sleep takes a new random place among all, and one that has run
//!   longer without a break than any whole run was seen to take (so that the bound above still
//!   holds for programs that end) falls to the bottom.
//!
//! A step costs the time to find the first in order that can run: the shorter of the enabled tasks
//! and the order is looked through, which is short unless many tasks of high priority wait while
//! many of low priority can run.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::{Choice, Dice, Divergence, Kind, Pick, Policy, Rng, TaskId, View};

/// Up to this many tasks that can run are compared with each other; more are found along the order.
const FEW: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Place {
    task: TaskId,
    // Only tasks that have fallen have one: their order among each other.
    level: i64,
}

/// Runs the task of the highest priority.
#[derive(Clone, Debug)]
pub struct Pct<D = Rng> {
    dice: D,
    depth: u32,
    length: u32,
    begun: bool,
    // Highest first. invariant: the first `standing` tasks have not fallen; levels never rise after them.
    order: Vec<Place>,
    standing: usize,
    // invariant: order[position[t]].task == t
    position: Vec<u32>,
    // The number of events of a task when it last gave way, plus one.
    gave_way: Vec<u32>,
    // Step and level, the next one last.
    changes: Vec<(u32, i64)>,
    step: u32,
    bottom: i64,
    last: Option<TaskId>,
    in_a_row: u64,
}

impl<D: Dice> Pct<D> {
    /// Draws from `dice`; `length` is the estimated number of scheduling points of a run.
    pub fn new(dice: D, depth: u32, length: u64) -> Pct<D> {
        Pct {
            dice,
            depth,
            length: u32::try_from(length).unwrap_or(u32::MAX).max(1),
            begun: false,
            order: Vec::new(),
            standing: 0,
            position: Vec::new(),
            gave_way: Vec::new(),
            changes: Vec::new(),
            step: 0,
            bottom: 0,
            last: None,
            in_a_row: 0,
        }
    }

    fn begin(&mut self) {
        self.begun = true;
        for level in 1..i64::from(self.depth.max(1)) {
            let step = self.dice.below(self.length) + 1;
            self.changes.push((step, level));
        }
        self.changes.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Puts `place` at `at` and brings the positions up to date.
    fn insert(&mut self, at: usize, place: Place) {
        self.order.insert(at, place);
        self.renumber(at, self.order.len());
    }

    fn remove(&mut self, task: TaskId) {
        let at = self.position[task.index()] as usize;
        self.order.remove(at);
        if at < self.standing {
            self.standing -= 1;
        }
        self.renumber(at, self.order.len());
    }

    fn renumber(&mut self, from: usize, to: usize) {
        for (i, place) in self.order[from..to].iter().enumerate() {
            self.position[place.task.index()] = (from + i) as u32;
        }
    }

    fn welcome(&mut self, tasks: usize) {
        while self.position.len() < tasks {
            let task = TaskId(self.position.len() as u32);
            self.position.push(0);
            self.gave_way.push(0);
            let at = self.draw(self.standing) as usize;
            self.standing += 1;
            self.insert(at, Place { task, level: 0 });
        }
    }

    /// A place from 0 to `last`; nothing is drawn if there is but one.
    fn draw(&mut self, last: usize) -> u32 {
        if last == 0 { 0 } else { self.dice.below(last as u32 + 1) }
    }

    fn fall(&mut self, task: TaskId, level: i64) {
        self.remove(task);
        let fallen = &self.order[self.standing..];
        let at = self.standing + fallen.partition_point(|place| place.level > level);
        self.insert(at, Place { task, level });
    }

    fn fall_to_the_bottom(&mut self, task: TaskId) {
        self.bottom -= 1;
        self.fall(task, self.bottom);
    }

    fn anywhere(&mut self, task: TaskId) {
        self.remove(task);
        let at = self.draw(self.order.len()) as usize;
        let level = if at <= self.standing {
            self.standing += 1;
            0
        } else {
            self.order[at - 1].level
        };
        self.insert(at, Place { task, level });
    }

    fn highest(&self, view: &View<'_>) -> TaskId {
        if let Some(task) = view.enabled.single() {
            return task;
        }
        if view.enabled.len() <= FEW {
            let tasks = view.enabled.iter();
            return tasks.min_by_key(|task| self.position[task.index()]).expect("raddle bug: nobody to pick");
        }
        let mut order = self.order.iter().map(|place| place.task);
        order.find(|&task| view.enabled.contains(task)).expect("raddle bug: a task without a place")
    }

    /// Whether a task has newly arrived where others should go first.
    fn gives_way(&mut self, view: &View<'_>, task: TaskId) -> bool {
        let kind = view.op(task).kind;
        let now = view.world.task(task).events + 1;
        if !matches!(kind, Kind::Yield | Kind::Sleep) || self.gave_way[task.index()] == now {
            return false;
        }
        self.gave_way[task.index()] = now;
        if kind == Kind::Yield {
            self.fall_to_the_bottom(task);
        } else {
            self.anywhere(task);
        }
        true
    }

    /// The last step is over: falls if it was a change point, or if its task does not stop.
    fn after_step(&mut self) {
        let Some(last) = self.last else { return };
        while let Some(&(step, level)) = self.changes.last()
            && step <= self.step
        {
            self.changes.pop();
            self.fall(last, level);
        }
        if self.in_a_row > 2 * u64::from(self.length) + 1_000 {
            self.in_a_row = 0;
            self.fall_to_the_bottom(last);
        }
    }
}

impl<D: Dice> Policy for Pct<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if !self.begun {
            self.begin();
        }
        self.welcome(view.world.tasks().len());
        self.after_step();
        let mut task = self.highest(view);
        while view.enabled.single().is_none() && self.gives_way(view, task) {
            task = self.highest(view);
        }
        self.step += 1;
        self.in_a_row =
            if self.last == Some(task) && view.enabled.single().is_none() { self.in_a_row + 1 } else { 0 };
        self.last = Some(task);
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.begun = false;
        self.order.clear();
        self.standing = 0;
        self.position.clear();
        self.gave_way.clear();
        self.changes.clear();
        self.step = 0;
        self.bottom = 0;
        self.last = None;
        self.in_a_row = 0;
    }
}
