//! A failure in full: every event with its place, who was where at the end, who held what.

use super::{MEMORY_MODEL, Site, line};
use crate::moves::{self, Move};
use crate::names::Names;
use crate::state::State;
use crate::story::{Place, Story};
use crate::{whole, words};
use raddle_model::{Mode, ObjectId, Op, Outcome, SiteId};
use serde::Serialize;

/// Changes with the meaning of a field; new fields do not change it.
const SCHEMA: &str = "raddle.failure.v1";

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    kind: &'a str,
    message: String,
    tasks_involved: Vec<u32>,
    sites: Vec<Option<Site<'a>>>,
    strategy: &'a str,
    seed: u64,
    run: u64,
    memory_model: &'static str,
    preemptions: usize,
    tasks: Vec<Task<'a>>,
    objects: Vec<Object<'a>>,
    events: Vec<Event<'a>>,
    pending: Vec<Pending<'a>>,
    held: Vec<Held<'a>>,
}

#[derive(Serialize)]
struct Task<'a> {
    id: u32,
    name: &'a str,
    parent: Option<u32>,
}

#[derive(Serialize)]
struct Object<'a> {
    id: u32,
    name: &'a str,
    noun: &'a str,
    /// What the program calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'a str>,
    first_use: Option<Site<'a>>,
}

/// An operation: names that do not apply are left out.
#[derive(Serialize)]
struct Operation<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<[u32; 2]>,
    /// Of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'static str>,
    #[serde(skip_serializing_if = "is_zero")]
    arg: u64,
    at: Option<String>,
}

#[derive(Serialize)]
struct Event<'a> {
    step: usize,
    task: u32,
    index: u32,
    /// How many events follow that are words of the same access, or of a block that is given back, with the locks in it.
    #[serde(skip_serializing_if = "is_none")]
    parts: usize,
    /// The first of those words.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_part: Option<&'a str>,
    #[serde(flatten)]
    op: Operation<'a>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(rename = "move")]
    how: &'static str,
}

#[derive(Serialize)]
struct Pending<'a> {
    task: u32,
    #[serde(flatten)]
    op: Operation<'a>,
    blocked: bool,
}

#[derive(Serialize)]
struct Held<'a> {
    task: u32,
    object: &'a str,
    shared: bool,
    since_step: usize,
    at: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// One object on one line, without the end of the line.
pub fn failure(story: &Story) -> String {
    let names = Names::new(story);
    let failure = &story.failure;
    let moves = moves::moves(&story.trace);
    let state = State::after(&story.trace.events);
    let site = |site: SiteId| names.place(site).map(Site::from);
    line(&Line {
        schema: SCHEMA,
        kind: failure.kind.name(),
        message: names.message(),
        tasks_involved: failure.tasks.iter().map(|task| task.0).collect(),
        sites: failure.sites.iter().map(|id| site(*id)).collect(),
        strategy: &story.strategy,
        seed: story.seed,
        run: story.run,
        memory_model: MEMORY_MODEL,
        preemptions: moves.iter().filter(|m| **m == Move::Preemption).count(),
        tasks: tasks(story, &names),
        objects: names
            .order
            .iter()
            .map(|id| {
                let info = names.info(*id);
                Object {
                    id: id.0,
                    name: names.object(*id),
                    noun: info.map_or("object", |info| &info.noun),
                    variable: info.and_then(|info| info.name.as_deref()),
                    first_use: info.and_then(|info| site(info.site)),
                }
            })
            .collect(),
        events: events(story, &moves, &names),
        pending: story
            .trace
            .pending
            .iter()
            .map(|(task, op)| Pending {
                task: task.0,
                op: operation(op, &names),
                blocked: state.blocks(*task, op),
            })
            .collect(),
        held: state
            .held()
            .iter()
            .map(|held| Held {
                task: held.task.0,
                object: names.object(held.object),
                shared: held.shared,
                since_step: held.step,
                at: names.place(held.site).map(Place::link),
            })
            .collect(),
    })
}

fn tasks<'a>(story: &Story, names: &'a Names<'_>) -> Vec<Task<'a>> {
    let parents = &story.trace.parents;
    (0..names.task_count() as u32)
        .map(|id| Task {
            id,
            name: names.label(raddle_model::TaskId(id)),
            parent: parents.get(id as usize).and_then(|parent| parent.map(|task| task.0)),
        })
        .collect()
}

fn events<'a>(story: &Story, moves: &[Move], names: &'a Names<'_>) -> Vec<Event<'a>> {
    let first = whole::first_events(&story.trace.events);
    let mut sizes = vec![0; first.len()];
    first.iter().for_each(|&step| sizes[step] += 1);
    let object = |step: usize| story.trace.events.get(step + 1).map(|event| names.object(event.op.object));
    let events = story.trace.events.iter().zip(moves).enumerate();
    events
        .filter(|(step, _)| first[*step] == *step)
        .map(|(step, (event, how))| {
            let (outcome, value) = outcome(event.outcome);
            Event {
                step,
                task: event.task.0,
                index: event.index,
                parts: sizes[step] - 1,
                first_part: if sizes[step] > 1 { object(step) } else { None },
                op: operation(&event.op, names),
                outcome,
                value,
                how: match how {
                    Move::Stay => "stay",
                    Move::Switch => "switch",
                    Move::Preemption => "preemption",
                },
            }
        })
        .collect()
}

fn operation<'a>(op: &Op, names: &'a Names<'_>) -> Operation<'a> {
    let object = |id: ObjectId| id.is_some().then(|| names.object(id));
    let whole = op.span == raddle_model::Span::WHOLE;
    let call = words::call(op);
    Operation {
        kind: words::kind(op.kind),
        mode: match op.mode {
            Mode::Block => None,
            Mode::Try => Some("try"),
            Mode::Timed => Some("timed"),
        },
        order: words::is_weak(op).then(|| words::order(op.order)),
        object: object(op.object),
        second: object(op.second),
        bytes: (!whole).then_some([op.span.start, op.span.len]),
        call,
        arg: if call.is_some() { 0 } else { op.arg },
        at: names.place(op.site).map(Place::link),
    }
}

fn outcome(outcome: Outcome) -> (&'static str, Option<u32>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Failed => ("failed", None),
        Outcome::TimedOut => ("timed-out", None),
        Outcome::Spurious => ("spurious", None),
        Outcome::Closed => ("closed", None),
        Outcome::Misuse => ("misuse", None),
        Outcome::Woke(task) => ("woke", Some(task.0)),
        Outcome::Spawned(task) => ("spawned", Some(task.0)),
        Outcome::Value(value) => ("value", Some(value)),
    }
}
