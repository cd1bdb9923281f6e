//! The run that the current thread is in. Everything that a synchronization type does inside a run
//! goes through [`Rt`]: it says what the task is about to do, and comes back when that has happened.

mod abort;
mod arrive;
pub(crate) mod callers;
pub(crate) mod carrier;
mod clock;
mod count;
pub(crate) mod fiber;
mod going;
mod heart;
mod image;
mod jobs;
mod leave;
pub(crate) mod panics;
mod searching;
mod sharing;
pub(crate) mod site;
pub(crate) mod slot;
mod spare;
pub(crate) mod statics;
mod switch;
pub(crate) mod watch;
mod worker;

use crate::thread::Room;
use arrive::Calls;
use corosensei::stack::DefaultStack;
use count::PanicCount;
use fiber::Fiber;
pub(crate) use heart::Heart;
use panics::Panic;
use raddle_engine::Engine;
use raddle_model::{Failure, FailureKind, Kind, ObjectId, Op, Outcome, SiteId, TaskId, Verdict};
use raddle_policy::Planned;
use slot::Mark;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use switch::Context;
use watch::Watch;

/// Tasks whose stacks are found by one look.
pub(crate) const CONTEXTS: usize = 64;

/// The state of one carrier: used for one run after the other.
// What every operation asks for comes first: the nearer it is to the beginning, the shorter are the instructions.
#[repr(C)]
pub(crate) struct Run {
    pub(crate) running: TaskId,
    /// The run is over: operations do nothing any more.
    pub(crate) ending: bool,
    /// Who comes back from a switch has to look what has happened: the run is over, or a task was left while it unwound.
    pub(crate) eventful: bool,
    /// Operations take a way of their own: the run is over, or wants to know who calls them.
    pub(crate) unusual: bool,
    /// The same as it stands in objects.
    pub(crate) stamp: u64,
    /// What plain operations call. invariant: `Calls::FIRST` if `maker` is somebody or `unusual`, else `usual_calls`.
    pub(crate) calls: &'static Calls,
    /// The panics of the running task, as std counts them.
    pub(crate) panic_count: PanicCount,
    pub(crate) engine: Engine<Planned, Watch>,
    /// Boxed: a fiber that runs must stay where it is while others are made.
    #[expect(clippy::vec_box, reason = "their addresses are held across switches")]
    pub(crate) fibers: Vec<Box<Fiber>>,
    /// Where the stacks of the first of them stand. invariant: nowhere, if there is no such fiber.
    pub(crate) contexts: [*mut Context; CONTEXTS],
    /// The carrier's own stack.
    pub(crate) root: Context,
    /// The maker of the running task, if that has just been made: its first operation is announced,
    /// and its maker goes on.
    pub(crate) maker: Option<TaskId>,
    /// What they call where nothing is special.
    pub(crate) usual_calls: &'static Calls,
    /// The carrier cannot be used again.
    pub(crate) retired: bool,
    /// Runs of the same check go on beside this one.
    pub(crate) several: bool,
    /// A run of this carrier has used an object that outlives it.
    pub(crate) shared: bool,
    pub(crate) mark: Mark,
    /// The same as it stands in guards of sections that are led.
    pub(crate) led_mark: u64,
    /// The task that was running can neither go on nor unwind, and must be abandoned.
    pub(crate) stuck: bool,
    /// Stacks that no task's place has kept.
    pub(crate) stacks: Vec<DefaultStack>,
    /// For what tasks leave behind.
    pub(crate) rooms: Vec<Room>,
    /// How many tasks have begun and not ended.
    pub(crate) alive: usize,
    /// Tasks that have ended and whose stacks can be used again.
    pub(crate) ended: Vec<TaskId>,
    /// Whether a stack was used again in this run.
    pub(crate) moved_stacks: bool,
    /// Whether a task of this run has a name or has panicked: something is to be forgotten when the next one begins.
    pub(crate) untidy: bool,
    /// Tasks that were given up without unwinding.
    pub(crate) leaked: u64,
    /// Runs that were led by the one before them, and that nobody was told of.
    pub(crate) led: u64,
    pub(crate) heart: Arc<Heart>,
    /// Statics that the run has used.
    pub(crate) statics: statics::Statics,
}

