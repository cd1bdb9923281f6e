//! What a test body may return.

use std::fmt::Debug;

/// Nothing, or a result whose error fails the run.
pub trait Ending {
    /// Panics if the body ended with an error.
    fn fail_on_error(self);
}

impl Ending for () {
    fn fail_on_error(self) {}
}

impl<E: Debug> Ending for Result<(), E> {
    #[track_caller]
    fn fail_on_error(self) {
        if let Err(error) = self {
            panic!("the body returned an error: {error:?}");
        }
    }
}

/// Panics if the body ended with an error.
#[track_caller]
pub fn fail_on_error(ending: impl Ending) {
    ending.fail_on_error();
}
