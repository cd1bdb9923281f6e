//! The receiving end and its iterators.

use super::Shared;
use crate::rt::site::here;
use crate::rt::{self, Rt};
use crate::sync::claim::nanoseconds;
use raddle_model::{Kind, Mode, Op, Outcome, SiteId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// The receiving end of a channel, as [`std::sync::mpsc::Receiver`].
///
/// Inside a run `recv_timeout` may time out at any moment, whatever its duration: virtual time passes
/// as the run needs it.
pub struct Receiver<T> {
    end: End<T>,
    // Dropped last, and the messages with it: by then senders know.
    real: std::sync::mpsc::Receiver<T>,
}

/// The receiver that the channel knows of.
struct End<T> {
    shared: Arc<Shared<T>>,
    /// Where it was made: its end has no site of its own.
    site: SiteId,
}

impl<T> Receiver<T> {
    pub(super) fn new(
        real: std::sync::mpsc::Receiver<T>,
        shared: Arc<Shared<T>>,
        site: SiteId,
    ) -> Receiver<T> {
        Receiver { end: End { shared, site }, real }
    }

    /// Receives inside a run.
    fn inside(&self, rt: Rt, mode: Mode, arg: u64, site: SiteId) -> Result<T, Outcome> {
        let shared = &*self.end.shared;
        let object = shared.object(rt, site);
        if mode != Mode::Try && shared.is_rendezvous() {
            rt.arrive(Op::new(Kind::RecvReady, object, site));
        }
        let outcome = rt.arrive(Op::new(Kind::Recv, object, site).mode(mode).arg(arg));
        if outcome != Outcome::Done {
            return Err(outcome);
        }
        let message = if shared.is_rendezvous() {
            shared.hand().take()
        } else {
            shared.taken(self.real.try_recv()).ok()
        };
        Ok(message.expect("raddle bug: a message that was counted is not there"))
    }

    /// See [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    /// If there is no message, or there never will be one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let site = here!();
        let shared = &*self.end.shared;
        match rt::current() {
            Some(rt) => self.inside(rt, Mode::Try, 0, site).map_err(|outcome| match outcome {
                Outcome::Closed => TryRecvError::Disconnected,
                _ => TryRecvError::Empty,
            }),
            None => {
                let _visitor = shared.visitors.enter(&shared.slot);
                shared.taken(self.real.try_recv())
            }
        }
    }

    /// See [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    /// If there never will be a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let site = here!();
        let shared = &*self.end.shared;
        match rt::current() {
            Some(rt) => self.inside(rt, Mode::Block, 0, site).map_err(|_| RecvError),
            None => {
                let _visitor = shared.visitors.enter(&shared.slot);
                shared.taken(self.real.recv())
            }
        }
    }

    /// See [`std::sync::mpsc::Receiver::recv_timeout`].
    ///
    /// # Errors
    /// If no message came in time, or there never will be one.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let site = here!();
        let shared = &*self.end.shared;
        match rt::current() {
            Some(rt) => {
                self.inside(rt, Mode::Timed, nanoseconds(timeout), site).map_err(|outcome| match outcome {
                    Outcome::Closed => RecvTimeoutError::Disconnected,
                    _ => RecvTimeoutError::Timeout,
                })
            }
            None => {
                let _visitor = shared.visitors.enter(&shared.slot);
                shared.taken(self.real.recv_timeout(timeout))
            }
        }
    }

    /// See [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self }
    }

    /// See [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        let inside = rt::current().map(|rt| (rt, self.shared.object(rt, self.site)));
        // Before the operation, which does not come back if the run ends meanwhile.
        self.shared.receiver.store(false, Ordering::SeqCst);
        if let Some((rt, object)) = inside {
            rt.arrive(Op::new(Kind::DropReceiver, object, self.site));
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Receives until there never will be a message again, as [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}

/// Receives until there is no message, as [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}

/// Receives until there never will be a message again, and owns the receiver, as
/// [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    rx: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rx: self }
    }
}
