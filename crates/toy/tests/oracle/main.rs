//! The oracles: engine, world, fingerprint and policies against plain enumeration and plain accounts.
//! One program, so that it is linked once and shares what its parts need.

mod common;

mod classes;
mod commutation;
mod counts;
mod deadlock;
mod enabled;
mod generator;
mod mutants;
mod preemption;
mod process_end;
mod quick;
mod reachable;
mod releases;
mod replay;
mod semantics;
mod spinning;
mod std_threads;
mod target;
mod timed;
mod virtual_time;
