//! What the server has to say. Reports of quick runs are sent several at a time: each message wakes the controller.

use super::shared::{self, KEPT_MAX, Shared};
use super::{BROKEN_OFF, REPLY, reply};
use crate::sys::{self, nr};
use core::sync::atomic::Ordering;

/// How long anything is kept back, at most.
const NANOSECONDS_MAX: u64 = 5_000_000;

pub(super) struct Outbox {
    socket: i32,
    shared: &'static Shared,
    // When the oldest of what is kept was put there.
    since: u64,
}

impl Outbox {
    /// None if there is no memory for it.
    pub(super) fn new(socket: i32) -> Option<Outbox> {
        Some(Outbox { socket, shared: shared::get()?, since: 0 })
    }

    /// Says something as soon as it pays. Only reports may wait.
    pub(super) fn say(&mut self, kind: u32, bytes: &[u8], status: i32, run: u64, urgent: bool) {
        // When messages are sent changes nothing but when they come.
        let now = nanoseconds();
        self.say_at(now, kind, bytes, status, run, urgent);
    }

    /// The same for many quick runs: who knows the time already need not ask.
    pub(super) fn say_at(&mut self, now: u64, kind: u32, bytes: &[u8], status: i32, run: u64, urgent: bool) {
        self.put(now, kind, bytes, status, run);
        self.send_if_due(now, kind != reply::REPORT || urgent);
    }

    /// Keeps it until somebody says that it is due. Sends what is kept only if there is no room.
    pub(super) fn put(&mut self, now: u64, kind: u32, bytes: &[u8], status: i32, run: u64) {
        let head = head(kind, bytes, status, run);
        self.shared.talk();
        if self.shared.kept().len() + REPLY + bytes.len() > KEPT_MAX {
            self.send();
        }
        if self.shared.kept().is_empty() {
            self.since = now;
        }
        if REPLY + bytes.len() > KEPT_MAX {
            return self.write(&[&head, bytes]);
        }
        self.shared.keep(&[&head, bytes]);
    }

    /// Sends what is kept, if somebody waits for it or it has waited long enough.
    pub(super) fn send_if_due(&mut self, now: u64, urgent: bool) {
        if !self.shared.kept().is_empty() && (urgent || now.saturating_sub(self.since) > NANOSECONDS_MAX) {
            self.send();
        }
    }

    /// The last thing that is said: there is no server any more.
    pub(super) fn despair(&mut self, why: &[u8]) -> ! {
        self.say(reply::UNFIT, why, 0, 0, true);
        sys::exit(98)
    }

    /// A process that repeats runs has ended while it talked. How much of that has come through nobody knows but the
    /// controller: it makes another server, and asks again for what it has not heard of.
    pub(super) fn break_off(&self) -> ! {
        const BOTH_WAYS: usize = 2;
        // SAFETY: no memory is involved.
        unsafe { sys::call3(nr::SHUTDOWN, self.socket as usize, BOTH_WAYS, 0) };
        sys::exit(BROKEN_OFF)
    }

    /// Sends all that is kept, also what a process has put there that is no more.
    pub(super) fn send(&mut self) {
        self.shared.talk();
        self.write(&[self.shared.kept()]);
        self.shared.kept.store(0, Ordering::Relaxed);
    }

    fn write(&self, parts: &[&[u8]]) {
        // Without a controller there is nothing to serve.
        if !parts.iter().all(|part| sys::write_all(self.socket, part)) {
            sys::exit(0);
        }
    }
}

/// Says that the process cannot be a server, before anything else could be.
pub(super) fn refuse(socket: i32, why: &[u8]) -> ! {
    sys::write_all(socket, &head(reply::UNFIT, why, 0, 0));
    sys::write_all(socket, why);
    sys::exit(98)
}

fn head(kind: u32, bytes: &[u8], status: i32, run: u64) -> [u8; REPLY] {
    let mut head = [0; REPLY];
    head[0..4].copy_from_slice(&kind.to_le_bytes());
    head[4..8].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    head[8..12].copy_from_slice(&status.to_le_bytes());
    head[12..20].copy_from_slice(&run.to_le_bytes());
    head
}

/// By a clock that only goes on.
pub(crate) fn nanoseconds() -> u64 {
    const STEADY: usize = 1;
    let mut now = [0u64; 2];
    // SAFETY: the kernel writes seconds and nanoseconds.
    unsafe { sys::call3(nr::CLOCK_GETTIME, STEADY, now.as_mut_ptr() as usize, 0) };
    now[0] * 1_000_000_000 + now[1]
}
