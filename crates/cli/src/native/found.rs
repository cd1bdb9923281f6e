//! What a campaign on a native program has found: failure files, and the figures.

use super::{Addresses, NativeTarget};
use crate::output;
use crate::problem::Problem;
use raddle::tool;
use raddle_explore::campaign::{self, Summary};
use raddle_explore::explorer::Exhausted;
use raddle_explore::target::{CycleFound, Target as _};
use raddle_model::{FailureKind, SiteId};
use raddle_wire::{FailureFile, Found, TOOL_VERSION, Target, failure};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The variable in a failure file that says which exit code is no failure.
pub(crate) const EXPECT_EXIT: &[u8] = b"RADDLE_EXPECT_EXIT";

/// The same for the function that control begins with.
pub(crate) const BEGINNING: &[u8] = b"RADDLE_BEGINNING";

/// The same for the milliseconds without any operation after which a run hangs.
pub(crate) const HANG: &[u8] = b"RADDLE_HANG_MS";

/// The same if the program lies at the same place in all runs.
pub(crate) const ADDRESSES: &[u8] = b"RADDLE_FIXED_ADDRESSES";

/// How it was looked for.
pub(crate) struct Search<'a> {
    /// Name of the strategy.
    pub(crate) strategy: &'a str,
    /// Seed of the campaign.
    pub(crate) seed: u64,
    /// Where failure files go.
    pub(crate) out: &'a Path,
    /// The linker's hash of the program.
    pub(crate) build_id: Vec<u8>,
}

/// What is run, as a failure file has it.
pub(crate) fn target(target: &NativeTarget, build_id: Vec<u8>) -> Target {
    let program = target.program();
    let path = std::path::absolute(&program.path).unwrap_or_else(|_| program.path.clone());
    let own = [program.path.as_os_str().as_bytes().to_vec()];
    let arguments = program.arguments.iter().map(|argument| argument.as_bytes().to_vec());
    let beginning = program.beginning.function();
    let beginning = beginning.map(|name| (BEGINNING.to_vec(), name.as_bytes().to_vec()));
    let expected = target.expected_exit().map(|code| (EXPECT_EXIT.to_vec(), code.to_string().into_bytes()));
    let fixed = program.addresses == Addresses::Fixed;
    let fixed = fixed.then(|| (ADDRESSES.to_vec(), b"1".to_vec()));
    let hang = (HANG.to_vec(), program.hang.as_millis().to_string().into_bytes());
    Target::Native {
        path: path.as_os_str().as_bytes().to_vec(),
        build_id,
        argv: own.into_iter().chain(arguments).collect(),
        // The program gets the environment of whoever replays it: what is in it may be secret.
        env: expected.into_iter().chain(beginning).chain(fixed).chain([hang]).collect(),
        stdin: program.stdin.clone(),
    }
}

/// The file of a failure.
pub(crate) fn file(native: &NativeTarget, search: &Search<'_>, found: campaign::Found) -> FailureFile {
    let campaign::Found { mut failure, plan, run, first_run, .. } = found;
    // A run that could not tell has no tasks, and a failure may name only those that there are.
    failure.tasks.retain(|task| task.index() < run.trace.names.len());
    let mut file = FailureFile {
        tool: TOOL_VERSION.to_owned(),
        target: target(native, search.build_id.clone()),
        plan,
        failure,
        trace: run.trace,
        tasks: run.tasks,
        objects: run.objects,
        places: BTreeMap::new(),
        found: Found { strategy: search.strategy.to_owned(), seed: search.seed, run: first_run },
        memory_model: String::from("sc"),
    };
    retell(native, &mut file);
    file
}

