//! Memory that a run shares with the server: signs of life, and in the end the report.

use super::left::{self, LEFT_MAX, Left};
use super::when::When;
use crate::arena;
use crate::code::PAGE;
use crate::sys;
use crate::warm::{self, Visited};
use crate::written::Written;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use raddle_model::{SiteId, TaskId};

/// What a run shares with the server. A short report follows it in the same page: a copy pays for each. Those that are longer
/// have room before it.
#[repr(C, align(64))]
pub(crate) struct Shared {
    /// Grows with every operation.
    pub(super) beats: AtomicU64,
    /// Where the program was last.
    pub(super) site: AtomicU32,
    pub(super) task: AtomicU32,
    /// Bytes of the report; 0 if there is none yet.
    length: AtomicU64,
    /// What it says in short, but for the steps.
    urgent: AtomicU32,
    way: AtomicU32,
    /// Which run goes on in a process that does several.
    pub(super) run: AtomicU64,
    /// The run after the last of those that it is asked for.
    pub(super) last: AtomicU64,
    /// Whether it has done all of them and said so itself.
    pub(super) told: AtomicU32,
    /// Whether that process has done all that it was to do.
    pub(super) done: AtomicU32,
    /// Whether a process that repeats runs has made one of its own for this run.
    pub(super) alone: AtomicU32,
    /// Whether runs that are repeated must begin before main.
    pub(super) early: AtomicU32,
    /// Whether connections of the program with itself are left to the kernel.
    pub(super) plain: AtomicU32,
    /// Whether a run goes on that may have been disturbed by those before it (see `crate::reset`).
    doubt: AtomicU32,
    /// How many of the bytes that wait to be sent are certain, and which run comes after those that they tell of.
    certain: AtomicU64,
    next: AtomicU64,
    /// Whether that process tells of its runs, or waits to be told of the next.
    talks: AtomicU32,
    /// The number of scheduling points at which a run of a search is to take its next checkpoint.
    pub(super) due: AtomicU32,
    /// Whether it is to take one before its first choice.
    pub(super) first: AtomicU32,
    /// Scheduling points of the last run of a search.
    pub(super) points: AtomicU32,
    /// What the report says in short: the steps.
    steps: AtomicU64,
    /// The server's process.
    pub(super) server: AtomicU32,
    /// Processes that are left behind, and how many there are; see `left`.
    pub(super) left: [Left; LEFT_MAX],
    pub(super) left_count: AtomicU32,
    /// When the run began, or took its last checkpoint.
    pub(super) since: AtomicU64,
    /// Whether the program has done something that outlives its run.
    pub(super) outlives: AtomicU32,
    /// Bytes of the plan that lies where the report will.
    mail: AtomicU64,
    /// Copies that the server has made, and whether these begin with what they need (see `crate::warm`).
    pub(crate) made: AtomicU64,
    pub(crate) warm: AtomicU32,
    /// After so many milliseconds without a sign of life a run hangs.
    pub(super) hang_ms: AtomicU32,
    /// The copy that another waits for which makes them (see `late`), and whether it was ended because it hung.
    pub(super) copy: AtomicU32,
    pub(super) hung: AtomicU32,
    /// Whether a copy is to tell which pages it has written.
    pub(super) asks: AtomicU32,
    when: UnsafeCell<When>,
    /// Bytes that wait to be sent: they must not be lost with the process that has put them there.
    pub(super) kept: AtomicU64,
}

/// What any bytes are a value of.
///
/// # Safety
/// It must be so.
pub(super) unsafe trait Plain {}

// SAFETY: bytes and numbers.
unsafe impl Plain for u8 {}
// SAFETY: likewise.
unsafe impl Plain for u64 {}
// SAFETY: likewise.
unsafe impl Plain for [usize; 2] {}

/// What a report says, in short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gist {
    /// Whether somebody waits for this report more than for others.
    pub(crate) urgent: bool,
    /// How the run has ended: a small number for each way.
    pub(crate) way: u32,
    pub(crate) steps: u64,
}

/// Room for long reports: a report of a million events has about ten megabytes.
const ROOM: usize = 1 << 28;
/// Room after that for what waits to be sent.
pub(super) const KEPT_MAX: usize = 1 << 16;
/// What else there is, before the head. That comes last, and begins a page.
const BEFORE: usize =
    (ROOM + KEPT_MAX + size_of::<[Visited; 2]>() + size_of::<Written>()).next_multiple_of(PAGE);
/// Room for a short report.
const SHORT_MAX: usize = PAGE - size_of::<Shared>();

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(core::ptr::null_mut());

/// Makes the memory. False if there is none.
pub(super) fn prepare() -> bool {
    const SIZE: usize = BEFORE + PAGE;
    // The head lies beside what every run writes to, if there is nothing else.
    let memory = sys::map_near(arena::BASE - SIZE, SIZE, true);
    let shared: *mut Shared = if memory.is_null() { memory } else { memory.wrapping_add(BEFORE) }.cast();
    if !shared.is_null() {
        // SAFETY: fresh memory, and large enough.
        unsafe { (&raw mut (*shared).when).write(UnsafeCell::new(When::new(left::TAKE_NS))) };
    }
    SHARED.store(shared, Ordering::Relaxed);
    if let Some(shared) = get() {
        // SAFETY: a question.
        let own = unsafe { sys::call3(sys::nr::GETPID, 0, 0, 0) };
        shared.server.store(own as u32, Ordering::Relaxed);
    }
    get().is_some()
}

