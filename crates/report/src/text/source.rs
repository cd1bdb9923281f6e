//! Where it went wrong: the sites of the failure with their source lines.

use super::paint::{Paint, Tone, clean, fit, pad, width};
use crate::names::Names;
use crate::story::Story;
use crate::words;
use raddle_model::{Event, Failure, FailureKind, Kind, ObjectId, Op, SiteId, TaskId};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Sites beyond which no more are shown.
const SITES_MAX: usize = 6;

pub(super) fn sites(
    out: &mut String,
    story: &Story,
    names: &Names<'_>,
    source: &dyn Fn(&str) -> Option<String>,
    paint: Paint,
) {
    let failure = &story.failure;
    let raced = raced(story);
    let mut entries: Vec<(SiteId, Who, usize)> = Vec::new();
    for (index, &site) in failure.sites.iter().enumerate() {
        let who = who(failure, index);
        let is_new = entries.iter().all(|known| (known.0, known.1) != (site, who));
        if names.place(site).is_some() && is_new {
            entries.push((site, who, index));
        }
    }
    if entries.is_empty() {
        return;
    }
    out.push('\n');
    if failure.kind == FailureKind::Race {
        let title = "two accesses that nothing orders";
        let _ = writeln!(out, "{}", paint.with(Tone::Strong, title));
    }
    let label = |who: Who| {
        let label = match who {
            Who::Task(task) => names.label(task),
            Who::Earlier(deed) => deed,
            Who::Unknown => "",
        };
        fit(label, super::end::LABEL_MAX)
    };
    let columns = entries.iter().map(|(_, who, _)| width(&label(*who)));
    let columns = columns.max().unwrap_or(0);
    let lines = entries.iter().filter_map(|(site, ..)| names.place(*site));
    let digits = lines.map(|place| place.line.to_string().len()).max().unwrap_or(1);
    for &(site, who, index) in entries.iter().take(SITES_MAX) {
        let Some(place) = names.place(site) else {
            continue;
        };
        let mut line = format!("  {}", paint.with(Tone::Strong, &pad(&label(who), columns)));
        if columns > 0 {
            line.push_str("  ");
        }
        line.push_str(&place.link());
        if !place.function.is_empty() {
            let _ = write!(line, " in {}", clean(&place.function));
        }
        if let Some(&step) = raced.as_ref().and_then(|steps| steps.get(index)) {
            let event = &story.trace.events[step];
            let _ = write!(line, ": {}, step {step}", words::event(&event.op, event.outcome, names));
        }
        let _ = writeln!(out, "{line}");
        let text = source(&place.file);
        let text = text.as_deref().and_then(|text| text.lines().nth(place.line.checked_sub(1)? as usize));
        if let Some(text) = text {
            let number = paint.with(Tone::Quiet, &format!("{:>digits$} │", place.line));
            let _ = writeln!(out, "    {number} {}", clean(text.trim()));
        }
    }
    super::end::more_than(out, entries.len(), SITES_MAX, "site");
}

/// Whose place it is in a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Task(TaskId),
    /// Nobody's that fails: what was done there before.
    Earlier(&'static str),
    Unknown,
}

fn who(failure: &Failure, index: usize) -> Who {
    // Tasks and sites belong together where there are as many of them.
    let paired = failure.tasks.len() == failure.sites.len();
    match (failure.kind, &failure.tasks[..]) {
        // What was done to the block before comes after, the latest first.
        (FailureKind::Memory, [task]) => match index {
            0 => Who::Task(*task),
            _ if index + 1 == failure.sites.len() => Who::Earlier("allocated"),
            _ => Who::Earlier("freed"),
        },
        _ if paired => Who::Task(failure.tasks[index]),
        _ => Who::Unknown,
    }
}

/// The steps in which the two accesses of a race happened: the last at its sites that are of one object, by two tasks, and of
/// which one is plain. None if the run has no events of them: what is no scheduling point has none, and others may be told
/// at the same place.
fn raced(story: &Story) -> Option<[usize; 2]> {
    let failure = &story.failure;
    let (FailureKind::Race, &[first, second]) = (failure.kind, &failure.sites[..]) else { return None };
    let is_plain = |op: &Op| matches!(op.kind, Kind::CellRead | Kind::CellWrite);
    let events = &story.trace.events;
    // For each of the two, by object: the last step.
    let mut last: [HashMap<ObjectId, usize>; 2] = Default::default();
    let mut found = None;
    for (step, event) in events.iter().enumerate() {
        let Event { op, task, .. } = event;
        for (index, site) in [first, second].into_iter().enumerate() {
            let fits = |by: Who| by == Who::Unknown || by == Who::Task(*task);
            if op.site != site || !op.is_memory() || !op.object.is_some() || !fits(who(failure, index)) {
                continue;
            }
            if let Some(&other) = last[1 - index].get(&op.object) {
                let earlier = &events[other];
                let races = earlier.task != *task && earlier.op.conflicts(op);
                if races && (is_plain(&earlier.op) || is_plain(op)) {
                    found = Some(if index == 1 { [other, step] } else { [step, other] });
                }
            }
            last[index].insert(op.object, step);
        }
    }
    found
}
