//! What keeps a body from being checked. Found bugs are no errors: they are in the [`super::Report`].

use raddle_explore::target::TargetError;
use std::fmt;
use std::time::Duration;

/// Why nothing was checked.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting that makes no sense: what, and what would.
    Setting(String),
    /// The schedule or failure file cannot be read.
    Unreadable(String),
    /// The run left the recorded schedule.
    Diverged(String),
    /// No run had a second task that could have run at another time.
    NotControlled,
    /// The first run was given up: it had not ended when this time was over.
    NoTime(Duration),
    /// `check` was called inside a run.
    Nested,
    /// The target could not be run.
    Target(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Setting(what) | Error::Unreadable(what) | Error::Diverged(what) | Error::Target(what) => {
                f.write_str(what)
            }
            Error::NotControlled => f.write_str(
                "nothing was controlled: in no run two tasks made with raddle::thread::spawn or \
                 raddle::future::spawn could run at the same time, so there was no interleaving to choose. Does \
                 the body use std::thread, or join each task before it makes the next?",
            ),
            Error::NoTime(time) => write!(
                f,
                "no run has ended within {} s: give the check more with `time`, or let runs be given up earlier with \
                 `steps_max`",
                time.as_secs_f64()
            ),
            Error::Nested => f.write_str(
                "check was called inside a run of another check: call it from the test itself, not from the body",
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Error {
        Error::Target(error.message)
    }
}
