//! The `raddle` command from outside: what it prints, how it ends, and that every line it prints works.

mod bench;
mod cc;
mod demo;
mod doctor;
mod errors;
mod fixture;
mod hapset;
mod lines;
mod readme;
mod support;
