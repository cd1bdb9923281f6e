//! Analyses on whole runs of small programs, against plain oracles.

mod clocks;
mod generate;
mod litmus;
mod oracle;
mod program;
mod races;