thread_local! {
    static CURRENT: Cell<*mut Run> = const { Cell::new(ptr::null_mut()) };
}

/// A handle on the run that the current thread is in. Valid while the run goes on.
#[derive(Clone, Copy)]
pub(crate) struct Rt(*mut Run);

/// The run that the current thread is in.
#[inline]
pub(crate) fn current() -> Option<Rt> {
    let run = CURRENT.get();
    if run.is_null() { None } else { Some(Rt(run)) }
}

impl Rt {
    /// Short access to the run. Nothing inside may switch tasks or call user code.
    #[inline]
    pub(crate) fn with<R>(self, access: impl FnOnce(&mut Run) -> R) -> R {
        // SAFETY: `Rt` is handed out on the carrier's thread only, while its `Run` is alive and
        // entered; no reference survives `access`, and `access` neither switches nor re-enters.
        access(unsafe { &mut *self.0 })
    }

    /// The mark of this run.
    #[inline]
    pub(crate) fn mark(self) -> Mark {
        self.with(|run| run.mark)
    }

    /// The same as it stands in objects.
    #[inline]
    pub(crate) fn stamp(self) -> u64 {
        self.with(|run| run.stamp)
    }

    /// The same as it stands in guards of sections that are led.
    #[inline]
    pub(crate) fn led_mark(self) -> u64 {
        self.with(|run| run.led_mark)
    }

    /// The task whose code is running.
    #[inline]
    pub(crate) fn running(self) -> TaskId {
        self.with(|run| run.running)
    }

    /// Whether the run is over and this is only the clearing away.
    #[inline]
    pub(crate) fn ending(self) -> bool {
        self.with(|run| run.ending)
    }

    /// A value below `arity`, chosen by the policy.
    pub(crate) fn choose(self, arity: u32, site: SiteId) -> u32 {
        if self.with(|run| run.engine.is_led()) {
            self.stray();
        }
        let value = self
            .with(|run| if run.ending { None } else { Some(run.engine.choose(run.running, arity, site)) });
        value.unwrap_or_else(|| {
            self.arrive_late(Op::new(Kind::Choose, ObjectId::NONE, site));
            0
        })
    }

    /// Makes a task, and finds out where it will live. [`Rt::start`] comes next.
    #[inline(always)]
    pub(crate) fn prepare(self, site: SiteId) -> (TaskId, *mut Fiber) {
        if self.ending() {
            self.arrive_late(Op::new(Kind::Spawn, ObjectId::NONE, site));
            self.give_up();
        }
        let task = self.make(site);
        (task, self.with(|run| run.place(task)))
    }

    /// Lets a task that was just prepared run `body` to its first operation.
    ///
    /// # Safety
    /// What `body` borrows must outlive the task. It must not unwind.
    // Nothing that may unwind comes before `body` is written to its stack: then it need not be anywhere else.
    #[inline(always)]
    pub(crate) unsafe fn start<F>(
        self,
        (task, fiber): (TaskId, *mut Fiber),
        name: Option<Arc<str>>,
        site: SiteId,
        body: F,
    ) where
        F: FnOnce() -> std::thread::Result<()>,
    {
        let (before, here, child) = self.with(|run| {
            // SAFETY: fibers are boxed, and this one is not in use. The rest is passed on to the caller.
            let child = unsafe {
                run.begin_in(self, fiber, move |rt| rt.task(Kind::Exit, body));
                if name.is_some() {
                    run.untidy = true;
                    (*fiber).name = name;
                }
                &raw mut (*fiber).context
            };
            let (before, here) = (run.maker, run.here());
            run.set_maker(Some(run.running));
            run.heart.goes_on(task, site);
            run.running = task;
            (before, here, child)
        });
        // SAFETY: the child has been begun just now.
        unsafe { self.switch(here, child) };
        self.with(|run| {
            run.set_maker(before);
            run.heart.goes_on(run.running, site);
        });
    }

