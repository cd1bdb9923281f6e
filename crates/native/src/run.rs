//! The run that this process is in. Whatever the program does that others could notice goes through here: it
//! says what the task is about to do, and comes back when that has happened.

use crate::blocks::{Blocks, Deed, Fault, Freed};
use crate::calls::{self, Calls};
use crate::cancel::Cancel;
use crate::deferred::{self, Sent};
use crate::fiber::{self, Fiber, Stack};
use crate::futex::Queue;
use crate::io::Waiters;
use crate::objects::{Objects, WORD};
use crate::robust::Robust;
use crate::shadow::{Access, How};
use crate::site::Modules;
use crate::watch::Watch;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_engine::{Engine, Next};
use raddle_model::objects::State;
use raddle_model::{
    Failure, FailureKind, Kind, ObjectId, Op, Order, Outcome, Plan, PointSet, SiteId, Tail, TaskId,
};
use raddle_policy::Planned;

/// Whether this process is a run under control. Otherwise everything is passed on to libc.
pub static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Accesses in a row after which one is a scheduling point whatever the plan says: the task may be waiting
/// for a plain variable to change.
const QUIET_MAX: u32 = 10_000;

/// What is kept of a thread beside its fiber.
#[derive(Debug)]
pub struct Thread {
    /// Boxed, since a fiber must stay where it is.
    pub fiber: Box<Fiber>,
    /// Who made it and waits for it to come to its first operation.
    maker: Option<TaskId>,
    /// Whether nobody will join it.
    pub detached: bool,
    /// Whether its stack has been taken back.
    pub buried: bool,
    /// Values of thread-specific keys.
    pub specifics: Vec<usize>,
    /// How many random numbers it has drawn.
    draws: u64,
    /// Whether somebody wants it to end.
    pub cancel: Cancel,
    /// What the program calls it.
    pub name: Vec<u8>,
}

impl Thread {
    fn new(fiber: Fiber, maker: Option<TaskId>) -> Thread {
        Thread {
            fiber: Box::new(fiber),
            maker,
            detached: false,
            buried: false,
            specifics: Vec::new(),
            draws: 0,
            cancel: Cancel::default(),
            name: Vec::new(),
        }
    }
}

/// Everything about the run.
#[derive(Debug)]
pub struct Run {
    /// Who decides.
    pub engine: Engine<Planned, Watch>,
    /// By dense id.
    pub threads: Vec<Thread>,
    /// Whose code is running.
    pub running: TaskId,
    /// Which object an address is.
    pub objects: Objects,
    /// Where the program's code lies.
    pub modules: Modules,
    /// The program's heap.
    pub blocks: Blocks,
    /// Stacks of threads that are over.
    pub stacks: Vec<Stack>,
    /// Where the policy is asked; the engine has the same.
    points: PointSet,
    // Accesses since the last scheduling point.
    quiet: u32,
    // Whether there has ever been a second task.
    several: bool,
    /// Destructors of thread-specific keys; none for a key that is not in use.
    pub keys: Vec<Option<usize>>,
    /// Who waits at which futex.
    pub futexes: Queue,
    /// Who waits for which files.
    pub waiters: Waiters,
    /// Signals from thread to thread.
    pub sent: Sent,
    /// What the process exits with, once it is known.
    pub exit_code: Option<i32>,
    /// Who called, in runs that are recorded.
    pub calls: Calls,
    /// Mutexes that outlive their owners.
    pub robust: Robust,
}

struct Slot(UnsafeCell<Option<Run>>);

// SAFETY: one kernel thread runs all tasks, and none is switched away from while it is in here (see `with`).
unsafe impl Sync for Slot {}

static RUN: Slot = Slot(UnsafeCell::new(None));

/// Whether there is anything to control.
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// From now on the program runs by itself: this process is a copy that nobody looks at.
pub fn deactivate() {
    ACTIVE.store(false, Ordering::Relaxed);
}

/// Does something that may call libc, uncontrolled.
pub fn aside<R>(work: impl FnOnce() -> R) -> R {
    let before = ACTIVE.swap(false, Ordering::Relaxed);
    let result = work();
    ACTIVE.store(before, Ordering::Relaxed);
    result
}

