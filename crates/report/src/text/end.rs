//! Where everybody was at the end: what each task waits for and who could end that, what it holds
//! and since when.

use super::paint::{Paint, Tone, fit, pad, width};
use crate::names::Names;
use crate::state::{Held, State};
use crate::story::Story;
use crate::words;
use raddle_model::{FailureKind, Kind, Op, TaskId};
use std::fmt::Write as _;

/// Entries of a list beyond which no more are shown.
pub(super) const LIST_MAX: usize = 12;

/// Columns of a task's label; what is longer loses its end.
pub(super) const LABEL_MAX: usize = 30;

pub(super) fn write(out: &mut String, story: &Story, names: &Names<'_>, paint: Paint) {
    let state = State::after(&story.trace.events);
    let entries = entries(story, &state, names);
    let free = free(story, &state);
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.with(Tone::Strong, "at the end"));
    let shown = &entries[..entries.len().min(LIST_MAX)];
    let label = |entry: &Entry| fit(names.label(entry.task), LABEL_MAX);
    let column = shown.iter().map(|entry| width(&label(entry))).max();
    let column = column.unwrap_or(0);
    let lines = shown.iter().flat_map(|entry| &entry.lines);
    let phrase = lines.map(|(what, _)| width(what)).max().unwrap_or(0);
    for entry in shown {
        let mut name = label(entry);
        for (what, place) in &entry.lines {
            let name = paint.with(Tone::Strong, &pad(&std::mem::take(&mut name), column));
            let place = paint.with(Tone::Quiet, place);
            let line = format!("  {name}  {}  {place}", pad(what, phrase));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    more(out, entries.len(), "task");
    if free > 0 {
        let _ = writeln!(out, "  {} could go on", words::count(free, "other task"));
    }
}

/// How many tasks are none of those that this is about: they could go on.
fn free(story: &Story, state: &State) -> u64 {
    let open = |(task, op): &&(TaskId, Op)| !story.failure.tasks.contains(task) && !state.blocks(*task, op);
    story.trace.pending.iter().filter(open).count() as u64
}

/// What is left out of a list, if anything.
pub(super) fn more(out: &mut String, count: usize, noun: &str) {
    more_than(out, count, LIST_MAX, noun);
}

/// The same for a list of another length.
pub(super) fn more_than(out: &mut String, count: usize, max: usize, noun: &str) {
    if count > max {
        let left = words::count((count - max) as u64, noun);
        let _ = writeln!(out, "  … and {left} more");
    }
}

/// What there is to say of one task: phrase and place.
struct Entry {
    task: TaskId,
    lines: Vec<(String, String)>,
}

/// The tasks involved first, then the others, in the order of their ids.
fn entries(story: &Story, state: &State, names: &Names<'_>) -> Vec<Entry> {
    let failure = &story.failure;
    let mut tasks: Vec<TaskId> = failure.tasks.clone();
    tasks.extend((0..names.task_count() as u32).map(TaskId));
    let mut seen = std::collections::BTreeSet::new();
    tasks.retain(|task| seen.insert(*task));
    let entry = |task: TaskId| {
        let involved = failure.tasks.contains(&task);
        let waits = !(involved && super::stopped_inside(failure.kind));
        let pending = story.trace.pending.iter().find(|(who, _)| *who == task);
        let pending = pending.filter(|(_, op)| waits && (involved || state.blocks(task, op)));
        let mut lines = Vec::new();
        if let Some((_, op)) = pending.filter(|_| failure.kind != FailureKind::Race) {
            lines.push((intent(task, op, state, names), names.short(op.site)));
        }
        let own = state.held().iter().filter(|held| held.task == task);
        lines.extend(own.map(|held| (holds(held, names), names.short(held.site))));
        (!lines.is_empty()).then_some(Entry { task, lines })
    };
    tasks.into_iter().filter_map(entry).collect()
}

fn holds(held: &Held, names: &Names<'_>) -> String {
    let shared = if held.shared { " for reading" } else { "" };
    format!("holds {}{shared}, since step {}", names.object(held.object), held.step)
}

/// What a task waits for and who could end that; or what it could have done next.
fn intent(task: TaskId, op: &Op, state: &State, names: &Names<'_>) -> String {
    if !state.blocks(task, op) {
        return format!("could go on: {}", words::op(op, names));
    }
    let object = names.object(op.object);
    let holders = |object| {
        let held = state
            .holders(object)
            .map(|held| if held.task == task { "itself" } else { names.task(held.task) });
        let mut held: Vec<&str> = held.collect();
        held.dedup();
        held.join(", ")
    };
    match op.kind {
        Kind::Join => format!("waits for {object} to exit"),
        Kind::Park => names.awaited(task, op).map_or_else(
            || String::from("is parked; nobody unparks it"),
            |awaited| format!("waits for {awaited}; nobody wakes it"),
        ),
        Kind::Wake if state.is_woken(task) => format!(
            "was woken at {object}, waits for {} held by {}",
            names.object(op.second),
            holders(op.second)
        ),
        Kind::Wake => format!("waits at {object}; nobody notifies it"),
        Kind::Recv => format!("waits for a message at {object}; nobody sends"),
        Kind::Send | Kind::Handover => format!("waits for a receiver at {object}"),
        Kind::Acquire => format!("waits for {} of {object}", words::count(op.permits(), "permit")),
        Kind::Leave => format!("waits at {object} for others to arrive"),
        _ => format!("waits for {object} held by {}", holders(op.object)),
    }
}
