//! Who called: the return addresses above each operation, in runs that are recorded for a report. An operation in a
//! header of the C++ library stands on the same line wherever it is used; only its callers tell where.
//!
//! The unwinder of the compiler's own library finds them. It may take locks and allocate: meanwhile nothing is
//! controlled.

use crate::run::{aside, with};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ffi::c_void;
use raddle_model::{SiteId, TaskId};

/// Most callers that are kept of an operation.
const CALLERS_MAX: usize = 24;

/// An operation and its callers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Who.
    pub task: TaskId,
    /// Where it stands.
    pub site: SiteId,
    /// Where it was called from, innermost first.
    pub callers: Vec<SiteId>,
}

/// What is known of callers in this run.
#[derive(Clone, Default, Debug)]
pub struct Calls {
    /// Whether they are wanted.
    pub wanted: bool,
    /// One for each operation that was announced, in order.
    pub arrivals: Vec<Call>,
    /// One for each task and site of a plain access: the first.
    pub accesses: Vec<Call>,
    seen: BTreeSet<(TaskId, SiteId)>,
}

/// The running task is about to do something at this site.
#[cold]
pub fn arrival(site: SiteId) {
    let callers = callers(site);
    with(|run| {
        let task = run.running;
        run.calls.arrivals.push(Call { task, site, callers });
    });
}

/// The running task accesses memory at this site.
#[cold]
pub fn access(site: SiteId) {
    if with(|run| run.calls.seen.insert((run.running, site))) {
        let callers = callers(site);
        with(|run| {
            let task = run.running;
            run.calls.accesses.push(Call { task, site, callers });
        });
    }
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32,
        data: *mut c_void,
    ) -> i32;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// The unwinder's "go on" and "enough".
const GO_ON: i32 = 0;
const ENOUGH: i32 = 5;

/// Return addresses from the innermost on.
struct Stack {
    addresses: [usize; 2 * CALLERS_MAX],
    length: usize,
}

unsafe extern "C" fn frame(context: *mut c_void, stack: *mut c_void) -> i32 {
    // SAFETY: the unwinder hands on what `callers` gave it, and a context that is valid during the call.
    let (stack, address) = unsafe { (&mut *stack.cast::<Stack>(), _Unwind_GetIP(context)) };
    match stack.addresses.get_mut(stack.length) {
        Some(place) => {
            *place = address;
            stack.length += 1;
            GO_ON
        }
        None => ENOUGH,
    }
}

/// The unwinder's first use does what is done once in a process, with locks. It is part of no run, neither of one
/// that looks for callers nor of one in which the program throws an exception.
pub fn prepare() {
    let mut stack = Stack { addresses: [0; 2 * CALLERS_MAX], length: 0 };
    // SAFETY: `frame` takes a stack, and gets one that outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut stack).cast()) };
}

/// What lies above the site on the stack of the running task. What lies below is our own.
fn callers(site: SiteId) -> Vec<SiteId> {
    let mut stack = Stack { addresses: [0; 2 * CALLERS_MAX], length: 0 };
    // SAFETY: `frame` takes a stack, and gets one that outlives the call.
    aside(|| unsafe { _Unwind_Backtrace(frame, (&raw mut stack).cast()) });
    let sites: Vec<SiteId> =
        with(|run| stack.addresses[..stack.length].iter().map(|&address| run.site(address)).collect());
    let own = sites.iter().position(|&at| at == site);
    own.map_or_else(Vec::new, |own| sites[own + 1..].iter().copied().take(CALLERS_MAX).collect())
}
