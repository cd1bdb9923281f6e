//! Where it went wrong: the sites of the failure with their source lines.

use super::paint::{Paint, Tone, clean, fit, pad, width};
use crate::names::Names;
use crate::story::Story;
use crate::words;
use raddle_model::{Failure, FailureKind, SiteId, TaskId};
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
    let mut entries: Vec<(SiteId, Who)> = Vec::new();
    for (index, &site) in failure.sites.iter().enumerate() {
        let entry = (site, who(failure, index));
        if names.place(site).is_some() && !entries.contains(&entry) {
            entries.push(entry);
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
    let columns = entries.iter().map(|(_, who)| width(&label(*who)));
    let columns = columns.max().unwrap_or(0);
    let lines = entries.iter().filter_map(|(site, _)| names.place(*site));
    let digits = lines.map(|place| place.line.to_string().len()).max().unwrap_or(1);
    for &(site, who) in entries.iter().take(SITES_MAX) {
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
        if let Some(what) = access(story, names, site, who) {
            let _ = write!(line, ": {what}");
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

/// For races: what was done there, and when.
fn access(story: &Story, names: &Names<'_>, site: SiteId, who: Who) -> Option<String> {
    if story.failure.kind != FailureKind::Race {
        return None;
    }
    let mut events = story.trace.events.iter().enumerate().rev();
    let fits = |by: TaskId| who == Who::Unknown || who == Who::Task(by);
    let (step, event) = events.find(|(_, event)| event.op.site == site && fits(event.task))?;
    let what = words::event(&event.op, event.outcome, names);
    Some(format!("{what}, step {step}"))
}
