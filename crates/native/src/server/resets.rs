//! Runs one after another in one process that puts back what each has changed (see `crate::reset`): what it is to do,
//! and how the controller hears of it. Nothing is allocated: the heap may be what a run has destroyed.

use super::copies::{self, Marks};
use super::late;
use super::outbox::{Outbox, nanoseconds};
use super::shared::{self, Gist, Shared};
use super::{
    CAPTURED, CHECKED, CHECKPOINTS_OFF, FROM_MAIN, Head, REQUEST, Request, has_mail, reply, request,
};
use crate::reset;
use crate::run::with;
use crate::signals;
use crate::sys::{self, nr};
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_model::{Policy, Rng};

/// Longest time between two proofs, in ticks of the processor's clock: nobody hears of runs until they are proven, and
/// somebody may wait for one that has failed. That are some milliseconds.
const UNPROVEN_MAX: u64 = 1 << 24;

/// Exit code of a process that repeats runs, if it cannot.
const UNABLE: i32 = 96;

/// Input and both outputs.
pub(crate) const ALL_FILES: u8 = 0b111;

/// Whether runs can be repeated, as far as is known.
static ABLE: AtomicBool = AtomicBool::new(true);

/// Whether runs can be repeated, as far as is known.
pub(super) fn is_able() -> bool {
    ABLE.load(Ordering::Relaxed)
}

/// Whether a process has ended in this way because they cannot; then it is known from now on.
pub(super) fn note_unable(status: i32) -> bool {
    let unable = status == UNABLE << 8;
    ABLE.fetch_and(!unable, Ordering::Relaxed);
    unable
}

/// A process for the runs from `first` on, and for those of later requests like this one: `request` is the last that it has
/// taken. Gives back the number of the first run that it has not done; as an error the number of the run that this process is to do.
pub(super) fn some(request: &mut Request, first: u64, outbox: &mut Outbox) -> Result<u64, u64> {
    if !is_able() {
        return late::some(request, first, outbox).ok_or(first);
    }
    let shared = shared::get().expect("raddle bug: no shared memory");
    shared.take_doubt();
    outbox.send();
    shared.be_certain(first);
    shared.begin_process(first, request.last);
    let Some(child) = copies::copy(outbox) else {
        let number = reset::enter(Errand::new(request), &request.encoded);
        if request.flags & FROM_MAIN == 0 {
            copies::start(request, number);
        }
        return Err(number);
    };
    let (status, _) = copies::finished(child, request.hang_ms, shared);
    let begun = shared.run.load(Ordering::Acquire);
    request.last = shared.last.load(Ordering::Acquire);
    if shared.done.load(Ordering::Relaxed) != 0 {
        outbox.send();
        return Ok(begun);
    }
    let unable = note_unable(status);
    if shared.is_talking() && !unable {
        outbox.break_off();
    }
    let number = shared.take_back();
    let doubtful = shared.take_doubt();
    outbox.send();
    // What became of a run that was disturbed says nothing; the next process begins with it.
    if unable || doubtful {
        return Ok(number);
    }
    // Whatever has become of it: a process of its own will show.
    shared.alone.store(0, Ordering::Relaxed);
    outbox.say(reply::ALONE, &[], -1, number, false);
    copies::one(request, number, outbox).ok_or(number)
}

/// Whether the process that has repeated the runs of a request has said itself that they are done.
pub(super) fn is_told() -> bool {
    shared::get().is_some_and(|shared| shared.told.swap(0, Ordering::Relaxed) != 0)
}

/// The run comes to where somebody is chosen for the first time. From now on all runs may begin here, if this one is
/// like any other so far.
pub(crate) fn first_choice() {
    let seed = if late::is_invited() {
        late::first_choice()
    } else if reset::may_move() {
        if is_any() { reset::at_first_choice() } else { None }
    } else {
        return;
    };
    let number = shared::get().expect("raddle bug: no shared memory").run.load(Ordering::Relaxed);
    copies::go_on(number, seed);
}

