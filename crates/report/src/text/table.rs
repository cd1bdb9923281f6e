//! The columns: one for each task, one row for each event, in the order of time.

use super::Style;
use super::paint::{Paint, Tone, fit, pad, width, wrap};
use super::rows::Row;
use crate::moves::Move;
use crate::names::Names;
use crate::story::Story;
use crate::words::{self, count};
use raddle_model::{Event, FailureKind, Kind, SiteId, TaskId};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// A column narrower than this cannot be read: some tasks then share one.
const COLUMN_MIN: usize = 17;

/// One cell: what, where, and how it looks.
struct Cell {
    task: TaskId,
    what: String,
    site: Option<SiteId>,
    tone: Tone,
}

/// A row ready for layout: its gutter and its cell, or a line across.
enum Line {
    Cell { mark: &'static str, step: String, cell: Cell },
    Across(String),
}

/// How places are written.
enum Places {
    /// `lib.rs:12`
    Files,
    /// `:12`, or `b:12` if there are several files; a line below says which.
    Letters(BTreeMap<String, String>),
}

pub(super) fn write(
    out: &mut String,
    story: &Story,
    names: &Names<'_>,
    moves: &[Move],
    rows: &[Row],
    style: Style,
) {
    let lines: Vec<Line> = rows.iter().map(|row| line(row, story, names, moves)).collect();
    let steps = story.trace.events.len().max(1) - 1;
    // Mark and number, with a space before, between and after.
    let gutter = steps.to_string().len().max(4) + 4;
    let columns = Columns::new(&lines, story, names, style.width.saturating_sub(gutter));
    let paint = Paint(style.colour);
    let mut rule = "─".repeat(gutter);
    let mut head = pad("", gutter - 5) + "step ";
    for (title, wide) in columns.titles.iter().zip(&columns.widths) {
        let _ = write!(head, "│ {} ", paint.with(Tone::Strong, &pad(&fit(title, *wide), *wide)));
        let _ = write!(rule, "┼{}", "─".repeat(wide + 2));
    }
    let _ = writeln!(out, "{}\n{}", head.trim_end(), paint.with(Tone::Quiet, &rule));
    for line in &lines {
        let text = match line {
            Line::Across(text) => {
                let total = gutter + columns.widths.iter().map(|wide| wide + 3).sum::<usize>();
                let left = total.saturating_sub(width(text)) / 2;
                paint.with(Tone::Quiet, &format!("{}{text}", " ".repeat(left)))
            }
            Line::Cell { mark, step, cell } => {
                let tone = match *mark {
                    SWITCH => Tone::Quiet,
                    STUCK => Tone::Alarm,
                    _ => Tone::Notice,
                };
                let mark = paint.with(tone, mark);
                let step = format!("{step:>wide$}", wide = gutter - 4);
                let first = format!(" {mark} {} ", paint.with(Tone::Quiet, &step));
                let other = " ".repeat(gutter);
                let lines = columns.row(cell, names, paint).into_iter().enumerate();
                let lines = lines.map(|(index, line)| {
                    let gutter = if index == 0 { &first } else { &other };
                    String::from(format!("{gutter}{line}").trim_end())
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        let _ = writeln!(out, "{}", text.trim_end());
    }
    footer(out, &lines, &columns.places, story.failure.kind, paint);
}

const PREEMPTION: &str = "»";
const SWITCH: &str = "›";
const STUCK: &str = "×";

fn line(row: &Row, story: &Story, names: &Names<'_>, moves: &[Move]) -> Line {
    let (mark, step, cell) = match *row {
        Row::Gap(first, end, missing) => match gap(story, moves, first..end, missing) {
            Ok(cell) => (" ", String::new(), cell),
            Err(across) => return Line::Across(across),
        },
        Row::Event(step) => {
            let event = &story.trace.events[step];
            let mark = match moves[step] {
                Move::Stay => " ",
                Move::Switch => SWITCH,
                Move::Preemption => PREEMPTION,
            };
            let cell = Cell {
                task: event.task,
                what: what(&story.trace.events[step..], names),
                site: Some(event.op.site),
                tone: Tone::Plain,
            };
            (mark, step.to_string(), cell)
        }
        Row::Stuck(task, op) => {
            let what = words::op(&op, names);
            let cell = Cell { task, what, site: Some(op.site), tone: Tone::Alarm };
            (STUCK, String::new(), cell)
        }
        Row::Fell(task) => {
            let what = String::from(story.failure.kind.name());
            let site = story.failure.sites.first().copied();
            let cell = Cell { task, what, site, tone: Tone::Alarm };
            (STUCK, String::new(), cell)
        }
    };
    Line::Cell { mark, step, cell }
}

/// What the first of these events is. Of an access to many words the first one follows.
fn what(events: &[Event], names: &Names<'_>) -> String {
    let Event { op, outcome, .. } = &events[0];
    let what = words::event(op, *outcome, names);
    match events.get(1) {
        Some(word) if matches!(op.kind, Kind::WideRead | Kind::WideWrite) && word.op.object.is_some() => {
            format!("{what} at {}", names.object(word.op.object))
        }
        _ => what,
    }
}

/// What is left out: in the column of its task if all of it is one task's, else across.
fn gap(story: &Story, moves: &[Move], range: Range<usize>, missing: usize) -> Result<Cell, String> {
    let events = &story.trace.events[range.clone()];
    let task = events[0].task;
    let what = format!("… {} …", count(missing as u64, "event"));
    if events.iter().all(|event| event.task == task) {
        let (site, tone) = (None, Tone::Quiet);
        return Ok(Cell { task, what, site, tone });
    }
    let switches = moves[range].iter().filter(|m| **m != Move::Stay).count();
    let switches = count(switches as u64, "switch").replace("switchs", "switches");
    Err(format!("… {} with {switches} …", count(missing as u64, "event")))
}

/// Who has which column, how wide it is, and how places are written.
struct Columns {
    titles: Vec<String>,
    widths: Vec<usize>,
    of_task: BTreeMap<TaskId, usize>,
    /// The column that several tasks share: its cells say whose they are.
    shared: Option<usize>,
    places: Places,
}

impl Columns {
    fn new(lines: &[Line], story: &Story, names: &Names<'_>, room: usize) -> Columns {
        let cells: Vec<&Cell> = lines
            .iter()
            .filter_map(|line| match line {
                Line::Cell { cell, .. } => Some(cell),
                Line::Across(_) => None,
            })
            .collect();
        let mut weights: BTreeMap<TaskId, usize> = BTreeMap::new();
        for cell in &cells {
            let involved = story.failure.tasks.contains(&cell.task);
            *weights.entry(cell.task).or_default() += if involved { 1_000 } else { 1 };
        }
        let fits = (room / (COLUMN_MIN + 3)).max(1);
        let mut own: Vec<TaskId> = weights.keys().copied().collect();
        let shared = (own.len() > fits).then(|| fits - 1);
        if let Some(keep) = shared {
            own.sort_by_key(|task| (std::cmp::Reverse(weights[task]), *task));
            own.truncate(keep);
            own.sort();
        }
        let mut titles: Vec<String> = own.iter().map(|task| String::from(names.label(*task))).collect();
        if shared.is_some() {
            titles.push(format!("{} others", weights.len() - own.len()));
        }
        let of_task = own.iter().enumerate().map(|(column, task)| (*task, column)).collect();
        let mut columns = Columns { titles, widths: Vec::new(), of_task, shared, places: Places::Files };
        let room = room.saturating_sub(3 * columns.titles.len());
        columns.measure(&cells, names);
        if columns.widths.iter().sum::<usize>() > room {
            columns.places = letters(&cells, names);
            columns.measure(&cells, names);
            shrink(&mut columns.widths, room);
        }
        columns
    }

    fn column(&self, task: TaskId) -> usize {
        self.of_task.get(&task).copied().or(self.shared).unwrap_or(0)
    }

    fn what(&self, cell: &Cell, names: &Names<'_>) -> String {
        if self.of_task.contains_key(&cell.task) {
            cell.what.clone()
        } else {
            format!("{}: {}", names.task(cell.task), cell.what)
        }
    }

    fn place(&self, site: Option<SiteId>, names: &Names<'_>) -> String {
        let Some(place) = site.and_then(|site| names.place(site)) else {
            return String::new();
        };
        match &self.places {
            Places::Files => names.short(site.unwrap_or(SiteId::UNKNOWN)),
            Places::Letters(letters) => format!("{}:{}", letters[&place.file], place.line),
        }
    }

    /// Sets each column to what its widest cell needs.
    fn measure(&mut self, cells: &[&Cell], names: &Names<'_>) {
        self.widths = self.titles.iter().map(|title| width(title)).collect();
        for cell in cells {
            let place = self.place(cell.site, names);
            let gap = if place.is_empty() { 0 } else { 2 };
            let needed = width(&self.what(cell, names)) + gap + width(&place);
            let column = self.column(cell.task);
            let wide = &mut self.widths[column];
            *wide = needed.max(*wide);
        }
    }

    /// All columns of one row: what it is on the left of its cell, where on the right. What does
    /// not fit goes on below.
    fn row(&self, cell: &Cell, names: &Names<'_>, paint: Paint) -> Vec<String> {
        let own = self.column(cell.task);
        let wide = self.widths[own];
        let mut place = self.place(cell.site, names);
        let gap = usize::from(!place.is_empty());
        let first = wide.saturating_sub(width(&place) + gap);
        let indent = 2;
        let texts = wrap(&self.what(cell, names), first, wide.saturating_sub(indent));
        let texts = texts.iter().enumerate().map(|(index, text)| {
            let place = std::mem::take(&mut place);
            let (before, room) = if index == 0 { (0, first) } else { (indent, wide.saturating_sub(indent)) };
            let after = if index == 0 { gap } else { 0 };
            format!(
                "{}{}{}{}",
                " ".repeat(before),
                paint.with(cell.tone, &pad(text, room)),
                " ".repeat(after),
                paint.with(Tone::Quiet, &place)
            )
        });
        texts.map(|text| self.across(own, &text, paint)).collect()
    }

    /// One line with `text`, already filled up, in column `own`.
    fn across(&self, own: usize, text: &str, paint: Paint) -> String {
        let bar = paint.with(Tone::Quiet, "│");
        let mut out = String::new();
        for (column, &wide) in self.widths.iter().enumerate() {
            let _ = if column == own {
                write!(out, "{bar} {text} ")
            } else {
                write!(out, "{bar} {} ", " ".repeat(wide))
            };
        }
        out
    }
}

/// Takes from the widest column until all fit.
fn shrink(widths: &mut [usize], room: usize) {
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max().filter(|wide| **wide > 1) else {
            return;
        };
        *widest -= 1;
    }
}

/// A letter for each file that appears; none if there is only one.
fn letters(cells: &[&Cell], names: &Names<'_>) -> Places {
    let mut letters = BTreeMap::new();
    for cell in cells {
        let place = cell.site.and_then(|site| names.place(site));
        if let Some(place) = place {
            letters.entry(place.file.clone()).or_insert_with(String::new);
        }
    }
    if letters.len() > 1 {
        for (index, letter) in letters.values_mut().enumerate() {
            *letter = letter_of(index);
        }
    }
    Places::Letters(letters)
}

/// `a` to `z`, then `aa`, `ab`, ….
fn letter_of(index: usize) -> String {
    let last = char::from(b'a' + (index % 26) as u8);
    match index / 26 {
        0 => String::from(last),
        more => letter_of(more - 1) + &String::from(last),
    }
}

/// What the marks mean that were used, and which files the places are in.
fn footer(out: &mut String, lines: &[Line], places: &Places, kind: FailureKind, paint: Paint) {
    let stuck = match kind {
        FailureKind::Deadlock => "waits for ever",
        _ => "fails here",
    };
    let used =
        |wanted: &str| lines.iter().any(|line| matches!(line, Line::Cell { mark, .. } if *mark == wanted));
    let marks = [(PREEMPTION, "preemption"), (SWITCH, "switch"), (STUCK, stuck)];
    let marks = marks.iter().filter(|(mark, _)| used(mark));
    let mut notes: Vec<String> = marks.map(|(mark, what)| format!("{mark} {what}")).collect();
    if let Places::Letters(letters) = places {
        let files = letters.iter().map(|(file, letter)| match letter.as_str() {
            "" => format!("lines of {file}"),
            letter => format!("{letter} {file}"),
        });
        notes.extend(files);
    }
    if !notes.is_empty() {
        let _ = writeln!(out, "{}", paint.with(Tone::Quiet, &format!(" {}", notes.join("   "))));
    }
}
