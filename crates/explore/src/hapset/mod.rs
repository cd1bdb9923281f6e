//! `hapset`: systematic search guided by history-aware predecessor sets (Wang, Said and Gupta, "Coverage Guided
//! Systematic Concurrency Testing", ICSE 2011, algorithms 1, 4 and 5). Orders of statements that were seen in a
//! run that ended well are not tried again. That is not complete, and it is not meant to be: it gets to what
//! was never tested while a complete search still shuffles what was.

mod guided;
mod known;
mod statements;

pub use guided::{Guided, Under};
pub use known::Known;
pub use statements::Statements;

use crate::systematic::Systematic;
use raddle_model::Plan;

/// The explorer, under the conditions of `plan`: after so many training runs (algorithm 1) it goes back for what is
/// not known, over DPOR or within a bound on preemptions, and learns from each of its runs (algorithm 5).
pub fn explorer(training: u64, bound: Option<u32>, known: Known, plan: Plan) -> Systematic<Guided> {
    let under = bound.map_or(Under::Dpor, |bound| Under::Pcb { bound });
    Systematic::new(Guided::new(known, under, plan.seed).after_training(training), plan)
}
