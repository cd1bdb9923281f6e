//! The channels of std, in the words of toy programs.

use super::front::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use super::real::PATIENCE;
use raddle_toy::{How, status};

/// A sender of either kind of channel.
#[derive(Clone)]
pub(crate) enum AnySender {
    Unbounded(mpsc::Sender<u64>),
    Bounded(SyncSender<u64>),
}

/// A channel.
pub(crate) fn create(capacity: Option<u32>) -> (AnySender, Receiver<u64>) {
    match capacity {
        None => {
            let (sender, receiver) = mpsc::channel();
            (AnySender::Unbounded(sender), receiver)
        }
        Some(capacity) => {
            let (sender, receiver) = mpsc::sync_channel(capacity as usize);
            (AnySender::Bounded(sender), receiver)
        }
    }
}

impl AnySender {
    /// Sends, and says what came of it.
    pub(crate) fn send(&self, value: u64, how: How) -> u64 {
        let sent = match (self, how) {
            (AnySender::Unbounded(sender), _) => sender.send(value).map_err(|_| status::CLOSED),
            (AnySender::Bounded(sender), How::Try) => sender.try_send(value).map_err(|error| match error {
                TrySendError::Full(_) => status::FAILED,
                TrySendError::Disconnected(_) => status::CLOSED,
            }),
            (AnySender::Bounded(sender), _) => sender.send(value).map_err(|_| status::CLOSED),
        };
        sent.err().unwrap_or(status::DONE)
    }
}

/// Receives, or says why not.
pub(crate) fn recv(receiver: &Receiver<u64>, how: How) -> Result<u64, u64> {
    match how {
        How::Block => receiver.recv().map_err(|_| status::CLOSED),
        How::Try => receiver.try_recv().map_err(|error| match error {
            TryRecvError::Empty => status::FAILED,
            TryRecvError::Disconnected => status::CLOSED,
        }),
        How::Timed(_) => receiver.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => status::TIMED_OUT,
            RecvTimeoutError::Disconnected => status::CLOSED,
        }),
    }
}
