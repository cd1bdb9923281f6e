//! Statics: each run finds them as they were before it.
//!
//! When a run first uses a raddle value that lies in a static, its bytes are noted; when the run is
//! over, the value is dropped and the bytes are put back. So a static mutex is empty again, and a
//! static once is not done.
//!
//! A value with a destructor may own something outside of itself, and its bytes may be used twice
//! only if it owns nothing yet. That is certain for the value the compiler built: its bytes are those
//! of the program's file (see [`super::image`]). So such a value is put back if it is still what the
//! compiler built when the run first uses it; one that was filled before the run, or that was built
//! at run time inside a lazy of std's, is left as the run leaves it. A value without a destructor is
//! put back to what it was when the run began.
//!
//! What cannot be seen: a raddle value inside of a lock of std's in a static must not be moved out of
//! there by a run.
//!
//! One run at a time uses statics: a run on another carrier waits at its first use of one until the
//! run that came before it is over.

use super::fiber;
use super::slot::Mark;
use super::{Rt, Run, image, panics};
use crate::thread::local;
use raddle_model::TaskId;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a run waits for the one that has the statics.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a run that waits shows that it is alive.
const BEAT: Duration = Duration::from_millis(50);

/// The statics that a run has used.
pub(crate) struct Statics {
    /// By address. No two overlap: what lies inside of another goes with it.
    touched: BTreeMap<usize, Touched>,
    /// Set while this run has the statics to itself.
    claimed: Option<Mark>,
    /// No static lies outside of it.
    around: Range<usize>,
}

impl Default for Statics {
    fn default() -> Statics {
        Statics { touched: BTreeMap::new(), claimed: None, around: image::around() }
    }
}

struct Touched {
    saved: Box<[u8]>,
    /// Where in the value the run's stamp lies, and what it says: while it is there, so is the value.
    stamp: Option<(usize, u64)>,
    drop: Option<Box<dyn FnOnce()>>,
}

/// The runs that use statics or wait for them, in the order in which they came.
static QUEUE: Mutex<VecDeque<u64>> = Mutex::new(VecDeque::new());
static TURN: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, VecDeque<u64>> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no other run uses statics, if the object at `address` is in one. Comes before the
/// run's stamp, which would take the object away from the run that has it.
#[inline]
pub(super) fn claim(rt: Rt, address: usize) {
    // Most objects lie nowhere near.
    if rt.with(|run| run.statics.around.contains(&address)) {
        claim_nearby(rt, address);
    }
}

#[inline(never)]
fn claim_nearby(rt: Rt, address: usize) {
    if !image::is_static(address, 1) || rt.with(|run| run.statics.claimed.is_some()) {
        return;
    }
    rt.outlived();
    let mark = rt.mark();
    let mut runs = queue();
    if !runs.is_empty() && rt.with(|run| run.several) {
        drop(runs);
        rt.collide();
    }
    runs.push_back(mark.0);
    let begun = Instant::now();
    while runs.front() != Some(&mark.0) {
        runs = TURN.wait_timeout(runs, BEAT).unwrap_or_else(PoisonError::into_inner).0;
        rt.with(|run| run.heart.beat());
        if begun.elapsed() > PATIENCE {
            runs.retain(|waiting| *waiting != mark.0);
            drop(runs);
            panic!(
                "raddle: the statics of this program are in use by a run of another check, which has not ended \
                 for {} s. Is one check inside another, or does a run hang?",
                PATIENCE.as_secs()
            );
        }
    }
    rt.with(|run| run.statics.claimed = Some(mark));
}

impl Statics {
    /// The run is over, and no stamp of it counts any more: the next one may use statics.
    pub(crate) fn release(&mut self) {
        if let Some(mark) = self.claimed.take() {
            queue().retain(|run| *run != mark.0);
            TURN.notify_all();
        }
    }

    /// The value at `start` is used for the first time in this run.
    fn touch(&mut self, start: usize, len: usize, mark: Mark, drop: Option<Box<dyn FnOnce()>>) {
        let before = self.touched.range(..=start).next_back();
        if let Some((&outer, touched)) = before
            && start + len <= outer + touched.saved.len()
            && (outer, touched.saved.len()) != (start, len)
        {
            return;
        }
        let mut bytes = read(start, len);
        let stamp = stamps(&bytes, start, mark).next();
        // Parts that were used before the whole: as the run found them.
        for (inner, part) in self.touched.range(start..start + len) {
            let at = inner - start;
            let end = (at + part.saved.len()).min(len);
            bytes[at..end].copy_from_slice(&part.saved[..end - at]);
        }
        if drop.is_some() {
            match initial(start, len) {
                Some(built) if is_untouched(bytes.clone(), built, start, mark) => bytes = built.into(),
                _ => return,
            }
        }
        self.touched.retain(|inner, _| !(start..start + len).contains(inner));
        self.touched.insert(start, Touched { saved: bytes, stamp, drop });
    }
}

impl Drop for Statics {
    fn drop(&mut self) {
        self.release();
    }
}

