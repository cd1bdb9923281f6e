//! Characters on a terminal: their width, their colour, and what does not belong there.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a piece of text is, from which its colour follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Quiet,
    Alarm,
    Notice,
}

/// Colours text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn with(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Alarm => "1;31",
            Tone::Notice => "33",
        };
        if !self.0 || code.is_empty() || text.is_empty() {
            String::from(text)
        } else {
            format!("\x1b[{code}m{text}\x1b[0m")
        }
    }
}

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text filled up to a width.
pub(crate) fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// The text, with its end replaced by `…` if it is too wide.
pub(crate) fn fit(text: &str, max: usize) -> String {
    if width(text) <= max {
        return String::from(text);
    }
    let mut out = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide + 1 > max {
            break;
        }
        taken += wide;
        out.push(c);
    }
    if max > 0 {
        out.push('…');
    }
    out
}

/// The text without control characters: a panic message must not steer the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '?',
            c => c,
        })
        .collect()
}

/// Lines broken at spaces: the first of at most `first` columns, the others of at most `rest`.
/// A word that is wider than its line loses its end.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    // An arrow stays with what it points to.
    let glued = clean(text).replace("→ ", "→\u{a0}");
    for word in glued.split(' ') {
        let room = if lines.is_empty() { first } else { rest };
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(fit(&line, room));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let room = if lines.is_empty() { first } else { rest };
    lines.push(fit(&line, room));
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(width(&pad("日本", 7)), 7);
        assert_eq!(fit("abc", 2), "a…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\tc"), "a?[31mb c");
        assert_eq!(wrap("one two three", 8, 4), ["one two", "thr…"]);
        assert_eq!(wrap("", 8, 4), [""]);
        assert_eq!(wrap("try → failed", 6, 9), ["try", "→ failed"]);
    }
}