/// Short access to the run. Nothing inside may switch tasks or call the program's code.
#[inline(always)]
pub fn with<R>(access: impl FnOnce(&mut Run) -> R) -> R {
    // SAFETY: no reference survives `access`, which neither switches nor re-enters.
    access(unsafe { (*RUN.0.get()).as_mut() }.expect("raddle bug: there is no run"))
}

/// Makes this process a run of `plan`.
pub fn begin(mut run: Run, plan: &Plan, record: bool) {
    run.points = plan.points.clone();
    run.calls.wanted = record;
    run.engine.begin(plan, record);
    // SAFETY: nothing of the run is in use before it begins.
    unsafe { *RUN.0.get() = Some(run) };
    ACTIVE.store(true, Ordering::Relaxed);
}

/// The task does `op` when its turn has come. Says how that ended.
pub fn arrive(op: Op) -> Outcome {
    deferred::handle();
    if with(|run| run.calls.wanted) {
        calls::arrival(op.site);
    }
    let me = with(|run| run.running);
    match with(|run| run.turn(op)) {
        Turn::Mine(outcome) => outcome,
        Turn::Theirs(next) => {
            switch(me, next);
            let outcome = with(|run| run.engine.outcome(me));
            if with(|run| !run.sent.is_empty()) {
                deferred::handle_sent();
            }
            outcome
        }
        Turn::Over => crate::end::over(),
    }
}

/// Goes on with another task, until it is this one's turn.
fn switch(from: TaskId, to: TaskId) {
    let (from, to) = with(|run| {
        run.running = to;
        let [from, to] = [from, to].map(|task| &raw mut *run.threads[task.index()].fiber);
        (from, to)
    });
    // SAFETY: `from` runs, `to` was prepared or switched away from; both are boxed.
    unsafe { fiber::switch(from, to) };
}

/// Makes a task that calls `start(argument)`, and lets it run to its first operation.
/// `told` gets its handle before that.
pub fn spawn(
    stack: Stack,
    start: usize,
    argument: usize,
    detached: bool,
    site: SiteId,
    told: impl FnOnce(u64),
) -> Option<TaskId> {
    let number = with(|run| run.threads.len() as u32);
    let fiber = Fiber::new(stack, start, argument, number)?;
    told(fiber.handle());
    let Outcome::Spawned(task) = arrive(Op::new(Kind::Spawn, ObjectId::NONE, site)) else {
        panic!("raddle bug: a spawn made no task")
    };
    let me = with(|run| {
        run.several = true;
        run.threads.push(Thread::new(fiber, Some(run.running)));
        let thread = &mut run.threads[task.index()];
        thread.fiber.prepare();
        thread.detached = detached;
        run.running
    });
    switch(me, task);
    Some(task)
}

enum Turn {
    Mine(Outcome),
    Theirs(TaskId),
    Over,
}

impl Run {
    /// A run that is ready to begin, of a process whose only thread is the caller.
    pub fn new(plan: &Plan, modules: Modules) -> Run {
        Run {
            engine: Engine::new(Planned::new(plan), Watch::default()),
            threads: vec![Thread::new(Fiber::main(), None)],
            running: TaskId::MAIN,
            objects: Objects::default(),
            modules,
            blocks: Blocks::default(),
            stacks: Vec::new(),
            points: PointSet::default(),
            quiet: 0,
            several: false,
            keys: Vec::new(),
            futexes: Queue::default(),
            waiters: Waiters::default(),
            sent: Sent::default(),
            exit_code: None,
            calls: Calls::default(),
            robust: Robust::default(),
        }
    }

    /// A run of nothing in particular.
    pub fn idle(modules: Modules) -> Run {
        Run::new(&Plan::new(0, Tail::Stay), modules)
    }

    fn turn(&mut self, op: Op) -> Turn {
        crate::server::beat(self.running, op.site);
        let me = self.running;
        if self.engine.verdict().is_some() {
            return Turn::Over;
        }
        let forced = self.quiet >= QUIET_MAX && matches!(op.kind, Kind::CellRead | Kind::CellWrite);
        if !forced && !self.engine.is_point(&op) {
            let outcome = self.engine.perform(me, op);
            return if self.engine.verdict().is_some() { Turn::Over } else { Turn::Mine(outcome) };
        }
        self.quiet = 0;
        if let Some(maker) = self.threads[me.index()].maker.take() {
            // Others see what it is about to do before anybody goes on.
            self.engine.announce(me, op);
            return if self.engine.verdict().is_some() { Turn::Over } else { Turn::Theirs(maker) };
        }
        match self.engine.arrive(me, op) {
            Next::Run(task) if task == me => Turn::Mine(self.engine.outcome(me)),
            Next::Run(task) => Turn::Theirs(task),
            Next::Over => Turn::Over,
        }
    }

