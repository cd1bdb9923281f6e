//! A failure for people: what went wrong and where, what every task did in columns, who waits for
//! whom at the end, and the lines to copy.

mod end;
mod paint;
mod rows;
mod source;
mod table;

use crate::moves;
use crate::names::Names;
use crate::story::Story;
use crate::words;
use paint::{Paint, Tone};
use raddle_model::FailureKind;
use std::fmt::Write as _;

/// How it is to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use ANSI colours: the caller knows where it goes.
    pub colour: bool,
    /// Number of events beyond which some are left out.
    pub rows_max: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 120, colour: false, rows_max: 50 }
    }
}

/// The whole report of a failure. `source` gives the text of a source file, if it can be had;
/// `copy` are the lines to copy, printed as they are.
pub fn failure(
    story: &Story,
    style: Style,
    source: &dyn Fn(&str) -> Option<String>,
    copy: &[String],
) -> String {
    let names = Names::new(story);
    let paint = Paint(style.colour);
    let mut out = String::new();
    headline(&mut out, story, &names, style, paint);
    source::sites(&mut out, story, &names, source, paint);
    let moves = moves::moves(&story.trace);
    let shown = rows::choose(story, &moves, style.rows_max);
    if !shown.is_empty() {
        out.push('\n');
        table::write(&mut out, story, &names, &moves, &shown, style);
    }
    end::write(&mut out, story, &names, paint);
    legend(&mut out, story, &names, &shown, paint);
    if story.trace.events.iter().any(|event| words::is_weak(&event.op)) {
        let _ = writeln!(out, "\n{}", words::WEAK_NOTE);
    }
    if !copy.is_empty() {
        out.push('\n');
        for line in copy {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// `deadlock: …`, and how it was found.
fn headline(out: &mut String, story: &Story, names: &Names<'_>, style: Style, paint: Paint) {
    let message = names.message();
    let mut lines = message.lines();
    let kind = story.failure.kind.name();
    let first = format!("{kind}: {}", lines.next().unwrap_or_default());
    for (index, line) in paint::wrap(&first, style.width, style.width.saturating_sub(4)).iter().enumerate() {
        let line = match line.strip_prefix(kind) {
            Some(rest) if index == 0 => {
                format!("{}{}", paint.with(Tone::Alarm, kind), paint.with(Tone::Strong, rest))
            }
            _ => format!("    {}", paint.with(Tone::Strong, line)),
        };
        let _ = writeln!(out, "{line}");
    }
    for line in lines {
        let _ = writeln!(out, "    {}", paint::clean(line));
    }
    if !story.strategy.is_empty() {
        let found = format!("found by {}, seed {}, run {}", story.strategy, story.seed, story.run);
        let _ = writeln!(out, "{}", paint.with(Tone::Quiet, &found));
    }
}

/// Where the numbered objects come from.
fn legend(out: &mut String, story: &Story, names: &Names<'_>, shown: &[rows::Row], paint: Paint) {
    let visible = rows::objects(story, shown);
    let known: Vec<_> = names
        .order
        .iter()
        .filter(|id| visible.contains(id))
        .filter_map(|id| {
            let info = names.info(*id)?;
            let place = names.place(info.site)?;
            Some((names.described(*id), place))
        })
        .collect();
    if known.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.with(Tone::Strong, "objects, and where each was first used"));
    let width = known.iter().map(|(name, _)| paint::width(name)).max().unwrap_or(0);
    for (name, place) in known.iter().take(end::LIST_MAX) {
        let _ = writeln!(out, "  {}  {}", paint::pad(name, width), paint.with(Tone::Quiet, &place.link()));
    }
    end::more(out, known.len(), "object");
}

/// Whether the tasks of the failure stopped in the middle of their own code, so that what they
/// are "about to do" means nothing.
fn stopped_inside(kind: FailureKind) -> bool {
    use FailureKind::{Assertion, Crash, Exception, Hang, Memory, Misuse, Panic};
    matches!(kind, Assertion | Panic | Misuse | Hang | Crash | Exception | Memory)
}
