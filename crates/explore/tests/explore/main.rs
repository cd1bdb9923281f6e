//! Explorers and campaigns against toy programs.

mod campaign;
mod learning;
mod programs;
mod shrink;
