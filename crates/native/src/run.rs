//! The run that this process is in. Whatever the program does that others could notice goes through here: it
//! says what the task is about to do, and comes back when that has happened.

use crate::access::QUIET_MAX;
use crate::annotations::Annotations;
use crate::blocks::Blocks;
use crate::calls::{self, Calls};
use crate::cancel::Cancel;
use crate::checkpoint;
use crate::deferred;
use crate::fiber::{Fiber, Stack};
use crate::futex::Queue;
use crate::hidden::Common;
use crate::idle::Outside;
use crate::io::Waiters;
use crate::objects::Objects;
use crate::robust::Robust;
use crate::sent::Sent;
use crate::site::Modules;
use crate::straight;
use crate::timers::Timers;
use crate::watch::Watch;
use crate::way::Way;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_engine::{Engine, Next};
use raddle_model::objects::State;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, Plan, PointSet, SiteId, TaskId};
use raddle_policy::Planned;
use raddle_wire::report::Since;

/// Whether this process is a run under control. Otherwise everything is passed on to libc.
///
/// Every run writes to it, as to what lies there: so they share a page, which each copy of the process has to copy.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
pub static ACTIVE: AtomicBool = AtomicBool::new(false);

/// What every plain access looks at first, side by side.
pub(crate) struct Glance {
    /// Where the executable's code begins.
    base: Cell<usize>,
    /// How far it goes; 0 while the process is not under control, so that no access comes from there.
    extent: Cell<usize>,
    /// Plain accesses that are left before one is a scheduling point in any case.
    pub(crate) calm: Cell<u32>,
    /// Those of the run up to the last scheduling point.
    before: Cell<u64>,
}

// SAFETY: as for `Slot`.
unsafe impl Sync for Glance {}

pub(crate) static GLANCE: Glance =
    Glance { base: Cell::new(0), extent: Cell::new(0), calm: Cell::new(QUIET_MAX), before: Cell::new(0) };

impl Glance {
    /// Where a return address lies in the executable, if it does.
    #[inline(always)]
    pub(crate) fn offset(&self, pc: usize) -> usize {
        pc.wrapping_sub(self.base.get())
    }

    /// The return address again.
    pub(crate) fn pc(&self, offset: usize) -> usize {
        offset.wrapping_add(self.base.get())
    }

    /// The site there, if that lies in the executable and the process is under control.
    #[inline(always)]
    pub(crate) fn site(&self, offset: usize) -> Option<SiteId> {
        (offset < self.extent.get()).then_some(SiteId(offset as u32))
    }

    /// A run begins.
    fn begin(&self) {
        self.calm.set(QUIET_MAX);
        self.before.set(0);
    }

    /// A scheduling point.
    #[inline(always)]
    pub(crate) fn rest(&self) {
        self.before.set(self.accesses());
        self.calm.set(QUIET_MAX);
    }

    /// Plain accesses of the run; a long one counts for every eight bytes.
    #[inline(always)]
    pub(crate) fn accesses(&self) -> u64 {
        self.before.get() + u64::from(QUIET_MAX.wrapping_sub(self.calm.get()))
    }

    /// The access that was counted is so long.
    pub(crate) fn count_all(&self, size: usize) {
        self.before.set(self.before.get() + (size.max(1) as u64 - 1) / 8);
    }

    /// One more access without a scheduling point. True if there were too many.
    #[inline(always)]
    pub(crate) fn count(&self) -> bool {
        self.calm.set(self.calm.get().wrapping_sub(1));
        self.calm.get() == 0
    }
}

fn set_active(active: bool) {
    ACTIVE.store(active, Ordering::Relaxed);
    // SAFETY: see `Slot`; nobody is in `with` here.
    let run = unsafe { (*RUN.0.get()).as_ref() };
    let (base, extent) = run.filter(|_| active).map_or((0, 0), |run| run.modules.executable());
    GLANCE.base.set(base);
    GLANCE.extent.set(extent);
}

/// Equal laps of a loop that only looks before its task is held back. Locks and waits of libraries look a few times
/// before they sleep (C++'s `atomic::wait` sixteen times): held back earlier they would never come to that.
const LAPS: u32 = 20;

/// How far the stack of the process may go from where a run is made. The kernel keeps more than that free below it, and
/// above it there are no variables.
const STACK_BELOW: usize = 64 << 20;
const STACK_ABOVE: usize = 8 << 20;

