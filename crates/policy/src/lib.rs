//! Raddle: strategies within a run
