//! What threads wait for: mutexes, condition variables, readers-writer locks, semaphores, barriers, onces. The
//! engine's world keeps their state; of the program's memory only what libc writes there when an object is made
//! is looked at. Results are those of pthread: 0 or an error number.

use crate::access::{check_memory, touched_wrongly};
use crate::cancel;
use crate::run::{Run, arrive, with, with_active};
use crate::way::Way;
use alloc::{format, vec};
use raddle_model::objects::State;
use raddle_model::objects::barrier::Barrier;
use raddle_model::objects::condvar::Condvar;
use raddle_model::objects::mutex::Mutex;
use raddle_model::objects::once::Once;
use raddle_model::objects::rwlock::RwLock;
use raddle_model::{Failure, FailureKind, Kind, Mode, ObjectId, Op, Order, Outcome, Plain, SiteId, Touch};

/// Error numbers.
pub mod error {
    #![expect(missing_docs, reason = "the names are the system's")]
    pub const PERMISSION: i32 = 1;
    pub const NO_SUCH: i32 = 3;
    pub const INTERRUPTED: i32 = 4;
    pub const AGAIN: i32 = 11;
    pub const BUSY: i32 = 16;
    pub const INVALID: i32 = 22;
    pub const RANGE: i32 = 34;
    pub const DEADLOCK: i32 = 35;
    pub const TIMED_OUT: i32 = 110;
    pub const OWNER_DEAD: i32 = 130;
    pub const NOT_RECOVERABLE: i32 = 131;
}

/// Whether an operation waits, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// Until it can be done.
    Endless,
    /// Not at all.
    None,
    /// So many nanoseconds.
    Limited(u64),
}

impl Patience {
    /// The operation, as long as it waits.
    pub fn apply(self, op: Op) -> Op {
        match self {
            Patience::Endless => op,
            Patience::None => op.mode(Mode::Try),
            Patience::Limited(nanoseconds) => op.mode(Mode::Timed).arg(nanoseconds),
        }
    }
}

pub(crate) fn code(outcome: Outcome) -> i32 {
    match outcome {
        Outcome::Failed => error::BUSY,
        Outcome::TimedOut => error::TIMED_OUT,
        _ => 0,
    }
}

/// Where glibc keeps the kind of a mutex.
const MUTEX_KIND: usize = 16;
const RECURSIVE: u32 = 1;
const ERROR_CHECKING: u32 = 2;
const ROBUST: u32 = 16;

/// All that glibc says of a mutex's kind.
fn kinds(address: usize) -> u32 {
    // SAFETY: the program says that a mutex lies there.
    unsafe { ((address + MUTEX_KIND) as *const u32).read() }
}

fn mutex_kind(address: usize) -> u32 {
    kinds(address) & 3
}

fn is_robust(address: usize) -> bool {
    kinds(address) & ROBUST != 0
}

impl Run {
    /// The object at an address, or another if that cannot be what is there: memory is used again, and many locks are made by nothing but zeros.
    #[inline(always)]
    fn fitting(
        &mut self,
        address: usize,
        site: SiteId,
        fits: impl FnOnce(&State) -> bool,
        state: impl FnOnce() -> State,
    ) -> ObjectId {
        match self.objects.sync(address) {
            Some(object) if fits(&self.engine.world().object(object).state) => object,
            _ => self.new_object(address, site, state()),
        }
    }

    #[inline(always)]
    fn mutex(&mut self, address: usize, site: SiteId) -> ObjectId {
        let recursive = mutex_kind(address) == RECURSIVE;
        self.fitting(
            address,
            site,
            |state| matches!(state, State::Mutex(mutex) if mutex.recursive == recursive),
            || State::Mutex(Mutex { recursive, ..Mutex::default() }),
        )
    }

    /// A mutex that asks for nothing special, in memory that may be touched.
    #[inline(always)]
    fn ordinary_mutex(&mut self, address: usize, pc: usize) -> Option<(ObjectId, SiteId)> {
        let site = self.site(pc);
        let ordinary = self.blocks.check(address, TOUCHED) && kinds(address) & (ERROR_CHECKING | ROBUST) == 0;
        ordinary.then(|| (self.mutex(address, site), site))
    }

    /// Whether the running task holds the mutex.
    fn holds(&self, object: ObjectId) -> bool {
        let state = &self.engine.world().object(object).state;
        matches!(state, State::Mutex(mutex) if mutex.owner == Some(self.running))
    }
}

/// What every lock has at least, to be looked at before and after a wait: it may lie in memory that is freed.
const TOUCHED: usize = 4;

