//! What keeps a command from doing what it was asked: one line says what, one line what to do.

use crate::{EXIT_NOT_CONTROLLED, EXIT_PROBLEM};
use std::fmt;

/// An error for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    what: String,
    help: String,
    not_controlled: bool,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { what: what.into(), help: help.into(), not_controlled: false }
    }

    /// Finding nothing says nothing, since there was nothing to control.
    pub(crate) fn not_controlled(what: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { not_controlled: true, ..Problem::new(what, help) }
    }

    /// Without what to do.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if self.not_controlled { EXIT_NOT_CONTROLLED } else { EXIT_PROBLEM }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "raddle: {}", self.what)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "\n        {}", self.help) }
    }
}

impl From<raddle::Error> for Problem {
    fn from(error: raddle::Error) -> Problem {
        let help = match &error {
            raddle::Error::Unreadable(_) => "failure files end in .raddle and are written to raddle-out/",
            raddle::Error::Diverged(_) => {
                "if the program was changed on purpose, check it again; the old schedule is of no more use"
            }
            _ => "",
        };
        // The library's sentences say what to do after the first full stop or semicolon.
        let text = error.to_string();
        let (what, more) = match text.split_once(". ") {
            Some((what, more)) => (what.to_owned(), more.to_owned()),
            None => (text, help.to_owned()),
        };
        Problem { what, help: more, not_controlled: error == raddle::Error::NotControlled }
    }
}

impl From<Problem> for raddle_explore::target::TargetError {
    fn from(Problem { what, help, .. }: Problem) -> raddle_explore::target::TargetError {
        raddle_explore::target::TargetError { message: format!("{what}. {help}") }
    }
}

impl From<raddle_explore::target::TargetError> for Problem {
    fn from(error: raddle_explore::target::TargetError) -> Problem {
        match error.message.split_once(". ") {
            Some((what, help)) => Problem::new(what, help),
            None => Problem::new(error.message, ""),
        }
    }
}
