//! Signals that the program sends itself: to a thread, or to whichever does not mind. They never pass the kernel unless
//! nobody handles them and nobody blocks them: what the kernel then does to the process is what they are for.
//!
//! Whoever is sent a signal is interrupted, wherever it is: it runs the handler when it is its turn, and only then does
//! what it was about to do, which it announces anew. So the handler comes before an operation or after it, in the engine
//! as in the program's memory. A thread that waits for signals takes one out of the queue. Sending and taking are operations on the queue, so what was done
//! before the one has happened before what comes after the other.

use crate::cancel;
use crate::deferred::{self, SIGNALS};
use crate::hidden;
use crate::locks::error;
use crate::run::{Run, active, arrive, with};
use crate::sys;
use alloc::vec;
use alloc::vec::Vec;
use raddle_model::objects::State;
use raddle_model::trace::Hidden;
use raddle_model::world::Life;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId};

/// The queue, and who waits at it.
#[derive(Clone, Default, Debug)]
pub struct Sent {
    // For whom; none for anybody.
    all: Vec<(Option<TaskId>, i32)>,
    waiting: Vec<(TaskId, u64)>,
    // Who runs a handler before anything else, and what it does then.
    interrupted: Vec<(TaskId, Option<Op>)>,
}

impl Sent {
    /// Whether anybody runs a handler before it goes on.
    #[inline(always)]
    pub(crate) fn interrupts(&self) -> bool {
        !self.interrupted.is_empty()
    }

    fn is_interrupted(&self, me: TaskId) -> bool {
        self.interrupted.iter().any(|(task, _)| *task == me)
    }

    /// A thread is cancelled: it does nothing of what it was about to do.
    pub(crate) fn forget(&mut self, me: TaskId) {
        self.interrupted.iter_mut().filter(|(task, _)| *task == me).for_each(|(_, op)| *op = None);
    }

    /// The same for one that ends wherever it is, before anything else.
    pub(crate) fn cancel(&mut self, task: TaskId) {
        self.all.push((Some(task), cancel::SIGNAL));
        if !self.is_interrupted(task) {
            self.interrupted.push((task, None));
        }
    }

    /// What is waited for.
    pub(crate) fn awaited_signals(&self) -> Signals {
        Signals(self.waiting.iter().fold(0, |all, (_, set)| all | set))
    }

    fn take(&mut self, me: TaskId, wanted: impl Fn(i32) -> bool) -> Option<i32> {
        let fits =
            |(task, signal): &(Option<TaskId>, i32)| task.is_none_or(|task| task == me) && wanted(*signal);
        let at = self.all.iter().position(fits)?;
        Some(self.all.remove(at).1)
    }
}

/// A set of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals(u64);

impl Signals {
    /// Whether there is none in it.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One of them that the kernel keeps because it is blocked, and keeps no longer.
    fn take_from_kernel(self) -> Option<i32> {
        const SIGTIMEDWAIT: usize = 128;
        let at_once = [0u64; 2];
        let (set, limit) = ((&raw const self.0) as usize, at_once.as_ptr() as usize);
        // SAFETY: both live until the call returns.
        let signal = unsafe { sys::call(SIGTIMEDWAIT, [set, 0, limit, size_of::<u64>(), 0, 0]) };
        (signal > 0).then_some(signal as i32)
    }
}

/// A set with one signal in it.
fn bit(signal: i32) -> u64 {
    1 << (signal as u64 - 1)
}

impl Run {
    fn signal_queue(&mut self, site: SiteId) -> ObjectId {
        // No object of the program's lies at such an address.
        self.object(usize::MAX / 2, site, || State::Kernel("signals"))
    }

    fn masks(&self, task: TaskId, signal: i32) -> bool {
        signal != deferred::TIMER && self.threads[task.index()].mask & bit(signal) != 0
    }

    fn waiter(&mut self, target: Option<TaskId>, signal: i32) -> Option<TaskId> {
        let fits = |(task, set): &(TaskId, u64)| {
            set & bit(signal) != 0 && target.is_none_or(|target| target == *task)
        };
        let at = self.sent.waiting.iter().position(fits)?;
        Some(self.sent.waiting.remove(at).0)
    }

    /// Who is interrupted by a signal. One to the process is handled by whoever sends it; if that one does not want to hear
    /// of it, by whichever of the others goes on first, and only if all of them wait one has to be woken.
    fn hearers(&self, target: Option<TaskId>, signal: i32) -> Vec<TaskId> {
        let world = self.engine.world();
        let hears = |task: &TaskId| *task != self.running && !self.masks(*task, signal);
        let goes_on =
            |task: &TaskId| world.task(*task).life != Life::Pending || world.enabled_tasks().contains(*task);
        match target {
            Some(task) => world.live().filter(|live| *live == task).filter(hears).collect(),
            None if !self.masks(self.running, signal) => Vec::new(),
            None => {
                let first: Vec<_> = world.live().filter(hears).filter(goes_on).collect();
                if first.is_empty() { world.live().find(hears).into_iter().collect() } else { first }
            }
        }
    }

