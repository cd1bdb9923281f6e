//! HaPSets of a native program. Each run is recorded, with the return addresses above each operation; what they stand
//! for is looked up here. So such runs cost more than others, which pay nothing.
//!
//! The context of a statement is the innermost five callers of the function that it stands in, inlined ones included.
//! What has no line is left out, and so is what the system has installed and what is ours: they say nothing of the
//! program.

use super::NativeTarget;
use super::callers::Callers;
use crate::interrupt;
use raddle::tool;
use raddle_analysis::hapset::{Growth, of_trace};
use raddle_explore::explorer::plan_of_run;
use raddle_explore::hapset::{Known, Statements};
use raddle_explore::target::{Ask, Flow, Run, SearchRun, Searched, Searcher, Sink, Target as _, TargetError};
use raddle_model::hapset::{CONTEXT_MAX, Frame};
use raddle_model::{Plan, SiteId, Statement, StatementId, Trace};
use raddle_wire::HapsetFile;
use raddle_wire::report::Call;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

    /// Puts numbers of statements into a trace, in place of sites.
    fn put_statements(&mut self, native: &NativeTarget, callers: &Callers, trace: &mut Trace) {
        callers.each(trace, |op, call| {
            let above = call.map_or(&[][..], |call: &Call| &call.callers);
            let key = (op.site, above.to_vec());
            let number = *self.known.entry(key).or_insert_with(|| {
                let statement = named(native, op.site, above);
                self.statements.lock().unwrap_or_else(PoisonError::into_inner).number(statement)
            });
            op.site = SiteId(number.0);
        });
    }
}

/// What the source says of an operation and its callers.
fn named(native: &NativeTarget, site: SiteId, callers: &[SiteId]) -> Statement {
    let place = native.place(site);
    // Without a line the function and its offset must do.
    let frame = match place.line {
        0 => Frame { file: format!("{}:{}", place.file, place.function), ..Frame::default() },
        _ => Frame::from(&place),
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

    /// A run that is recorded, with HaPSets in what it taught, and statements in its trace. None if it is time to end
    /// before it does.
    fn run_told(&mut self, plan: &Plan, number: u64) -> Result<Option<Run>, TargetError> {
        let Some((reply, _)) = self.samplers[0].record(plan)? else { return Ok(None) };
        let (mut run, callers) = self.recorded(&reply, plan)?;
        let mut hapsets = self.hapsets.take().unwrap_or_default();
        hapsets.put_statements(self, &callers, &mut run.trace);
        self.hapsets = Some(hapsets);
        run.digest.learned.pairs = of_trace(&run.trace).iter().copied().collect();
        run.digest.run = number;
        self.digest_more(&run.digest, 0);
        if let Some(log) = &mut self.log {
            log.run(&run.digest)?;
        }
        Ok(Some(run))
    }

    /// As [`raddle_explore::target::Target::sample`].
    pub(super) fn sample_told(
        &mut self,
        plan: &Plan,
        runs: Range<u64>,
        sink: &mut dyn Sink,
    ) -> Result<(), TargetError> {
        for number in runs {
            let Some(run) = self.run_told(&plan_of_run(plan, number), number)? else { break };
            if sink.run(&run.digest) == Flow::Stop || interrupt::is_due() {
                break;
            }
        }
        Ok(())
    }

    /// As [`raddle_explore::target::Target::search`].
    pub(super) fn search_told(
        &mut self,
        mut search: Box<dyn Searcher>,
        runs: Range<u64>,
    ) -> Result<Searched, TargetError> {
        let asked = Instant::now();
        let Ask::Run(plan) = search.next(0) else {
            return Ok(Searched { search, runs: Vec::new(), over: true, spent: Duration::ZERO });
        };
        let mut spent = asked.elapsed();
        let Some(run) = self.run_told(&plan, runs.start)? else {
            return Ok(Searched { search, runs: Vec::new(), over: false, spent });
        };
        let learning = Instant::now();
        search.learn(0, &plan, &run.digest, &run.trace);
        spent += learning.elapsed();
        let run = SearchRun::new(&plan, run.digest, &run.trace);
        Ok(Searched { search, runs: vec![run], over: false, spent })
    }
}
