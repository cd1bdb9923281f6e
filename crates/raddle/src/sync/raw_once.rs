//! One-time initialization without a value: what `Once`, `OnceLock` and `LazyLock` share.
//!
//! How far it is stands in one atomic for both worlds, so a once completed outside is complete in a
//! run and the other way round. Inside a run the engine says who may enter and who waits; the atomic
//! follows, and alone decides whether a value may be looked at. Outside, threads that must wait do so
//! at a real lock.

use crate::rt::slot::Slot;
use crate::rt::{self, Rt};
use crate::sync::claim;
use raddle_model::objects::State;
use raddle_model::objects::once::Once as Model;
use raddle_model::{Kind, ObjectId, Op, Outcome, SiteId};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

const INCOMPLETE: u8 = 0;
const POISONED: u8 = 1;
const COMPLETE: u8 = 2;
/// A thread outside of runs is at it.
const RUNNING_OUTSIDE: u8 = 3;
/// A task of a run is at it; or was, if that run is over and the task was given up.
const RUNNING_INSIDE: u8 = 4;

/// A once.
pub(super) struct RawOnce {
    slot: Slot,
    state: AtomicU8,
    gate: Mutex<()>,
    opened: Condvar,
}

/// What a once finds instead of completion.
#[derive(Debug)]
pub(super) struct Poisoned;

/// Leaves a once, with a panic if nobody says otherwise.
struct Leave<'a> {
    once: &'a RawOnce,
    /// The run, its object and the site; none outside.
    inside: Option<(Rt, ObjectId, SiteId)>,
    next: u8,
}

impl RawOnce {
    pub(super) const fn new() -> RawOnce {
        RawOnce {
            slot: Slot::new(),
            state: AtomicU8::new(INCOMPLETE),
            gate: Mutex::new(()),
            opened: Condvar::new(),
        }
    }

    pub(super) const fn complete() -> RawOnce {
        RawOnce { state: AtomicU8::new(COMPLETE), ..RawOnce::new() }
    }

    #[inline]
    fn object<T: ?Sized>(&self, whole: &T, rt: Rt, site: SiteId) -> ObjectId {
        claim::object(whole, &self.slot, rt, site, || {
            State::Once(match self.state.load(Ordering::SeqCst) {
                COMPLETE => Model::Complete,
                POISONED => Model::Poisoned,
                RUNNING_OUTSIDE => claim::held_outside("once"),
                _ => Model::Incomplete,
            })
        })
    }

    /// Whether it is complete, without an operation: for exclusive access and for looking.
    #[inline]
    pub(super) fn seems_complete(&self) -> bool {
        self.state.load(Ordering::Acquire) == COMPLETE
    }

    /// Whether the last attempt panicked, with exclusive access.
    pub(super) fn was_poisoned(&mut self) -> bool {
        *self.state.get_mut() == POISONED
    }

    /// Sets the state with exclusive access. From here on it is another object, since the run
    /// believes something else about this one.
    pub(super) fn reset(&mut self, complete: bool) {
        self.slot = Slot::new();
        *self.state.get_mut() = if complete { COMPLETE } else { INCOMPLETE };
    }

    /// As [`RawOnce::reset`], after a panic.
    pub(super) fn poison(&mut self) {
        self.slot = Slot::new();
        *self.state.get_mut() = POISONED;
    }

    /// Whether it is complete.
    #[inline]
    pub(super) fn is_complete<T: ?Sized>(&self, whole: &T, site: SiteId) -> bool {
        let answer = match rt::current() {
            // When the run is over the engine has no answer.
            Some(rt) => {
                let outcome = rt.arrive(Op::new(Kind::OnceGet, self.object(whole, rt, site), site));
                outcome == Outcome::Value(1) || rt.ending()
            }
            None => {
                self.slot.assert_free();
                true
            }
        };
        answer && self.seems_complete()
    }

    /// Completes it by `init`, which is told whether it is poisoned, unless it is complete. If another
    /// is at it, waits. A poisoned one is an error unless `force` is set.
    pub(super) fn call<T: ?Sized>(
        &self,
        whole: &T,
        force: bool,
        site: SiteId,
        init: impl FnOnce(bool),
    ) -> Result<(), Poisoned> {
        if self.is_complete(whole, site) {
            return Ok(());
        }
        let entered = match rt::current() {
            Some(rt) => self.enter(whole, rt, force, site)?,
            None => self.enter_outside(force)?,
        };
        if let Some((mut leave, poisoned)) = entered {
            init(poisoned);
            leave.next = COMPLETE;
        }
        Ok(())
    }

