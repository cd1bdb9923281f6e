//! Compiled programs: what a file is ([`Shape`]), and what its addresses mean ([`Module`]).
//!
//! The runtime inside a program records addresses and nothing else; whoever reports asks here, once for
//! each address, so a run never pays for debug information that nobody looks at.
//!
//! An *offset* is what the file itself calls an address: the address in the process minus the load bias that
//! `dl_iterate_phdr` gives. It is the same in every process, and does not move with address randomization.
#![forbid(unsafe_code)]

mod dwarf;
mod lines;
mod module;
mod shape;
mod symbolizer;
mod variables;

pub use lines::Frame;
pub use module::{Module, ModuleError};
pub use shape::{Kind, RUNTIME_MARK, Shape, Unfit};
pub use symbolizer::Symbolizer;
pub use variables::Variable;