/// Called for each value when a run first uses it, after the run has stamped it.
pub(crate) fn first_use<T: ?Sized>(value: &T) {
    let (start, len) = ((&raw const *value).cast::<u8>() as usize, size_of_val(value));
    let Some(rt) = super::current() else { return };
    // Most values lie nowhere near.
    if !rt.with(|run| run.statics.around.contains(&start)) || !image::is_static(start, len) {
        return;
    }
    let drop = mem::needs_drop::<T>().then(|| {
        let value = (&raw const *value).cast_mut();
        // SAFETY: called at most once, in `put_back`, which writes a new value over this one then; the
        // value is where the run has used it, as its stamp shows, and no task is left that could hold
        // a reference to it.
        let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { value.drop_in_place() });
        // SAFETY: only the lifetime changes. What lies in a static borrows nothing that ends.
        unsafe { mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce()>>(drop) }
    });
    rt.with(|run| run.statics.touch(start, len, run.mark, drop));
}

/// The run is over and its tasks are gone. Drops what it has left in statics and puts back what was
/// there before.
pub(super) fn put_back(rt: Rt) {
    // Destructors may use further statics.
    while rt.with(|run| !run.statics.touched.is_empty()) {
        let mut touched = rt.with(|run| mem::take(&mut run.statics.touched));
        touched.retain(|&start, touched| {
            touched.stamp.is_none_or(|(at, stamp)| read(start + at, 8)[..] == stamp.to_ne_bytes())
        });
        drop_all(rt, touched.values_mut().filter_map(|touched| touched.drop.take()).collect());
        for (start, touched) in touched {
            write(start, &touched.saved);
        }
    }
}

/// Calls destructors on a stack of their own, as main: one that cannot end is given up there.
fn drop_all(rt: Rt, drops: Vec<Box<dyn FnOnce()>>) {
    let left = RefCell::new(drops);
    while !left.borrow().is_empty() {
        if rt.with(|run| run.retired) {
            // std believes that this thread is inside a panic: nothing may unwind here.
            left.take().into_iter().for_each(mem::forget);
            return;
        }
        let body = |rt: Rt| {
            loop {
                let Some(drop) = left.borrow_mut().pop() else { break };
                // Operations of a run that is over unwind; whatever else it is comes too late.
                let _ = panics::catch(drop);
            }
            local::destroy(rt);
            rt.with(Run::end_late)
        };
        rt.with(|run| {
            run.running = TaskId::MAIN;
            run.fibers[TaskId::MAIN.index()].forget();
            // SAFETY: `left` outlives the fiber, which returns or is abandoned below.
            unsafe { run.begin(rt, TaskId::MAIN, body) };
        });
        rt.visit(TaskId::MAIN);
        if rt.with(|run| run.stuck) {
            fiber::abandon(rt, TaskId::MAIN);
            local::forget(rt);
        }
        rt.with(Run::keep_stacks);
    }
}

/// What the compiler built there, if that is known. Looked up once for each static.
fn initial(start: usize, len: usize) -> Option<&'static [u8]> {
    type Known = BTreeMap<(usize, usize), Option<&'static [u8]>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    // Kept for ever, like the static itself.
    *known.entry((start, len)).or_insert_with(|| image::initial(start, len).map(|built| &*Box::leak(built)))
}

/// Whether a value is what the compiler built, but for the run's stamps.
fn is_untouched(mut bytes: Box<[u8]>, built: &[u8], start: usize, mark: Mark) -> bool {
    let stamps: Vec<_> = stamps(&bytes, start, mark).collect();
    for (at, _) in stamps {
        bytes[at..at + 8].copy_from_slice(&built[at..at + 8]);
    }
    *bytes == *built
}

/// The stamps that the run has put into a value, with where they are. The first is its own or that of
/// a part.
fn stamps(bytes: &[u8], start: usize, mark: Mark) -> impl Iterator<Item = (usize, u64)> {
    let first = start.next_multiple_of(8) - start;
    (first..bytes.len().saturating_sub(7)).step_by(8).filter_map(move |at| {
        let word = u64::from_ne_bytes(bytes[at..at + 8].try_into().ok()?);
        mark.is_of(word).then_some((at, word))
    })
}

/// The bytes of a static.
fn read(start: usize, len: usize) -> Box<[u8]> {
    // SAFETY: the range lies in a writable segment of the image, all of which the loader has filled.
    // Volatile: the compiler has its own view of what padding holds, and other threads may look too.
    (start..start + len).map(|at| unsafe { (at as *const u8).read_volatile() }).collect()
}

/// Writes the bytes of a static that differ. Threads outside of runs may be reading an atomic there.
fn write(start: usize, bytes: &[u8]) {
    let mut at = 0;
    while at < bytes.len() {
        let address = start + at;
        if address.is_multiple_of(8) && at + 8 <= bytes.len() {
            let word = u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            // SAFETY: aligned, and in a static: see `read`.
            unsafe { AtomicU64::from_ptr(address as *mut u64) }.store(word, Ordering::Relaxed);
            at += 8;
        } else {
            // SAFETY: as above.
            unsafe { AtomicU8::from_ptr(address as *mut u8) }.store(bytes[at], Ordering::Relaxed);
            at += 1;
        }
    }
}
