//! Raddle: strategies between runs