/// A failure whose run was just recorded is told by the program's own places.
pub(crate) fn retell(native: &NativeTarget, file: &mut FailureFile) {
    let FailureFile { plan, failure, trace, objects, places, .. } = file;
    if let Some(callers) = native.callers(trace.schedule.fingerprint) {
        callers.retell(native, failure, trace, objects);
    }
    let events = trace.events.iter().map(|event| event.op.site);
    let pending = trace.pending.iter().map(|(_, op)| op.site);
    let objects = objects.iter().map(|object| object.site);
    let others = failure.sites.iter().chain(&plan.points.accesses).copied();
    let sites: BTreeSet<SiteId> = events.chain(pending).chain(objects).chain(others).collect();
    *places = sites.into_iter().map(|site| (site, native.place(site))).collect();
}

/// Writes a failure into the output directory. The same failure found again takes the same name.
pub(crate) fn write(search: &Search<'_>, program: &Path, file: &FailureFile) -> Result<PathBuf, Problem> {
    // Two races of one run have the same partial order, and differ in their sites.
    // Where one that hangs was interrupted is chance.
    let (kind, mut sites) = file.failure.identity();
    if kind == FailureKind::Hang {
        sites.clear();
    }
    let sites = sites.iter().fold(0, |hash, site| raddle_model::hash::mix(hash, u64::from(site.0)));
    let hash = file.trace.schedule.fingerprint as u32 ^ sites as u32;
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let path = search.out.join(format!("{name}-{}-{hash:08x}.raddle", file.failure.kind.name()));
    output::write(&path, failure::encode(file))?;
    Ok(path)
}

/// The figures of a campaign, with the failures that were written to these files.
pub(crate) fn summary(
    native: &NativeTarget,
    search: &Search<'_>,
    summary: &Summary,
    files: &[(PathBuf, FailureFile)],
    seconds: f64,
) -> raddle_report::Summary {
    let progress = &summary.progress;
    let listed = |(path, file): &(PathBuf, FailureFile)| raddle_report::Found {
        kind: file.failure.kind.name().to_owned(),
        run: file.found.run,
        message: tool::story(file).message(),
        file: Some(path.display().to_string()),
        sites: file.failure.sites.iter().filter_map(|site| file.places.get(site).cloned()).collect(),
    };
    raddle_report::Summary {
        program: native.program().path.display().to_string(),
        strategy: search.strategy.to_owned(),
        seed: search.seed,
        runs: progress.runs,
        steps: progress.steps,
        accesses: Some(progress.accesses),
        distinct: progress.distinct.value,
        distinct_exact: progress.distinct.exact,
        unseen_probability: progress.unseen_probability,
        exhausted: match &summary.exhausted {
            Exhausted::No => raddle_report::Exhausted::No,
            Exhausted::Yes => raddle_report::Exhausted::Yes,
            Exhausted::Within(bound) => raddle_report::Exhausted::Within(bound.clone()),
        },
        runs_left: summary
            .outlook
            .map(|left| [left.low, left.about, left.high].map(|runs| runs.round() as u64)),
        search_seconds: summary.search_time.as_secs_f64(),
        failing_runs: progress.failing_runs,
        failures: files.iter().map(listed).collect(),
        warnings: summary.cycles.iter().map(|cycle| warning(native, cycle)).collect(),
        notes: Vec::new(),
        backend: Some(native.program().backend.name().to_owned()),
        isolation: Some(native.isolation()),
        checkpoints: Some(native.checkpoints()),
        runs_digest: Some(native.runs_digest()),
        seconds,
        weak_orders: summary.weak_orders,
        ..raddle_report::Summary::default()
    }
}

/// A potential deadlock.
fn warning(native: &NativeTarget, cycle: &CycleFound) -> raddle_report::Warning {
    let place = |site: SiteId| native.place(site);
    let detail = |edge: &raddle_explore::target::EdgeFound| {
        let [taken, wanted] = edge.sites.map(|site| place(site).link());
        format!("{} holds a {} taken at {taken} and takes another at {wanted}", edge.task, edge.held)
    };
    raddle_report::Warning {
        message: String::from("tasks take locks in a circle: another schedule may end in a deadlock"),
        details: cycle.edges.iter().map(detail).collect(),
        sites: cycle.sites().flatten().map(place).collect(),
    }
}
