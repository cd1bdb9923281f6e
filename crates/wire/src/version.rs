//! Versions of the formats: one type for each, so that they cannot be mistaken for each other.
//!
//! To change a format: leave its frozen module as it is, add the next one beside it, raise
//! `CURRENT`, and store a golden file of the new version. `OLDEST` rises only when a reader is
//! dropped, which is a breaking change.

use crate::error::{What, WireError};

macro_rules! versions {
    ($($(#[$doc:meta])* $name:ident of $what:ident: $oldest:literal to $current:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name(pub u16);

        impl $name {
            /// The oldest version that can still be read.
            pub const OLDEST: $name = $name($oldest);
            /// The version that is written.
            pub const CURRENT: $name = $name($current);

            /// Whether a reader that writes `reader` can read this version.
            pub fn check_readable_by(self, reader: $name) -> Result<(), WireError> {
                let (what, found) = (What::$what, self.0);
                if self > reader {
                    Err(WireError::Newer { what, found, readable: reader.0 })
                } else if self < $name::OLDEST {
                    Err(WireError::Older { what, found, readable: $name::OLDEST.0 })
                } else {
                    Ok(())
                }
            }
        }
    )*};
}

versions! {
    /// Version of the schedule string.
    ScheduleVersion of Schedule: 1 to 1;
    /// Version of the plan format.
    PlanVersion of Plan: 1 to 1;
    /// Version of the failure file.
    FailureVersion of Failure: 1 to 2;
    /// Version of the report of a run.
    ReportVersion of Report: 1 to 6;
    /// Version of the HaPSet file. In the first one statements had no callers, so none of them would be met again.
    HapsetVersion of Hapset: 2 to 2;
    /// Version of the journal of a search.
    JournalVersion of Journal: 1 to 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newer_and_the_dropped_are_told_apart() {
        let reader = FailureVersion(1);
        assert_eq!(FailureVersion(1).check_readable_by(reader), Ok(()));
        let newer = FailureVersion(2).check_readable_by(reader).unwrap_err();
        assert!(matches!(newer, WireError::Newer { found: 2, readable: 1, .. }));
        let older = FailureVersion(0).check_readable_by(reader).unwrap_err();
        assert!(matches!(older, WireError::Older { found: 0, .. }));
    }
}