/// Whether this run is like any other of its request so far.
pub(super) fn is_any() -> bool {
    with(|run| {
        let engine = &mut run.engine;
        engine.verdict().is_none() && engine.decisions() == 0 && engine.policy_mut().can_reseed()
    })
}

/// The plan that runs are repeated by, and room to read a request like it; all of it outside of what runs can change.
pub(crate) struct Mail<'a> {
    pub(crate) plan: &'a [u8],
    pub(crate) room: &'a mut [u8],
}

/// What a process that repeats runs is to do.
pub(crate) struct Errand {
    outbox: Outbox,
    pub(super) flags: u32,
    pub(super) hang_ms: u32,
    /// Whether it is to be known of a run how it came about.
    record: bool,
    seed: u64,
    last: u64,
    entry: u64,
    /// How input and output are when a run begins.
    marks: Marks,
    /// Whether the run that is named in shared memory has been begun.
    begun: bool,
    now: u64,
    /// Whether somebody waits for it.
    urgent: bool,
    /// Which of input and outputs the last run may have read or written, a bit for each.
    soiled: u8,
    /// When the last proof was.
    proven: u64,
    /// The ways in which runs have ended so far, a bit for each, and the most steps that one has had.
    ways: u64,
    longest: u64,
}

impl Errand {
    pub(super) fn new(request: &Request) -> Errand {
        let Request { flags, hang_ms, last, entry, .. } = *request;
        let outbox = Outbox::new(super::socket()).expect("raddle bug: no shared memory");
        Errand {
            outbox,
            flags,
            hang_ms,
            record: request.kind != request::SAMPLE,
            seed: request.plan.seed,
            last,
            entry,
            marks: Marks::default(),
            begun: false,
            now: 0,
            urgent: false,
            soiled: ALL_FILES,
            proven: 0,
            ways: 0,
            longest: 0,
        }
    }

