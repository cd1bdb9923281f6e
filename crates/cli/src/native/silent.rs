//! Runs that end without a word: what is told of them instead.

use raddle_model::{Failure, FailureKind, SiteId, Verdict};
use raddle_wire::report::{Called, RunReport};
use std::time::Duration;

/// A run that has come to no operation for so long since it was at this site.
pub(super) fn hangs(limit: Duration, site: SiteId) -> RunReport {
    let message = format!("the program reaches no operation for {} ms", limit.as_millis());
    report(FailureKind::Hang, message, Some(site))
}

/// What the kernel says of a process that has not said anything itself.
pub(super) fn died(status: i32) -> RunReport {
    let message = match status & 0x7f {
        0 => format!("the program ends with code {} behind raddle's back", (status >> 8) & 0xff),
        signal => format!("the program is killed by signal {signal}"),
    };
    report(FailureKind::Crash, message, None)
}

/// The report of a run that could not make one.
fn report(kind: FailureKind, message: String, site: Option<SiteId>) -> RunReport {
    let sites = site.into_iter().collect();
    RunReport {
        verdict: Verdict::Failed(Failure { kind, message, tasks: Vec::new(), sites }),
        exit_code: None,
        fingerprint: 0,
        steps: 0,
        accesses: 0,
        decisions: 0,
        tasks: 0,
        releases: false,
        weak_orders: false,
        races: Vec::new(),
        shared: Vec::new(),
        cycles: Vec::new(),
        recorded: None,
        called: Called::default(),
        since: None,
    }
}
