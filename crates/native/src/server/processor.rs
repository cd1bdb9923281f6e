//! Which processor copies begin on. Server and copy take turns: on one processor the one finds in its caches what the other has
//! left there, and nobody has to be woken on another. The kernel rather gives a new process an idle one. So the server
//! stays where it is while it makes copies; each of these may go wherever the program may.
//!
//! To be let go costs a short run a good part of its time. So copies that are made late stay, too, until the program does
//! something by which it could tell, or that others would do on one processor who need more: see [`part`].

use crate::sys;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

const SET: usize = 203;
const GET: usize = 204;
const WHERE: usize = 309;

/// A bit for each of 1,024 processors.
type Mask = [u64; 16];

/// Where the program may run, while the server does not.
struct Slot(UnsafeCell<Option<Mask>>);

// SAFETY: written and read on the process's one thread.
unsafe impl Sync for Slot {}

static BEFORE: Slot = Slot(UnsafeCell::new(None));

fn may_use(mask: &Mask) {
    // SAFETY: a mask, which lives until the call returns; concerns this process alone.
    unsafe { sys::call3(SET, 0, size_of::<Mask>(), mask.as_ptr() as usize) };
}

/// Whoever makes copies stays on the processor where it is. If it cannot be told so, it does not.
pub(super) fn stay() {
    let (mut before, mut here): (Mask, u32) = ([0; 16], 0);
    // SAFETY: a mask and a number, which live until the calls return.
    let known = unsafe {
        sys::call3(GET, 0, size_of::<Mask>(), before.as_mut_ptr() as usize) > 0
            && sys::call3(WHERE, (&raw mut here) as usize, 0, 0) == 0
    };
    let here = here as usize;
    // SAFETY: see `Slot`.
    let kept = unsafe { &mut *BEFORE.0.get() };
    if !known || here >= 64 * before.len() {
        return;
    }
    // A copy that makes others knows it from its server.
    kept.get_or_insert(before);
    let mut only = [0; 16];
    only[here / 64] = 1 << (here % 64);
    may_use(&only);
}

/// The server makes no more: it may run wherever the program may.
pub(super) fn leave() {
    begin();
    // SAFETY: see `Slot`.
    unsafe { *BEFORE.0.get() = None };
}

/// A copy begins: it may run wherever the program may. It keeps what it knows: to forget it would cost it a page.
pub(super) fn begin() {
    // SAFETY: see `Slot`.
    if let Some(before) = unsafe { &*BEFORE.0.get() } {
        may_use(before);
    }
}

/// Whether this is a copy that stays where its maker is.
// See `run::ACTIVE`.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
static STAYS: AtomicBool = AtomicBool::new(false);

/// A copy begins, and stays where its maker is until [`part`].
pub(super) fn begin_here() {
    STAYS.store(true, Ordering::Relaxed);
}

/// The program asks which processors there are for it, or makes a process: it may run wherever it may.
#[inline]
pub fn part() {
    if STAYS.load(Ordering::Relaxed) {
        STAYS.store(false, Ordering::Relaxed);
        begin();
    }
}
