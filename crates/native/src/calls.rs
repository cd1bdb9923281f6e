//! Who called: the return addresses above each operation, in runs that are recorded for a report. An operation in a
//! header of the C++ library stands on the same line wherever it is used; only its callers tell where.
//!
//! In runs of many that are to tell it for their HaPSets there is the same for each operation that is announced. Such stacks
//! come again and again, within a run too: each is named once, and has a number from then on.
//!
//! The unwinder of the compiler's own library finds them. It may take locks and allocate: meanwhile nothing is
//! controlled.

use crate::blocks::Deed;
use crate::objects::AddressHasher;
use crate::run::{Run, aside, with};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::hash::BuildHasherDefault;
use core::num::NonZeroU32;
use hashbrown::HashMap;
use raddle_model::{SiteId, TaskId};
use raddle_wire::report::{self, Arrival, Called, Since};

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
    /// One for each time that a block of memory was made or given back, in order.
    deeds: Vec<Call>,
    /// Whether stacks are wanted for HaPSets.
    pub told: bool,
    called: Called,
    /// By site and return addresses.
    stacks: HashMap<Vec<usize>, u32, BuildHasherDefault<AddressHasher>>,
}

impl Calls {
    /// These have come to matter: of all that was done from their sites it is these that are told.
    pub(crate) fn know(&mut self, deeds: &[Deed]) {
        let calls = deeds.iter().filter_map(|deed| self.deeds.get(deed.call?.get() as usize - 1)).cloned();
        let calls: Vec<Call> = calls.collect();
        self.accesses.retain(|access| calls.iter().all(|call| call.site != access.site));
        self.accesses.extend(calls);
    }

    /// How many stacks and arrivals have been told so far.
    pub fn progress(&self) -> (u32, u32) {
        (self.called.stacks.len() as u32, self.called.arrivals.len() as u32)
    }

    /// What is told for HaPSets, without what came before a checkpoint.
    pub fn take_called(&mut self, since: Option<&Since>) -> Called {
        let Called { mut stacks, mut arrivals } = core::mem::take(&mut self.called);
        if let Some(since) = since {
            stacks = stacks.split_off(since.stacks as usize);
            arrivals = arrivals.split_off(since.arrivals as usize);
        }
        Called { stacks, arrivals }
    }
}

impl Run {
    /// From now on stacks are told for HaPSets.
    pub(crate) fn tell_callers(&mut self) {
        self.calls.told = true;
        // What happened is told with its schedule.
        self.engine.only_count_decisions(false);
        self.look_around();
    }

    fn tell(&mut self, site: SiteId, stack: &Stack) {
        let task = self.running;
        let events = self.engine.world().task(task).events;
        let known = self.calls.stacks.get(stack.with_site()).copied();
        let stack = known.unwrap_or_else(|| {
            let callers = self.above(site, stack.addresses());
            let Calls { called, stacks, .. } = &mut self.calls;
            let number = called.stacks.len() as u32;
            called.stacks.push(report::Stack { site, callers });
            stacks.insert(stack.with_site().to_vec(), number);
            number
        });
        self.calls.called.arrivals.push(Arrival { task, events, stack });
    }

    /// What lies above the site among these return addresses. What lies below is our own.
    fn above(&mut self, site: SiteId, addresses: &[usize]) -> Vec<SiteId> {
        let sites: Vec<SiteId> = addresses.iter().map(|&address| self.site(address)).collect();
        let own = sites.iter().position(|&at| at == site);
        own.map_or_else(Vec::new, |own| sites[own + 1..].iter().copied().take(CALLERS_MAX).collect())
    }
}

/// The running task is about to do something at this site.
#[cold]
pub fn arrival(site: SiteId) {
    if with(|run| run.calls.told) {
        let stack = Stack::unwound(site);
        return with(|run| run.tell(site, &stack));
    }
    let callers = callers(site);
    with(|run| {
        let task = run.running;
        run.calls.arrivals.push(Call { task, site, callers });
    });
}

/// What stands for an instruction as its site: sites are return addresses, which point behind it.
pub(crate) fn after(pc: usize) -> usize {
    pc + 1
}

/// The running task was interrupted at this address, wherever that is, by the signal that is being handled. If its
/// stack is destroyed, this may end in another signal.
pub(crate) fn interruption(pc: usize) {
    let stack = Stack::unwound(SiteId::UNKNOWN);
    let Some(own) = stack.addresses().iter().position(|&address| address == pc) else { return };
    with(|run| {
        let above = stack.addresses()[own + 1..].iter().take(CALLERS_MAX);
        let callers = above.map(|&address| run.site(address)).collect();
        let site = run.site(after(pc));
        run.calls.arrivals.push(Call { task: run.running, site, callers });
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

/// The running task does something to a block of memory at this site. The number of who called, if that is wanted.
pub(crate) fn deed(site: SiteId) -> Option<NonZeroU32> {
    if !with(|run| run.calls.wanted) {
        return None;
    }
    let callers = callers(site);
    with(|run| {
        let task = run.running;
        let call = Call { task, site, callers };
        let Calls { deeds, accesses, seen, .. } = &mut run.calls;
        if seen.insert((task, site)) {
            accesses.push(call.clone());
        }
        deeds.push(call);
        NonZeroU32::new(deeds.len() as u32)
    })
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

/// A site, and the return addresses of the running task from the innermost on.
struct Stack {
    all: [usize; 1 + 2 * CALLERS_MAX],
    length: usize,
}

unsafe extern "C" fn frame(context: *mut c_void, stack: *mut c_void) -> i32 {
    // SAFETY: the unwinder hands on what `Stack::unwound` gave it, and a context that is valid during the call.
    let (stack, address) = unsafe { (&mut *stack.cast::<Stack>(), _Unwind_GetIP(context)) };
    match stack.all.get_mut(stack.length) {
        Some(place) => {
            *place = address;
            stack.length += 1;
            GO_ON
        }
        None => ENOUGH,
    }
}

impl Stack {
    fn unwound(site: SiteId) -> Stack {
        let mut stack = Stack { all: [0; 1 + 2 * CALLERS_MAX], length: 1 };
        stack.all[0] = site.0 as usize;
        // SAFETY: `frame` takes a stack, and gets one that outlives the call.
        aside(|| unsafe { _Unwind_Backtrace(frame, (&raw mut stack).cast()) });
        stack
    }

    fn with_site(&self) -> &[usize] {
        &self.all[..self.length]
    }

    fn addresses(&self) -> &[usize] {
        &self.all[1..self.length]
    }
}

/// The unwinder's first use does what is done once in a process, with locks. It is part of no run, neither of one
/// that looks for callers nor of one in which the program throws an exception.
pub fn prepare() {
    Stack::unwound(SiteId::UNKNOWN);
}

/// What lies above the site on the stack of the running task.
fn callers(site: SiteId) -> Vec<SiteId> {
    let stack = Stack::unwound(site);
    with(|run| run.above(site, stack.addresses()))
}
