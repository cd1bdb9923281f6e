//! `hapset`: systematic search guided by history-aware predecessor sets (Wang, Said and Gupta, "Coverage Guided
//! Systematic Concurrency Testing", ICSE 2011, algorithms 1, 4 and 5). Orders of statements that were seen in a
//! run that ended well are not tried again. That is not complete, and it is not meant to be: it gets to what
//! was never tested while a complete search still shuffles what was.

mod guided;
mod known;

pub use guided::{Guided, Under};
pub use known::Known;
