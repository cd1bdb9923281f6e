//! What a campaign counts, reports, and when it stops.

use crate::programs::{alone, fig1, in_turn, two_bugs};
use core::ops::Range;
use raddle_explore::target::{Digest, Flow, Place, RaceFound, Run, Sink, Target, TargetError};
use raddle_explore::{Dfs, Dpor, Exhausted, Limits, Odpor, Sample, Search, Summary, Systematic, campaign};
use raddle_model::{FailureKind, Plan, SiteId, Tail, Verdict};
use raddle_policy::{Strategy, strategies};
use raddle_toy::ToyTarget;

fn limits(runs: u64, stop_after: u64) -> Limits {
    Limits { runs, stop_after, races: true }
}

fn sample(target: &mut dyn Target, strategy: Strategy, limits: &Limits) -> Summary {
    let mut explorer = Sample::new(strategy, Plan::new(7, Tail::Random));
    campaign::run(target, &mut explorer, limits, &mut || false, &mut |_| {}).unwrap()
}

#[test]
fn every_strategy_finds_both_bugs_and_what_it_reports_replays() {
    for known in strategies().iter().filter(|known| known.strategy.samples()) {
        let mut target = ToyTarget::new(two_bugs());
        let summary = sample(&mut target, known.strategy, &limits(5_000, 0));
        assert_eq!(summary.progress.runs, 5_000, "{}", known.name);
        let mut kinds: Vec<FailureKind> = summary.failures.iter().map(|found| found.failure.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, [FailureKind::Assertion, FailureKind::Deadlock], "{}", known.name);
        assert!(summary.progress.failing_runs >= 2);
        assert_eq!(summary.progress.failures, 2);
        assert!(!summary.not_controlled && summary.exhausted == Exhausted::No);
        for found in summary.failures {
            let again = target.run(&found.plan).unwrap();
            assert_eq!(again.digest.verdict, Verdict::Failed(found.failure), "{}", known.name);
            assert_eq!(again.trace.events, found.run.trace.events);
            assert!(found.original.is_none());
        }
    }
}

#[test]
fn a_campaign_is_a_function_of_its_seed() {
    for known in strategies().iter().filter(|known| known.strategy.samples()) {
        let once = || sample(&mut ToyTarget::new(two_bugs()), known.strategy, &limits(300, 0));
        let (a, b) = (once(), once());
        assert_eq!(a.progress, b.progress, "{}", known.name);
        assert_eq!(a.failures, b.failures, "{}", known.name);
    }
}

#[test]
fn it_stops_after_so_many_distinct_failures() {
    let one = sample(&mut ToyTarget::new(two_bugs()), Strategy::Rapos, &limits(5_000, 1));
    assert_eq!(one.failures.len(), 1);
    assert_eq!(one.progress.failing_runs, 1);
    assert_eq!(one.failures[0].first_run + 1, one.progress.runs);
    let two = sample(&mut ToyTarget::new(two_bugs()), Strategy::Rapos, &limits(5_000, 2));
    assert_eq!(two.failures.len(), 2);
    assert!(two.progress.runs < 5_000);
    assert!(two.failures[0].first_run < two.failures[1].first_run);
}

#[test]
fn it_stops_when_time_is_up_and_tells_its_progress() {
    let mut explorer = Sample::new(Strategy::Random, Plan::new(0, Tail::Random));
    let (mut asked, mut told) = (0, Vec::new());
    let mut target = ToyTarget::new(fig1());
    let summary = campaign::run(
        &mut target,
        &mut explorer,
        &limits(1_000, 0),
        &mut || {
            asked += 1;
            asked == 10
        },
        &mut |progress| told.push(progress.runs),
    )
    .unwrap();
    assert_eq!(summary.progress.runs, 10);
    // Batches of 1, 1, 2, 4 and the beginning of one of 8.
    assert_eq!(told, [1, 2, 4, 8, 10]);
}

#[test]
fn no_runs_and_no_second_task_are_said() {
    let none = sample(&mut ToyTarget::new(fig1()), Strategy::Random, &limits(0, 1));
    assert_eq!(none.progress.runs, 0);
    assert!(none.not_controlled);
    let summary = sample(&mut ToyTarget::new(alone()), Strategy::Random, &limits(20, 1));
    assert_eq!(summary.progress.runs, 20);
    assert!(summary.not_controlled);
    let summary = sample(&mut ToyTarget::new(in_turn()), Strategy::Random, &limits(20, 1));
    assert!(summary.not_controlled, "nobody ever had a choice");
}

