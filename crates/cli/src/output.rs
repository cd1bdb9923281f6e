//! Where output goes and how it looks there.

use crate::problem::Problem;
use clap::ValueEnum;
use raddle_report::text::Style;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// For whom.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// For tools: one object on the last line.
    Json,
}

/// Columns if nobody knows better.
const WIDTH_DEFAULT: usize = 120;
/// Fewer would leave nothing of a column.
const WIDTH_MIN: usize = 40;

/// How reports look on stdout.
pub(crate) fn style(width: Option<usize>) -> Style {
    let terminal = std::io::stdout().is_terminal();
    let known = || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let width = width.or_else(known).unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN);
    // https://no-color.org
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Style { width, colour, ..Style::default() }
}

/// Prints to stdout. Whoever reads us may have had enough (`raddle show F | head`): that is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a line to stdout.
pub(crate) fn print_line(text: &str) {
    print(&format!("{text}\n"));
}

/// One object for tools, on one line.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("raddle bug: json of plain values")
}

/// Most bytes of a program's output that are shown, from its beginning and from its end.
const QUOTE_MAX: usize = 4096;

/// Shows on stderr what a program wrote, marked as the program's.
pub(crate) fn quote(what: &str, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let (head, tail) = match bytes.len() {
        length if length <= 2 * QUOTE_MAX => (bytes, &bytes[length..]),
        length => (&bytes[..QUOTE_MAX], &bytes[length - QUOTE_MAX..]),
    };
    let mut err = std::io::stderr().lock();
    let mut say = |text: &str| {
        text.lines().for_each(|line| {
            let _ = writeln!(err, "  | {line}");
        })
    };
    say(&format!("{what}:"));
    say(&String::from_utf8_lossy(head));
    if !tail.is_empty() {
        say(&format!("… {} bytes …", bytes.len() - 2 * QUOTE_MAX));
        say(&String::from_utf8_lossy(tail));
    }
}

/// Writes a file and the directories above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Problem> {
    let directory = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(directory).and_then(|()| std::fs::write(path, content)).map_err(|error| {
        Problem::new(
            format!("{} could not be written: {error}", path.display()),
            "name another directory with --out",
        )
    })
}