    /// The task handles what was sent to it before it goes on. What it takes then, if it does that instead of what it was
    /// about to do.
    fn interrupt_by_signal(&mut self, task: TaskId, site: SiteId) -> Option<ObjectId> {
        if self.sent.is_interrupted(task) {
            return None;
        }
        let state = self.engine.world().task(task);
        let (op, waits) = (state.op, !self.engine.world().enabled_tasks().contains(task));
        // From a condition variable it just comes back, and who makes a task has done what it was about to do.
        if state.life != Life::Pending || op.kind == Kind::Wake {
            self.sent.interrupted.push((task, None));
            if state.life == Life::Pending && waits {
                self.engine.amend(task, op.mode(Mode::Timed).arg(0));
            }
            return None;
        }
        self.sent.interrupted.push((task, Some(op)));
        let token = self.engine.world_mut().create(State::Token(false), site);
        self.engine.amend(task, Op::new(Kind::Park, token, op.site));
        Some(token)
    }
}

/// Nobody can run: what has come from outside is handed to somebody who waits for it, or who is interrupted to handle
/// it. False if that is nobody.
pub(crate) fn hear() -> bool {
    let mut come = deferred::take();
    let awaited = with(|run| run.sent.awaited_signals());
    if !awaited.is_empty()
        && let Some(signal) = awaited.take_from_kernel()
    {
        come |= bit(signal);
    }
    let heard = |signal: &i32| come & bit(*signal) != 0 && with(|run| run.hears(*signal));
    let heard = (1..SIGNALS as i32).filter(heard).fold(0, |set, signal| set | bit(signal));
    deferred::leave(come & !heard);
    heard != 0
}

/// A signal has come from outside: who does nothing but wait for it hears of it first. False if there is nobody.
pub(crate) fn hand_over(signal: i32) -> bool {
    let token = with(|run| {
        let task = run.waiter(None, signal)?;
        run.sent.all.push((Some(task), signal));
        Some(run.engine.world_mut().token(task))
    });
    token.map(|token| arrive(Op::new(Kind::Unpark, token, SiteId::UNKNOWN))).is_some()
}

impl Run {
    /// Somebody is about to do something else than before, since this has come: to take it, if that is what it waits for, or
    /// to run the handler. False if there is nobody.
    fn hears(&mut self, signal: i32) -> bool {
        let handled = signal == deferred::TIMER || deferred::get(signal as usize).function != 0;
        let waiter = self.waiter(None, signal);
        let Some(task) = waiter.or_else(|| self.sleeper(signal).filter(|_| handled)) else { return false };
        self.sent.all.push((Some(task), signal));
        let op = self.engine.world().task(task).op;
        if waiter.is_none() {
            // As in `interrupt_by_signal`; but nobody is there to wake it.
            self.sent.interrupted.push((task, Some(op).filter(|op| op.kind != Kind::Wake)));
        }
        self.engine.amend(
            task,
            match op.kind {
                Kind::Wake => op.mode(Mode::Timed).arg(0),
                _ => Op::new(Kind::Yield, ObjectId::NONE, op.site),
            },
        );
        true
    }

    /// Somebody who waits, and would hear of this.
    fn sleeper(&self, signal: i32) -> Option<TaskId> {
        let hears = |task: &TaskId| !self.masks(*task, signal) && !self.sent.is_interrupted(*task);
        self.engine.world().live().find(hears)
    }
}

/// Sends a signal to a thread, or to the process. False if it is for the kernel to deliver.
pub fn send(target: Option<TaskId>, signal: i32, pc: usize) -> bool {
    let handled = deferred::get(signal as usize).function != 0;
    let (queue, site, masked) = with(|run| {
        let site = run.site(pc);
        let masked = match target {
            Some(task) => run.masks(task, signal),
            None => run.engine.world().live().all(|task| run.masks(task, signal)),
        };
        (run.signal_queue(site), site, masked)
    });
    hidden::uses(Hidden::SIGNALS, signal as usize, false);
    if with(|run| target != Some(run.running)) {
        hidden::hides(Hidden::SIGNALS);
    }
    if !handled && !masked {
        return false;
    }
    arrive(Op::new(Kind::Rmw, queue, site));
    let woken = with(|run| {
        run.sent.all.push((target, signal));
        if let Some(waiter) = run.waiter(target, signal) {
            return vec![run.engine.world_mut().token(waiter)];
        }
        let hearers = if handled { run.hearers(target, signal) } else { Vec::new() };
        hearers.into_iter().filter_map(|task| run.interrupt_by_signal(task, site)).collect()
    });
    for token in woken {
        arrive(Op::new(Kind::Unpark, token, site));
    }
    handle();
    true
}