    /// Making a task, as an operation of the one that makes it.
    fn make(self, site: SiteId) -> TaskId {
        let made = self.with(|run| {
            let at_once = !run.unusual && !run.engine.is_point_at(Kind::Spawn, site);
            at_once.then(|| {
                let child = run.engine.spawn(run.running, site);
                (child, run.engine.has_strayed())
            })
        });
        let made = made.map(|(child, strayed)| if strayed { self.stray() } else { child });
        made.unwrap_or_else(|| match self.arrive(Op::new(Kind::Spawn, ObjectId::NONE, site)) {
            Outcome::Spawned(task) => task,
            other => panic!("raddle bug: a spawn gave {other:?}"),
        })
    }

    /// The life of a task: its body, its thread locals, its last operation. Says who goes on.
    /// The body gives back how it ended, and never unwinds.
    // Part of what a stack begins with: a task's returns are guessed wrong, since others have called meanwhile.
    #[inline(always)]
    pub(crate) fn task(self, last: Kind, body: impl FnOnce() -> std::thread::Result<()>) -> *const Context {
        let result = body();
        let done = self.with(|run| {
            let fiber = &run.fibers[run.running.index()];
            let done = result.is_ok() && fiber.locals.is_empty() && !run.ending;
            if done {
                run.ends();
            }
            done
        });
        if !done && let Some(next) = self.end_otherwise(result, last) {
            return next;
        }
        self.with(|run| if last == Kind::Exit { (run.calls.exit)(run) } else { run.end() })
    }

    /// The end of a task that has left something, or of a run that is over. Says who goes on, unless that is to be found
    /// out by the task's last operation.
    #[cold]
    fn end_otherwise(self, result: std::thread::Result<()>, last: Kind) -> Option<*const Context> {
        if self.ending() {
            crate::thread::local::destroy(self);
            return Some(self.with(Run::end_late));
        }
        let failed = result.is_err();
        debug_assert!(result.is_ok() || last == Kind::End, "raddle bug: a task's own panic was not kept");
        if let Err(payload) = result {
            self.main_fails(&*payload);
        }
        crate::thread::local::destroy(self);
        if self.ending() {
            return Some(self.with(Run::end_late));
        }
        self.with(Run::ends);
        // In a search the others go on before the process ends.
        failed.then(|| {
            self.with(|run| {
                let next = run.engine.schedule_next();
                run.go_on(next)
            })
        })
    }

    /// Main has ended with this panic.
    #[cold]
    fn main_fails(self, payload: &(dyn Any + Send)) {
        let text = panics::text(payload);
        panics::settle(self, payload);
        self.with(|run| {
            let failure = run.main_panicked(text);
            run.engine.fail(failure);
        });
    }

    /// A panic has left a destructor of the running task that ran because of another: std is about to
    /// abort the process. The run fails; the task must be given up.
    pub(crate) fn aborts(self) {
        self.with(|run| {
            run.retired = true;
            if run.ending {
                return;
            }
            let task = run.running;
            let panic = run.fibers[task.index()].panic.clone();
            let (what, site) =
                panic.map_or((String::from("a resumed panic"), SiteId::UNKNOWN), |p| (p.message, p.site));
            let message =
                format!("panic while unwinding from another panic, which aborts the process: {what}");
            let failure = Failure { kind: FailureKind::Panic, message, tasks: vec![task], sites: vec![site] };
            run.engine.crash(failure);
        });
    }
}

impl Run {
    /// The engine, for whoever looks at what it knows: it has heard of everything.
    #[inline(always)]
    pub(crate) fn engine(&mut self) -> &mut Engine<Planned, Watch> {
        self.engine.catch_up();
        &mut self.engine
    }

    /// What the running task is about to do.
    fn pending(&self) -> Op {
        self.engine.world().task(self.running).op
    }

    /// Main is at its last operation: who goes on.
    fn end(&mut self) -> *const Context {
        let next = self.engine.arrive_at_end(self.running, SiteId::UNKNOWN);
        self.go_on(next)
    }

