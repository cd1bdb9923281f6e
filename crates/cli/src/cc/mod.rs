//! `raddle cc` and `raddle c++`: the user's own compiler, with the ThreadSanitizer pass when it compiles and with
//! our runtime when it links. Everything else is passed on, so that make, CMake and configure scripts see the
//! compiler they know.

pub(crate) mod compiler;
pub(crate) mod image;
mod line;
pub(crate) mod program;
mod response;
mod steps;

use crate::problem::Problem;
use compiler::{Compiler, Family, Language};
use line::{Line, Mode, Part};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode};
use steps::Added;

/// Compile and link with the C compiler (RADDLE_CC, else cc), under control of Raddle.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct CcArgs {
    /// What the compiler takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Which wrapper this process was started as, and its command line. Asked before anything else is made of the words:
/// they are the compiler's.
pub(crate) fn called(words: &[OsString]) -> Option<(Language, Vec<OsString>)> {
    let by_name = |name: &OsStr| match name.to_str()? {
        "raddle-cc" => Some(Language::C),
        "raddle-c++" | "raddle-cxx" => Some(Language::Cpp),
        _ => None,
    };
    if let Some(language) = words.first().and_then(|name| by_name(Path::new(name).file_name()?)) {
        return Some((language, words[1..].to_vec()));
    }
    let language = match words.get(1)?.to_str()? {
        "cc" => Language::C,
        "c++" => Language::Cpp,
        _ => return None,
    };
    Some((language, words[2..].to_vec()))
}

/// Does what a compiler would, and ends as it does.
pub(crate) fn run(language: Language, words: Vec<OsString>) -> ExitCode {
    match work(language, words) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}

fn work(language: Language, words: Vec<OsString>) -> Result<u8, Problem> {
    let words = response::expand(words)?;
    let line = Line::parse(&words);
    let compiler = Compiler::find(language)?;
    if line.mode == Mode::Question {
        let error = Command::new(&compiler.path).args(&words).exec();
        return Err(not_started(&compiler, &error));
    }
    for part in &line.parts {
        if let Part::Dropped(what, why) = part {
            eprintln!("raddle {}: note: {what} is left out: {why}", language.wrapper());
        }
    }
    let mut added = Added { compile: compiler.pass(), ..Added::default() };
    if compiler.family == Family::Clang {
        // Flags for compiling reach the linker's step too; that is our doing, not the user's.
        added.link.push(OsString::from("-Wno-unused-command-line-argument"));
    }
    if line.mode == Mode::Executable {
        if compiler.has_gnu_ld && !line.directs_linker() {
            added.link.push(OsString::from(image::LAYOUT));
        }
        added.runtime = image::image()?.words();
    }
    let scratch = tempfile::Builder::new().prefix("raddle-cc-").tempdir().map_err(place)?;
    for (index, words) in steps::steps(&line, &added, scratch.path()).into_iter().enumerate() {
        let words = response::shortened(words, scratch.path(), &format!("words-{index}")).map_err(place)?;
        let status = Command::new(&compiler.path).args(words).status();
        let status = status.map_err(|error| not_started(&compiler, &error))?;
        if !status.success() {
            // As a shell tells it, if the compiler was killed.
            let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
            return Ok(u8::try_from(code).unwrap_or(1));
        }
    }
    Ok(0)
}

/// What a compiler reads or writes could not be read or written.
fn place(error: std::io::Error) -> Problem {
    Problem::new(format!("no place to work in: {error}"), "is TMPDIR writable?")
}

fn not_started(compiler: &Compiler, error: &std::io::Error) -> Problem {
    Problem::new(format!("{} could not be started: {error}", compiler.path.display()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_known_by_their_name_or_by_the_first_word() {
        let called = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            super::called(&words).map(|(language, words)| (language, words.len()))
        };
        assert_eq!(called("/usr/bin/raddle-cc -c a.c"), Some((Language::C, 2)));
        assert_eq!(called("raddle-c++ cc"), Some((Language::Cpp, 1)));
        assert_eq!(called("raddle cc -c a.c"), Some((Language::C, 2)));
        assert_eq!(called("raddle c++"), Some((Language::Cpp, 0)));
        assert_eq!(called("raddle run cc"), None);
        assert_eq!(called("raddle"), None);
    }
}