/// Looks whether there can be a lock. Ends the run if not.
fn check_object(address: usize, site: SiteId) {
    if !with(|run| run.blocks.check(address, TOUCHED)) {
        touched_wrongly(address, TOUCHED, true, site, || late(address, site));
    }
}

/// The running task comes too late for an object. That it could have come earlier is known to searches by an operation.
fn late(address: usize, site: SiteId) {
    if let Some(object) = with(|run| run.objects.last_sync(address)) {
        arrive(Op::new(Kind::Destroy, object, site).arg(1));
    }
}

pub(crate) fn place(
    address: usize,
    pc: usize,
    fits: impl FnOnce(&State) -> bool,
    state: impl FnOnce() -> State,
) -> (ObjectId, SiteId) {
    let site = with(|run| run.site(pc));
    check_object(address, site);
    with(|run| (run.fitting(address, site, fits, state), site))
}

fn is_mutex(state: &State) -> bool {
    matches!(state, State::Mutex(_))
}

/// The object at the address begins anew.
pub(crate) fn fresh(address: usize, pc: usize, state: State) {
    with(|run| {
        let site = run.site(pc);
        run.new_object(address, site, state);
    });
}

/// A mutex is made; libc has written its kind.
pub fn mutex_init(address: usize, pc: usize) {
    let recursive = mutex_kind(address) == RECURSIVE;
    fresh(address, pc, State::Mutex(Mutex { recursive, ..Mutex::default() }));
}

/// What glibc writes as the kind of a mutex that is destroyed. Whoever makes another there writes its kind, by an initializer, too.
const DESTROYED: u32 = u32::MAX;

/// An object is no more. Nobody may have it.
pub fn destroy(address: usize, pc: usize) {
    let Some(object) = with(|run| run.objects.sync(address)) else { return };
    let site = with(|run| run.site(pc));
    check_object(address, site);
    arrive(Op::new(Kind::Destroy, object, site));
    check_memory(address, TOUCHED, true, site);
    let holder = with(|run| match &run.engine.world().object(object).state {
        State::Mutex(mutex) => mutex.owner,
        State::RwLock(lock) => lock.writer.or_else(|| lock.readers.first().copied()),
        _ => None,
    });
    if let Some(holder) = holder {
        let (noun, holder) = with(|run| {
            let world = run.engine.world();
            (world.object(object).state.noun(), world.path(holder))
        });
        misused(site, &format!("destroys a {noun} that {holder} holds"));
    }
    with(|run| {
        if run.objects.sync(address) == Some(object) {
            run.objects.remove_sync(address);
        }
    });
}

/// A mutex is no more. To say so twice is harmless.
pub fn mutex_destroy(address: usize, pc: usize) {
    destroy(address, pc);
    // SAFETY: the program says that a mutex lies there.
    unsafe { ((address + MUTEX_KIND) as *mut u32).write(DESTROYED) };
}

/// Stops a task that is about to do something to a mutex that is destroyed.
fn undestroyed(address: usize, does: &str, site: SiteId) {
    if kinds(address) == DESTROYED {
        late(address, site);
        destroyed(does, site);
    }
}

#[cold]
fn destroyed(does: &str, site: SiteId) -> ! {
    misused(site, &format!("{does} a mutex that was destroyed"))
}

/// Stops a task that has waited for its turn to take a mutex, and meanwhile there is none.
#[inline(always)]
fn still_there(address: usize, pc: usize) {
    if !with_active(|run| run.blocks.check(address, TOUCHED)) || kinds(address) == DESTROYED {
        lost(address, pc);
    }
}

#[cold]
#[inline(never)]
fn lost(address: usize, pc: usize) -> ! {
    let site = with(|run| run.site(pc));
    check_memory(address, TOUCHED, true, site);
    destroyed("locks", site)
}

/// Takes an ordinary mutex, where nothing is unusual: when the way has been gone. It leads nowhere if it is not as simple;
/// then nothing has happened.
// Nothing but the way, which travels in registers.
#[inline(never)]
fn lock_straight(address: usize, pc: usize) -> Way {
    let tossed = with_active(|run| {
        let (object, site) = run.ordinary_mutex(address, pc)?;
        let plain = Plain { kind: Kind::Lock, touch: Touch::Take, order: Order::SeqCst, object, site };
        run.toss(plain).map(|next| run.hand_over(next))
    });
    match tossed {
        Some(Some(way)) => way,
        Some(None) => crate::idle::next(),
        None => Way::NOWHERE,
    }
}

