//! Raddle beside shuttle and loom: executions per second on the same bodies, in one run, as one table.
//!
//! `cargo xtask bench peers [--quick] [--format human|json]`. How the figures are taken is said in
//! `measure.rs`, what is run in `bodies.rs`, and how each tool is set up in the file named after it.

mod bodies;
mod contender;
mod json;
mod loom_side;
mod measure;
#[cfg(feature = "raddle")]
mod raddle_side;
mod shuttle_side;
mod table;

use measure::{Effort, Figures};
use std::process::ExitCode;

const USAGE: &str = "raddle-bench-peers [--quick] [--format human|json]";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    effort: Effort,
    json: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = match parse(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    let figures: Vec<Figures> = bodies::all()
        .into_iter()
        .map(|body| {
            // Progress goes to stderr: stdout holds the result and nothing else.
            eprintln!("measuring {body}");
            measure::body(body, options.effort)
        })
        .collect();
    print!("{}", if options.json { json::render(&figures) } else { table::render(&figures) });
    ExitCode::SUCCESS
}

fn parse(words: &[&str]) -> Result<Options, String> {
    let mut options = Options { effort: measure::FULL, json: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--quick" => options.effort = measure::QUICK,
            "--format" => match words.next() {
                Some(&"human") => options.json = false,
                Some(&"json") => options.json = true,
                other => return Err(format!("--format takes `human` or `json`, not {other:?}")),
            },
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read_and_nonsense_is_refused() {
        assert_eq!(parse(&[]), Ok(Options { effort: measure::FULL, json: false }));
        assert_eq!(
            parse(&["--quick", "--format", "json"]),
            Ok(Options { effort: measure::QUICK, json: true })
        );
        for words in [&["--format"][..], &["--format", "xml"], &["--fast"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