    /// The site of a return address.
    #[inline]
    pub fn site(&mut self, pc: usize) -> SiteId {
        self.modules.site(pc)
    }

    /// The synchronization object at an address, made by `state` when it is first used.
    pub fn object(&mut self, address: usize, site: SiteId, state: impl FnOnce() -> State) -> ObjectId {
        match self.objects.sync(address) {
            Some(object) => object,
            None => self.new_object(address, site, state()),
        }
    }

    /// A new synchronization object at an address, whatever was there.
    pub fn new_object(&mut self, address: usize, site: SiteId, state: State) -> ObjectId {
        let object = self.engine.world_mut().create(state, site);
        self.objects.set_sync(address, object);
        object
    }

    /// The word of memory at an address.
    pub fn word(&mut self, address: usize, site: SiteId, state: State) -> ObjectId {
        let world = self.engine.world_mut();
        self.objects.word(address, || world.create(state, site))
    }

    /// Whether an access is a scheduling point, or has no consequence (`None`) while there is one task only.
    #[inline(always)]
    fn look(&mut self, pc: usize) -> Option<(SiteId, bool)> {
        self.quiet += 1;
        if self.quiet >= QUIET_MAX {
            crate::server::beat(self.running, SiteId::UNKNOWN);
        }
        if !self.several {
            self.quiet %= QUIET_MAX;
            return None;
        }
        let site = self.site(pc);
        let known = !self.points.accesses.is_empty() && self.points.accesses.binary_search(&site).is_ok();
        Some((site, known || self.points.all_accesses || self.quiet >= QUIET_MAX))
    }

    fn note(&mut self, address: usize, size: usize, how: How, site: SiteId) {
        let access = Access { address, size, how, task: self.running, site };
        // The analysis needs the world to settle what is pending; both belong to the engine.
        self.engine.observe(|watch, world| watch.access(&access, world));
    }

    /// Whether an address lies on the stack of a thread that the program has made.
    pub fn on_stack(&self, address: usize) -> bool {
        self.threads.iter().skip(1).any(|thread| {
            let (start, end) = thread.fiber.stack_range();
            (start..end).contains(&address)
        })
    }

    /// A number that looks random, and is the same in every run in which the task has come as far.
    pub fn draw(&mut self) -> u64 {
        let draws = &mut self.threads[self.running.index()].draws;
        *draws += 1;
        raddle_model::hash::mix(self.engine.world().task(self.running).name, *draws)
    }

    /// Memory is given out anew: nothing that was there matters.
    pub fn forget(&mut self, start: usize, size: usize) {
        if self.several {
            self.engine.analysis_mut().forget(start, size);
        }
        self.objects.forget(start, size);
    }
}

/// A plain access to memory, about to happen.
#[inline(always)]
pub fn access(address: usize, size: usize, write: bool, pc: usize) {
    if active() {
        controlled_access(address, size, write, pc);
    }
}

fn controlled_access(address: usize, size: usize, write: bool, pc: usize) {
    let Some((site, point)) = with(|run| run.look(pc)) else {
        if !with(|run| run.blocks.check(address, size)) {
            check_memory(address, size, write, with(|run| run.site(pc)));
        }
        return;
    };
    if point {
        arrive_at_memory(address, size, write, site);
    }
    if with(|run| run.calls.wanted) {
        calls::access(site);
    }
    check_memory(address, size, write, site);
    with(|run| {
        if run.several {
            run.note(address, size, How { write, atomic: false }, site);
        }
    });
}

