//! `pct`: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS
//! 2010). Tasks have random distinct priorities and the highest that can run does; at `depth - 1`
//! random steps the task that has just run falls below all that have not fallen. A bug of depth d in
//! a run of at most k steps of n tasks is found with probability at least 1/(n·k^(d−1)).
//!
//! Steps are scheduling points. Deviations:
//! - A task that is made later takes a random place among those that have not fallen, which gives
//!   the same distribution as drawing all places at the start.
//! - Fairness, which the paper leaves to the program: a task that arrives at a yield or
//!   a sleep takes a new random place among all (at the bottom it could never go on before the
//!   others, which is a bug that some programs have), and one that has run longer without a break than
//!   any whole run was seen to take (so that the bound above still holds for programs that end) falls
//!   to the bottom.
//!
//! A step at which the same task goes on costs the same however many tasks there are. For another the
//! order is looked through from above, past those that cannot run; a change of the order takes time in
//! proportion to the number of tasks.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::{Choice, Dice, Divergence, Kind, Pick, Policy, Rng, TaskId, TaskSet, View, World};

#[derive(Clone, Copy, Debug)]
struct Place {
    task: TaskId,
    // Only tasks that have fallen have one: their order among each other.
    level: i64,
}

/// A step, and how far whoever has just run falls after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Change(u64);

impl Change {
    fn new(step: u32, level: u32) -> Change {
        Change(u64::from(step) << 32 | u64::from(level))
    }

    fn step(self) -> u64 {
        self.0 >> 32
    }

    fn level(self) -> i64 {
        (self.0 & u64::from(u32::MAX)).cast_signed()
    }
}

/// More of them are sorted in the usual way.
const FEW_CHANGES: usize = 4;

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
    // Those before `last` in the order, if that is known: nothing is, once the order or `last` has changed.
    above: TaskSet,
    knows_above: bool,
    // How many tasks have a place.
    tasks: usize,
    // The number of events of a task when it last gave way, plus one.
    gave_way: Vec<u32>,
    // The next one last.
    changes: Vec<Change>,
    step: u64,
    bottom: i64,
    last: Option<TaskId>,
    // The step before the first of those that `last` has had in a row while others could run.
    row_begin: u64,
    // Nothing is due before this step: neither a change point nor the end of a row too long.
    due: u64,
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
            above: TaskSet::EMPTY,
            knows_above: false,
            tasks: 0,
            gave_way: Vec::new(),
            changes: Vec::new(),
            step: 0,
            bottom: 0,
            last: None,
            row_begin: 0,
            due: 0,
        }
    }

    fn begin(&mut self) {
        self.begun = true;
        for level in 1..self.depth.max(1) {
            let step = self.dice.below(self.length) + 1;
            self.changes.push(Change::new(step, level));
        }
        self.sort_changes();
        self.due = self.next_due();
    }

    /// The next one comes last.
    #[inline]
    fn sort_changes(&mut self) {
        let changes = &mut self.changes[..];
        if changes.len() > FEW_CHANGES {
            return changes.sort_unstable_by(|a, b| b.cmp(a));
        }
        // Which of two comes first is a matter of chance, so nothing branches on it.
        for end in (1..changes.len()).rev() {
            for at in 0..end {
                let (one, other) = (changes[at], changes[at + 1]);
                (changes[at], changes[at + 1]) = (one.max(other), one.min(other));
            }
        }
    }

    /// The next step before which there is something to do.
    #[inline]
    fn next_due(&self) -> u64 {
        let change = self.changes.last().map_or(u64::MAX, |change| change.step());
        change.min(self.row_begin + self.row_max() + 1)
    }

    /// Puts `place` at `at`. Others are moved one by one, since they are few as a rule.
    #[inline]
    fn insert(&mut self, at: usize, place: Place) {
        self.knows_above = false;
        self.order.push(place);
        let mut moved = place;
        self.order[at..].iter_mut().for_each(|place| core::mem::swap(place, &mut moved));
    }

    /// Where the task is. It will not stay there, nor among those that have not fallen.
    #[inline]
    fn leaves(&mut self, task: TaskId) -> usize {
        self.knows_above = false;
        let place = self.order.iter().position(|place| place.task == task);
        let at = place.expect("raddle bug: a task has no place");
        if at < self.standing {
            self.standing -= 1;
        }
        at
    }

    /// Whether anybody above `last` is among `others`.
    #[inline(always)]
    fn is_below_one_of(&mut self, others: &TaskSet) -> bool {
        if !self.knows_above {
            self.find_above();
        }
        others.first_common(&self.above).is_some()
    }

    #[inline(never)]
    fn find_above(&mut self) {
        self.knows_above = true;
        self.above.clear();
        let above = self.order.iter().map(|place| place.task).take_while(|&task| Some(task) != self.last);
        above.for_each(|task| self.above.insert(task));
    }

    fn welcome(&mut self, tasks: usize) {
        if !self.begun {
            self.begin();
        }
        while self.tasks < tasks {
            let task = TaskId(self.tasks as u32);
            self.tasks += 1;
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
        let mut at = self.leaves(task);
        // Past those that stand and those that have fallen less, or back past those that have fallen as far or further.
        while let Some(&next) = self.order.get(at + 1)
            && (at < self.standing || next.level > level)
        {
            self.order[at] = next;
            at += 1;
        }
        while at > self.standing && self.order[at - 1].level <= level {
            self.order[at] = self.order[at - 1];
            at -= 1;
        }
        self.order[at] = Place { task, level };
    }

    fn fall_to_the_bottom(&mut self, task: TaskId) {
        self.bottom -= 1;
        self.fall(task, self.bottom);
    }

    fn anywhere(&mut self, task: TaskId) {
        let at = self.leaves(task);
        self.order.remove(at);
        let at = self.draw(self.order.len()) as usize;
        let level = if at <= self.standing {
            self.standing += 1;
            0
        } else {
            self.order[at - 1].level
        };
        self.insert(at, Place { task, level });
    }

    /// The highest of those that can run. Whom it passes on the way is above it.
    #[inline]
    fn highest(&mut self, view: &View<'_>) -> TaskId {
        self.above.clear();
        for place in &self.order {
            if view.enabled.contains(place.task) {
                return place.task;
            }
            self.above.insert(place.task);
        }
        panic!("raddle bug: nobody to pick")
    }

    /// Whether a task has newly arrived where others should go first.
    #[inline]
    fn gives_way(&mut self, view: &View<'_>, task: TaskId) -> bool {
        matches!(view.op(task).kind, Kind::Yield | Kind::Sleep) && self.gives_way_now(view, task)
    }

    #[inline(never)]
    fn gives_way_now(&mut self, view: &View<'_>, task: TaskId) -> bool {
        let now = view.world.task(task).events + 1;
        self.gave_way.resize(self.tasks, 0);
        if self.gave_way[task.index()] == now {
            return false;
        }
        self.gave_way[task.index()] = now;
        self.anywhere(task);
        true
    }

    /// What has happened since the last step: new tasks, and whatever is due.
    #[inline]
    fn catch_up(&mut self, tasks: usize) {
        if self.tasks < tasks {
            self.welcome(tasks);
        }
        if self.step >= self.due {
            self.after_step();
        }
    }

    /// The highest of those that can run goes on. Whether it is the only one.
    #[inline]
    fn take_step(&mut self, task: TaskId, alone: bool) {
        self.step += 1;
        if self.last != Some(task) || alone {
            self.row_begin = self.step;
        }
        self.last = Some(task);
        self.knows_above = true;
    }

    /// How many steps may be taken before something is due.
    #[inline]
    fn until_due(&self) -> u64 {
        self.due.saturating_sub(self.step)
    }

    /// Steps in a row after which a task falls.
    fn row_max(&self) -> u64 {
        2 * u64::from(self.length) + 1_000
    }

    /// The last step is over: falls if it was a change point, or if its task does not stop.
    fn after_step(&mut self) {
        let Some(last) = self.last else { return };
        while let Some(&change) = self.changes.last()
            && change.step() <= self.step
        {
            self.changes.pop();
            self.fall(last, change.level());
        }
        if self.step - self.row_begin > self.row_max() {
            self.row_begin = self.step;
            self.fall_to_the_bottom(last);
        }
        self.due = self.next_due();
    }
}

