//! Programs that never fail.
