//! Programs that fail in some schedule.
