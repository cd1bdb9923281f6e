//! What can be wrong with something that is read back, in words for the one who typed or copied it.

use alloc::string::String;
use core::fmt;

/// What was to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A schedule string.
    Schedule,
    /// A plan.
    Plan,
    /// A failure file.
    Failure,
    /// What came of a run in another process.
    Report,
    /// Learned HaPSets.
    Hapset,
    /// The journal of a search.
    Journal,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Schedule => "schedule",
            What::Plan => "plan",
            What::Failure => "failure file",
            What::Report => "report of a run",
            What::Hapset => "HaPSet file",
            What::Journal => "journal of a search",
        })
    }
}

/// Why something could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireError {
    /// It is something else altogether.
    NotOurs {
        /// What was to be read.
        what: What,
    },
    /// A later version of the tool made it.
    Newer {
        /// What was to be read.
        what: What,
        /// Its version.
        found: u16,
        /// The newest version that this tool reads.
        readable: u16,
    },
    /// Its version is no longer read.
    Older {
        /// What was to be read.
        what: What,
        /// Its version.
        found: u16,
        /// The oldest version that this tool reads.
        readable: u16,
    },
    /// Its end is missing.
    Truncated {
        /// What was to be read.
        what: What,
    },
    /// It is not as it was written.
    Damaged {
        /// What was to be read.
        what: What,
        /// Character (of a schedule, from 1) or byte (of the others, from 0) at which that shows,
        /// if it is known.
        at: Option<usize>,
        /// What is wrong there.
        why: String,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::NotOurs { what: What::Schedule } => {
                write!(f, "not a raddle schedule: a schedule begins with `r1.`, as printed with a failure")
            }
            WireError::NotOurs { what } => write!(f, "not a raddle {what}"),
            WireError::Newer { what, found, readable } => write!(
                f,
                "this {what} was made by a newer raddle (format version {found}; this one reads up \
                 to {readable}): update raddle"
            ),
            WireError::Older { what, found, readable } => {
                let again = match what {
                    What::Hapset => "remove it, and learn the sets again",
                    _ => "find the failure again, or read it with the older raddle",
                };
                write!(
                    f,
                    "this {what} was made by an older raddle (format version {found}; this one reads \
                     from {readable} on): {again}"
                )
            }
            WireError::Truncated { what } => {
                write!(f, "this {what} is truncated: its end is missing; copy all of it")
            }
            WireError::Damaged { what, at, why } => {
                let unit = match what {
                    What::Schedule => "character",
                    _ => "byte",
                };
                match at {
                    Some(at) => write!(f, "this {what} is damaged at {unit} {at}: {why}"),
                    None => write!(f, "this {what} is damaged: {why}"),
                }
            }
        }
    }
}

impl core::error::Error for WireError {}