/// Fails in its batches; run again, it does something else.
struct Fickle {
    inner: ToyTarget,
    other: ToyTarget,
}

impl Target for Fickle {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        self.other.run(plan)
    }
    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.inner.sample(plan, runs, sink)
    }
    fn place(&self, site: SiteId) -> Place {
        self.inner.place(site)
    }
}

#[test]
fn a_failure_that_does_not_repeat_is_kept() {
    let mut target = Fickle { inner: ToyTarget::new(two_bugs()), other: ToyTarget::new(alone()) };
    let summary = sample(&mut target, Strategy::Random, &limits(500, 0));
    assert_eq!(summary.failures.len(), 2);
    for found in summary.failures {
        assert_eq!(found.failure.kind, FailureKind::Nondeterminism);
        let original = found.original.expect("the original is kept");
        assert!(found.failure.message.contains(&original.message), "{}", found.failure.message);
        assert!(found.failure.message.contains("finished"), "{}", found.failure.message);
    }
}

/// Says of every run that two sites race in it.
struct Racy(ToyTarget);

fn race() -> RaceFound {
    RaceFound { sites: [SiteId(4), SiteId(3)], message: String::from("nothing orders them") }
}

struct AddRace<'a>(&'a mut dyn Sink);

impl Sink for AddRace<'_> {
    fn run(&mut self, digest: &Digest) -> Flow {
        let mut digest = digest.clone();
        digest.learned.races.push(race());
        self.0.run(&digest)
    }
}

impl Target for Racy {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let mut run = self.0.run(plan)?;
        run.digest.learned.races.push(race());
        Ok(run)
    }
    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.0.sample(plan, runs, &mut AddRace(sink))
    }
    fn place(&self, site: SiteId) -> Place {
        self.0.place(site)
    }
}

#[test]
fn races_are_listed_once_and_end_nothing() {
    let on = sample(&mut Racy(ToyTarget::new(alone())), Strategy::Random, &limits(50, 1));
    assert_eq!(on.progress.runs, 50);
    assert_eq!(on.races.len(), 1);
    assert_eq!(on.races[0].failure.kind, FailureKind::Race);
    assert_eq!(on.races[0].failure.identity().1, [SiteId(3), SiteId(4)]);
    assert_eq!((on.progress.failing_runs, on.failures.len()), (0, 0));
    let off = Limits { races: false, ..limits(50, 1) };
    let off = sample(&mut Racy(ToyTarget::new(alone())), Strategy::Random, &off);
    assert!(off.races.is_empty());
}

fn systematic(target: &mut dyn Target, search: impl Search, limits: &Limits) -> Summary {
    let mut explorer = Systematic::new(search, Plan::new(0, Tail::Stay));
    campaign::run(target, &mut explorer, limits, &mut || false, &mut |_| {}).unwrap()
}

/// A run of a search goes on after a failure; its report ends there, and replays.
#[test]
fn what_a_search_finds_replays() {
    let check = |name: &str, summary: Summary, target: &mut ToyTarget| {
        let mut kinds: Vec<FailureKind> = summary.failures.iter().map(|found| found.failure.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, [FailureKind::Assertion, FailureKind::Deadlock], "{name}");
        assert_eq!(summary.exhausted, Exhausted::Yes, "{name}");
        for found in summary.failures {
            assert!(found.original.is_none(), "{name}: {:?}", found.failure);
            assert_eq!(found.plan.tail, Tail::None);
            let again = target.run(&found.plan).unwrap();
            assert_eq!(again.digest.verdict, Verdict::Failed(found.failure), "{name}");
            assert_eq!(again.trace.events, found.run.trace.events);
        }
    };
    let mut target = ToyTarget::new(two_bugs());
    let all = limits(1_000_000, 0);
    check("dfs", systematic(&mut target, Dfs::new(), &all), &mut target);
    check("dpor", systematic(&mut target, Dpor::new(), &all), &mut target);
    check("odpor", systematic(&mut target, Odpor::new(), &all), &mut target);
}