impl<D: Dice> Policy for Pct<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.catch_up(view.world.tasks().len());
        let mut task = self.highest(view);
        while view.enabled.several() && self.gives_way(view, task) {
            task = self.highest(view);
        }
        self.take_step(task, !view.enabled.several());
        Pick::Run(task)
    }

    /// The same, unless somebody may have to give way.
    #[inline]
    fn pick_at_once(&mut self, enabled: u64, world: &World) -> Option<(TaskId, u64)> {
        self.catch_up(world.tasks().len());
        let mut above = 0_u64;
        let mut tasks = self.order.iter().map(|place| place.task);
        let task = loop {
            let task = tasks.next()?;
            if enabled >> (task.0 & 63) & 1 == 1 {
                break task;
            }
            above |= 1 << (task.0 & 63);
        };
        self.above.set_low(above);
        // Only what is not plain gives way.
        world.task(task).touch?;
        self.take_step(task, enabled & (enabled - 1) == 0);
        Some((task, self.until_due()))
    }

    /// The last task goes on if nothing is due and nobody above it can run.
    #[inline(always)]
    fn stays(&mut self, task: TaskId, others: &TaskSet, world: &World) -> bool {
        let stays = self.step < self.due
            && self.last == Some(task)
            && self.tasks == world.tasks().len()
            && !self.is_below_one_of(others);
        if stays {
            self.step += 1;
            if others.is_empty() {
                self.row_begin = self.step;
            }
        }
        stays
    }

    /// Until something is due.
    #[inline]
    fn spell(&self, task: TaskId, others: u64, tasks: usize) -> u64 {
        let stays = self.last == Some(task)
            && self.tasks == tasks
            && self.knows_above
            && others & self.above.low() == 0;
        if stays { self.until_due() } else { 0 }
    }

    #[inline]
    fn spent(&mut self, points: u64, alone: bool) {
        self.step += points;
        if alone {
            self.row_begin = self.step;
        }
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.begun = false;
        self.order.clear();
        self.standing = 0;
        self.knows_above = false;
        self.tasks = 0;
        self.gave_way.clear();
        self.changes.clear();
        self.step = 0;
        self.bottom = 0;
        self.last = None;
        self.row_begin = 0;
        self.due = 0;
    }

    fn can_reseed(&self) -> bool {
        self.tasks <= 1
    }

    /// Main was alone: change points are drawn before the first step, and it has fallen at those that are behind it. That
    /// of the last step is due at the next one.
    fn reseed(&mut self, seed: u64) {
        let (steps, last) = (self.step, self.last);
        self.restart(seed);
        let Some(main) = last else { return };
        self.welcome(1);
        while let Some(&change) = self.changes.last()
            && change.step() < steps
        {
            self.changes.pop();
            self.fall(main, change.level());
        }
        (self.step, self.row_begin, self.last) = (steps, steps, last);
        self.knows_above = false;
        // What is due is found out at the next step.
        self.due = 0;
    }
}
