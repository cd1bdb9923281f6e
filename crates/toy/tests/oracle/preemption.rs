//! A preemption is a switch away from a task that is enabled and not at a yield, sleep, timed wait
//! or park.

use crate::common::everywhere;
use raddle_model::{Choice, Divergence, Pick, Policy, TaskId, View};
use raddle_toy::How::{Block, Timed};
use raddle_toy::Instr::*;
use raddle_toy::{Instr, Machine, Object, Program, Val};

/// Lets task 1 go up to its second instruction, and notes whether switching to task 2 preempts it.
struct Switch {
    preempts: Option<bool>,
}

impl Policy for Switch {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let (one, two) = (TaskId(1), TaskId(2));
        let begun = view.world.is_live(one) && view.world.task(one).events == 1;
        if begun && self.preempts.is_none() {
            assert_eq!(view.current, Some(one));
            assert!(!view.preempts(one), "going on is no switch");
            self.preempts = Some(view.preempts(two));
            return Pick::Run(two);
        }
        let first = if view.enabled.contains(one) { Some(one) } else { view.enabled.first() };
        Pick::Run(first.expect("somebody can run"))
    }
    fn choose(&mut self, _: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(0)
    }
    fn restart(&mut self, _: u64) {}
}

/// Whether a switch away from a task at `instr` is a preemption.
fn preempts_at(instr: Instr) -> bool {
    let objects =
        vec![Object::Atomic(0), Object::Mutex, Object::Mutex, Object::Condvar, Object::Semaphore(0)];
    // Task 2 makes sure that everything comes to an end.
    let rest = vec![Load(0, 0), Release(4, 5), Unpark(1)];
    let program = Program::flat(objects, vec![vec![Load(0, 0), instr], rest]);
    let mut machine = Machine::new(&program, Switch { preempts: None });
    machine.run(&everywhere());
    machine.engine().policy_mut().preempts.expect("task 1 got there")
}

#[test]
fn a_switch_away_from_one_who_could_go_on_is_a_preemption() {
    for instr in
        [Load(0, 0), Store(0, Val::Const(1)), Lock(1, Block, 0), Release(4, 1), NotifyOne(3), Unpark(2)]
    {
        assert!(preempts_at(instr), "{instr:?}");
    }
}

#[test]
fn a_switch_away_from_one_who_offers_the_processor_is_none() {
    for instr in [Yield, Sleep(5), Park(Timed(5), 0), Lock(1, Timed(5), 0), Acquire(4, 1, Timed(5), 0)] {
        assert!(!preempts_at(instr), "{instr:?}");
    }
}

#[test]
fn a_switch_away_from_one_who_cannot_go_on_is_none() {
    for instr in [Park(Block, 0), Acquire(4, 1, Block, 0)] {
        assert!(!preempts_at(instr), "{instr:?}");
    }
}