/// What is kept of a thread beside its fiber.
#[derive(Debug)]
pub struct Thread {
    /// Boxed, since a fiber must stay where it is.
    pub fiber: Box<Fiber>,
    /// Who made it and waits for it to come to its first operation.
    pub(crate) maker: Option<TaskId>,
    /// Whether nobody will join it.
    pub detached: bool,
    /// Whether somebody has joined it.
    pub joined: bool,
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
    /// Signals that it does not want to hear of now.
    pub mask: u64,
}

impl Thread {
    fn new(fiber: Box<Fiber>, maker: Option<TaskId>) -> Thread {
        Thread {
            fiber,
            maker,
            detached: false,
            joined: false,
            buried: false,
            specifics: Vec::new(),
            draws: 0,
            cancel: Cancel::default(),
            name: Vec::new(),
            mask: 0,
        }
    }
}

/// What is wanted to be known of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// How it ended, and a few figures.
    Digest,
    /// Everything.
    Record,
    /// What a search wants to know.
    Search,
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
    /// Where the stack of the process lies, which is main's unless it has one of its own.
    pub(crate) process_stack: Range<usize>,
    /// The program's heap.
    pub blocks: Blocks,
    /// Stacks of threads that are over.
    pub stacks: Vec<Stack>,
    /// Stacks of earlier runs, the lowest last: they are used in the order in which they were made.
    pub(crate) spare: Vec<Stack>,
    /// Where the policy is asked; the engine has the same.
    pub(crate) points: PointSet,
    // Whether there has ever been a second task.
    pub(crate) several: bool,
    // Whether the policy is yet to be asked while there is more than one task.
    pub(crate) choice_ahead: bool,
    // Tasks that are on the way to their first operation: the one that runs, if any, and those that made it.
    pub(crate) beginning: u32,
    // Whether accesses are only noted: there are several tasks, and nobody wants to know who called, nor are any of
    // them scheduling points, nor to memory that may lie elsewhere, too, nor has the program said that some do not count.
    pub(crate) only_notes: bool,
    // Whether nothing of all this is the case, nor anybody wants to know who called: see `straight.rs`.
    pub(crate) straight: bool,
    /// Destructors of thread-specific keys; none for a key that is not in use.
    pub keys: Vec<Option<usize>>,
    /// Who waits at which futex.
    pub futexes: Queue,
    /// Who waits for which files.
    pub waiters: Waiters,
    /// What it may hear from when nobody can go on.
    pub(crate) outside: Outside,
    /// Signals from thread to thread.
    pub sent: Sent,
    /// Who uses what all have in common, as far as no operation tells.
    pub common: Common,
    /// What the process exits with, once it is known.
    pub exit_code: Option<i32>,
    /// Who called, in runs that are recorded or tell their HaPSets.
    pub calls: Calls,
    /// Mutexes that outlive their owners.
    pub robust: Robust,
    /// What the program says of its accesses.
    pub annotations: Annotations,
    /// Whether it is one of a search.
    pub(crate) searched: bool,
    /// Where the next hook returns to, if it is the second half of an assignment.
    pub(crate) assigning: Option<usize>,
    /// What was before the checkpoint that it went on from, if it is.
    pub(crate) since: Option<Since>,
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
    set_active(false);
}

/// Does something that may call libc, uncontrolled.
pub fn aside<R>(work: impl FnOnce() -> R) -> R {
    let before = active();
    set_active(false);
    let result = work();
    set_active(before);
    result
}

/// Short access to the run. Nothing inside may switch tasks or call the program's code.
#[inline(always)]
pub fn with<R>(access: impl FnOnce(&mut Run) -> R) -> R {
    // SAFETY: no reference survives `access`, which neither switches nor re-enters.
    access(unsafe { (*RUN.0.get()).as_mut() }.expect("raddle bug: there is no run"))
}

/// The same where the process is known to be under control.
#[inline(always)]
pub(crate) fn with_active<R>(access: impl FnOnce(&mut Run) -> R) -> R {
    debug_assert!(active());
    // SAFETY: as above; while the process is under control there is a run.
    access(unsafe { current() })
}

