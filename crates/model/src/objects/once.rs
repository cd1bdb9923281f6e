//! One-time initialization.

use crate::ids::TaskId;

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Once {
    /// Nobody has begun, or the one who had gave up.
    #[default]
    Incomplete,
    /// A task is at it.
    Running(TaskId),
    /// Done for good.
    Complete,
    /// The one who was at it panicked; who ignores that may begin again.
    Poisoned,
}

impl Once {
    /// The number that stands for it in the outcome of an operation.
    pub fn number(self) -> u32 {
        match self {
            Once::Incomplete | Once::Running(_) => 0,
            Once::Complete => 1,
            Once::Poisoned => 2,
        }
    }

    /// The state that the one who leaves sets.
    pub fn left(arg: u64) -> Once {
        match arg {
            1 => Once::Complete,
            2 => Once::Poisoned,
            _ => Once::Incomplete,
        }
    }

    /// Whether who waits has waited enough; `arg` as in [`crate::Kind::OnceGet`].
    pub fn answers(self, arg: u64) -> bool {
        arg == 0 || self == Once::Complete || (arg == 1 && self == Once::Poisoned)
    }
}
