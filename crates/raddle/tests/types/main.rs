//! Threads, cells, time, futures and statics inside and outside of runs. One program, linked once.

mod verdict;

mod cell_races;
mod future_executor;
mod statics_reset;
mod thread_abort;
mod thread_basics;
mod thread_local;
mod thread_scope;
mod time_virtual;