/// The same, for what must become part of its caller: a closure that many have is a function of its own.
///
/// # Safety
/// As for [`with`]: nothing may be kept of it when the task is switched away from, or the program's code goes on.
#[inline(always)]
pub(crate) unsafe fn current<'a>() -> &'a mut Run {
    debug_assert!(active());
    // SAFETY: passed on to the caller.
    unsafe { (*RUN.0.get()).as_mut().unwrap_unchecked() }
}

/// Gets a run of `plan` ready.
pub fn prepare(mut run: Run, plan: &Plan, wanted: Wanted) {
    let record = wanted == Wanted::Record;
    run.searched = wanted == Wanted::Search;
    run.points = plan.points.clone();
    run.calls.wanted = record;
    run.look_around();
    // Where each access is a point, or its callers are wanted, each is looked at closely.
    run.engine.analysis_mut().hasty = !record && !plan.points.all_accesses;
    // What is told of other runs is how many decisions they took.
    run.engine.only_count_decisions(!record);
    run.engine.begin(plan, record);
    run.engine.tolerate_laps(LAPS);
    run.engine.ask_outside();
    // SAFETY: nothing of the run before is in use any more. What it has given back lies where every run is quickest.
    unsafe { *RUN.0.get() = None };
    run.reserve();
    // SAFETY: as above.
    unsafe { *RUN.0.get() = Some(run) };
}

/// The run that was prepared begins.
pub fn begin() {
    if crate::reset::is_on() {
        with(|run| run.engine.analysis_mut().shadow.is_put_back());
    }
    GLANCE.begin();
    set_active(true);
}

/// The task does `op` when its turn has come. Says how that ended.
pub fn arrive(op: Op) -> Outcome {
    match with(|run| run.straight_turn(op)) {
        Some(next) => straight::go(next),
        None => arrive_with_care(op),
    }
}

#[inline(never)]
fn arrive_with_care(op: Op) -> Outcome {
    deferred::handle();
    if with(|run| run.calls.wanted || run.calls.told) {
        calls::arrival(op.site);
    }
    if with(|run| run.searched) {
        checkpoint::look();
    }
    if with(|run| run.is_first_choice(&op)) {
        crate::server::first_choice();
    }
    let me = with(|run| run.running);
    match with(|run| run.turn(op)) {
        Turn::Mine(outcome) => outcome,
        Turn::Theirs(next) => with(|run| run.way(next)).ends(me),
        Turn::Over => crate::idle::next().ends(me),
    }
}

