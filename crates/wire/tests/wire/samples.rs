//! Values for the tests: small plans and failures like real ones, of which the golden files are
//! made. To change them is to change golden files of released versions: add new ones instead.

use raddle_model::objects::{State, barrier, channel, condvar, mutex, once, rwlock, semaphore};
use raddle_model::plan::{Contended, Covered, Step, Steps, Switch, TaskWeight, Weights, Wishes};
use raddle_model::trace::{Chosen, Hidden, Log, Picked, Reached};
use raddle_model::{
    Decision, Event, Failure, FailureKind, Kind, Mode, ObjectId, Op, Order, Outcome, Plan, PointSet,
    Schedule, SiteId, Span, SpinMode, Tail, TaskId, TimeMode, Trace, Verdict,
};
use raddle_wire::report::{self, Arrival, Called, Edge, Race, Recorded, Since, Stack};
use raddle_wire::{FailureFile, Found, ObjectInfo, Place, RunReport, SiteKey, Target};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sites keep their numbers.
pub(crate) fn key(site: SiteId) -> SiteKey {
    SiteKey(site.0)
}

/// The inverse of [`key`].
pub(crate) fn site(key: SiteKey) -> SiteId {
    SiteId(key.0)
}

/// A failing run of 30 decisions of three tasks.
pub(crate) fn small() -> Plan {
    let mut plan = Plan::new(0, Tail::None);
    plan.prefix = Schedule {
        decisions: [0, 0, 1, 2, 2, 1, 1, 0, 2, 0, 1, 1, 2, 0, 0]
            .iter()
            .flat_map(|&task| [Decision::Run(TaskId(task)); 2])
            .collect(),
        checks: vec![0x1234_5678, 0xdead_beef],
        fingerprint: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
    };
    plan
}

/// One plan that uses everything a schedule string can hold.
pub(crate) fn rich() -> Plan {
    let mut plan = small();
    plan.prefix.decisions.push(Decision::Choose(3));
    plan.prefix.decisions.push(Decision::Choose(3));
    plan.prefix.decisions.push(Decision::Choose(1_000_000));
    plan.points = PointSet {
        all_accesses: true,
        releases: true,
        spawns: true,
        accesses: vec![SiteId(4), SiteId(70_000)],
    };
    plan.time = TimeMode::Lazy;
    plan.spin = SpinMode::Off;
    plan.spurious_max = 2;
    plan.steps_max = 5_000;
    plan
}

/// Each tail once.
pub(crate) fn tails() -> Vec<(&'static str, Tail)> {
    vec![
        ("random", Tail::Random),
        ("rapos", Tail::Rapos),
        ("pct", Tail::Pct { depth: 3, length: 1_000 }),
        ("pos", Tail::Pos),
        ("noise", Tail::Noise { one_in: 10, strength: 20 }),
        (
            "walks",
            Tail::Walks(Weights {
                length: 300,
                tasks: vec![TaskWeight {
                    name: 0x1122_3344_5566_7788,
                    accesses: vec![Contended { index: 4, site: SiteId(9), object: 2, write: true }],
                }],
            }),
        ),
        ("coverage", Tail::Coverage(Covered { sites: vec![SiteId(1)], pairs: vec![(SiteId(1), SiteId(2))] })),
        ("stay", Tail::Stay),
        ("none", Tail::None),
        (
            "wishes",
            Tail::Wishes(Wishes {
                switches: vec![Switch { from: 0, events: 3, to: 0x1122_3344_5566_7788 }],
                choices: vec![2, 0],
            }),
        ),
        ("steps", Tail::Steps(steps())),
        ("sections", Tail::Steps(Steps { sections: true, ..steps() })),
    ]
}

fn steps() -> Steps {
    let steps = vec![
        Step::default(),
        Step { task: 0x1122_3344_5566_7788, choices: vec![1, 0] },
        Step { task: 7, choices: vec![] },
    ];
    Steps {
        steps: Arc::new(steps),
        sleep: vec![0x99],
        run_on: true,
        timeouts_max: 1,
        random: false,
        sections: false,
    }
}