    /// Enters inside a run: none if it is complete.
    fn enter<T: ?Sized>(
        &self,
        whole: &T,
        rt: Rt,
        force: bool,
        site: SiteId,
    ) -> Result<Option<(Leave<'_>, bool)>, Poisoned> {
        let object = self.object(whole, rt, site);
        let outcome = rt.arrive(Op::new(Kind::OnceEnter, object, site).arg(u64::from(force)));
        let state = self.state.load(Ordering::Acquire);
        if rt.ending() {
            // A destructor, after the end of the run: the engine no longer keeps others out.
            match state {
                COMPLETE => return Ok(None),
                INCOMPLETE => {}
                POISONED if force => {}
                _ => rt.give_up(),
            }
        } else {
            match outcome {
                Outcome::Value(1) => return Ok(None),
                Outcome::Value(2) => return Err(Poisoned),
                _ => assert!(state != COMPLETE, "raddle bug: a once that is complete was entered"),
            }
        }
        self.state.store(RUNNING_INSIDE, Ordering::SeqCst);
        Ok(Some((Leave { once: self, inside: Some((rt, object, site)), next: POISONED }, state == POISONED)))
    }

    /// Enters outside of runs: none if it is complete.
    fn enter_outside(&self, force: bool) -> Result<Option<(Leave<'_>, bool)>, Poisoned> {
        let _gate = self.pass(|state| state != RUNNING_OUTSIDE);
        let state = self.state.load(Ordering::Acquire);
        match state {
            COMPLETE => return Ok(None),
            POISONED if !force => return Err(Poisoned),
            _ => {}
        }
        self.state.store(RUNNING_OUTSIDE, Ordering::SeqCst);
        if !self.slot.is_free() {
            self.state.store(state, Ordering::SeqCst);
            self.slot.assert_free();
        }
        Ok(Some((Leave { once: self, inside: None, next: POISONED }, state == POISONED)))
    }

    /// Outside of runs: waits until the state is as wanted.
    fn pass(&self, wanted: impl Fn(u8) -> bool) -> MutexGuard<'_, ()> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let unwanted = |_: &mut ()| !wanted(self.state.load(Ordering::Acquire));
        self.opened.wait_while(gate, unwanted).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is complete. A poisoned one is an error unless `force` is set.
    pub(super) fn wait<T: ?Sized>(&self, whole: &T, force: bool, site: SiteId) -> Result<(), Poisoned> {
        let Some(rt) = rt::current() else {
            self.slot.assert_free();
            drop(self.pass(|state| state == COMPLETE || (state == POISONED && !force)));
            return if self.seems_complete() { Ok(()) } else { Err(Poisoned) };
        };
        let how = if force { 2 } else { 1 };
        let outcome = rt.arrive(Op::new(Kind::OnceGet, self.object(whole, rt, site), site).arg(how));
        match outcome {
            _ if self.seems_complete() => Ok(()),
            Outcome::Value(2) if !rt.ending() => Err(Poisoned),
            _ => {
                assert!(rt.ending(), "raddle bug: a wait for a once ended with {outcome:?}");
                rt.give_up()
            }
        }
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let Leave { once, inside, mut next } = *self;
        let Some((rt, object, site)) = inside else {
            let gate = once.gate.lock().unwrap_or_else(PoisonError::into_inner);
            once.state.store(next, Ordering::SeqCst);
            drop(gate);
            once.opened.notify_all();
            return;
        };
        if next == POISONED && rt.ending() {
            // The task was unwound because the run is over, which is no panic of its own.
            next = INCOMPLETE;
        }
        // First, since the operation does not come back if the run ends meanwhile. Tasks of the run
        // ask the engine, for which it happens only then.
        once.state.store(next, Ordering::SeqCst);
        rt.arrive(Op::new(Kind::OnceDone, object, site).arg(if next == COMPLETE { 1 } else { 2 }));
    }
}
