//! A failure as the program's own source tells it: an operation that stands in a header or in a library of the system
//! is shown where the program's own code has called it.

use super::NativeTarget;
use raddle_explore::target::Target as _;
use raddle_model::{Failure, FailureKind, Kind, ObjectInfo, Op, SiteId, TaskId, Trace};
use raddle_wire::report::{Call, Recorded};
use std::collections::BTreeMap;

/// Who called what in a recorded run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Callers {
    /// By task, in order.
    arrivals: BTreeMap<TaskId, Vec<Call>>,
    accesses: Vec<Call>,
}

/// Announcements without an event that may lie between two with one.
const AHEAD_MAX: usize = 16;

impl Callers {
    pub(crate) fn of(recorded: &mut Recorded) -> Callers {
        let mut arrivals: BTreeMap<TaskId, Vec<Call>> = BTreeMap::new();
        for call in std::mem::take(&mut recorded.arrivals) {
            arrivals.entry(call.task).or_default().push(call);
        }
        Callers { arrivals, accesses: std::mem::take(&mut recorded.accesses) }
    }

    /// Who called an operation, the last time that it was called.
    pub(crate) fn above(&self, site: SiteId) -> Option<&[SiteId]> {
        let arrivals = self.arrivals.values().flatten().rev();
        let call = self.accesses.iter().chain(arrivals).find(|call| call.site == site)?;
        Some(&call.callers)
    }

    /// Calls `each` with every operation of a run, in order, and who called it as far as that is known.
    pub(crate) fn each(&self, trace: &mut Trace, mut each: impl FnMut(&mut Op, Option<&Call>)) {
        let mut at: BTreeMap<TaskId, usize> = BTreeMap::new();
        for event in &mut trace.events {
            let call = self.next(&mut at, event.task, &event.op);
            each(&mut event.op, call);
        }
        for (task, op) in &mut trace.pending {
            let call = self.next(&mut at, *task, op);
            each(op, call);
        }
    }

    /// Puts the program's own places into a failure and what led to it.
    pub(crate) fn retell(
        &self,
        native: &NativeTarget,
        failure: &mut Failure,
        trace: &mut Trace,
        objects: &mut [ObjectInfo],
    ) {
        let before: Vec<SiteId> = trace.pending.iter().map(|(_, op)| op.site).collect();
        self.each(trace, |op, call| op.site = call.map_or(op.site, |call| own(native, call)));
        let after = trace.pending.iter().map(|(_, op)| op.site);
        let waits: Vec<(SiteId, SiteId)> = before.into_iter().zip(after).collect();
        self.place(native, &mut failure.sites, &waits);
        if let (FailureKind::Hang, [task]) = (failure.kind, &failure.tasks[..])
            && let Some(call) = self.arrivals.get(task).and_then(|calls| calls.last())
        {
            // The last that it told is where it was interrupted.
            failure.sites = vec![own(native, call)];
        }
        for object in objects.iter_mut().filter(|object| !has_own(native, object.site)) {
            let first = trace.events.iter().find(|event| event.op.object == object.id);
            object.site = match first {
                Some(event) => event.op.site,
                None => self.place_of(native, object.site, 0, &[]),
            };
        }
    }

    /// Puts the program's own places in the place of a failure's sites.
    pub(crate) fn place(&self, native: &NativeTarget, sites: &mut [SiteId], waits: &[(SiteId, SiteId)]) {
        let mut used: BTreeMap<SiteId, usize> = BTreeMap::new();
        for site in sites {
            let count = used.entry(*site).or_default();
            *site = self.place_of(native, *site, *count, waits);
            *count += 1;
        }
    }

    /// Who called a task's next operation. Waking up stands where the waiting stood.
    fn next(&self, at: &mut BTreeMap<TaskId, usize>, task: TaskId, op: &Op) -> Option<&Call> {
        let calls = self.arrivals.get(&task)?;
        let index = at.entry(task).or_default();
        let last = index.checked_sub(1).and_then(|last| calls.get(last)).filter(|call| call.site == op.site);
        if last.is_some() && op.kind == Kind::Wake {
            return last;
        }
        // Some announcements have no event of their own: they are passed over.
        let ahead = calls.iter().skip(*index).take(AHEAD_MAX).position(|call| call.site == op.site);
        match ahead {
            Some(ahead) => {
                *index += ahead + 1;
                calls.get(*index - 1)
            }
            None => last,
        }
    }

    /// The place of a failure's site: a wait if there is one, else an access or the last operation there. Of several
    /// that stand at the same site each is taken once.
    fn place_of(
        &self,
        native: &NativeTarget,
        site: SiteId,
        count: usize,
        waits: &[(SiteId, SiteId)],
    ) -> SiteId {
        if has_own(native, site) {
            return site;
        }
        let waits = waits.iter().filter(|(before, _)| *before == site).map(|(_, after)| *after);
        let accesses = self.accesses.iter().filter(|call| call.site == site).map(|call| own(native, call));
        let last =
            self.arrivals.values().filter_map(|calls| calls.iter().rev().find(|call| call.site == site));
        let mut places: Vec<SiteId> = waits.collect();
        if places.is_empty() {
            places = accesses.chain(last.map(|call| own(native, call))).collect();
            places.dedup();
        }
        if places.is_empty() { site } else { places[count % places.len()] }
    }
}

/// The innermost of the program's own places; the operation's own if there is none.
fn own(native: &NativeTarget, call: &Call) -> SiteId {
    let mut all = [call.site].into_iter().chain(call.callers.iter().copied());
    all.find(|site| has_own(native, *site)).unwrap_or(call.site)
}

/// Whether a site has a line in the program's own source.
fn has_own(native: &NativeTarget, site: SiteId) -> bool {
    let place = native.place(site);
    is_own(&place.file, place.line)
}

/// Whether a line is in the program's own source, rather than in what the system has installed.
pub(super) fn is_own(file: &str, line: u32) -> bool {
    line > 0 && !file.is_empty() && !file.starts_with("/usr/")
}
