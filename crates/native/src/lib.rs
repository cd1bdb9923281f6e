//! The native front end: unmodified programs, compiled with a ThreadSanitizer pass and linked to our runtime.
//! All threads of the program are fibers on one kernel thread, or kernel threads that take turns, under the same engine and the same strategies as
//! everything else. This is the logic; `crates/runtime` gives it the names that programs are linked to.
#![no_std]

extern crate alloc;

pub mod access;
pub mod annotations;
pub mod arena;
mod assignment;
pub mod atomic;
pub mod blocks;
pub mod calls;
pub mod cancel;
mod checkpoint;
pub mod children;
mod code;
mod data;
pub mod deferred;
pub mod end;
pub mod failing;
pub mod fiber;
pub mod fini;
pub mod futex;
pub mod heap;
pub mod hidden;
mod idle;
pub mod io;
mod large;
pub mod libc;
pub mod locks;
pub mod mappings;
mod maps;
pub mod objects;
pub mod own;
mod pagemap;
pub mod pages;
pub mod reset;
pub mod robust;
pub mod run;
pub mod semaphores;
pub mod sent;
pub mod server;
pub mod shadow;
pub mod sharing;
pub mod signals;
pub mod site;
mod straight;
mod streams;
pub mod sys;
pub mod threads;
pub mod time;
pub mod timers;
pub mod turns;
pub mod warm;
pub mod watch;
pub mod way;
mod written;