/// The running task goes on, and may have been interrupted: then it handles what was sent to it, and does what it was about
/// to do. Says how that ended.
#[cold]
#[inline(never)]
pub(crate) fn come_back() -> Outcome {
    let (me, outcome, interrupted) = with(|run| {
        let me = run.running;
        let at = run.sent.interrupted.iter().position(|(task, _)| *task == me);
        let interrupted = at.map(|at| run.sent.interrupted.remove(at).1);
        (me, run.engine.outcome(me), interrupted)
    });
    let Some(op) = interrupted else { return outcome };
    // That what comes next may fail is not said of what the handler does.
    let fallible = with(|run| {
        let fallible = &mut run.engine.analysis_mut().fallible;
        let before = fallible.contains(me);
        fallible.remove(me);
        before
    });
    handle();
    let Some(op) = op else { return outcome };
    if fallible {
        with(|run| run.engine.analysis_mut().fallible.insert(me));
    }
    arrive(op)
}

/// Handles what was sent to the running thread.
fn handle() {
    while active() {
        let mine = with(|run| {
            let me = run.running;
            let mask = run.threads[me.index()].mask;
            let heard = |signal: i32| {
                matches!(signal, cancel::SIGNAL | deferred::TIMER)
                    || (mask & bit(signal) == 0 && deferred::get(signal as usize).function != 0)
            };
            let signal = run.sent.take(me, heard)?;
            let queue = run.signal_queue(SiteId::UNKNOWN);
            run.engine.perform(me, Op::new(Kind::Rmw, queue, SiteId::UNKNOWN));
            Some(signal)
        });
        match mine {
            None => break,
            Some(cancel::SIGNAL) => cancel::unwind(),
            Some(signal) => deferred::call(signal),
        }
    }
}

/// Waits for one of the signals in a set. The error is that of the system: the time is over, or the set is empty.
pub fn wait(set: u64, limit: Option<u64>, pc: usize) -> Result<i32, i32> {
    let (queue, site) = with(|run| {
        let site = run.site(pc);
        (run.signal_queue(site), site)
    });
    loop {
        if cancel::point(Op::new(Kind::Rmw, queue, site)).is_none() {
            return Err(error::AGAIN);
        }
        let taken = with(|run| run.sent.take(run.running, |signal| set & bit(signal) != 0));
        if let Some(signal) = taken {
            return Ok(signal);
        }
        if limit == Some(0) {
            return Err(error::AGAIN);
        }
        with(|run| run.sent.waiting.push((run.running, set)));
        let outcome = cancel::park(limit, site);
        with(|run| {
            let me = run.running;
            run.sent.waiting.retain(|(task, _)| *task != me);
        });
        if matches!(outcome, None | Some(Outcome::TimedOut)) {
            return Err(error::AGAIN);
        }
    }
}

/// Waits until the running thread has handled a signal, with another mask meanwhile if there is one.
pub fn suspend(mask: Option<u64>, pc: usize) {
    let before = with(|run| {
        let own = &mut run.threads[run.running.index()].mask;
        let before = *own;
        *own = mask.unwrap_or(before);
        before
    });
    let heard = with(|run| !run.threads[run.running.index()].mask);
    // What is in the queue already, or comes now, is handled here and not where it is noticed.
    if let Ok(signal) = wait_handled(heard, pc) {
        deferred::call(signal);
    }
    set_mask(before);
}

/// As [`wait`], for signals that the program handles.
fn wait_handled(set: u64, pc: usize) -> Result<i32, i32> {
    let handled = (1..SIGNALS as i32 - 1).filter(|&signal| deferred::get(signal as usize).function != 0);
    let set = set & handled.fold(0, |set, signal| set | bit(signal));
    let blocked = with(|run| {
        let own = &mut run.threads[run.running.index()].mask;
        core::mem::replace(own, u64::MAX)
    });
    let signal = wait(set, None, pc);
    with(|run| run.threads[run.running.index()].mask = blocked);
    signal
}

/// What the running thread does not want to hear of.
pub fn mask() -> u64 {
    with(|run| run.threads[run.running.index()].mask)
}

/// Sets it. What it wants to hear from now on and has come before is handled.
pub fn set_mask(mask: u64) {
    // Nobody can help hearing of these.
    const KILL: i32 = 9;
    const STOP: i32 = 19;
    let mask = mask & !bit(KILL) & !bit(STOP);
    with(|run| run.threads[run.running.index()].mask = mask);
    if with(|run| !run.sent.all.is_empty()) {
        handle();
    }
}

/// Signals that wait for the running thread to want them.
pub fn pending() -> u64 {
    with(|run| {
        let me = run.running;
        let mine = run.sent.all.iter().filter(|(task, _)| task.is_none_or(|task| task == me));
        mine.fold(0, |set, (_, signal)| set | bit(*signal))
    })
}
