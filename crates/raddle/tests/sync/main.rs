//! `raddle::sync` inside runs over many seeds, outside of runs with real threads, and in both; and
//! its parity with std. One program, since each would be linked on its own.

#[path = "../common/mod.rs"]
mod common;

mod atomic;
mod barrier;
mod bounds;
mod condvar;
mod late;
mod lazy_lock;
mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod parity;
mod rendezvous;
mod rwlock;
mod sites;