    /// The running task has ended, after the run has: where to switch to.
    pub(super) fn end_late(&mut self) -> *const Context {
        self.ends();
        self.home()
    }

    /// Nothing is left of the running task but its last operation.
    #[inline]
    fn ends(&mut self) {
        let task = self.running;
        self.fibers[task.index()].alive = false;
        self.alive -= 1;
        // Not the stack itself: it is in use for a few instructions more.
        self.ended.push(task);
    }

    /// Prepares a task that will run `body`, and go on in the end with what that says.
    ///
    /// # Safety
    /// As for [`Fiber::begin`].
    #[inline(always)]
    unsafe fn begin(&mut self, rt: Rt, task: TaskId, body: impl FnOnce(Rt) -> *const Context) {
        let fiber = self.place(task);
        // SAFETY: passed on to the caller.
        unsafe { self.begin_in(rt, fiber, body) };
    }

    /// Where a new task will live, with a stack: that of its like in the run before, if it was left where it is.
    #[inline(always)]
    fn place(&mut self, task: TaskId) -> *mut Fiber {
        match self.fibers.get_mut(task.index()) {
            Some(fiber) if fiber.context.has_stack() => &raw mut **fiber,
            _ => self.find_stack(task),
        }
    }

    /// As [`Run::begin`], where the task's place is known.
    ///
    /// # Safety
    /// As there, and the place must be the task's.
    #[inline(always)]
    unsafe fn begin_in(&mut self, rt: Rt, fiber: *mut Fiber, body: impl FnOnce(Rt) -> *const Context) {
        self.alive += 1;
        // SAFETY: passed on to the caller.
        unsafe { (*fiber).begin(rt, body) };
    }

    /// The stack of another that has ended in this run, or a new one, is given to this task.
    #[cold]
    fn find_stack(&mut self, task: TaskId) -> *mut Fiber {
        while self.fibers.len() <= task.index() {
            let mut fiber = Box::<Fiber>::default();
            if let Some(context) = self.contexts.get_mut(self.fibers.len()) {
                *context = &raw mut fiber.context;
            }
            self.fibers.push(fiber);
        }
        if self.stacks.is_empty() {
            let ended = self.ended.drain(..);
            let ended = ended.filter_map(|task| self.fibers[task.index()].context.take_stack());
            self.stacks.extend(ended);
            self.moved_stacks |= !self.stacks.is_empty();
        }
        let stack = self.stacks.pop().or_else(spare::take).unwrap_or_else(|| {
            DefaultStack::new(fiber::STACK_BYTES).expect(
                "raddle: no memory for another task's stack; fewer tasks, or a higher limit, would help",
            )
        });
        let fiber = &mut *self.fibers[task.index()];
        fiber.context.give_stack(stack);
        fiber
    }

    /// The run is over: stacks stay with their tasks' places, unless there are fewer stacks than places.
    fn keep_stacks(&mut self) {
        self.ended.clear();
        if self.moved_stacks {
            self.moved_stacks = false;
            self.stacks.extend(self.fibers.iter_mut().filter_map(|fiber| fiber.context.take_stack()));
        }
    }

    /// Forgets the names and panics of an earlier run.
    #[cold]
    fn tidy(&mut self) {
        self.untidy = false;
        self.fibers.iter_mut().for_each(|fiber| fiber.forget());
    }

    /// Main has panicked: the failure is that panic or, if main only passed it on, the first one.
    fn main_panicked(&mut self, text: String) -> Failure {
        let own = self.fibers[TaskId::MAIN.index()].panic.take();
        let passed_on = match &own {
            None => true,
            Some(panic) => {
                panic.message.contains("Any { .. }")
                    || panic.message.contains("PoisonError")
                    || panic.message == "a scoped thread panicked"
            }
        };
        let first = self.first_panic(|_| true).filter(|_| passed_on);
        let (task, panic) = match (first, own) {
            (Some((task, panic)), _) => (task, panic),
            (None, Some(panic)) => (TaskId::MAIN, panic),
            (None, None) => (TaskId::MAIN, Panic { message: text, site: SiteId::UNKNOWN, step: 0 }),
        };
        panic_failure(task, panic)
    }