pub(super) fn get() -> Option<&'static Shared> {
    // SAFETY: mapped once and never given back.
    unsafe { SHARED.load(Ordering::Relaxed).as_ref() }
}

/// A sign of life.
#[inline(always)]
pub fn beat(task: TaskId, site: SiteId) {
    if let Some(shared) = get() {
        // Nobody else writes these, so this need not be one indivisible step.
        shared.beats.store(shared.beats.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        shared.site.store(site.0, Ordering::Relaxed);
        shared.task.store(task.0, Ordering::Relaxed);
    }
}

/// After how many milliseconds without a sign of life a run hangs.
pub(crate) fn hang_ms() -> u32 {
    get().map_or(0, |shared| shared.hang_ms.load(Ordering::Relaxed))
}

/// Whether a run of a search is to take a checkpoint: so many scheduling points it has had, and there is a choice.
#[inline]
pub(crate) fn is_due(points: usize, choice: bool) -> bool {
    get().is_some_and(|shared| {
        points >= shared.due.load(Ordering::Relaxed) as usize
            || choice && shared.first.load(Ordering::Relaxed) != 0
    })
}

/// No run goes on that is in doubt.
const CERTAIN: u32 = 0;
/// One does.
const DOUBTFUL: u32 = 1;
/// Its process will be ended, and must not go on.
const CONDEMNED: u32 = 2;

/// Runs that may have been disturbed.
impl Shared {
    /// Such a run begins.
    pub(super) fn begin_doubt(&self) {
        self.doubt.store(DOUBTFUL, Ordering::Relaxed);
    }

    /// It is over. False if its process is to end.
    pub(super) fn end_doubt(&self) -> bool {
        self.doubt.compare_exchange(DOUBTFUL, CERTAIN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The number of such a run, if one goes on.
    pub(super) fn in_doubt(&self) -> Option<u64> {
        (self.doubt.load(Ordering::Acquire) == DOUBTFUL).then(|| self.run.load(Ordering::Relaxed))
    }

    /// Its process is to end, wherever it is: but not if the run has just ended.
    pub(super) fn condemn(&self) -> bool {
        self.doubt.compare_exchange(DOUBTFUL, CONDEMNED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Nothing goes on any more. Whether such a run did.
    pub(super) fn take_doubt(&self) -> bool {
        self.doubt.swap(CERTAIN, Ordering::AcqRel) != CERTAIN
    }
}

impl Shared {
    /// What is known of checkpoints by fork.
    #[expect(
        clippy::mut_from_ref,
        reason = "it lies in memory that processes share, of which one is at work"
    )]
    pub(super) fn when(&self) -> &mut When {
        // SAFETY: of the processes that share it one is at work at a time, on one thread; nobody keeps it.
        unsafe { &mut *self.when.get() }
    }

    /// Puts a plan where the report will lie; false if it is too long.
    pub(super) fn put_mail(&self, plan: &[u8]) -> bool {
        let fits = plan.len() <= ROOM;
        if fits {
            // SAFETY: the room is large enough, and nobody else writes to it.
            unsafe { core::ptr::copy_nonoverlapping(plan.as_ptr(), self.room(plan.len()), plan.len()) };
            self.mail.store(plan.len() as u64, Ordering::Release);
        }
        fits
    }

    /// The plan that lies where the report will.
    pub(super) fn mail(&self) -> &[u8] {
        let length = self.mail.load(Ordering::Acquire) as usize;
        // SAFETY: so much was written.
        unsafe { core::slice::from_raw_parts(self.room(length), length) }
    }

    /// The next checkpoint of a run of a search is taken then, or none; and one before the first choice.
    pub(super) fn set_due(&self, points: Option<u32>, first: bool) {
        self.due.store(points.unwrap_or(u32::MAX), Ordering::Relaxed);
        self.first.store(u32::from(first), Ordering::Relaxed);
    }

    /// A process will be made that repeats these runs; all is said that was to be said before.
    pub(super) fn begin_process(&self, first: u64, last: u64) {
        self.run.store(first, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
        for flag in [&self.done, &self.told, &self.alone, &self.copy, &self.hung] {
            flag.store(0, Ordering::Relaxed);
        }
        self.begin_run();
    }

    /// A run begins, or goes on: there is no report yet, and all that was to be said before is said or kept.
    pub(super) fn begin_run(&self) {
        self.length.store(0, Ordering::Relaxed);
        self.asks.store(0, Ordering::Relaxed);
        self.talks.store(0, Ordering::Release);
    }

    /// Something is said or heard. Until the next run begins, whoever ends leaves it open how far that has come.
    pub(super) fn talk(&self) {
        self.talks.store(1, Ordering::Release);
    }

    pub(super) fn is_talking(&self) -> bool {
        self.talks.load(Ordering::Acquire) != 0
    }

    /// The report, if there is one, and what it says in short.
    pub(super) fn report(&self) -> Option<(&[u8], Gist)> {
        let length = self.length.load(Ordering::Acquire) as usize;
        let gist = Gist {
            urgent: self.urgent.load(Ordering::Relaxed) != 0,
            way: self.way.load(Ordering::Relaxed),
            steps: self.steps.load(Ordering::Relaxed),
        };
        // SAFETY: whoever wrote it has said so last, and writes no more.
        (length > 0).then(|| (unsafe { core::slice::from_raw_parts(self.room(length), length) }, gist))
    }

    /// Adds to what waits to be sent. Whoever is killed in between has added nothing.
    pub(super) fn keep(&self, parts: &[&[u8]]) {
        let start = self.kept.load(Ordering::Relaxed) as usize;
        let mut at = start;
        for part in parts {
            assert!(at + part.len() <= KEPT_MAX, "raddle bug: no room for what is to be sent");
            // SAFETY: the room is large enough, and only the process that is at work writes to it.
            unsafe { core::ptr::copy_nonoverlapping(part.as_ptr(), self.kept_room().add(at), part.len()) };
            at += part.len();
        }
        self.kept.store(at as u64, Ordering::Release);
    }

    /// Whether this and as much again can wait to be sent.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.kept().len() + 2 * (super::REPLY + bytes) <= KEPT_MAX
    }

    /// All that waits to be sent is certain, and this run comes next.
    pub(super) fn be_certain(&self, next: u64) {
        self.certain.store(self.kept.load(Ordering::Relaxed), Ordering::Relaxed);
        self.next.store(next, Ordering::Release);
    }

    /// Takes back what is not certain. Gives back the run that comes next.
    pub(super) fn take_back(&self) -> u64 {
        // What was certain may have been sent since.
        self.kept.fetch_min(self.certain.load(Ordering::Relaxed), Ordering::Release);
        self.next.load(Ordering::Acquire)
    }

    /// What waits to be sent.
    pub(super) fn kept(&self) -> &[u8] {
        let length = self.kept.load(Ordering::Acquire) as usize;
        // SAFETY: so much has been written.
        unsafe { core::slice::from_raw_parts(self.kept_room(), length) }
    }

    fn kept_room(&self) -> *mut u8 {
        // SAFETY: within the mapping.
        unsafe { self.start().add(ROOM) }
    }

    /// Which pages of code a copy has come to that was watched: one from before main, and one that was made late.
    pub(crate) fn visited(&self) -> &[Visited; 2] {
        // SAFETY: it comes next in the mapping, which is aligned there, and is valid as zeros.
        unsafe { &*self.kept_room().add(KEPT_MAX).cast::<[Visited; 2]>() }
    }

    /// Which pages copies have written that were made late.
    pub(super) fn written(&self) -> &Written {
        // SAFETY: it comes after that in the mapping, which is aligned there, and is valid as zeros.
        unsafe { &*(&raw const *self.visited()).add(1).cast::<Written>() }
    }

    /// The room for long reports, as that for something else while there is none.
    #[expect(
        clippy::mut_from_ref,
        reason = "it lies in memory that processes share, of which one is at work"
    )]
    pub(super) fn spare_room<T: Plain>(&self) -> &mut [T] {
        const SPARE: usize = 1 << 16;
        // SAFETY: it is large enough, begins with a page, and any bytes are such values; of the processes that share it one is
        // at work.
        unsafe { core::slice::from_raw_parts_mut(self.start().cast::<T>(), SPARE / size_of::<T>()) }
    }

    /// The room for so many bytes.
    fn room(&self, bytes: usize) -> *mut u8 {
        if bytes > SHORT_MAX {
            return self.start();
        }
        // SAFETY: the rest of the page that begins with the head.
        unsafe { (&raw const *self).add(1).cast::<u8>().cast_mut() }
    }

    /// Where the mapping begins.
    fn start(&self) -> *mut u8 {
        // SAFETY: the head comes after so many bytes of the same mapping.
        unsafe { (&raw const *self).cast::<u8>().sub(BEFORE).cast_mut() }
    }
}

/// Hands a report to the server.
pub(crate) fn publish(report: &[u8], gist: Gist) {
    let Some(shared) = get() else { return };
    warm::tell(shared);
    if shared.asks.load(Ordering::Relaxed) != 0 {
        shared.written().tell(shared.spare_room());
    }
    if report.len() <= ROOM {
        // SAFETY: the room is this process's alone, and large enough.
        unsafe { core::ptr::copy_nonoverlapping(report.as_ptr(), shared.room(report.len()), report.len()) };
        shared.urgent.store(u32::from(gist.urgent), Ordering::Relaxed);
        shared.way.store(gist.way, Ordering::Relaxed);
        shared.steps.store(gist.steps, Ordering::Relaxed);
        shared.length.store(report.len() as u64, Ordering::Release);
    }
}
