//! What a copy that repeats runs is to do, and how it tells the controller. It allocates nothing: the heap may be what
//! a run has destroyed.

use crate::server::{self, CHECKED, Server, reply};
use crate::shared::{Shared, flush, shared};
use crate::sys;
use core::sync::atomic::Ordering;

/// Runs between two looks whether the controller has had enough.
const LOOK_EVERY: u64 = 32;

/// Exit code of a copy that repeats runs: the controller has had enough.
pub(crate) const STOPPED: i32 = 95;
/// Likewise: runs cannot be repeated here.
pub(crate) const UNABLE: i32 = 96;

/// What a copy that repeats runs is to do. It allocates nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errand {
    pub(crate) socket: i32,
    pub(crate) flags: u32,
    pub(crate) hang_ms: u32,
    /// The run before which to end.
    pub(crate) last: u64,
    /// Whether the run that is named in shared memory has been begun.
    pub(crate) begun: bool,
}

impl Errand {
    /// Nothing.
    pub(crate) const NONE: Errand = Errand { socket: -1, flags: 0, hang_ms: 0, last: 0, begun: false };

    fn shared(&self) -> &'static Shared {
        shared().expect("raddle bug: no shared memory")
    }

    fn server(&self) -> Server {
        Server::new(self.socket)
    }

    /// The next run; none if all are done.
    pub(crate) fn next(&mut self) -> Option<u64> {
        let shared = self.shared();
        let number = shared.run.load(Ordering::Relaxed) + u64::from(self.begun);
        self.begun = true;
        shared.run.store(number, Ordering::Release);
        if number >= self.last {
            return None;
        }
        if number.is_multiple_of(LOOK_EVERY) && self.server().wait(self.socket, 0) {
            sys::exit(STOPPED);
        }
        Some(number)
    }

    /// Outputs and input are as at the beginning.
    pub(crate) fn prepare(&self) {
        server::prepare(self.flags);
    }

    /// Whether memory is to be compared after each run.
    pub(crate) fn checks(&self) -> bool {
        self.flags & CHECKED != 0
    }

    /// Passes on what came of a run in this process.
    pub(crate) fn report(&self, number: u64) {
        let shared = self.shared();
        let status = if self.checks() { server::output_hash() } else { 0 };
        let head = server::head(reply::REPORT, shared.report().len(), status, number);
        if shared.post(&head, shared.report()) {
            return;
        }
        self.flush();
        if !shared.post(&head, shared.report()) {
            self.server().tell(number, 0, false, self.flags);
        }
    }

    fn flush(&self) {
        if !flush(self.socket, self.shared()) {
            sys::exit(0);
        }
    }

    /// Does a run in a process of its own, because of a call. True in that.
    pub(crate) fn alone(&self, number: u64, call: u32) -> bool {
        self.flush();
        let shared = self.shared();
        server::send(self.socket, reply::ALONE, &[], call as i32, number);
        shared.alone.store(1, Ordering::Relaxed);
        let copy = self.server().alone(number, self.flags, self.hang_ms);
        shared.alone.store(0, Ordering::Relaxed);
        copy
    }

    /// All runs are done.
    pub(crate) fn done(&self) -> ! {
        self.flush();
        sys::exit(0)
    }

    /// Runs cannot be repeated here.
    pub(crate) fn unfit(&self, why: &[u8]) -> ! {
        server::send(self.socket, reply::ALONE, why, -1, self.shared().run.load(Ordering::Relaxed));
        sys::exit(UNABLE)
    }

    /// A run has left something behind: a mistake of ours.
    pub(crate) fn differs(&self, number: u64, what: &str, which: usize) -> ! {
        self.flush();
        let why = alloc::format!("raddle bug: run {number} has changed {what} {which:#x}");
        server::send(self.socket, reply::UNFIT, why.as_bytes(), 0, 0);
        sys::exit(98)
    }
}