fn place(line: u32, function: &str) -> Place {
    Place { file: "src/bank.rs".into(), line, column: 9, function: function.into() }
}

/// Two tasks that take two mutexes in opposite orders.
pub(crate) fn deadlock() -> FailureFile {
    let (a, b) = (ObjectId(3), ObjectId(4));
    let site = SiteId;
    let lock = |object, at| Op::new(Kind::Lock, object, site(at));
    let spawn = |at| Op::new(Kind::Spawn, ObjectId::NONE, site(at));
    let event = |task, index, op, outcome| Event { task: TaskId(task), index, op, outcome };
    let events = vec![
        event(0, 0, spawn(1), Outcome::Spawned(TaskId(1))),
        event(0, 1, spawn(2), Outcome::Spawned(TaskId(2))),
        event(1, 0, lock(a, 3), Outcome::Done),
        event(2, 0, lock(b, 5), Outcome::Done),
    ];
    let mut plan = Plan::new(42, Tail::None);
    plan.prefix = Schedule {
        decisions: vec![Decision::Run(TaskId(1)), Decision::Run(TaskId(2))],
        checks: vec![],
        fingerprint: 77,
    };
    let trace = Trace {
        events,
        pending: vec![
            (TaskId(0), Op::new(Kind::Join, ObjectId(1), site(7))),
            (TaskId(1), lock(b, 4)),
            (TaskId(2), lock(a, 6)),
        ],
        names: vec![10, 20, 30],
        parents: vec![None, Some(TaskId(0)), Some(TaskId(0))],
        schedule: plan.prefix.clone(),
        log: Default::default(),
    };
    let object =
        |id, noun: &str, at| ObjectInfo { id: ObjectId(id), noun: noun.into(), name: None, site: site(at) };
    let places: BTreeMap<SiteId, Place> = [
        (1, 30, "main"),
        (2, 31, "main"),
        (3, 12, "transfer"),
        (4, 13, "transfer"),
        (5, 20, "audit"),
        (6, 21, "audit"),
        (7, 32, "main"),
    ]
    .into_iter()
    .map(|(number, line, function)| (site(number), place(line, function)))
    .collect();
    FailureFile {
        tool: "0.1.0".into(),
        target: Target::Library {
            package: "bank".into(),
            test: "tests::transfers".into(),
            executable: "target/debug/deps/bank-0123".into(),
            body: "transfers".into(),
            directory: "bank".into(),
        },
        plan,
        failure: Failure {
            kind: FailureKind::Deadlock,
            message: "main/0 waits for mutex o4 held by main/1; main/1 waits for mutex o3 held by main/0"
                .into(),
            tasks: vec![TaskId(1), TaskId(2)],
            sites: vec![site(4), site(6)],
        },
        trace,
        tasks: vec!["main".into(), "main/0 payer".into(), "main/1".into()],
        objects: vec![
            object(0, "task", 0),
            object(1, "task", 1),
            object(2, "task", 2),
            object(3, "mutex", 3),
            object(4, "mutex", 5),
        ],
        places,
        found: Found { strategy: "random".into(), seed: 42, run: 17 },
        memory_model: "sc".into(),
    }
}