/// The first two words of an access are one operation; what lies beyond follows at once, since nobody can
/// come in between.
#[inline(never)]
fn arrive_at_memory(address: usize, size: usize, write: bool, site: SiteId) {
    let kind = if write { Kind::CellWrite } else { Kind::CellRead };
    let word = |at: usize| with(|run| run.word(at, site, State::Cell));
    let last = address + size.max(1) - 1;
    let first = word(address);
    let second = address / WORD * WORD + WORD;
    let op = Op::new(kind, first, site);
    arrive(if second <= last { op.second(word(second)) } else { op });
    let mut at = second + WORD;
    while at <= last {
        let object = word(at);
        with(|run| run.engine.perform(run.running, Op::new(kind, object, site)));
        at += WORD;
    }
}

/// Bytes of a freed block that are looked at: who accesses it at the same time mostly does so at its beginning.
const FREED_MAX: usize = 4096;

/// Libc has given out `raw`, of which the program gets `size` bytes from `start` on.
pub fn allocated(raw: usize, start: usize, size: usize, pc: usize) {
    if with(|run| run.calls.wanted) {
        calls::access(with(|run| run.site(pc)));
    }
    with(|run| {
        run.forget(start, size);
        let made = Deed { task: run.running, site: run.site(pc) };
        run.blocks.give(raw, start, size, made);
    });
}

/// The program gives memory back: for others that is a write. Gives back what libc may have again.
pub fn freed(start: usize, pc: usize) -> Vec<usize> {
    let (site, freed) = with(|run| {
        let site = run.site(pc);
        let size = run.blocks.size(start).unwrap_or(0);
        let freed = run.blocks.take(start, Deed { task: run.running, site }, run.engine.world());
        if run.several && matches!(freed, Freed::Kept(_)) {
            run.note(start, size.min(FREED_MAX), How { write: true, atomic: false }, site);
        }
        (site, freed)
    });
    if with(|run| run.calls.wanted) {
        calls::access(site);
    }
    match freed {
        Freed::Kept(released) => released,
        Freed::Foreign => vec![start],
        Freed::Wrong(fault) => misused_memory(fault, site),
    }
}

/// Looks whether the running task may touch these bytes. Ends the run if not.
#[inline(always)]
pub fn check_memory(address: usize, size: usize, write: bool, site: SiteId) {
    if !with(|run| run.blocks.check(address, size)) {
        let verb = if write { "writes" } else { "reads" };
        misused_memory(with(|run| run.blocks.explain(address, size, verb, run.engine.world())), site);
    }
}

#[cold]
fn misused_memory(fault: Fault, site: SiteId) -> ! {
    with(|run| {
        let message = format!("{} {}", run.engine.world().path(run.running), fault.message);
        let sites = [site].into_iter().chain(fault.sites).collect();
        run.engine.fail(Failure { kind: FailureKind::Memory, message, tasks: vec![run.running], sites });
    });
    crate::end::over()
}

/// An atomic access whose turn has come.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// What is accessed.
    pub object: ObjectId,
    site: SiteId,
    address: usize,
    size: usize,
}

/// An atomic access that is about to happen. It happens when this returns; what came of it is then told by
/// [`atomic_done`].
pub fn atomic(kind: Kind, address: usize, size: usize, order: Order, pc: usize) -> Atomic {
    let (object, site) = with(|run| {
        let site = run.site(pc);
        (run.word(address, site, State::Atomic), site)
    });
    arrive(Op::new(kind, object, site).order(order));
    check_memory(address, size, kind != Kind::Load, site);
    Atomic { object, site, address, size }
}

/// The access has happened. A compare-exchange that `failed` was a load with this order.
pub fn atomic_done(atomic: Atomic, write: bool, failed: Option<Order>) {
    with(|run| {
        if let Some(order) = failed {
            run.engine.analysis_mut().failed_exchange(order);
        }
        if run.several {
            let how = How { write, atomic: true };
            let Atomic { address, size, site, .. } = atomic;
            run.note(address, size, how, site);
        }
    });
}

/// The program has failed. Ends the run.
pub fn fail(kind: FailureKind, message: String, site: SiteId) -> ! {
    // After a crash nothing is sure, the stack least of all.
    if kind != FailureKind::Crash && with(|run| run.calls.wanted) {
        calls::arrival(site);
    }
    with(|run| {
        let tasks = vec![run.running];
        run.engine.fail(Failure { kind, message, tasks, sites: vec![site] });
    });
    crate::end::over()
}
