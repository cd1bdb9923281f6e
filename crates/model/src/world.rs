//! The state of all objects and tasks: who can do what it is about to do, and what comes of it.
//!
//! [`World::enabled`] is the definition of who can run. The set [`World::enabled_tasks`] is kept
//! up to date incrementally, since asking everybody at each step would cost time in proportion to
//! the number of tasks; tests compare the two after every step.

mod condvar;
mod low;
mod plain;
mod transitions;

use crate::hash;
use crate::ids::{ObjectId, SiteId, TaskId};
use crate::objects::once::Once;
use crate::objects::{Object, State};
use crate::op::{Kind, Mode, Op, Touch};
use crate::taskset::TaskSet;
use crate::trace::Outcome;
use alloc::string::String;
use alloc::vec::Vec;

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// Between two operations.
    Running,
    /// About to do `op`.
    Pending,
    /// Gone.
    Exited,
}

/// A task.
// In this order: what a step writes lies together, and is written at once where it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Task {
    /// What it is about to do; meaningful while [`Life::Pending`].
    pub op: Op,
    /// What `op` does to its object, if it is plain ([`Op::plain`]). invariant: nothing unless [`Life::Pending`].
    pub touch: Option<Touch>,
    /// Where it is in its life.
    pub life: Life,
    // Whether `op` has nothing that a plain operation has not: no span, number or second object, and no other mode.
    // invariant: then `outcome` is `Done`.
    bare: bool,
    // Whether its last plain operation that may have changed something is, or will be, the one in `op`.
    told: bool,
    /// How many events it has had.
    pub events: u32,
    /// How often it has looked at something since it last changed anything: the engine's, kept here
    /// because every step touches this task anyway.
    pub looks: u32,
    /// The same before its last plain operation that may have changed something: the front end may
    /// yet say that it did not.
    pub looks_before: u32,
    // Where that operation stands, unless it is the one in `op`.
    changed_at: SiteId,
    /// Stable name: a hash of the path of spawn indexes from main.
    pub name: u64,
    /// Who made it; main has nobody.
    pub parent: Option<TaskId>,
    /// Which child of its parent it is.
    pub spawn_index: u32,
    /// How many children it has made.
    pub children: u32,
    /// What can be joined.
    pub object: ObjectId,
    /// Its park token, once somebody has used it.
    pub token: ObjectId,
    /// Whether a notification has reached it since it began to wait.
    pub woken: bool,
    /// Spurious wake-ups it may still have.
    pub spurious_left: u32,
    /// What a two-part operation must remember: barrier round, message number, lock depth.
    pub ticket: u32,
    /// How its last operation ended.
    pub outcome: Outcome,
}

impl Task {
    /// It says that it is about to do something that is not plain.
    #[inline(always)]
    fn is_about_to(&mut self, op: Op) {
        assert!(self.life == Life::Running, "raddle bug: a task announces twice");
        self.keep_changed_at();
        self.op = op;
        self.bare = false;
        self.life = Life::Pending;
        self.touch = None;
    }

    /// The name of its next child, and which one that is.
    #[inline]
    fn next_child(&mut self) -> (u64, u32) {
        let index = self.children;
        self.children += 1;
        (hash::mix(self.name, u64::from(index) + 1), index)
    }

    /// One that has done nothing yet.
    const NEW: Task = Task {
        op: Op::new(Kind::Yield, ObjectId::NONE, SiteId::UNKNOWN),
        touch: None,
        life: Life::Running,
        bare: true,
        told: false,
        events: 0,
        looks: 0,
        looks_before: 0,
        changed_at: SiteId::UNKNOWN,
        name: 0,
        parent: None,
        spawn_index: 0,
        children: 0,
        object: ObjectId::NONE,
        token: ObjectId::NONE,
        woken: false,
        spurious_left: 0,
        ticket: 0,
        outcome: Outcome::Done,
    };
}

/// All objects and tasks of a run.
// In this order, as for the engine: what every step asks for comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct World {
    tasks: Vec<Task>,
    objects: Vec<Object>,
    enabled: TaskSet,
    live: TaskSet,
    spurious_max: u32,
    // What each object was at first, and whether somebody wants to know.
    first_states: Vec<State>,
    remembers: bool,
}

impl World {
    /// Starts anew with the main task only, keeping memory.
    pub fn begin(&mut self, spurious_max: u32) {
        self.spurious_max = spurious_max;
        self.first_states.clear();
        self.remembers = false;
        self.begin_again();
    }