/// The same found by the native front end, with every kind of operation, mode, order and outcome.
pub(crate) fn everything() -> FailureFile {
    let mut file = deadlock();
    file.target = Target::Native {
        path: b"./bank".to_vec(),
        build_id: vec![0xde, 0xad],
        argv: vec![b"bank".to_vec(), b"\xff".to_vec()],
        env: vec![(b"LANG".to_vec(), b"C".to_vec())],
        stdin: b"1 2 3\n".to_vec(),
    };
    file.failure.kind = FailureKind::Nondeterminism;
    let outcomes = [
        Outcome::Done,
        Outcome::Failed,
        Outcome::TimedOut,
        Outcome::Spurious,
        Outcome::Closed,
        Outcome::Woke(TaskId(2)),
        Outcome::Value(7),
        Outcome::Misuse,
    ];
    for (index, &kind) in KINDS.iter().enumerate() {
        let op = Op {
            kind,
            mode: MODES[index % MODES.len()],
            order: ORDERS[index % ORDERS.len()],
            object: ObjectId(3),
            second: if index % 2 == 0 { ObjectId::NONE } else { ObjectId(4) },
            span: if index % 3 == 0 { Span::WHOLE } else { Span { start: 4, len: 8 } },
            arg: index as u64 * 1_000,
            site: SiteId(3),
        };
        file.trace.events.push(Event {
            task: TaskId(1),
            index: index as u32 + 1,
            op,
            outcome: outcomes[index % outcomes.len()],
        });
    }
    file.trace.schedule.checks = vec![1, 2];
    file
}

