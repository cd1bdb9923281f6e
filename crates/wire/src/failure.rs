//! The failure file (`*.raddle`): a found bug with everything that replaying, shrinking and
//! showing it needs. Showing needs neither the program nor its debug information.

use crate::envelope;
use crate::error::{What, WireError};
use crate::sites;
use crate::version::FailureVersion;
use crate::{v1, v2};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{Failure, Plan, SiteId, Trace};
pub use raddle_model::{ObjectInfo, Place};

/// Characters of the message that the file's head shows.
const NOTE_MAX: usize = 200;

/// What was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A test or another body under the library front end.
    Library {
        /// Cargo package.
        package: String,
        /// Path of the test within its executable; empty if it is none.
        test: String,
        /// The executable, relative to the workspace where that is possible.
        executable: String,
        /// Name of the body that was checked: a test may check several.
        body: String,
        /// The working directory of the process.
        directory: String,
    },
    /// A program under the native front end. Bytes, since the system's names are bytes.
    Native {
        /// The executable.
        path: Vec<u8>,
        /// Its build id.
        build_id: Vec<u8>,
        /// Its arguments, its own name first.
        argv: Vec<Vec<u8>>,
        /// Its environment.
        env: Vec<(Vec<u8>, Vec<u8>)>,
        /// What it read from standard input.
        stdin: Vec<u8>,
    },
}

/// How it was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Found {
    /// Name of the strategy.
    pub strategy: String,
    /// Seed of the campaign.
    pub seed: u64,
    /// Number of the run within the campaign.
    pub run: u64,
}

/// A found bug, in full.
#[derive(Clone, PartialEq, Debug)]
pub struct FailureFile {
    /// The version of the tool that made it ([`crate::TOOL_VERSION`]).
    pub tool: String,
    /// What was run.
    pub target: Target,
    /// The plan that leads to it. Its sites are keys of `places`; see
    /// [`FailureFile::plan_here`].
    pub plan: Plan,
    /// What went wrong.
    pub failure: Failure,
    /// What happened.
    pub trace: Trace,
    /// Path, and name if it has one, of each task by dense id.
    pub tasks: Vec<String>,
    /// The objects of the trace.
    pub objects: Vec<ObjectInfo>,
    /// Where the sites of plan, failure, trace and objects are.
    pub places: BTreeMap<SiteId, Place>,
    /// How it was found.
    pub found: Found,
    /// `sc`: values were sequentially consistent.
    pub memory_model: String,
}

impl FailureFile {
    /// The plan with this process's numbers for its sites, which `site` gives out by place.
    pub fn plan_here(&self, mut site: impl FnMut(&Place) -> SiteId) -> Plan {
        sites::renumber(&self.plan, |old| self.places.get(&old).map_or(SiteId::UNKNOWN, &mut site))
    }

    /// What people see who look into the file.
    fn note(&self) -> [String; 2] {
        let message = &self.failure.message;
        let mut first = format!("{}: ", self.failure.kind.name());
        first.extend(message.chars().take(NOTE_MAX));
        if message.chars().count() > NOTE_MAX {
            first.push('…');
        }
        let Found { strategy, seed, run } = &self.found;
        let tool = &self.tool;
        let second = format!(
            "found by {strategy}, seed {seed}, run {run}, raddle {tool}; read it with: raddle show FILE"
        );
        [first, second]
    }
}

/// The bytes of a failure file.
pub fn encode(file: &FailureFile) -> Vec<u8> {
    let content = v1::bytes(&v2::failure::Failure::from(file));
    envelope::seal(What::Failure, FailureVersion::CURRENT.0, &file.note(), &content)
}

/// The failure of such bytes. Tasks that it names are tasks of its trace.
pub fn decode(bytes: &[u8]) -> Result<FailureFile, WireError> {
    let readable = |version| FailureVersion(version).check_readable_by(FailureVersion::CURRENT);
    let (version, content) = envelope::open(What::Failure, bytes, readable)?;
    let file = match version {
        1 => envelope::parse::<v1::failure::Failure>(What::Failure, content)?.try_into(),
        _ => envelope::parse::<v2::failure::Failure>(What::Failure, content)?.try_into(),
    };
    file.map_err(|error: v1::Misfit| error.in_a(What::Failure))
}
