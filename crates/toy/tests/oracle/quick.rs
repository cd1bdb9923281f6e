//! The engine's quick way is its general way: runs whose schedule is checked never take it, all others
//! do wherever they can, and both must be the same.

use crate::common::{Case, for_programs, size, tails};
use raddle_model::Plan;
use raddle_policy::Planned;
use raddle_toy::Machine;

fn agrees(case: &Case) -> Result<bool, String> {
    let program = case.program();
    for (tail, seed) in tails().into_iter().zip(3..) {
        let plan = Plan { seed, tail, ..case.plan.clone() };
        let with_care = Machine::new(&program, Planned::new(&plan)).run_as(&plan, true);
        let mut quickly = Machine::new(&program, Planned::new(&plan)).run_as(&plan, false);
        if !with_care.trace.events.is_empty() && !quickly.trace.schedule.checks.is_empty() {
            return Err(String::from("there are checks that nobody asked for"));
        }
        quickly.trace.schedule.checks = with_care.trace.schedule.checks.clone();
        if quickly != with_care {
            return Err(format!("{}: {quickly:?} is not {with_care:?}", plan.tail.name()));
        }
    }
    Ok(true)
}

#[test]
fn the_quick_way_is_the_general_way() {
    for_programs("quick", size("replay_plans"), agrees);
}