pub(crate) const KINDS: [Kind; 40] = [
    Kind::Spawn,
    Kind::Exit,
    Kind::Join,
    Kind::Finished,
    Kind::End,
    Kind::Yield,
    Kind::Sleep,
    Kind::Park,
    Kind::Unpark,
    Kind::Choose,
    Kind::Lock,
    Kind::Unlock,
    Kind::ReadLock,
    Kind::WriteLock,
    Kind::ReadUnlock,
    Kind::WriteUnlock,
    Kind::Downgrade,
    Kind::Wait,
    Kind::Wake,
    Kind::NotifyOne,
    Kind::NotifyAll,
    Kind::Acquire,
    Kind::Release,
    Kind::Arrive,
    Kind::Leave,
    Kind::OnceGet,
    Kind::OnceEnter,
    Kind::OnceDone,
    Kind::Send,
    Kind::Handover,
    Kind::RecvReady,
    Kind::Recv,
    Kind::DropSender,
    Kind::DropReceiver,
    Kind::Load,
    Kind::Store,
    Kind::Rmw,
    Kind::Fence,
    Kind::CellRead,
    Kind::CellWrite,
];
pub(crate) const MODES: [Mode; 3] = [Mode::Block, Mode::Try, Mode::Timed];
pub(crate) const ORDERS: [Order; 5] =
    [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

/// What came of a run of which nothing more is known.
pub(crate) fn finished() -> RunReport {
    RunReport {
        verdict: Verdict::Finished,
        exit_code: Some(-1),
        fingerprint: u128::MAX - 5,
        steps: 17,
        accesses: 0,
        decisions: 4,
        tasks: 3,
        releases: true,
        weak_orders: false,
        races: Vec::new(),
        shared: Vec::new(),
        cycles: Vec::new(),
        recorded: None,
        called: Called::default(),
        since: None,
    }
}

/// The same with accesses.
pub(crate) fn counted() -> RunReport {
    RunReport { accesses: 123_456, ..finished() }
}

/// A run of a search in which something went on that nobody saw the order of.
pub(crate) fn hidden() -> RunReport {
    let mut report = searched();
    let log = &mut report.recorded.as_mut().expect("a recorded run").trace.log;
    log.reached.hidden = Hidden(5);
    report
}

/// One that was recorded, with everything that there is.
pub(crate) fn recorded() -> RunReport {
    let FailureFile { failure, trace, objects, tasks, .. } = deadlock();
    let edge = |task: &str| Edge {
        task: String::from(task),
        held: String::from("mutex"),
        sites: [SiteId(3), SiteId(4)],
    };
    RunReport {
        verdict: Verdict::Failed(failure),
        exit_code: None,
        races: vec![
            Race { sites: [SiteId(8), SiteId(9)], message: String::from("a race"), place: Some((1, 0x4010)) },
            Race { sites: [SiteId(9), SiteId(9)], message: String::new(), place: None },
        ],
        shared: vec![SiteId(8), SiteId(9), SiteId(u32::MAX)],
        cycles: vec![vec![edge("main/0"), edge("main/1")]],
        recorded: Some(Recorded {
            trace,
            objects,
            tasks,
            places: vec![],
            modules: vec![String::new(), String::from("libc.so.6")],
            arrivals: vec![call(0, 7, &[]), call(1, 8, &[9, 10])],
            accesses: vec![call(1, 11, &[12])],
        }),
        ..finished()
    }
}

fn call(task: u32, site: u32, callers: &[u32]) -> report::Call {
    let callers = callers.iter().map(|&site| SiteId(site)).collect();
    report::Call { task: TaskId(task), site: SiteId(site), callers }
}

/// A run of a search, with objects of every kind.
/// A run whose objects are known by where they are.
pub(crate) fn placed() -> RunReport {
    let mut report = recorded();
    if let Some(recorded) = &mut report.recorded {
        recorded.places = vec![(ObjectId(3), 0, 0x4010), (ObjectId(4), 1, u64::MAX)];
    }
    report
}

/// A failure whose objects have names.
pub(crate) fn named() -> FailureFile {
    let mut file = deadlock();
    for (object, name) in file.objects.iter_mut().zip(["accounts[0].lock", "`odd` name"]) {
        object.name = Some(String::from(name));
    }
    file
}

pub(crate) fn searched() -> RunReport {
    let mut report = recorded();
    let recorded = report.recorded.as_mut().expect("a recorded run");
    let task = TaskId(0);
    let picked = |event, objects| Picked { event, objects, enabled: [task].into_iter().collect() };
    recorded.trace.log = Log {
        picks: vec![picked(0, 2), picked(1, 13)],
        chosen: vec![Chosen { pick: 1, arity: 300, value: 2 }],
        objects: vec![
            State::Task { task, exited: false },
            State::Token(true),
            State::Mutex(mutex::Mutex { owner: Some(task), depth: 2, recursive: true }),
            State::RwLock(rwlock::RwLock { writer: None, readers: vec![task] }),
            State::Condvar(condvar::Condvar { waiters: vec![task] }),
            State::Semaphore(semaphore::Semaphore { permits: 1 << 40 }),
            State::Barrier(barrier::Barrier { size: 3, arrived: 1, round: 7 }),
            State::Once(once::Once::Incomplete),
            State::Once(once::Once::Running(task)),
            State::Once(once::Once::Complete),
            State::Once(once::Once::Poisoned),
            State::Channel(channel::Channel {
                capacity: Some(4),
                len: 1,
                sent: 3,
                taken: 2,
                senders: 2,
                receiver: true,
                ready: 1,
            }),
            State::Atomic,
            State::Cell,
        ],
        task_objects: vec![[ObjectId(0), ObjectId::NONE]],
        failed_at: Some(1),
        reached: Reached { cut: true, timeouts: true, ..Reached::default() },
    };
    report
}

/// A run of a search that went on from a checkpoint: what led there is not in its report.
pub(crate) fn continued() -> RunReport {
    let mut report = searched();
    let trace = &mut report.recorded.as_mut().expect("a recorded run").trace;
    let since = Since { events: vec![30, 12], picks: 40, chosen: 2, objects: 9, ..Since::default() };
    for event in &mut trace.events {
        event.index += since.events.get(event.task.index()).copied().unwrap_or(0);
    }
    for picked in &mut trace.log.picks {
        picked.event += 42;
    }
    report.since = Some(since);
    report
}

/// The same with who called, as far as that was not told before.
pub(crate) fn called() -> RunReport {
    let mut report = continued();
    let since = report.since.as_mut().expect("it went on");
    (since.stacks, since.arrivals) = (3, 41);
    let arrival = |task, events, stack| Arrival { task: TaskId(task), events, stack };
    report.called = Called {
        stacks: vec![
            Stack { site: SiteId(8), callers: vec![SiteId(9), SiteId(10)] },
            Stack { site: SiteId::UNKNOWN, callers: Vec::new() },
        ],
        arrivals: vec![arrival(0, 30, 2), arrival(1, 12, 3), arrival(1, 13, 4)],
    };
    report
}