    /// The same once more, if nobody has asked what objects were at first.
    pub fn begin_again(&mut self) {
        debug_assert!(!self.remembers, "raddle bug: what objects were at first is forgotten");
        self.tasks.clear();
        self.objects.clear();
        self.enabled.clear();
        self.live.clear();
        self.push_task(None, hash::mix(0, 0), 0, SiteId::UNKNOWN);
    }

    /// Makes room for so many tasks and objects.
    pub fn reserve(&mut self, tasks: usize, objects: usize) {
        self.tasks.reserve(tasks);
        self.objects.reserve(objects);
    }

    /// Remembers from now on what each object was when it was registered.
    pub fn remember_first_states(&mut self) {
        self.first_states.extend(self.objects.iter().map(|object| object.state.clone()));
        self.remembers = true;
    }

    /// What each object was when it was registered; nothing unless that was to be remembered.
    pub fn first_states(&self) -> &[State] {
        &self.first_states
    }

    /// Takes the first `count` of them back from where they were handed over to.
    pub fn take_back_first_states(&mut self, other: &mut Vec<State>, count: usize) {
        core::mem::swap(&mut self.first_states, other);
        self.first_states.truncate(count);
    }

    /// Makes another equal to this one in the memory that it has, but for what its objects were at first.
    pub fn copy_to(&self, other: &mut World) {
        let World { tasks, objects, enabled, live, spurious_max, first_states: _, remembers } = self;
        other.tasks.clone_from(tasks);
        other.objects.clone_from(objects);
        other.enabled.clone_from(enabled);
        other.live.clone_from(live);
        other.spurious_max = *spurious_max;
        other.remembers = *remembers;
    }

    /// Hands them over for other memory.
    pub fn swap_first_states(&mut self, other: &mut Vec<State>) {
        core::mem::swap(&mut self.first_states, other);
    }

    #[inline]
    fn add_child(&mut self, parent: TaskId, site: SiteId) -> TaskId {
        let (name, spawn_index) = self.tasks[parent.index()].next_child();
        self.push_task(Some(parent), name, spawn_index, site)
    }

    /// A new task of this name, which is this child of its parent.
    #[inline]
    fn push_task(&mut self, parent: Option<TaskId>, name: u64, spawn_index: u32, site: SiteId) -> TaskId {
        let task = TaskId(self.tasks.len() as u32);
        let object = self.create(State::Task { task, exited: false }, site);
        // Made of a constant, and then changed where it stays: to put it together elsewhere and move it takes longer.
        self.tasks.push(Task::NEW);
        let entry = self.tasks.last_mut().expect("just pushed");
        entry.op.site = site;
        entry.name = name;
        entry.parent = parent;
        entry.spawn_index = spawn_index;
        entry.object = object;
        entry.spurious_left = self.spurious_max;
        self.live.insert(task);
        task
    }

