//! Memory that the server and its copies share: signs of life, and what came of a run.

use crate::sys;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use raddle_model::{SiteId, TaskId};

/// What a copy shares with the server.
#[repr(C)]
pub(crate) struct Shared {
    /// Grows with every operation.
    pub(crate) beats: AtomicU64,
    /// Where the program was last.
    pub(crate) site: AtomicU32,
    pub(crate) task: AtomicU32,
    /// Bytes of the report; 0 if there is none yet.
    pub(crate) length: AtomicU64,
    /// If runs are repeated in a copy: the one that goes on.
    pub(crate) run: AtomicU64,
    /// Whether that run has a process of its own.
    pub(crate) alone: AtomicU32,
    /// Bytes of replies that are not sent yet.
    pub(crate) mail: AtomicU64,
}

/// Where the report begins.
const HEAD: usize = 4096;
/// Room for reports: a report of a million events has about ten megabytes.
const ROOM: usize = 1 << 28;
/// Room for replies that are sent together.
const MAIL: usize = 1 << 17;

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(core::ptr::null_mut());

/// It, if this process is a server or a copy of one.
pub(crate) fn shared() -> Option<&'static Shared> {
    // SAFETY: mapped once and never given back.
    unsafe { SHARED.load(Ordering::Relaxed).as_ref() }
}

/// A sign of life.
#[inline]
pub fn beat(task: TaskId, site: SiteId) {
    if let Some(shared) = shared() {
        // Nobody else writes these, so this need not be one indivisible step.
        shared.beats.store(shared.beats.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        shared.site.store(site.0, Ordering::Relaxed);
        shared.task.store(task.0, Ordering::Relaxed);
    }
}

/// Hands a report to the server.
pub(crate) fn publish(report: &[u8]) {
    let Some(shared) = shared() else { return };
    if report.len() <= ROOM {
        let to = (&raw const *shared).cast::<u8>().cast_mut();
        // SAFETY: the room after the head is this process's alone, and large enough.
        unsafe { core::ptr::copy_nonoverlapping(report.as_ptr(), to.add(HEAD), report.len()) };
        shared.length.store(report.len() as u64, Ordering::Release);
    }
}

/// Maps it.
pub(crate) fn map() {
    SHARED.store(sys::map(HEAD + ROOM + MAIL, true).cast(), Ordering::Relaxed);
}

impl Shared {
    /// The report of the run that is over.
    pub(crate) fn report(&self) -> &[u8] {
        let length = self.length.load(Ordering::Acquire) as usize;
        // SAFETY: so many bytes were written, and nobody writes now.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast::<u8>().add(HEAD), length) }
    }

    /// Puts a reply to those that are sent together; false if there is no room for it.
    pub(crate) fn post(&self, head: &[u8], bytes: &[u8]) -> bool {
        let used = self.mail.load(Ordering::Relaxed) as usize;
        if used + head.len() + bytes.len() > MAIL {
            return false;
        }
        // SAFETY: both fit into the room that is left.
        unsafe {
            let to = (&raw const *self).cast::<u8>().cast_mut().add(HEAD + ROOM + used);
            core::ptr::copy_nonoverlapping(head.as_ptr(), to, head.len());
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.add(head.len()), bytes.len());
        }
        self.mail.store((used + head.len() + bytes.len()) as u64, Ordering::Release);
        true
    }
}

/// Sends the replies that have gathered.
pub(crate) fn flush(socket: i32, shared: &Shared) -> bool {
    let length = shared.mail.swap(0, Ordering::Relaxed) as usize;
    // SAFETY: the room for replies, of which so many bytes are written.
    let bytes = unsafe {
        let from = (&raw const *shared).cast::<u8>().add(HEAD + ROOM);
        core::slice::from_raw_parts(from, length)
    };
    sys::write_all(socket, bytes)
}
