//! Generators of arbitrary plans and traces.

use crate::samples::{KINDS, MODES, ORDERS};
use proptest::prelude::*;
use raddle_model::plan::{Contended, Covered, Switch, TaskWeight, Weights, Wishes};
use raddle_model::{
    Decision, Event, ObjectId, Op, Outcome, Plan, PointSet, Schedule, SiteId, Span, SpinMode, Tail, TaskId,
    TimeMode, Trace,
};

fn any_decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        8 => (0u32..6).prop_map(|task| Decision::Run(TaskId(task))),
        1 => (0..u32::MAX).prop_map(|task| Decision::Run(TaskId(task))),
        2 => any::<u32>().prop_map(Decision::Choose),
    ]
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let runs = prop::collection::vec((any_decision(), 1usize..20), 0..40);
    let checks = prop::collection::vec(any::<u32>(), 0..6);
    let fingerprint = prop_oneof![Just(0u128), any::<u128>()];
    (runs, checks, fingerprint).prop_map(|(runs, checks, fingerprint)| Schedule {
        decisions: runs.into_iter().flat_map(|(decision, count)| vec![decision; count]).collect(),
        checks,
        fingerprint,
    })
}

fn sorted_sites() -> impl Strategy<Value = Vec<SiteId>> {
    prop::collection::btree_set(any::<u32>().prop_map(SiteId), 0..5).prop_map(|set| set.into_iter().collect())
}

fn any_tail() -> impl Strategy<Value = Tail> {
    let access = (any::<[u32; 3]>(), any::<bool>());
    let access = access.prop_map(|([index, site, object], write)| Contended {
        index,
        site: SiteId(site),
        object,
        write,
    });
    let weight = (any::<u64>(), prop::collection::vec(access, 0..5));
    let weight = weight.prop_map(|(name, accesses)| TaskWeight { name, accesses });
    let choices = prop::collection::vec(any::<u32>(), 0..5);
    let pair = (any::<u32>(), any::<u32>()).prop_map(|(a, b)| (SiteId(a), SiteId(b)));
    let switch = any::<(u64, u32, u64)>().prop_map(|(from, events, to)| Switch { from, events, to });
    prop_oneof![
        prop::sample::select(vec![Tail::Random, Tail::Rapos, Tail::Pos, Tail::Stay, Tail::None]),
        (any::<u32>(), any::<u64>()).prop_map(|(depth, length)| Tail::Pct { depth, length }),
        (prop::collection::vec(weight, 0..5), any::<u64>())
            .prop_map(|(tasks, length)| Tail::Walks(Weights { length, tasks })),
        (sorted_sites(), prop::collection::vec(pair, 0..5))
            .prop_map(|(sites, pairs)| Tail::Coverage(Covered { sites, pairs })),
        (prop::collection::vec(switch, 0..5), choices)
            .prop_map(|(switches, choices)| Tail::Wishes(Wishes { switches, choices })),
    ]
}

/// Any plan.
pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    let points = (any::<bool>(), any::<bool>(), any::<bool>(), sorted_sites());
    let modes = (any::<bool>(), any::<bool>());
    let spurious = prop_oneof![Just(0u32), any::<u32>()];
    let steps = prop_oneof![Just(1_000_000u64), any::<u64>()];
    let parts = (any::<u64>(), any_schedule(), any_tail(), points, modes, spurious, steps);
    parts.prop_map(|(seed, prefix, tail, points, (lazy, off), spurious_max, steps_max)| Plan {
        seed,
        prefix,
        tail,
        points: PointSet { all_accesses: points.0, releases: points.1, spawns: points.2, accesses: points.3 },
        time: if lazy { TimeMode::Lazy } else { TimeMode::Any },
        spin: if off { SpinMode::Off } else { SpinMode::Park },
        spurious_max,
        steps_max,
    })
}

fn any_op() -> impl Strategy<Value = Op> {
    let object = || prop_oneof![Just(ObjectId::NONE), (0u32..9).prop_map(ObjectId)];
    let span = prop_oneof![
        Just(Span::WHOLE),
        (any::<u32>(), any::<u32>()).prop_map(|(start, len)| Span { start, len })
    ];
    let names = (
        prop::sample::select(KINDS.to_vec()),
        prop::sample::select(MODES.to_vec()),
        prop::sample::select(ORDERS.to_vec()),
    );
    (names, object(), object(), span, any::<u64>(), 0u32..50).prop_map(
        |((kind, mode, order), object, second, span, arg, site)| Op {
            kind,
            mode,
            order,
            object,
            second,
            span,
            arg,
            site: SiteId(site),
        },
    )
}

fn any_outcome(tasks: u32) -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Failed),
        Just(Outcome::TimedOut),
        Just(Outcome::Spurious),
        Just(Outcome::Closed),
        Just(Outcome::Misuse),
        any::<u32>().prop_map(Outcome::Value),
        (0..tasks).prop_map(|task| Outcome::Woke(TaskId(task))),
        (0..tasks).prop_map(|task| Outcome::Spawned(TaskId(task))),
    ]
}

/// Any trace of up to six tasks.
pub(crate) fn any_trace() -> impl Strategy<Value = Trace> {
    (1u32..6).prop_flat_map(|tasks| {
        let event = (0..tasks, any_op(), any_outcome(tasks));
        let events = prop::collection::vec(event, 0..60);
        let pending = prop::collection::vec((0..tasks, any_op()), 0..4);
        let names = prop::collection::vec(any::<u64>(), tasks as usize);
        (events, pending, names, any_schedule()).prop_map(|(events, pending, names, schedule)| {
            let mut indexes = vec![0; names.len()];
            let number = |(task, op, outcome): (u32, Op, Outcome)| {
                let index = indexes[task as usize];
                indexes[task as usize] += 1;
                Event { task: TaskId(task), index, op, outcome }
            };
            Trace {
                events: events.into_iter().map(number).collect(),
                pending: pending.into_iter().map(|(t, op)| (TaskId(t), op)).collect(),
                parents: (0..names.len() as u32).map(|t| t.checked_sub(1).map(TaskId)).collect(),
                names,
                schedule,
                log: Default::default(),
            }
        })
    })
}
