//! The HaPSet file (`*.hapset`): which statement was seen right after which, in runs that ended well. Files of
//! several campaigns, of several tests or of several machines can be merged: a set is a union.

use crate::envelope;
use crate::error::{What, WireError};
use crate::v1;
use crate::version::HapsetVersion;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{HapSets, Statement};

/// Learned sets, by what the source says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HapsetFile {
    /// The version of the tool that made it ([`crate::TOOL_VERSION`]).
    pub tool: String,
    /// What was run; several names after a merge.
    pub programs: Vec<String>,
    /// Number of runs that they were learned from.
    pub runs: u64,
    /// The sets.
    pub sets: HapSets<Statement>,
}

impl HapsetFile {
    /// Adds what another file holds. Returns how many pairs are new.
    pub fn merge(&mut self, other: HapsetFile) -> usize {
        for program in other.programs {
            if let Err(at) = self.programs.binary_search(&program) {
                self.programs.insert(at, program);
            }
        }
        self.runs = self.runs.saturating_add(other.runs);
        self.sets.merge(other.sets.iter().cloned())
    }

    /// What people see who look into the file.
    fn note(&self) -> [String; 1] {
        let HapsetFile { tool, programs, runs, sets } = self;
        [format!(
            "{} pairs of statements from {runs} runs of {}, raddle {tool}",
            sets.len(),
            programs.join(", ")
        )]
    }
}

/// The bytes of a HaPSet file. Programs are written in order, each once.
pub fn encode(file: &HapsetFile) -> Vec<u8> {
    let content = v1::bytes(&v1::hapset::Hapset::from(file));
    envelope::seal(What::Hapset, HapsetVersion::CURRENT.0, &file.note(), &content)
}

/// The sets of such bytes.
pub fn decode(bytes: &[u8]) -> Result<HapsetFile, WireError> {
    let readable = |version| HapsetVersion(version).check_readable_by(HapsetVersion::CURRENT);
    let (_, content) = envelope::open(What::Hapset, bytes, readable)?;
    let file: v1::hapset::Hapset = envelope::parse(What::Hapset, content)?;
    HapsetFile::try_from(file).map_err(|error| error.in_a(What::Hapset))
}
