//! The sending ends.

use super::Shared;
use crate::rt::site::here;
use crate::rt::{self, Rt};
use raddle_model::{Kind, Mode, Op, Outcome, SiteId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SendError, TrySendError};

/// The sending end of [`super::channel`], as [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    real: std::sync::mpsc::Sender<T>,
    end: End<T>,
}

/// The sending end of [`super::sync_channel`], as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    real: std::sync::mpsc::SyncSender<T>,
    end: End<T>,
}

/// What both kinds of sender have: one of the senders that the channel counts.
struct End<T> {
    shared: Arc<Shared<T>>,
    /// Where it was made: its end has no site of its own.
    site: SiteId,
}

impl<T> Sender<T> {
    pub(super) fn new(real: std::sync::mpsc::Sender<T>, shared: Arc<Shared<T>>, site: SiteId) -> Sender<T> {
        Sender { real, end: End { shared, site } }
    }

    /// See [`std::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        let site = here!();
        let shared = &*self.end.shared;
        let Some(rt) = rt::current() else {
            let _visitor = shared.visitors.enter(&shared.slot);
            return shared.put(self.real.send(t));
        };
        if rt.arrive(Op::new(Kind::Send, shared.object(rt, site), site)) == Outcome::Closed {
            return Err(SendError(t));
        }
        shared.put(self.real.send(t))
    }
}

impl<T> SyncSender<T> {
    pub(super) fn new(
        real: std::sync::mpsc::SyncSender<T>,
        shared: Arc<Shared<T>>,
        site: SiteId,
    ) -> SyncSender<T> {
        SyncSender { real, end: End { shared, site } }
    }

    /// See [`std::sync::mpsc::SyncSender::send`].
    ///
    /// # Errors
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        let site = here!();
        let shared = &*self.end.shared;
        let Some(rt) = rt::current() else {
            let _visitor = shared.visitors.enter(&shared.slot);
            return shared.put(self.real.send(t));
        };
        let op = Op::new(Kind::Send, shared.object(rt, site), site);
        if rt.arrive(op) == Outcome::Closed {
            return Err(SendError(t));
        }
        if shared.is_rendezvous() {
            return hand_over(shared, rt, op, t);
        }
        match shared.put(self.real.try_send(t)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Disconnected(t)) => Err(SendError(t)),
            Err(TrySendError::Full(_)) => {
                assert!(rt.ending(), "raddle bug: a channel with room is full");
                // A destructor waits for a receiver that will never come.
                rt.give_up()
            }
        }
    }

    /// See [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    /// The message, if there is no room (at a rendezvous: if no receiver stands there) or the
    /// receiver is gone.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        let site = here!();
        let shared = &*self.end.shared;
        let Some(rt) = rt::current() else {
            let _visitor = shared.visitors.enter(&shared.slot);
            return shared.put(self.real.try_send(t));
        };
        match rt.arrive(Op::new(Kind::Send, shared.object(rt, site), site).mode(Mode::Try)) {
            Outcome::Closed => Err(TrySendError::Disconnected(t)),
            Outcome::Done if !shared.is_rendezvous() => shared.put(self.real.try_send(t)),
            Outcome::Done if !rt.ending() => {
                let before = shared.hand().replace(t);
                assert!(before.is_none(), "raddle bug: two messages at one rendezvous");
                Ok(())
            }
            _ => Err(TrySendError::Full(t)),
        }
    }
}

/// The message may be taken; waits until it is.
fn hand_over<T>(shared: &Shared<T>, rt: Rt, op: Op, t: T) -> Result<(), SendError<T>> {
    /// Takes the message back if the wait is cut short.
    struct TakeBack<'a, T>(&'a Shared<T>);
    impl<T> Drop for TakeBack<'_, T> {
        fn drop(&mut self) {
            let message = self.0.hand().take();
            drop(message);
        }
    }
    if rt.ending() {
        // A destructor waits for a receiver that will never come.
        rt.give_up();
    }
    let before = shared.hand().replace(t);
    assert!(before.is_none(), "raddle bug: two messages at one rendezvous");
    let take_back = TakeBack(shared);
    let outcome = rt.arrive(Op { kind: Kind::Handover, ..op });
    std::mem::forget(take_back);
    if outcome == Outcome::Done {
        return Ok(());
    }
    let message = shared.hand().take();
    Err(SendError(message.expect("raddle bug: a message that was not taken is gone")))
}

impl<T> Clone for End<T> {
    #[track_caller]
    fn clone(&self) -> End<T> {
        let (shared, site) = (self.shared.clone(), here!());
        if let Some(rt) = rt::current() {
            let object = shared.object(rt, site);
            rt.with(|run| run.engine.world_mut().add_sender(object));
        }
        shared.senders.fetch_add(1, Ordering::SeqCst);
        End { shared, site }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        let inside = rt::current().map(|rt| (rt, self.shared.object(rt, self.site)));
        // Before the operation, which does not come back if the run ends meanwhile.
        self.shared.senders.fetch_sub(1, Ordering::SeqCst);
        if let Some((rt, object)) = inside {
            rt.arrive(Op::new(Kind::DropSender, object, self.site));
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        Sender { real: self.real.clone(), end: self.end.clone() }
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> SyncSender<T> {
        SyncSender { real: self.real.clone(), end: self.end.clone() }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