    pub(super) fn shared(&self) -> &'static Shared {
        shared::get().expect("raddle bug: no shared memory")
    }

    /// The next run; none if all are done. Only what is `proven` can be left as it is.
    pub(crate) fn next(&mut self, proven: bool) -> Option<u64> {
        let shared = self.shared();
        let number = shared.run.load(Ordering::Relaxed) + u64::from(self.begun);
        shared.run.store(number, Ordering::Release);
        self.begun = true;
        if proven {
            self.now = nanoseconds();
            if has_mail(super::socket()) {
                return None;
            }
        }
        (number < self.last).then_some(number)
    }

    /// When all runs of a request are done: says so, and waits for the next. The first of its runs, if they are more of the
    /// same; else it is left for others, as is a word that came before the last run.
    pub(crate) fn next_request(&mut self, Mail { plan, room }: Mail) -> Option<u64> {
        const RECEIVE: usize = 45;
        const LOOK: usize = 2;
        const ALL: usize = 0x100;
        let (shared, socket) = (self.shared(), super::socket());
        let all = shared.run.load(Ordering::Relaxed) >= self.last;
        // As long as the one who asks writes it in one piece.
        let room =
            room.get_mut(..REQUEST + plan.len()).filter(|_| all && !self.record && !has_mail(socket))?;
        self.outbox.say(reply::DONE, &[], 0, 0, true);
        shared.told.store(1, Ordering::Relaxed);
        // SAFETY: the kernel writes into a buffer that is alive.
        let peeked = unsafe {
            sys::call(RECEIVE, [socket as usize, room.as_mut_ptr() as usize, room.len(), LOOK | ALL, 0, 0])
        };
        let head = Head::of(room);
        let same = Head { first: head.first, last: head.last, ..self.head(plan) };
        if peeked != room.len() as isize
            || head != same
            || room[REQUEST..] != *plan
            || !sys::read_all(socket, room)
        {
            return None;
        }
        self.last = head.last;
        shared.last.store(head.last, Ordering::Relaxed);
        shared.run.store(head.first, Ordering::Relaxed);
        shared.be_certain(head.first);
        shared.told.store(0, Ordering::Release);
        (self.now, self.proven) = (nanoseconds(), ticks());
        (head.first < head.last).then_some(head.first)
    }

    /// What a request is like that this process was made for.
    fn head(&self, plan: &[u8]) -> Head {
        Head {
            kind: request::SAMPLE,
            plan: plan.len(),
            first: 0,
            last: 0,
            hang_ms: self.hang_ms,
            flags: self.flags,
            entry: self.entry,
        }
    }

    /// Whether nobody can wait until it is known that this run was not disturbed by those before, or should not.
    pub(crate) fn wants_proof(&mut self, number: u64) -> bool {
        let shared = self.shared();
        let Some((report, gist)) = shared.report() else { return true };
        if self.is_unusual(gist) {
            return true;
        }
        let long = ticks().wrapping_sub(self.proven) > UNPROVEN_MAX;
        self.checks() || long || number + 1 >= self.last || !shared.has_room(report.len())
    }

    /// Whether a run may have done what none has before: those have most likely written where none has.
    fn is_unusual(&mut self, gist: Gist) -> bool {
        let before = (self.ways, self.longest);
        self.ways |= 1 << (gist.way % u64::BITS);
        self.longest = self.longest.max(gist.steps);
        before != (self.ways, self.longest)
    }

    /// All runs so far were what they are said to be.
    pub(crate) fn proven(&mut self, next: u64) {
        let now = self.now;
        self.proven = ticks();
        self.shared().be_certain(next);
        let urgent = core::mem::take(&mut self.urgent);
        self.outbox.send_if_due(now, urgent);
    }

    /// A run begins; those before it may have disturbed it.
    pub(crate) fn begin_doubt(&self) {
        self.shared().begin_doubt();
    }

    /// It is over. Does not come back if nobody waits for it any more.
    pub(crate) fn end_doubt(&self) {
        while !self.shared().end_doubt() {
            // SAFETY: lets others run, and the one among them who ends this process.
            unsafe { sys::call3(nr::SCHED_YIELD, 0, 0, 0) };
        }
    }

    /// The runs after the first since the last proof may have been disturbed: nobody hears of them, and they are done
    /// again.
    pub(crate) fn take_back(&mut self) {
        let shared = self.shared();
        let next = shared.take_back();
        shared.run.store(next - 1, Ordering::Release);
        (self.ways, self.longest) = (0, 0);
    }

    /// Outputs and input are as at the beginning.
    pub(crate) fn prepare(&mut self) {
        self.shared().begin_run();
        let captured = self.flags & CAPTURED != 0;
        match core::mem::take(&mut self.soiled) & if captured { ALL_FILES } else { 1 } {
            0 => {}
            ALL_FILES => self.marks.rewind(captured),
            some => self.marks.rewind_these(some),
        }
    }

    /// A run may have read input or written output: a bit for each.
    pub(crate) fn soiled(&mut self, files: u8) {
        self.soiled |= files;
    }

    /// Whether runs may begin later than before main: not if it shows that they do, or has shown.
    pub(crate) fn may_begin_late(&self) -> bool {
        let early = self.shared().early.load(Ordering::Relaxed) != 0;
        !self.record && self.flags & (CAPTURED | CHECKPOINTS_OFF) == CAPTURED && !early
    }

    /// Runs begin where this one is, with input and output as they are now. Whether anything is written already.
    pub(crate) fn moved(&mut self, number: u64) -> bool {
        self.outbox.put(self.now, reply::MOVED, &[], 0, number);
        self.shared().be_certain(number);
        self.shared().begin_run();
        self.marks = Marks::now();
        self.marks.has_output()
    }

    /// How many runs there are from this one on.
    pub(crate) fn left(&self, number: u64) -> u64 {
        self.last.saturating_sub(number)
    }

    /// The seed of a run.
    pub(crate) fn seed(&self, number: u64) -> u64 {
        Rng::seed_of_run(self.seed, number)
    }

    /// From this run on all begin before main, in another process.
    pub(crate) fn begin_early(&mut self) -> ! {
        self.shared().early.store(1, Ordering::Relaxed);
        self.done()
    }

    /// Whether connections of the program with itself are done without the kernel: not if that has not worked.
    pub(crate) fn models_streams(&self) -> bool {
        !self.record && self.shared().plain.load(Ordering::Relaxed) == 0
    }

    /// From this run on they are left to the kernel, in another process.
    pub(crate) fn leave_streams(&mut self) -> ! {
        self.shared().plain.store(1, Ordering::Relaxed);
        self.done()
    }

    /// Whether outputs are files of the controller's own that it does not read after these runs: what one of them has
    /// written it asks for by recording it.
    pub(crate) fn keeps_output(&self) -> bool {
        !self.record && self.flags & CAPTURED != 0
    }

    /// Whether memory is to be compared after each run.
    pub(crate) fn checks(&self) -> bool {
        self.flags & CHECKED != 0
    }

    /// Keeps what came of a run in this process. The `first` since the last proof is certain.
    pub(crate) fn report(&mut self, number: u64, first: bool) {
        let status = if self.checks() { copies::output_hash() } else { 0 };
        let (shared, now) = (self.shared(), self.now);
        if let Some((report, gist)) = shared.report() {
            self.urgent |= gist.urgent;
            self.outbox.put(now, reply::REPORT, report, status, number);
        }
        if first {
            shared.be_certain(number + 1);
        }
    }

    /// Does a run in a process of its own, because of a call. True in that.
    pub(crate) fn alone(&mut self, number: u64, call: u32) -> bool {
        self.outbox.say(reply::ALONE, &[], call as i32, number, false);
        self.apart(number)
    }

    /// Does a run in a process of its own. True in that.
    pub(super) fn apart(&mut self, number: u64) -> bool {
        let (shared, flags, hang_ms) = (self.shared(), self.flags, self.hang_ms);
        shared.alone.store(1, Ordering::Relaxed);
        signals::wake_every(copies::SLICE_MS);
        self.soiled = ALL_FILES;
        let copy = copies::alone(number, flags, hang_ms, &mut self.outbox);
        if !copy {
            signals::wake_every(0);
            signals::sleep_again();
            shared.alone.store(0, Ordering::Relaxed);
        }
        copy
    }

    /// Says something, with nothing to add.
    pub(super) fn say(&mut self, kind: u32, status: i32, number: u64) {
        self.outbox.say(kind, &[], status, number, true);
    }

    /// Puts something to what is sent next.
    pub(super) fn put(&mut self, kind: u32, bytes: &[u8], number: u64) {
        self.outbox.put(self.now, kind, bytes, 0, number);
    }

    /// Sends all that waits.
    pub(super) fn send(&mut self) {
        self.outbox.send();
    }

    /// All runs are done, or nobody wants more.
    pub(crate) fn done(&mut self) -> ! {
        self.outbox.send();
        self.shared().done.store(1, Ordering::Relaxed);
        sys::exit(0)
    }

    /// Runs cannot be repeated here.
    pub(crate) fn unfit(&mut self, why: &[u8]) -> ! {
        let number = self.shared().run.load(Ordering::Relaxed);
        self.outbox.say(reply::ALONE, why, -1, number, true);
        sys::exit(UNABLE)
    }

    /// A run has left something behind: a mistake of ours.
    pub(crate) fn differs(&mut self, number: u64, what: &str, which: usize) -> ! {
        let why = alloc::format!("raddle bug: run {number} has changed {what} {which:#x}");
        self.outbox.despair(why.as_bytes())
    }
}

/// The processor's clock: it costs less to look at than the kernel's.
fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}
