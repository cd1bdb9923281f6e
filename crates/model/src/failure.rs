//! Failures: a found bug is a value.

use crate::ids::{SiteId, TaskId};
use crate::policy::Divergence;
use alloc::string::String;
use alloc::vec::Vec;

/// What kind of bug (DESIGN §10).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FailureKind {
    /// A failed assertion.
    Assertion,
    /// Any other panic that reached main, or that nobody joined.
    Panic,
    /// A cycle of owners, or nobody can run.
    Deadlock,
    /// Two accesses, one of them a write, that nothing orders.
    Race,
    /// Only spinning tasks were left, up to the step bound.
    Livelock,
    /// No hook was reached for a while.
    Hang,
    /// The step bound.
    Steps,
    /// A forbidden operation on an object.
    Misuse,
    /// A run that did not repeat.
    Nondeterminism,
    /// A fatal signal.
    Crash,
    /// An exception that nobody caught.
    Exception,
    /// An exit code that differs between runs, or from what was expected.
    Exit,
    /// Memory used after it was freed, freed twice, or overrun.
    Memory,
    /// Memory that nobody can reach any more.
    Leak,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [FailureKind; 14] = [
        FailureKind::Assertion,
        FailureKind::Panic,
        FailureKind::Deadlock,
        FailureKind::Race,
        FailureKind::Livelock,
        FailureKind::Hang,
        FailureKind::Steps,
        FailureKind::Misuse,
        FailureKind::Nondeterminism,
        FailureKind::Crash,
        FailureKind::Exception,
        FailureKind::Exit,
        FailureKind::Memory,
        FailureKind::Leak,
    ];

    /// `assertion`, `deadlock`, …
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Assertion => "assertion",
            FailureKind::Panic => "panic",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Race => "race",
            FailureKind::Livelock => "livelock",
            FailureKind::Hang => "hang",
            FailureKind::Steps => "steps",
            FailureKind::Misuse => "misuse",
            FailureKind::Nondeterminism => "nondeterminism",
            FailureKind::Crash => "crash",
            FailureKind::Exception => "exception",
            FailureKind::Exit => "exit",
            FailureKind::Memory => "memory",
            FailureKind::Leak => "leak",
        }
    }
}

/// A found bug.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// For people.
    pub message: String,
    /// The tasks involved.
    pub tasks: Vec<TaskId>,
    /// The sites involved.
    pub sites: Vec<SiteId>,
}

impl Failure {
    /// What makes two failures the same bug: kind and sites, in no order.
    pub fn identity(&self) -> (FailureKind, Vec<SiteId>) {
        let mut sites = self.sites.clone();
        sites.sort_unstable();
        sites.dedup();
        (self.kind, sites)
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Main returned.
    Finished,
    /// A bug was found.
    Failed(Failure),
    /// The policy lost interest.
    Cut,
    /// The run left the prefix it was to follow.
    Diverged(Divergence),
}
