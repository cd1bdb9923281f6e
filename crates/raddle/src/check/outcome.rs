//! What came of a check: the figures, and each distinct failure with its file and its report.

use super::config::Config;
use super::error::Error;
use super::files;
use super::hapsets;
use super::recorded::story as story_of;
use super::warning::Warning;
use raddle_explore::campaign::{self, Summary};
use raddle_explore::explorer::Exhausted;
use raddle_explore::target::{Place, Run, Target};
use raddle_model::{Failure, Plan, SiteId};
use raddle_report::{Story, text};
use raddle_wire::{FailureFile, SiteKey, schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A distinct failure.
#[derive(Clone, Debug)]
pub struct Found {
    story: Story,
    message: String,
    schedule: String,
    file: Option<PathBuf>,
    warning: Option<String>,
    copy: Vec<String>,
}

impl Found {
    /// As a summary lists it.
    fn listed(&self) -> raddle_report::Found {
        let Story { failure, places, .. } = &self.story;
        raddle_report::Found {
            kind: self.kind().to_owned(),
            run: self.run(),
            message: self.message().to_owned(),
            file: self.file.as_ref().map(|file| file.display().to_string()),
            sites: failure.sites.iter().filter_map(|site| places.get(site).cloned()).collect(),
        }
    }

    /// `deadlock`, `assertion`, `race`, …
    pub fn kind(&self) -> &'static str {
        self.story.failure.kind.name()
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The run that showed it first, from 0.
    pub fn run(&self) -> u64 {
        self.story.run
    }

    /// The schedule string: [`crate::replay`] and `RADDLE_REPLAY` take it.
    pub fn schedule(&self) -> &str {
        &self.schedule
    }

    /// The failure file, if it could be written.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The files and lines involved, as `file:line:column`.
    pub fn sites(&self) -> Vec<String> {
        let link = |site: &SiteId| self.story.places.get(site).map(raddle_model::Place::link);
        self.story.failure.sites.iter().filter_map(link).collect()
    }

    /// Everything about it.
    #[doc(hidden)]
    pub fn story(&self) -> &Story {
        &self.story
    }

    /// A failure that was recorded before, in this file.
    pub(crate) fn of_file(config: &Config, recorded: &FailureFile, path: &Path) -> Found {
        let key =
            |site| recorded.places.get(&site).map_or(SiteKey(0), |p| SiteKey::of(&p.file, p.line, p.column));
        let schedule = schedule::encode(&recorded.plan, key);
        let copy = files::lines_to_copy(config, recorded, Some(path), &schedule);
        let story = story_of(recorded);
        Found { message: story.message(), story, schedule, file: Some(path.to_owned()), warning: None, copy }
    }

    /// What happened, for people.
    pub fn text(&self) -> String {
        let mut out = text::failure(&self.story, text::Style::default(), &files::source, &self.copy);
        if let Some(warning) = &self.warning {
            out.push_str(&format!("\n  {warning}\n"));
        }
        out
    }
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Report {
    summary: raddle_report::Summary,
    found: Vec<Found>,
    warnings: Vec<Warning>,
    resumed_after: u64,
}

impl Report {
    /// Whether anything was found.
    pub fn failed(&self) -> bool {
        !self.found.is_empty()
    }

    /// The distinct failures and races, in the order in which they were found.
    pub fn failures(&self) -> &[Found] {
        &self.found
    }

    /// Potential deadlocks that no run has shown. A report with warnings alone has not failed.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What was not done as it was asked for, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.summary.notes
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.summary.runs
    }

    /// Number of runs of the interrupted search that this one went on with; they are not among [`Report::runs`].
    pub fn resumed_after(&self) -> u64 {
        self.resumed_after
    }

    /// The same report of a search that had so many runs before.
    pub(crate) fn after(self, runs: u64) -> Report {
        Report { resumed_after: runs, ..self }
    }

    /// How many of them failed.
    pub fn failing_runs(&self) -> u64 {
        self.summary.failing_runs
    }

    /// Number of operations in all runs.
    pub fn steps(&self) -> u64 {
        self.summary.steps
    }

    /// Number of distinct partial orders; an estimate if there were very many.
    pub fn distinct_partial_orders(&self) -> u64 {
        self.summary.distinct
    }

    /// Probability that the next run shows a partial order that was not seen yet (Good–Turing).
    pub fn unseen_probability(&self) -> f64 {
        self.summary.unseen_probability
    }

    /// Whether everything was run: every partial order, or every interleaving if that is what the
    /// strategy is about. Only systematic strategies can tell.
    pub fn exhausted(&self) -> bool {
        self.summary.exhausted == raddle_report::Exhausted::Yes
    }

    /// The bounds within which everything was run, if it was not run without any.
    pub fn exhausted_within(&self) -> Option<&str> {
        match &self.summary.exhausted {
            raddle_report::Exhausted::Within(bounds) => Some(bounds),
            _ => None,
        }
    }

    /// The time that went into a search itself, not into its runs, in seconds; 0 for a strategy that is none.
    pub fn search_seconds(&self) -> f64 {
        self.summary.search_seconds
    }

    /// HaPSet coverage: number of pairs of statements; `None` if it was not measured.
    pub fn hapset_pairs(&self) -> Option<u64> {
        self.summary.hapset.as_ref().map(|hapset| hapset.pairs)
    }

    /// How it grew: (runs so far, pairs then), for each run that brought something new.
    pub fn hapset_growth(&self) -> &[(u64, u64)] {
        self.summary.hapset.as_ref().map_or(&[], |hapset| &hapset.growth)
    }

    /// The figures, as they are written for people and tools.
    #[doc(hidden)]
    pub fn summary(&self) -> &raddle_report::Summary {
        &self.summary
    }

    /// Everything for people: each failure, then the figures, notes and warnings.
    pub fn text(&self) -> String {
        let mut out: String = self.found.iter().map(|found| found.text() + "\n").collect();
        out.push_str(&self.summary.text());
        out
    }

    /// One line.
    pub fn headline(&self) -> String {
        match self.found.first() {
            Some(found) => format!("{}: {}", found.kind(), found.message()),
            None => String::from("no failure"),
        }
    }
}

/// Turns the result of a campaign into a report, and writes the failure files.
pub(crate) fn report(
    config: &Config,
    target: &impl Target,
    summary: Summary,
    seconds: f64,
    notes: Vec<String>,
) -> Result<Report, Error> {
    let mut found = Vec::new();
    for item in summary.failures.into_iter().chain(summary.races) {
        found.push(tell(config, target, item)?);
    }
    let warnings: Vec<Warning> = summary.cycles.into_iter().map(|cycle| Warning::of(target, cycle)).collect();
    let progress = summary.progress;
    let summary = raddle_report::Summary {
        program: config.body.clone(),
        strategy: config.strategy.clone(),
        seed: config.seed,
        runs: progress.runs,
        steps: progress.steps,
        accesses: None,
        distinct: progress.distinct.value,
        distinct_exact: progress.distinct.exact,
        unseen_probability: progress.unseen_probability,
        hapset: config.hapsets.then(|| hapsets::told(&summary.hapsets, config.hapset_file.as_deref())),
        exhausted: match summary.exhausted {
            Exhausted::No => raddle_report::Exhausted::No,
            Exhausted::Yes => raddle_report::Exhausted::Yes,
            Exhausted::Within(bound) => raddle_report::Exhausted::Within(bound),
        },
        runs_left: summary
            .outlook
            .map(|left| [left.low, left.about, left.high].map(|runs| runs.round() as u64)),
        search_seconds: summary.search_time.as_secs_f64(),
        failing_runs: progress.failing_runs,
        failures: found.iter().map(Found::listed).collect(),
        warnings: warnings.iter().map(Warning::summary).collect(),
        notes,
        seconds,
        weak_orders: summary.weak_orders,
        backend: None,
        isolation: None,
        checkpoints: None,
        runs_digest: None,
    };
    Ok(Report { summary, found, warnings, resumed_after: 0 })
}

/// A report of one run that was replayed.
pub(crate) fn of_one(config: &Config, found: Option<Found>, steps: u64, seconds: f64) -> Report {
    let summary = raddle_report::Summary {
        program: config.body.clone(),
        strategy: String::from("replay"),
        seed: config.seed,
        runs: 1,
        steps,
        distinct: 1,
        distinct_exact: true,
        failing_runs: u64::from(found.is_some()),
        failures: found.iter().map(Found::listed).collect(),
        seconds,
        ..raddle_report::Summary::default()
    };
    Report { summary, found: found.into_iter().collect(), warnings: Vec::new(), resumed_after: 0 }
}

/// A found failure with its file and the lines to copy.
pub(crate) fn tell(config: &Config, target: &impl Target, found: campaign::Found) -> Result<Found, Error> {
    let campaign::Found { failure, plan, run, first_run, .. } = found;
    let story = story(config, target, &failure, &run, &plan, first_run);
    let schedule = schedule::encode(&plan, |site| key(target, site));
    let content = files::content(config, &story, &plan);
    let (file, warning) = match files::write(config, &content) {
        Ok(file) => (Some(file), None),
        Err(error) => (None, Some(format!("the failure file could not be written: {error}"))),
    };
    let copy = files::lines_to_copy(config, &content, file.as_deref(), &schedule);
    Ok(Found { message: story.message(), story, schedule, file, warning, copy })
}

/// The key of a site in a schedule string.
pub(crate) fn key(target: &impl Target, site: SiteId) -> SiteKey {
    let place = target.place(site);
    SiteKey::of(&place.file, place.line, place.column)
}

/// Every place that a failure names: of the run, of the failure, and of the plan, or a replay in
/// another process could not find its points.
pub(crate) fn places(
    target: &impl Target,
    failure: &Failure,
    run: &Run,
    plan: &Plan,
) -> BTreeMap<SiteId, Place> {
    let events = run.trace.events.iter().map(|event| event.op.site);
    let pending = run.trace.pending.iter().map(|(_, op)| op.site);
    let objects = run.objects.iter().map(|object| object.site);
    let others = failure.sites.iter().chain(&plan.points.accesses).copied();
    let all: BTreeSet<SiteId> = events.chain(pending).chain(objects).chain(others).collect();
    all.into_iter().map(|site| (site, target.place(site))).collect()
}

fn story(
    config: &Config,
    target: &impl Target,
    failure: &Failure,
    run: &Run,
    plan: &Plan,
    first_run: u64,
) -> Story {
    Story {
        failure: failure.clone(),
        trace: run.trace.clone(),
        tasks: run.tasks.clone(),
        objects: run.objects.clone(),
        places: places(target, failure, run, plan),
        strategy: config.strategy.clone(),
        seed: config.seed,
        run: first_run,
    }
}
