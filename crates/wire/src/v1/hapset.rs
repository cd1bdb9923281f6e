//! HaPSet files of versions 1 and 2, which differ in what is known of callers: files, frames and statements are tables, so that each is written once.

use super::Misfit;
use crate::hapset::HapsetFile;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::hapset::{CONTEXT_MAX, Frame, HapSets, Pair, Statement};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Hapset {
    tool: String,
    programs: Vec<String>,
    runs: u64,
    files: Vec<String>,
    /// File by number, line, column.
    frames: Vec<(u32, u32, u32)>,
    /// Frame, and frames of the context, by number.
    statements: Vec<(u32, Vec<u32>)>,
    /// The later statement, whether its task is the older one, the earlier statement.
    pairs: Vec<(u32, bool, u32)>,
}

/// All values once, in order; numbers are places in it.
fn table<T: Ord + Clone>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<BTreeSet<T>>().into_iter().collect()
}

fn number<T: Ord>(table: &[T], value: &T) -> u32 {
    table.binary_search(value).expect("raddle bug: a value is missing from its table") as u32
}

impl From<&HapsetFile> for Hapset {
    fn from(file: &HapsetFile) -> Hapset {
        let statements = table(file.sets.iter().flat_map(|pair| [pair.of.clone(), pair.before.clone()]));
        let frames =
            table(statements.iter().flat_map(|s| core::iter::once(&s.frame).chain(&s.context)).cloned());
        let files = table(frames.iter().map(|frame| frame.file.clone()));
        let pair = |pair: &Pair<Statement>| {
            (number(&statements, &pair.of), pair.older, number(&statements, &pair.before))
        };
        let statement = |s: &Statement| {
            let context = s.context.iter().map(|frame| number(&frames, frame)).collect();
            (number(&frames, &s.frame), context)
        };
        Hapset {
            tool: file.tool.clone(),
            programs: table(file.programs.iter().cloned()),
            runs: file.runs,
            frames: frames.iter().map(|f| (number(&files, &f.file), f.line, f.column)).collect(),
            pairs: file.sets.iter().map(pair).collect(),
            statements: statements.iter().map(statement).collect(),
            files,
        }
    }
}

impl TryFrom<Hapset> for HapsetFile {
    type Error = Misfit;

    fn try_from(read: Hapset) -> Result<HapsetFile, Misfit> {
        let mut frames = Vec::new();
        for (file, line, column) in read.frames {
            let file =
                read.files.get(file as usize).ok_or(Misfit("it names a file that it does not list"))?;
            frames.push(Frame { file: file.clone(), line, column });
        }
        let frame = |at: u32| {
            frames.get(at as usize).cloned().ok_or(Misfit("it names a place that it does not list"))
        };
        let mut statements = Vec::new();
        for (at, context) in read.statements {
            if context.len() > CONTEXT_MAX {
                return Err(Misfit("a statement has more callers than are kept"));
            }
            let context = context.into_iter().map(frame).collect::<Result<_, _>>()?;
            statements.push(Statement { frame: frame(at)?, context });
        }
        let statement = |at: u32| {
            statements.get(at as usize).cloned().ok_or(Misfit("it names a statement that it does not list"))
        };
        let mut sets = HapSets::default();
        for (of, older, before) in read.pairs {
            sets.insert(Pair { of: statement(of)?, older, before: statement(before)? });
        }
        Ok(HapsetFile { tool: read.tool, programs: table(read.programs.into_iter()), runs: read.runs, sets })
    }
}
