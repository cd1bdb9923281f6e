//! Cancellation. A request reaches a thread at a cancellation point: it comes to one, or it waits at one, and then it
//! does no longer what it was about to do there. A thread that can be cancelled anywhere is, wherever it is.
//!
//! Who requests gives a token that who is cancelled takes: what was done before the request has happened before the
//! handlers that clean up. The unwinding itself is libc's. The function of the skin returns first, so that none of our
//! own frames is unwound; only a thread that is cancelled anywhere ends in the middle of one of them, which has nothing
//! to clean up.

use crate::deferred;
use crate::hidden::hides;
use crate::locks::error;
use crate::run::{Run, arrive, with};
use crate::threads;
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_model::objects::State;
use raddle_model::trace::Hidden;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId};

/// What is kept of a thread.
#[derive(Clone, Default, Debug)]
pub struct Cancel {
    token: Option<ObjectId>,
    requested: bool,
    disabled: bool,
    asynchronous: bool,
    // Whether what it is about to do is a cancellation point.
    at_point: bool,
    // Whether it is on its way out.
    acting: bool,
}

/// Whether the running thread is cancelled as soon as the function that it has called returns. Looked at, and reset,
/// by the skin.
pub static CANCELLED: AtomicBool = AtomicBool::new(false);

/// The signal that libc uses for the same purpose, which no program can send itself.
pub const SIGNAL: i32 = 32;

impl Run {
    fn cancel(&mut self) -> &mut Cancel {
        let task = self.running;
        &mut self.threads[task.index()].cancel
    }

    fn cancel_token(&mut self, task: TaskId) -> ObjectId {
        let token = self.threads[task.index()].cancel.token;
        let token =
            token.unwrap_or_else(|| self.engine.world_mut().create(State::Token(false), SiteId::UNKNOWN));
        self.threads[task.index()].cancel.token = Some(token);
        token
    }
}

impl Cancel {
    fn is_due(&self) -> bool {
        self.requested && !self.disabled && !self.acting
    }
}

/// The running thread does `op` at a cancellation point. None if it was cancelled instead: then its function is to
/// return at once, whatever it returns.
pub fn point(op: Op) -> Option<Outcome> {
    deferred::handle();
    if test(op.site) {
        return None;
    }
    with(|run| run.cancel().at_point = true);
    let outcome = arrive(op);
    let (acting, token) = with(|run| {
        let me = run.running;
        let cancel = run.cancel();
        cancel.at_point = false;
        (cancel.acting, cancel.acting.then(|| run.cancel_token(me)))
    });
    if !acting {
        return Some(outcome);
    }
    if let (Some(token), Kind::Wake) = (token, op.kind) {
        // It has its mutex again; whatever it waits for is waited for no more.
        arrive(Op::new(Kind::Park, token, op.site));
    }
    CANCELLED.store(true, Ordering::Relaxed);
    None
}

/// The same for a thread that waits until another says that it need not, at most so many nanoseconds.
pub fn park(limit: Option<u64>, site: SiteId) -> Option<Outcome> {
    point(with(|run| run.parking(limit, site)))
}

/// The running thread looks whether it is cancelled. If not, others may go on: it may do nothing else.
pub fn look(pc: usize) {
    let site = with(|run| run.site(pc));
    point(Op::new(Kind::Yield, ObjectId::NONE, site));
}

/// Whether the running thread is cancelled here.
fn test(site: SiteId) -> bool {
    if !with(|run| run.cancel().is_due()) {
        return false;
    }
    let token = with(|run| {
        run.cancel().acting = true;
        run.cancel_token(run.running)
    });
    arrive(Op::new(Kind::Park, token, site));
    CANCELLED.store(true, Ordering::Relaxed);
    true
}

/// Asks for the end of a thread.
pub fn request(handle: u64, pc: usize) -> i32 {
    let Some(task) = with(|run| run.find(handle)) else { return error::NO_SUCH };
    if with(|run| task != run.running) {
        hides(Hidden::CANCELLATIONS);
    }
    let (token, site) = with(|run| (run.cancel_token(task), run.site(pc)));
    arrive(Op::new(Kind::Unpark, token, site));
    let here = with(|run| {
        let me = run.running;
        let cancel = &mut run.threads[task.index()].cancel;
        cancel.requested = true;
        if !cancel.is_due() || (task != me && !run.engine.world().is_live(task)) {
            return false;
        }
        let cancel = &mut run.threads[task.index()].cancel;
        if task == me {
            return cancel.asynchronous;
        }
        if cancel.at_point || cancel.asynchronous {
            run.interrupt(task, token);
        }
        false
    });
    if here {
        test(site);
    }
    0
}

impl Run {
    /// The thread does no longer what it was about to do.
    fn interrupt(&mut self, task: TaskId, token: ObjectId) {
        let state = self.engine.world().task(task);
        let (op, woken) = (state.op, state.woken);
        // Who was notified goes on: the notification would be lost.
        let at_point = self.threads[task.index()].cancel.at_point;
        if at_point && op.kind == Kind::Wake && woken {
            return;
        }
        self.threads[task.index()].cancel.acting = true;
        self.sent.forget(task);
        self.engine.amend(
            task,
            match op.kind {
                // The mutex is taken again before anything else happens.
                Kind::Wake if at_point => op.mode(Mode::Timed).arg(0),
                _ => Op::new(Kind::Park, token, op.site),
            },
        );
        if !at_point {
            self.sent.cancel(task);
        }
    }
}

/// The running thread, which can be cancelled anywhere, ends here.
pub fn unwind() {
    let exit = crate::libc::next(c"pthread_exit");
    threads::exiting(crate::fiber::CANCELED);
    // SAFETY: libc's function of this name. It leaves our frames without a word; they own nothing.
    unsafe { core::mem::transmute::<usize, extern "C" fn(usize) -> !>(exit)(crate::fiber::CANCELED) }
}

const ENABLE: i32 = 0;
const DISABLE: i32 = 1;

/// Says whether requests are heard, and gives back what was said before. The thread may be cancelled at once.
pub fn set_state(state: i32, pc: usize) -> Result<i32, i32> {
    set(state, pc, |cancel| &mut cancel.disabled)
}

/// The same for whether they are heard everywhere.
pub fn set_type(kind: i32, pc: usize) -> Result<i32, i32> {
    set(kind, pc, |cancel| &mut cancel.asynchronous)
}

fn set(value: i32, pc: usize, which: impl Fn(&mut Cancel) -> &mut bool) -> Result<i32, i32> {
    if value != ENABLE && value != DISABLE {
        return Err(error::INVALID);
    }
    let (before, at_once, site) = with(|run| {
        let cancel = run.cancel();
        let before = core::mem::replace(which(cancel), value == DISABLE);
        let at_once = cancel.asynchronous && cancel.is_due();
        (before, at_once, run.site(pc))
    });
    if at_once {
        test(site);
    }
    Ok(i32::from(before))
}

/// The running thread is on its way out: nobody cancels it any more.
pub fn leaving() {
    with(|run| run.cancel().disabled = true);
}
