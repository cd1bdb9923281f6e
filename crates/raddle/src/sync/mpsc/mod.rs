//! Channels, as [`std::sync::mpsc`]: the same functions, types and errors.
//!
//! Messages live in a real channel of std's, so that what is sent outside can be received in a run
//! and the other way round. Inside a run the engine says who may send and receive, and the real
//! channel is only used where it cannot wait. A rendezvous channel holds no message by itself: inside
//! a run the message lies in [`Shared`] until it is taken.

mod receiver;
mod sender;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::rt::Rt;
use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::sync::claim::{self, Visitors};
use raddle_model::objects::State;
use raddle_model::objects::channel::Channel;
use raddle_model::{ObjectId, SiteId};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See [`std::sync::mpsc::channel`].
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let shared = Shared::new(None);
    let site = here!();
    (Sender::new(sender, shared.clone(), site), Receiver::new(receiver, shared, site))
}

/// See [`std::sync::mpsc::sync_channel`].
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = std::sync::mpsc::sync_channel(bound);
    let shared = Shared::new(Some(bound));
    let site = here!();
    (SyncSender::new(sender, shared.clone(), site), Receiver::new(receiver, shared, site))
}

/// What both ends know.
struct Shared<T> {
    slot: Slot,
    /// Threads outside of runs that send or receive.
    visitors: Visitors,
    capacity: Option<usize>,
    /// Messages in the real channel. It may wrap while a receiver is faster than the count.
    len: AtomicUsize,
    senders: AtomicUsize,
    receiver: AtomicBool,
    /// The message that a run passes through a rendezvous channel.
    hand: Mutex<Option<T>>,
}

impl<T> Shared<T> {
    fn new(capacity: Option<usize>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            slot: Slot::new(),
            visitors: Visitors::new(),
            capacity,
            len: AtomicUsize::new(0),
            senders: AtomicUsize::new(1),
            receiver: AtomicBool::new(true),
            hand: Mutex::new(None),
        })
    }

    fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        claim::object(self, &self.slot, rt, site, || {
            self.visitors.assert_none("channel");
            let count = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            let len = if self.is_rendezvous() {
                usize::from(self.hand().is_some())
            } else {
                self.len.load(Ordering::SeqCst)
            };
            State::Channel(Channel {
                len: count(len),
                sent: count(len),
                senders: count(self.senders.load(Ordering::SeqCst)),
                receiver: self.receiver.load(Ordering::SeqCst),
                ..Channel::new(self.capacity.map(count))
            })
        })
    }

    fn is_rendezvous(&self) -> bool {
        self.capacity == Some(0)
    }

    fn hand(&self) -> MutexGuard<'_, Option<T>> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message was put into the real channel.
    fn put<E>(&self, result: Result<(), E>) -> Result<(), E> {
        if result.is_ok() {
            self.len.fetch_add(1, Ordering::SeqCst);
        }
        result
    }

    /// A message was taken out of the real channel.
    fn taken<E>(&self, result: Result<T, E>) -> Result<T, E> {
        if result.is_ok() {
            self.len.fetch_sub(1, Ordering::SeqCst);
        }
        result
    }
}