    /// The first that has panicked of all tasks but main: what came later may only be its consequence.
    fn first_panic(&self, counts: impl Fn(&Fiber) -> bool) -> Option<(TaskId, Panic)> {
        if !self.untidy {
            return None;
        }
        let tasks = 1..self.engine.world().tasks().len();
        let found = |i: usize| self.fibers[i].panic.clone().filter(|_| counts(&self.fibers[i]));
        let panics = tasks.filter_map(|i| found(i).map(|panic| (TaskId(i as u32), panic)));
        panics.min_by_key(|(_, panic)| panic.step)
    }
}

/// The failure that a panic is.
pub(crate) fn panic_failure(task: TaskId, panic: Panic) -> Failure {
    let kind =
        if panic.message.starts_with("assertion") { FailureKind::Assertion } else { FailureKind::Panic };
    Failure { kind, message: panic.message, tasks: vec![task], sites: vec![panic.site] }
}

/// Enters the run on this thread for as long as `inside` lasts.
pub(crate) fn enter<R>(run: &mut Run, inside: impl FnOnce(Rt) -> R) -> R {
    let before = CURRENT.replace(run);
    let result = inside(Rt(run));
    CURRENT.set(before);
    result
}

/// How a run ended: it has finished, as most do, or this. Boxed, so that it travels in a register.
pub(crate) type Ended = Result<(), Box<Verdict>>;

/// One run of `body`: from its first operation until nothing of it is left.
pub(crate) fn drive(rt: Rt, body: &(dyn Fn() + Send + Sync)) -> Ended {
    rt.with(|run| {
        run.ending = false;
        run.eventful = false;
        run.unusual = run.engine.analysis().hapsets.is_some();
        run.maker = None;
        run.find_calls();
        run.running = TaskId::MAIN;
        run.heart.at(TaskId::MAIN, SiteId::UNKNOWN);
        if run.untidy {
            run.tidy();
        }
        let main = move |rt: Rt| rt.task(Kind::End, || catch_unwind(AssertUnwindSafe(body)));
        // SAFETY: `body` outlives this function, which does not return before the fiber is gone.
        unsafe { run.begin(rt, TaskId::MAIN, main) };
    });
    rt.visit(TaskId::MAIN);
    clear_away(rt);
    rt.with(|run| {
        if !run.engine.has_just_finished() {
            let fingerprint = run.engine.analysis().fingerprint.value();
            let verdict = run.engine.close(fingerprint);
            if verdict != Verdict::Finished {
                return Err(Box::new(verdict));
            }
        }
        match run.first_panic(|fiber| !fiber.joined) {
            Some((task, panic)) => Err(Box::new(Verdict::Failed(panic_failure(task, panic)))),
            None => Ok(()),
        }
    })
}

/// Nothing of the run is left behind.
fn clear_away(rt: Rt) {
    let all_ended = rt.with(|run| {
        run.ending = true;
        run.eventful = true;
        run.unusual = true;
        run.calls = &Calls::FIRST;
        run.alive == 0
    });
    if !all_ended {
        unwind_all(rt);
    }
    rt.with(Run::keep_stacks);
    statics::put_back(rt);
    if std::thread::panicking() {
        // Somebody was given up in the middle of a panic, and has not taken it along.
        rt.with(|run| run.retired = true);
    }
}

/// Unwinds what is left, the youngest first: a scope's threads before the stack they borrow from.
#[cold]
fn unwind_all(rt: Rt) {
    let count = rt.with(|run| run.fibers.len());
    for task in (0..count as u32).rev().map(TaskId) {
        while rt.with(|run| run.fibers[task.index()].alive) {
            rt.with(|run| run.running = task);
            if rt.with(|run| run.retired) {
                // std believes that this thread is still inside a panic: nothing may unwind here.
                fiber::abandon(rt, task);
                break;
            }
            rt.visit(task);
            if rt.with(|run| run.stuck) {
                fiber::abandon(rt, task);
            }
        }
        rt.with(|run| run.running = task);
        crate::thread::local::forget(rt);
    }
}
