//! Unmodified C and C++ programs under the command, from outside: what is found, that it repeats, and that nothing
//! depends on where the program happens to lie in memory.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod annotations;
mod backends;
mod blocking;
mod calls;
mod campaigns;
mod checkpoints;
mod classes;
mod determinism;
mod farewells;
mod hapsets;
mod interrupted;
mod isolation;
mod late;
mod left;
mod limits;
mod mapped;
mod orders;
mod outside;
mod points;
mod printing;
mod reset;
mod searches;
mod signals;
mod sketches;
mod streams;
mod support;
mod told;
mod verdicts;
mod wide;
