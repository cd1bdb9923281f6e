//! Whatever the story and the style: lines are aligned, colours only colour, nothing panics.

use crate::stories;
use crate::text::render;
use raddle_report::text::Style;

#[test]
fn no_line_is_wider_than_it_may_be() {
    let stories = [
        stories::deadlock(),
        stories::lost_update(),
        stories::condvar(),
        stories::five(),
        stories::race(),
        stories::long(),
        stories::many(),
    ];
    for story in &stories {
        for width in [60, 80, 110, 160] {
            let style = Style { width, ..Style::default() };
            let text = render(story, style);
            let table = text.lines().skip_while(|line| !line.contains("step │"));
            for line in table.take_while(|line| !line.is_empty()).filter(|line| line.contains('│')) {
                let wide = unicode_width::UnicodeWidthStr::width(line);
                assert!(wide <= width, "{wide} > {width}: {line}\n{text}");
            }
        }
    }
}

#[test]
fn colour_changes_nothing_else() {
    let story = stories::condvar();
    let plain = render(&story, Style::default());
    let mut coloured = render(&story, Style { colour: true, ..Style::default() });
    assert!(coloured.contains("\x1b[1;31mdeadlock\x1b[0m"));
    while let Some(start) = coloured.find('\x1b') {
        let end = start + coloured[start..].find('m').unwrap();
        coloured.replace_range(start..=end, "");
    }
    let trimmed = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    assert_eq!(trimmed(&coloured), trimmed(&plain));
}

/// What a file holds need not make sense: it is told all the same.
#[test]
fn nonsense_is_told_too() {
    use raddle_model::{Dice, FailureKind, Outcome, Rng, SiteId, TaskId};
    let mut rng = Rng::new(1);
    let base = [stories::condvar(), stories::five(), stories::race()];
    for round in 0..600 {
        let mut story = base[round % base.len()].clone();
        let count = story.trace.events.len() as u32;
        for _ in 0..20 {
            let (at, from) = (rng.below(count) as usize, rng.below(count) as usize);
            story.trace.events[at].op = story.trace.events[from].op;
            story.trace.events[from].task = TaskId(rng.below(9));
            let task = TaskId(rng.below(9));
            story.trace.events[from].outcome = match rng.below(4) {
                0 => Outcome::Woke(task),
                1 => Outcome::Spawned(task),
                2 => Outcome::Value(rng.below(3)),
                _ => Outcome::Done,
            };
        }
        story.failure.kind = FailureKind::ALL[round % FailureKind::ALL.len()];
        story.failure.tasks.push(TaskId(rng.below(12)));
        story.places.remove(&SiteId(6));
        story.tasks.truncate(rng.below(6) as usize);
        story.objects.truncate(rng.below(9) as usize);
        let style =
            Style { width: rng.below(40) as usize, rows_max: rng.below(30) as usize, colour: rng.coin() };
        assert!(!render(&story, style).is_empty());
    }
    let mut empty = stories::race();
    empty.trace = raddle_model::Trace::default();
    empty.places.clear();
    assert!(render(&empty, Style::default()).starts_with("race: "));
}
