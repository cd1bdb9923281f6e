//! The library front end: std-shaped types under a scheduler.