/// Takes a mutex.
pub fn lock(address: usize, patience: Patience, pc: usize) -> i32 {
    if patience == Patience::Endless {
        let way = lock_straight(address, pc);
        if way.leads_somewhere() {
            way.go();
            still_there(address, pc);
            return 0;
        }
    }
    let (object, site, held) = held(address, "locks", pc);
    if held && mutex_kind(address) == ERROR_CHECKING {
        return if patience == Patience::None { error::BUSY } else { error::DEADLOCK };
    }
    let outcome = arrive(patience.apply(Op::new(Kind::Lock, object, site)));
    still_there(address, pc);
    if is_robust(address) && outcome == Outcome::Done {
        return taken(object, site);
    }
    code(outcome)
}

/// A robust mutex was taken. One that is lost is had by nobody.
fn taken(object: ObjectId, site: SiteId) -> i32 {
    let told = with(|run| run.took_robust(object));
    if told == error::NOT_RECOVERABLE {
        arrive(Op::new(Kind::Unlock, object, site));
    }
    told
}

/// All is well again with a robust mutex.
pub fn consistent(address: usize, pc: usize) -> i32 {
    let (object, _, held) = held(address, "mends", pc);
    if held && is_robust(address) { with(|run| run.mends(object)) } else { error::INVALID }
}

/// A mutex that the running task does something to, and whether it holds it.
fn held(address: usize, does: &str, pc: usize) -> (ObjectId, SiteId, bool) {
    let site = with(|run| run.site(pc));
    check_object(address, site);
    undestroyed(address, does, site);
    with(|run| {
        let object = run.mutex(address, site);
        (object, site, run.holds(object))
    })
}

/// Gives an ordinary mutex back, where nothing is unusual. False, and nothing has happened, if it is not as simple.
#[inline(never)]
fn unlock_straight(address: usize, pc: usize) -> bool {
    with_active(|run| {
        let Some((object, site)) = run.ordinary_mutex(address, pc) else { return false };
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order: Order::SeqCst, object, site };
        run.holds(object) && run.give_back(plain)
    })
}

/// Gives a mutex back.
pub fn unlock(address: usize, pc: usize) -> i32 {
    if unlock_straight(address, pc) {
        return 0;
    }
    let (object, site, held) = held(address, "unlocks", pc);
    if !held && (mutex_kind(address) == ERROR_CHECKING || is_robust(address)) {
        return error::PERMISSION;
    }
    if !held && with(|run| run.engine.world().object(object).version == 0) {
        // There is no such mutex, or no longer: whoever has locked it has lost it.
        misused(
            site,
            "unlocks a mutex that it does not hold: nobody has locked it, or it was made anew in the meantime",
        );
    }
    if is_robust(address) {
        with(|run| run.gives_robust(object));
    }
    code(arrive(Op::new(Kind::Unlock, object, site)))
}

/// The running task does what must not be done, and the run ends.
#[cold]
fn misused(site: SiteId, does: &str) -> ! {
    with(|run| {
        let path = run.engine.world().path(run.running);
        let (tasks, sites) = (vec![run.running], vec![site]);
        run.engine.fail(Failure {
            kind: FailureKind::Misuse,
            message: format!("{path} {does}"),
            tasks,
            sites,
        });
    });
    crate::failing::stop()
}

/// A spinning lock is a mutex that has no kind.
pub fn spin_init(address: usize, pc: usize) {
    fresh(address, pc, State::Mutex(Mutex::default()));
}

/// Takes a spinning lock.
pub fn spin_lock(address: usize, patience: Patience, pc: usize) -> i32 {
    let (object, site) = place(address, pc, is_mutex, || State::Mutex(Mutex::default()));
    code(arrive(patience.apply(Op::new(Kind::Lock, object, site))))
}

/// Gives it back.
pub fn spin_unlock(address: usize, pc: usize) -> i32 {
    let (object, site) = place(address, pc, is_mutex, || State::Mutex(Mutex::default()));
    code(arrive(Op::new(Kind::Unlock, object, site)))
}

/// Takes the lock of a stream, which may be had more than once.
pub fn lock_stream(address: usize, patience: Patience, pc: usize) -> i32 {
    let (object, site) = stream(address, pc);
    code(arrive(patience.apply(Op::new(Kind::Lock, object, site))))
}

/// Gives it back. Who does not have it has nothing to give back.
pub fn unlock_stream(address: usize, pc: usize) {
    let (object, site) = stream(address, pc);
    if with(|run| run.holds(object)) {
        arrive(Op::new(Kind::Unlock, object, site));
    }
}

fn stream(address: usize, pc: usize) -> (ObjectId, SiteId) {
    place(address, pc, is_mutex, || State::Mutex(Mutex { recursive: true, ..Mutex::default() }))
}

