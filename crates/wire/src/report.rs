//! What comes back of a run in another process: the digest of it and, if it was recorded, the run in full.
//!
//! The reader may be another version of the tool than the one that the program under test was linked to, so
//! this has a version like everything else.

use crate::envelope;
use crate::error::{What, WireError};
use crate::version::ReportVersion;
use crate::{v1, v2, v3, v4, v5, v6};
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{ObjectId, ObjectInfo, SiteId, TaskId, Trace, Verdict};

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The earlier access first.
    pub sites: [SiteId; 2],
    /// For people. It says [`NAMELESS`] where the variable's name belongs, if only the reader can know it.
    pub message: String,
    /// Module and offset of a static variable.
    pub place: Option<(u32, u64)>,
}

/// What a variable is called whose name the program does not know itself.
pub const NAMELESS: &str = "some memory";

/// A task that waits for a lock while it holds another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Path of the task from main.
    pub task: String,
    /// What it holds.
    pub held: String,
    /// Where it took the one and takes the other.
    pub sites: [SiteId; 2],
}

/// A run in full.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// What happened. Its schedule has checks and the fingerprint.
    pub trace: Trace,
    /// What each object is.
    pub objects: Vec<ObjectInfo>,
    /// Path of each task from main.
    pub tasks: Vec<String>,
    /// Module and offset of objects that are static variables, or in one. Not known before version 6.
    pub places: Vec<(ObjectId, u32, u64)>,
    /// Paths of the files whose code was run, by the numbers that sites name; empty for the executable.
    pub modules: Vec<String>,
    /// Who called each operation that was announced, in order.
    pub arrivals: Vec<Call>,
    /// Who called the first access of each task at each site.
    pub accesses: Vec<Call>,
}

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

/// Who called the operations of a run whose events are in its report.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Called {
    /// Each once, by number.
    pub stacks: Vec<Stack>,
    /// Whenever a task announced an operation, in order.
    pub arrivals: Vec<Arrival>,
}

/// An operation and its callers, whoever's it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Where it stands.
    pub site: SiteId,
    /// Where it was called from, innermost first.
    pub callers: Vec<SiteId>,
}

/// A task announces an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Who.
    pub task: TaskId,
    /// Events that it had until then.
    pub events: u32,
    /// The number of its stack.
    pub stack: u32,
}

/// How much of a run is left out of its report: it went on from a checkpoint, and the reader has what led there.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Since {
    /// Events of each task.
    pub events: Vec<u32>,
    /// Scheduling points.
    pub picks: u32,
    /// Values that were chosen.
    pub chosen: u32,
    /// Objects that were registered.
    pub objects: u32,
    /// Stacks that were met.
    pub stacks: u32,
    /// Announcements.
    pub arrivals: u32,
}

impl Since {
    /// Events of all tasks.
    pub fn events(&self) -> u64 {
        self.events.iter().map(|&count| u64::from(count)).sum()
    }
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunReport {
    /// How it ended.
    pub verdict: Verdict,
    /// What the process exited with, if it did so by itself.
    pub exit_code: Option<i32>,
    /// Its partial order.
    pub fingerprint: u128,
    /// Number of events.
    pub steps: u64,
    /// Number of plain accesses to memory; a long one counts for every eight bytes. Not known before version 4.
    pub accesses: u64,
    /// Number of decisions.
    pub decisions: u64,
    /// Number of tasks.
    pub tasks: u32,
    /// A try or timed operation on a lock was seen.
    pub releases: bool,
    /// An atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
    /// Races of the run.
    pub races: Vec<Race>,
    /// Sites that access memory which is raced for: they must be scheduling points in later plans.
    pub shared: Vec<SiteId>,
    /// Potential deadlocks: each a cycle of waits.
    pub cycles: Vec<Vec<Edge>>,
    /// Present if it was asked for.
    pub recorded: Option<Recorded>,
    /// Who called, if that was asked for: of a run of many, for its HaPSets.
    pub called: Called,
    /// What is left out of both: events, in the log points, values and objects, and who called.
    pub since: Option<Since>,
}

/// The bytes of a report.
pub fn encode(report: &RunReport) -> Vec<u8> {
    let content = v1::bytes(&v6::report::Report::from(report));
    envelope::seal(What::Report, ReportVersion::CURRENT.0, &[], &content)
}

/// The report of such bytes.
pub fn decode(bytes: &[u8]) -> Result<RunReport, WireError> {
    let readable = |version| ReportVersion(version).check_readable_by(ReportVersion::CURRENT);
    let (version, content) = envelope::open(What::Report, bytes, readable)?;
    let report = match version {
        1 => envelope::parse::<v1::report::Report>(What::Report, content)?.try_into(),
        2 => envelope::parse::<v2::report::Report>(What::Report, content)?.try_into(),
        3 => envelope::parse::<v3::report::Report>(What::Report, content)?.try_into(),
        4 => envelope::parse::<v4::report::Report>(What::Report, content)?.try_into(),
        5 => envelope::parse::<v5::report::Report>(What::Report, content)?.try_into(),
        _ => envelope::parse::<v6::report::Report>(What::Report, content)?.try_into(),
    };
    report.map_err(|error: v1::Misfit| error.in_a(What::Report))
}
