//! What the server has to say. Reports of quick runs are sent several at a time: each message wakes the controller.

use super::{REPLY, reply};
use crate::sys::{self, nr};
use alloc::vec::Vec;

/// Bytes that are not kept back.
const BYTES_MAX: usize = 1 << 15;
/// How long anything is kept back, at most.
const NANOSECONDS_MAX: u64 = 5_000_000;

pub(super) struct Outbox {
    socket: i32,
    kept: Vec<u8>,
    // When the oldest of it was put there.
    since: u64,
}

impl Outbox {
    pub(super) fn new(socket: i32) -> Outbox {
        Outbox { socket, kept: Vec::with_capacity(BYTES_MAX), since: 0 }
    }

    /// Says something as soon as it pays. Only reports may wait.
    pub(super) fn say(&mut self, kind: u32, bytes: &[u8], status: i32, run: u64, urgent: bool) {
        // When messages are sent changes nothing but when they come.
        let now = nanoseconds();
        if self.kept.is_empty() {
            self.since = now;
        }
        self.kept.extend_from_slice(&kind.to_le_bytes());
        self.kept.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.kept.extend_from_slice(&status.to_le_bytes());
        self.kept.extend_from_slice(&run.to_le_bytes());
        self.kept.extend_from_slice(bytes);
        let late = now - self.since > NANOSECONDS_MAX;
        if kind != reply::REPORT || urgent || late || self.kept.len() + REPLY > BYTES_MAX {
            self.send();
        }
    }

    /// The same at once, and then there is no server any more.
    pub(super) fn despair(&mut self, why: &[u8]) -> ! {
        self.say(reply::UNFIT, why, 0, 0, true);
        sys::exit(98)
    }

    fn send(&mut self) {
        // Without a controller there is nothing to serve.
        if !sys::write_all(self.socket, &self.kept) {
            sys::exit(0);
        }
        self.kept.clear();
    }
}

fn nanoseconds() -> u64 {
    const STEADY: usize = 1;
    let mut now = [0u64; 2];
    // SAFETY: the kernel writes seconds and nanoseconds.
    unsafe { sys::call3(nr::CLOCK_GETTIME, STEADY, now.as_mut_ptr() as usize, 0) };
    now[0] * 1_000_000_000 + now[1]
}
