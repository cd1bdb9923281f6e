//! A counting semaphore.

/// Its permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Semaphore {
    /// How many can be taken.
    pub permits: u64,
}
