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
}
