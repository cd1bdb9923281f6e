//! Whether runs go on from checkpoints, and what came of that.

use raddle_native::server::{CHECKPOINTS_ALWAYS, CHECKPOINTS_OFF};

/// Whether runs go on from checkpoints: those of a search from wherever it pays, sampled ones from their first choice.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub(crate) enum Checkpoints {
    /// Where that takes less time than to run from the beginning
    #[default]
    Auto,
    /// Each run begins with the program
    Off,
    /// Wherever it is possible, whatever it costs
    #[value(hide = true)]
    Always,
}

impl Checkpoints {
    /// As part of a request.
    pub(super) fn flags(self) -> u32 {
        match self {
            Checkpoints::Auto => 0,
            Checkpoints::Off => CHECKPOINTS_OFF,
            Checkpoints::Always => CHECKPOINTS_ALWAYS,
        }
    }
}