fn condvar(address: usize, pc: usize) -> (ObjectId, SiteId) {
    place(address, pc, |state| matches!(state, State::Condvar(_)), || State::Condvar(Condvar::default()))
}

/// A condition variable is made.
pub fn cond_init(address: usize, pc: usize) {
    fresh(address, pc, State::Condvar(Condvar::default()));
}

/// Where glibc keeps which clock a condition variable goes by.
const COND_FLAGS: usize = 36;

/// The clock of a condition variable.
pub fn cond_clock(address: usize) -> i32 {
    // SAFETY: the program says that a condition variable lies there.
    i32::from(unsafe { ((address + COND_FLAGS) as *const u32).read() } & 2 != 0)
}

/// Waits at a condition variable.
pub fn cond_wait(address: usize, mutex: usize, patience: Patience, pc: usize) -> i32 {
    let (object, site) = condvar(address, pc);
    check_object(mutex, site);
    undestroyed(mutex, "waits with", site);
    let second = with(|run| run.mutex(mutex, site));
    let op = patience.apply(Op::new(Kind::Wait, object, site).second(second));
    let robust = is_robust(mutex);
    if robust {
        with(|run| run.gives_robust(second));
    }
    // Whoever is cancelled here has the mutex, as it had when it came.
    let outcome = cancel::point(op).and_then(|_| cancel::point(Op { kind: Kind::Wake, ..op }));
    check_memory(mutex, TOUCHED, true, site);
    let told = if robust { taken(second, site) } else { 0 };
    if told != 0 { told } else { outcome.map_or(0, code) }
}

/// Wakes one or all who wait.
pub fn notify(address: usize, all: bool, pc: usize) {
    let (object, site) = condvar(address, pc);
    arrive(Op::new(if all { Kind::NotifyAll } else { Kind::NotifyOne }, object, site));
}

fn rwlock(address: usize, pc: usize) -> (ObjectId, SiteId) {
    place(address, pc, |state| matches!(state, State::RwLock(_)), || State::RwLock(RwLock::default()))
}

/// A readers-writer lock is made.
pub fn rwlock_init(address: usize, pc: usize) {
    fresh(address, pc, State::RwLock(RwLock::default()));
}

/// Takes a readers-writer lock.
pub fn rwlock_lock(address: usize, write: bool, patience: Patience, pc: usize) -> i32 {
    let (object, site) = rwlock(address, pc);
    let kind = if write { Kind::WriteLock } else { Kind::ReadLock };
    code(arrive(patience.apply(Op::new(kind, object, site))))
}

/// Gives it back, whichever way it is held.
pub fn rwlock_unlock(address: usize, pc: usize) -> i32 {
    let (object, site) = rwlock(address, pc);
    let writes = with(|run| {
        let state = &run.engine.world().object(object).state;
        matches!(state, State::RwLock(lock) if lock.writer == Some(run.running))
    });
    let kind = if writes { Kind::WriteUnlock } else { Kind::ReadUnlock };
    code(arrive(Op::new(kind, object, site)))
}

/// A barrier is made.
pub fn barrier_init(address: usize, count: u32, pc: usize) {
    fresh(address, pc, State::Barrier(Barrier::new(count)));
}

/// Waits at a barrier. True for the one who opened it.
pub fn barrier_wait(address: usize, pc: usize) -> bool {
    let (object, site) =
        place(address, pc, |state| matches!(state, State::Barrier(_)), || State::Barrier(Barrier::new(1)));
    let last = arrive(Op::new(Kind::Arrive, object, site)) == Outcome::Value(1);
    if !last {
        arrive(Op::new(Kind::Leave, object, site));
    }
    last
}

/// A once whose word says that it is done, or that it is not.
fn once(address: usize, pc: usize, done: bool) -> (ObjectId, SiteId) {
    let fits = |state: &State| matches!(state, State::Once(once) if done || !matches!(once, Once::Complete));
    place(address, pc, fits, || State::Once(if done { Once::Complete } else { Once::default() }))
}

/// Enters a once. True for the one who has to do it; `done` says that it was before the run began.
pub fn once_enter(address: usize, done: bool, pc: usize) -> bool {
    let (object, site) = once(address, pc, done);
    arrive(Op::new(Kind::OnceEnter, object, site).arg(1)) == Outcome::Value(0)
}

/// Leaves it, done or given up.
pub fn once_leave(address: usize, done: bool, pc: usize) {
    let (object, site) = once(address, pc, false);
    arrive(Op::new(Kind::OnceDone, object, site).arg(u64::from(done)));
}