/// Goes on with another task, until it is this one's turn.
pub(crate) fn switch(to: TaskId) {
    with(|run| run.way(to)).go();
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
    with(|run| {
        run.choice_ahead |= !run.several;
        run.several = true;
        run.beginning += 1;
        run.look_around();
        run.threads.push(Thread::new(fiber, Some(run.running)));
        run.threads[task.index()].detached = detached;
        run.common.make(task, run.running);
        run.threads[task.index()].mask = run.threads[run.running.index()].mask;
    });
    switch(task);
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
        let here = (&raw const plan) as usize;
        Run {
            process_stack: here - STACK_BELOW..here + STACK_ABOVE,
            engine: Engine::new(Planned::new(plan), Watch::default()),
            threads: vec![Thread::new(Box::new(Fiber::main()), None)],
            running: TaskId::MAIN,
            objects: Objects::default(),
            modules,
            blocks: Blocks::default(),
            stacks: Vec::new(),
            spare: Vec::new(),
            points: PointSet::default(),
            several: false,
            choice_ahead: false,
            beginning: 0,
            only_notes: false,
            straight: true,
            keys: Vec::new(),
            futexes: Queue::default(),
            waiters: Waiters::default(),
            outside: Outside::default(),
            sent: Sent::default(),
            common: Common::default(),
            exit_code: None,
            calls: Calls::default(),
            robust: Robust::default(),
            annotations: Annotations::default(),
            searched: false,
            assigning: None,
            since: None,
        }
    }

    /// Another run of the same plan in the same process: main calls `start` on this stack. What the program has made
    /// and not given back (blocks of memory, keys) is still there, since its variables are what they were.
    pub(crate) fn begin_again(&mut self, plan: &Plan, stack: Stack, start: usize) -> *const Fiber {
        self.bury_all();
        self.threads.clear();
        self.threads.push(Thread::new(Box::new(Fiber::main_on(stack, start)), None));
        self.running = TaskId::MAIN;
        self.objects.clear();
        self.annotations.begin_again();
        GLANCE.begin();
        self.several = false;
        self.choice_ahead = false;
        self.beginning = 0;
        self.look_around();
        self.futexes = Queue::default();
        self.waiters = Waiters::default();
        self.outside.timers = Timers::default();
        self.sent = Sent::default();
        self.common = Common::default();
        self.exit_code = None;
        self.robust = Robust::default();
        self.engine.begin(plan, false);
        &raw const *self.threads[0].fiber
    }

    /// Whether the policy is about to be asked, for the first time while there is more than one task.
    fn is_first_choice(&mut self, op: &Op) -> bool {
        let first = self.choice_ahead
            && self.threads[self.running.index()].maker.is_none()
            && (self.engine.is_point(op) || self.is_forced(op));
        if first {
            self.choice_ahead = false;
            self.look_around();
        }
        first
    }

    /// Whether this access is a scheduling point only because there was none for too long.
    fn is_forced(&self, op: &Op) -> bool {
        GLANCE.calm.get() == 0
            && matches!(op.kind, Kind::CellRead | Kind::CellWrite | Kind::WideRead | Kind::WideWrite)
    }

    fn turn(&mut self, op: Op) -> Turn {
        crate::server::beat(self.running, op.site);
        let me = self.running;
        if self.engine.verdict().is_some() {
            return Turn::Over;
        }
        if !self.is_forced(&op) && !self.engine.is_point(&op) {
            let outcome = self.engine.perform(me, op);
            return if self.engine.verdict().is_some() { Turn::Over } else { Turn::Mine(outcome) };
        }
        GLANCE.rest();
        if let Some(maker) = self.arrived(me) {
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

    /// The running task waits, and `to` goes on.
    #[inline(always)]
    fn way(&mut self, to: TaskId) -> Way {
        let from = core::mem::replace(&mut self.running, to);
        self.engine.analysis_mut().shadow.moved();
        let [from, to] = [from, to].map(|task| &raw mut *self.threads[task.index()].fiber);
        Way::new(from, to)
    }

    /// The running task waits, and whoever the engine says goes on. None if the run is over.
    #[inline(always)]
    pub(crate) fn hand_over(&mut self, next: Next) -> Option<Way> {
        match next {
            Next::Run(task) => Some(self.way(task)),
            Next::Over => None,
        }
    }

    /// The site of a return address.
    #[inline]
    pub fn site(&mut self, pc: usize) -> SiteId {
        self.modules.site(pc)
    }

    /// The synchronization object at an address, made by `state` when it is first used.
    #[inline(always)]
    pub fn object(&mut self, address: usize, site: SiteId, state: impl FnOnce() -> State) -> ObjectId {
        match self.objects.sync(address) {
            Some(object) => object,
            None => self.new_object(address, site, state()),
        }
    }

    /// A new synchronization object at an address, whatever was there.
    #[inline(never)]
    pub fn new_object(&mut self, address: usize, site: SiteId, state: State) -> ObjectId {
        let object = self.engine.world_mut().create(state, site);
        self.objects.set_sync(address, object);
        object
    }

    /// The running task waits until another says that it need not, at most so many nanoseconds.
    pub fn parking(&mut self, limit: Option<u64>, site: SiteId) -> Op {
        let op = Op::new(Kind::Park, self.engine.world_mut().token(self.running), site);
        match limit {
            None => op,
            Some(limit) => op.mode(Mode::Timed).arg(limit),
        }
    }

    /// The word of memory at an address.
    #[inline(always)]
    pub fn word(&mut self, address: usize, site: SiteId, state: State) -> ObjectId {
        let world = self.engine.world_mut();
        self.objects.word(address, || world.create(state, site))
    }

    /// The object of an atomic, and another that it overlaps with.
    #[inline(always)]
    pub fn atomic(&mut self, address: usize, size: usize, site: SiteId) -> (ObjectId, ObjectId) {
        let engine = &mut self.engine;
        self.objects.atomic(address, size, || engine.world_mut().create(State::Atomic, site))
    }

    /// A number that looks random, and is the same in every run in which the task has come as far.
    pub fn draw(&mut self) -> u64 {
        let draws = &mut self.threads[self.running.index()].draws;
        *draws += 1;
        raddle_model::hash::mix(self.engine.world().task(self.running).name, *draws)
    }
}
