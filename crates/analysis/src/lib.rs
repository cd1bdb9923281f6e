//! Raddle: folds over the events of a run, and statistics over runs
