//! A line for each run of a campaign: which it was, what it was and how it ended. Two logs of the same campaign are the
//! same, wherever it was run.

use raddle_explore::target::{Digest, TargetError};
use raddle_model::Verdict;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Log {
    file: BufWriter<File>,
}

fn wrong(error: std::io::Error) -> TargetError {
    TargetError { message: format!("the log cannot be written: {error}") }
}

impl Log {
    /// Begins a file anew.
    pub(crate) fn create(path: &Path) -> Result<Log, TargetError> {
        let mut file = BufWriter::new(File::create(path).map_err(wrong)?);
        writeln!(file, "run\tfingerprint\tsteps\tdecisions\ttasks\tend").map_err(wrong)?;
        Ok(Log { file })
    }

    /// One run more. What is logged is in the file, whatever happens to us.
    pub(super) fn run(&mut self, digest: &Digest) -> Result<(), TargetError> {
        let end = match &digest.verdict {
            Verdict::Finished => "finished",
            Verdict::Cut => "cut",
            Verdict::Diverged(_) => "diverged",
            Verdict::Failed(failure) => failure.kind.name(),
        };
        let Digest { run, fingerprint, steps, decisions, tasks, .. } = digest;
        writeln!(self.file, "{run}\t{fingerprint:032x}\t{steps}\t{decisions}\t{tasks}\t{end}")
            .map_err(wrong)?;
        self.file.flush().map_err(wrong)
    }
}
