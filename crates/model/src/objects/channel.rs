//! A queue between senders and one receiver. The messages live in the program's own memory.

/// Its counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    /// How many messages fit; `None` is unbounded, 0 a rendezvous.
    pub capacity: Option<u32>,
    /// Messages in it.
    pub len: u32,
    /// Messages ever put in.
    pub sent: u32,
    /// Messages ever taken out.
    pub taken: u32,
    /// Live senders.
    pub senders: u32,
    /// Whether the receiver lives.
    pub receiver: bool,
    /// Receivers that stand at a rendezvous and have not been served.
    pub ready: u32,
}

impl Channel {
    /// An empty channel with one sender.
    pub fn new(capacity: Option<u32>) -> Channel {
        Channel { capacity, len: 0, sent: 0, taken: 0, senders: 1, receiver: true, ready: 0 }
    }

    /// Whether a message fits for one who is willing to wait for its receiver.
    pub fn has_room(&self) -> bool {
        match self.capacity {
            None => true,
            Some(0) => self.len == 0,
            Some(capacity) => self.len < capacity,
        }
    }

    /// Whether a message can be passed on at once.
    pub fn accepts_now(&self) -> bool {
        if self.capacity == Some(0) { self.len < self.ready } else { self.has_room() }
    }

    /// Whether a receiver need not wait.
    pub fn answers(&self) -> bool {
        self.len > 0 || self.senders == 0
    }

    /// Whether the message with this number has been taken, or never will be.
    pub fn handed_over(&self, number: u32) -> bool {
        self.taken > number || !self.receiver
    }
}
