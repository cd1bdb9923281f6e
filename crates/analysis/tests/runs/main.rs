//! Analyses on whole runs of small programs, against plain oracles.

mod clocks;
mod generate;
mod hapset;
mod litmus;
mod locks;
mod oracle;
mod program;
mod races;
