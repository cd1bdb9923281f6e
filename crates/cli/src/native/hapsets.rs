//! HaPSets of a native program. Reports of runs say what happened, and which return addresses lay above each operation;
//! what they stand for is looked up here, once for each stack. Runs that tell no HaPSets pay nothing for it.
//!
//! The context of a statement is the innermost five callers of the function that it stands in, inlined ones included.
//! What has no line is left out, and so is what the system has installed and what is ours: they say nothing of the
//! program.

use super::NativeTarget;
use raddle::tool;
use raddle_analysis::hapset::{Growth, of_trace};
use raddle_explore::hapset::{Known, Statements};
use raddle_model::hapset::{CONTEXT_MAX, Frame};
use raddle_model::{Op, Pair, SiteId, Statement, StatementId, TaskId, Trace};
use raddle_wire::HapsetFile;
use raddle_wire::report::{Arrival, Called, Since};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Statements of a program, by number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Hapsets {
    /// Shared with a search that knows saved sets by name.
    statements: Arc<Mutex<Statements>>,
    /// What was looked up already: a site and its callers.
    known: BTreeMap<(SiteId, Vec<SiteId>), StatementId>,
}

/// What a statement is called.
fn name(statements: &Mutex<Statements>, number: StatementId) -> Statement {
    let statements = statements.lock().unwrap_or_else(PoisonError::into_inner);
    statements.name(number).cloned().unwrap_or_default()
}

impl Hapsets {
    /// Adds what runs have taught to a file.
    ///
    /// # Errors
    /// If that is not possible: why.
    pub(crate) fn keep(&self, file: &Path, program: &Path, learned: &Growth) -> Result<(), String> {
        let name = |number| name(&self.statements, number);
        let kept = tool::keep_hapsets(file, &program.display().to_string(), learned, name);
        kept.map_err(|error| error.to_string())
    }

    /// The number of the statement at a site with these callers.
    fn number(&mut self, native: &NativeTarget, site: SiteId, callers: &[SiteId]) -> StatementId {
        *self.known.entry((site, callers.to_vec())).or_insert_with(|| {
            let statement = named(native, site, callers);
            self.statements.lock().unwrap_or_else(PoisonError::into_inner).number(statement)
        })
    }
}

/// Who called in the last run of a worker.
#[derive(Default, Debug)]
pub(super) struct Calling {
    called: Called,
    /// By stack its statement, once that was looked up.
    numbers: Vec<Option<StatementId>>,
}

impl Calling {
    /// A run has ended: what it tells, since the checkpoint that it went on from.
    pub(super) fn learn(&mut self, called: Called, since: Option<&Since>) {
        let (stacks, arrivals) = since.map_or((0, 0), |since| (since.stacks, since.arrivals));
        self.called.stacks.truncate(stacks as usize);
        self.called.stacks.extend(called.stacks);
        self.called.arrivals.truncate(arrivals as usize);
        self.called.arrivals.extend(called.arrivals);
        self.numbers.truncate(stacks as usize);
        self.numbers.resize(self.called.stacks.len(), None);
    }

    /// What each task has announced, in order.
    fn by_task(&self) -> Vec<Vec<Arrival>> {
        let mut all: Vec<Vec<Arrival>> = Vec::new();
        for &arrival in &self.called.arrivals {
            let task = arrival.task.index();
            all.resize_with(all.len().max(task + 1), Vec::new);
            all[task].push(arrival);
        }
        all
    }

    /// Puts numbers of statements in place of sites into what happened from the event of this number on.
    fn put_statements(
        &mut self,
        hapsets: &mut Hapsets,
        native: &NativeTarget,
        trace: &mut Trace,
        first: usize,
    ) {
        let arrivals = self.by_task();
        // What an operation was announced as stays what its task announced last until its next event.
        let mut put = |task: TaskId, events: u32, op: &mut Op| {
            let announced = arrivals.get(task.index()).map_or(&[][..], Vec::as_slice);
            let upto = announced.partition_point(|arrival| arrival.events <= events);
            let stack = announced[..upto].last().map(|arrival| arrival.stack as usize);
            let stack = stack.filter(|&stack| self.called.stacks[stack].site == op.site);
            let number = match stack {
                Some(stack) => *self.numbers[stack].get_or_insert_with(|| {
                    hapsets.number(native, op.site, &self.called.stacks[stack].callers)
                }),
                None => hapsets.number(native, op.site, &[]),
            };
            op.site = SiteId(number.0);
        };
        for event in &mut trace.events[first..] {
            put(event.task, event.index, &mut event.op);
        }
        for (task, op) in &mut trace.pending {
            put(*task, u32::MAX, op);
        }
    }
}

/// What the source says of an operation and its callers.
fn named(native: &NativeTarget, site: SiteId, callers: &[SiteId]) -> Statement {
    let places = native.places(site);
    let place = &places[0];
    // Without a line the function and its offset must do.
    let frame = match place.line {
        0 => Frame { file: format!("{}:{}", place.file, place.function), ..Frame::default() },
        _ => Frame::from(place),
    };
    let inlined = native.frames(site).into_iter().skip(1);
    let callers = inlined.chain(callers.iter().flat_map(|&caller| native.frames(caller)));
    let own = callers.filter(|at| at.has_line() && !is_foreign(&at.file, &at.function));
    let context = own.map(|at| Frame { file: at.file.replace('\\', "/"), line: at.line, column: at.column });
    Statement { frame, context: context.take(CONTEXT_MAX).collect() }
}

/// Whether a function was installed by the system or is a part of our runtime.
fn is_foreign(file: &str, function: &str) -> bool {
    file.starts_with("/usr/") || function.trim_start_matches('<').starts_with("raddle_")
}

impl NativeTarget {
    /// What a guided search can begin with.
    pub(crate) fn known(&self, saved: Option<&HapsetFile>) -> Known {
        let (Some(file), Some(hapsets)) = (saved, &self.hapsets) else { return Known::default() };
        let statements = hapsets.statements.clone();
        Known::saved(&file.sets, move |number| name(&statements, number))
    }

    /// The HaPSets of a run, if they are wanted: puts statements into its trace. Those that led to the checkpoint which it
    /// went on from are there.
    pub(super) fn pairs(
        &mut self,
        calling: &mut Calling,
        trace: &mut Trace,
        since: Option<&Since>,
    ) -> Vec<Pair> {
        let Some(mut hapsets) = self.hapsets.take() else { return Vec::new() };
        let first = since.map_or(0, |since| since.events() as usize);
        calling.put_statements(&mut hapsets, self, trace, first);
        self.hapsets = Some(hapsets);
        of_trace(trace).iter().copied().collect()
    }
}