    /// Registers an object.
    // Always part of its caller, which knows what the state is: it is written where it belongs, and not moved there.
    #[inline(always)]
    pub fn create(&mut self, state: State, site: SiteId) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        // As for tasks. What the constant has for a state owns nothing.
        self.objects.push(Object::NEW);
        let object = self.objects.last_mut().expect("just pushed");
        core::mem::forget(core::mem::replace(&mut object.state, state));
        object.site = site;
        if self.remembers {
            self.remember_last();
        }
        id
    }

    /// The state of the last object that was registered.
    #[inline(never)]
    fn remember_last(&mut self) {
        let last = self.objects.last().map(|object| object.state.clone());
        self.first_states.extend(last);
    }

    /// A task.
    #[inline]
    pub fn task(&self, task: TaskId) -> &Task {
        &self.tasks[task.index()]
    }

    /// A task's count of looks, for the engine.
    #[inline]
    pub fn looks_mut(&mut self, task: TaskId) -> &mut u32 {
        &mut self.tasks[task.index()].looks
    }

    /// All tasks there ever were.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// An object.
    #[inline]
    pub fn object(&self, object: ObjectId) -> &Object {
        &self.objects[object.index()]
    }

    /// All objects there ever were.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Tasks that have not exited.
    pub fn live(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.live.iter()
    }

    /// Whether a task has not exited.
    pub fn is_live(&self, task: TaskId) -> bool {
        self.live.contains(task)
    }

    /// Tasks whose pending operation can be done, a time-out included.
    #[inline]
    pub fn enabled_tasks(&self) -> &TaskSet {
        &self.enabled
    }

    /// The object that stands for a task's park token.
    pub fn token(&mut self, task: TaskId) -> ObjectId {
        if !self.tasks[task.index()].token.is_some() {
            self.tasks[task.index()].token = self.create(State::Token(false), SiteId::UNKNOWN);
        }
        self.tasks[task.index()].token
    }

    /// `main`, `main/0`, `main/0/2`: the path of spawn indexes.
    pub fn path(&self, task: TaskId) -> String {
        match self.task(task).parent {
            None => String::from("main"),
            Some(parent) => alloc::format!("{}/{}", self.path(parent), self.task(task).spawn_index),
        }
    }

    /// One more sender of a channel: no operation, since the one who clones holds a sender.
    pub fn add_sender(&mut self, channel: ObjectId) {
        self.channel(channel).senders += 1;
        // Whoever replays the operations need not know when: until then the one who clones holds one.
        if let Some(State::Channel(first)) = self.first_states.get_mut(channel.index()) {
            first.senders += 1;
        }
    }

    /// The operation changed nothing after all (a failed compare-exchange, a store of the same
    /// value): readers that look again see the same version.
    pub fn unchanged(&mut self, object: ObjectId) {
        let object = &mut self.objects[object.index()];
        object.version = object.version.wrapping_sub(1);
    }

    /// Whether `task` could do `op` now: the definition.
    pub fn enabled(&self, task: TaskId, op: &Op) -> bool {
        op.mode != Mode::Block && op.kind != Kind::Wake || self.succeeds(task, op)
    }

    /// Whether `op` would succeed now, rather than wait, fail or time out.
    pub fn succeeds(&self, task: TaskId, op: &Op) -> bool {
        let state = || &self.object(op.object).state;
        match (op.kind, op.kind != Kind::End && op.object.is_some()) {
            (Kind::Wake, _) => {
                let Task { woken, spurious_left, .. } = *self.task(task);
                let State::Mutex(mutex) = &self.object(op.second).state else {
                    return false;
                };
                mutex.available(task) && (woken || op.mode == Mode::Timed || spurious_left > 0)
            }
            (_, false) => true,
            (Kind::Lock, _) => matches!(state(), State::Mutex(mutex) if mutex.available(task)),
            (Kind::ReadLock, _) => matches!(state(), State::RwLock(lock) if lock.readable()),
            (Kind::WriteLock, _) => matches!(state(), State::RwLock(lock) if lock.writable()),
            (Kind::Join, _) => matches!(state(), State::Task { exited: true, .. }),
            (Kind::Park, _) => matches!(state(), State::Token(true)),
            (Kind::Acquire, _) => {
                matches!(state(), State::Semaphore(s) if s.permits >= op.permits())
            }
            (Kind::Leave, _) => {
                matches!(state(), State::Barrier(b) if b.round != self.task(task).ticket)
            }
            (Kind::OnceEnter, _) => !matches!(state(), State::Once(Once::Running(_))),
            (Kind::OnceGet, _) => matches!(state(), State::Once(once) if once.answers(op.arg)),
            (Kind::Send, _) => {
                let at_once = op.mode == Mode::Try;
                matches!(state(), State::Channel(c)
                    if !c.receiver || if at_once { c.accepts_now() } else { c.has_room() })
            }
            (Kind::Handover, _) => {
                matches!(state(), State::Channel(c) if c.handed_over(self.task(task).ticket))
            }
            (Kind::Recv, _) => matches!(state(), State::Channel(c) if c.answers()),
            _ => true,
        }
    }

    /// A task says what it is about to do. Returns whether it can.
    pub fn announce(&mut self, task: TaskId, op: Op) -> bool {
        if let Some(plain) = op.plain() {
            return self.announce_plain::<false>(task, plain);
        }
        self.tasks[task.index()].is_about_to(op);
        let enabled = self.announce_other(task, &op);
        // A running task is in no set, so there is nothing to take out.
        if enabled {
            self.enabled.insert(task);
        }
        enabled
    }

    fn announce_other(&mut self, task: TaskId, op: &Op) -> bool {
        if WAITS >> op.kind as u32 & 1 == 0 {
            return true;
        }
        let enabled = self.enabled(task, op);
        if op.kind == Kind::Wake {
            // One that nobody has woken waits at the condition variable only, unless it can leave alone.
            let Task { woken, spurious_left, .. } = self.tasks[task.index()];
            if woken || op.mode == Mode::Timed || spurious_left > 0 {
                self.objects[op.second.index()].waiting.insert(task);
            }
        } else if op.mode == Mode::Block && op.object.is_some() {
            let object = &mut self.objects[op.object.index()];
            match op.kind {
                Kind::WriteLock | Kind::Send => object.waiting_other.insert(task),
                Kind::ReadLock
                | Kind::Join
                | Kind::Park
                | Kind::Acquire
                | Kind::Leave
                | Kind::OnceEnter
                | Kind::Handover
                | Kind::Recv => object.waiting.insert(task),
                Kind::OnceGet if op.arg != 0 => object.waiting.insert(task),
                _ => {}
            }
        }
        enabled
    }

    /// Something has come between a task and what it was about to do: it is about to do `op` instead, and waits
    /// nowhere else any more. Returns whether it can.
    pub fn amend(&mut self, task: TaskId, op: Op) -> bool {
        let entry = &mut self.tasks[task.index()];
        assert!(entry.life == Life::Pending, "raddle bug: a task that runs is not about to do anything");
        entry.life = Life::Running;
        entry.touch = None;
        let before = entry.op;
        self.enabled.remove(task);
        for id in [before.object, before.second] {
            // No object has the id NONE.
            let Some(object) = self.objects.get_mut(id.index()) else { continue };
            object.waiting.remove(task);
            object.waiting_other.remove(task);
            if let State::Condvar(condvar) = &mut object.state {
                condvar.leave(task);
            }
        }
        self.announce(task, op)
    }

    /// The task does what it was about to do; `pick` is the chosen waiter of a notification. The
    /// operation stays readable in [`Task::op`] until the task announces another.
    pub fn step(&mut self, task: TaskId, pick: u32) -> Outcome {
        if self.step_plain::<false>(task).is_some() {
            return Outcome::Done;
        }
        let entry = &mut self.tasks[task.index()];
        assert!(entry.life == Life::Pending, "raddle bug: a step without an announcement");
        entry.life = Life::Running;
        entry.touch = None;
        entry.events += 1;
        self.enabled.remove(task);
        let outcome = self.step_other(task, pick);
        self.tasks[task.index()].outcome = outcome;
        outcome
    }

    #[inline]
    fn changed(&mut self, id: ObjectId) {
        // No object has the id NONE, so this leaves it out too.
        if let Some(object) = self.objects.get_mut(id.index()) {
            object.version = object.version.wrapping_add(1);
        }
    }

    /// Calls `each` with every task that must act before the blocked `task` can go on because it
    /// owns what `task` waits for without a time limit. Whoever waits at a condition variable needs
    /// its mutex before it can go on, notified or not and however the wait ends.
    pub fn owners(&self, task: TaskId, mut each: impl FnMut(TaskId)) {
        let op = &self.task(task).op;
        if (op.mode != Mode::Block && op.kind != Kind::Wake)
            || self.task(task).life != Life::Pending
            || self.enabled.contains(task)
        {
            return;
        }
        let object = match op.kind {
            Kind::Wake => op.second,
            Kind::Lock | Kind::ReadLock | Kind::WriteLock | Kind::Join => op.object,
            Kind::OnceEnter | Kind::OnceGet => op.object,
            _ => return,
        };
        match &self.object(object).state {
            State::Mutex(mutex) => mutex.owner.into_iter().for_each(each),
            State::RwLock(lock) => match lock.writer {
                Some(writer) => each(writer),
                None => lock.readers.iter().copied().for_each(each),
            },
            State::Once(Once::Running(runner)) => each(*runner),
            State::Task { task, exited: false } => each(*task),
            _ => {}
        }
    }
}

/// The kinds that may have to wait, one bit each.
const WAITS: u64 = {
    let kinds = [
        Kind::Join,
        Kind::Park,
        Kind::Lock,
        Kind::ReadLock,
        Kind::WriteLock,
        Kind::Wake,
        Kind::Acquire,
        Kind::Leave,
        Kind::OnceGet,
        Kind::OnceEnter,
        Kind::Send,
        Kind::Handover,
        Kind::Recv,
    ];
    let (mut mask, mut i) = (0, 0);
    while i < kinds.len() {
        mask |= 1 << kinds[i] as u32;
        i += 1;
    }
    mask
};

/// How an operation ends that could not be done and does not wait.
fn miss(op: &Op) -> Outcome {
    match op.mode {
        Mode::Try => Outcome::Failed,
        Mode::Timed => Outcome::TimedOut,
        Mode::Block => panic!("raddle bug: {op:?} was run although it must wait"),
    }
}

#[cold]
fn wrong(kind: Kind, state: &State) -> ! {
    panic!("raddle bug: {kind:?} on a {}", state.noun())
}
