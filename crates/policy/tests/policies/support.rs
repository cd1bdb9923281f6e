//! Exact probabilities: dice that follow a script, and an enumeration of all scripts. The policy
//! under test is the real one; only its source of draws is replaced.

use raddle_model::{Dice, Plan, Policy};
use raddle_policy::walks::PLAIN_ONE_IN;
use raddle_toy::{Machine, Program, ToyRun};
use std::cell::RefCell;
use std::rc::Rc;

/// Dice that take the draws of a script, and remember how many sides each had.
#[derive(Clone, Default)]
pub(crate) struct Script(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    draws: Vec<Draw>,
    position: usize,
}

/// What was drawn, out of how many. A draw of [`PLAIN_ONE_IN`] has two branches only, 0 and the rest,
/// since `walks` does the same for all the rest: its tree would be 16 times as large otherwise.
#[derive(Clone, Copy)]
struct Draw {
    drawn: u32,
    sides: u32,
}

impl Draw {
    fn branches(self) -> u32 {
        if self.sides == PLAIN_ONE_IN { 2 } else { self.sides }
    }

    fn probability(self) -> Ratio {
        let equal = if self.sides == PLAIN_ONE_IN && self.drawn == 1 { self.sides - 1 } else { 1 };
        Ratio::new(u128::from(equal), u128::from(self.sides))
    }
}

impl Dice for Script {
    fn below(&mut self, n: u32) -> u32 {
        let mut state = self.0.borrow_mut();
        let position = state.position;
        if position == state.draws.len() {
            state.draws.push(Draw { drawn: 0, sides: n });
        }
        state.position += 1;
        let Draw { drawn, sides } = state.draws[position];
        assert_eq!(sides, n, "draw {position} does not repeat");
        drawn
    }

    fn reseed(&mut self, _: u64) {
        self.0.borrow_mut().position = 0;
    }
}

impl Script {
    /// The probability of the draws of the run that has just ended.
    fn probability(&self) -> Ratio {
        let state = self.0.borrow();
        state.draws[..state.position].iter().fold(Ratio::ONE, |p, draw| p.times(draw.probability()))
    }

    /// Moves on to the next script; false if that was the last.
    fn advance(&self) -> bool {
        let mut state = self.0.borrow_mut();
        let position = state.position;
        state.draws.truncate(position);
        while let Some(draw) = state.draws.pop() {
            if draw.drawn + 1 < draw.branches() {
                state.draws.push(Draw { drawn: draw.drawn + 1, ..draw });
                return true;
            }
        }
        false
    }
}

/// An exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    pub(crate) top: u128,
    pub(crate) bottom: u128,
}

impl Ratio {
    pub(crate) const ZERO: Ratio = Ratio { top: 0, bottom: 1 };
    pub(crate) const ONE: Ratio = Ratio { top: 1, bottom: 1 };

    pub(crate) fn new(top: u128, bottom: u128) -> Ratio {
        let divisor = gcd(top, bottom);
        Ratio { top: top / divisor, bottom: bottom / divisor }
    }

    fn times(self, other: Ratio) -> Ratio {
        let bottom = self.bottom.checked_mul(other.bottom).expect("a fraction too fine");
        Ratio::new(self.top * other.top, bottom)
    }

    pub(crate) fn plus(self, other: Ratio) -> Ratio {
        let divisor = gcd(self.bottom, other.bottom);
        let scale = other.bottom / divisor;
        let bottom = self.bottom.checked_mul(scale).expect("a fraction too fine");
        Ratio::new(self.top * scale + other.top * (self.bottom / divisor), bottom)
    }

    /// Whether this is at least `other`.
    pub(crate) fn at_least(self, other: Ratio) -> bool {
        self.top * other.bottom >= other.top * self.bottom
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Calls `each` with every run that the policy can give, once for each sequence of draws, with its
/// probability. The probabilities of all runs add up to one, which is checked.
pub(crate) fn for_each_draw<P: Policy>(
    program: &Program,
    plan: &Plan,
    policy: impl FnOnce(Script) -> P,
    mut each: impl FnMut(&ToyRun, Ratio),
) {
    let script = Script::default();
    let mut machine = Machine::new(program, policy(script.clone()));
    let mut total = Ratio::ZERO;
    loop {
        machine.engine().policy_mut().restart(0);
        let run = machine.run(plan);
        let probability = script.probability();
        total = total.plus(probability);
        each(&run, probability);
        if !script.advance() {
            break;
        }
    }
    assert_eq!(total, Ratio::ONE);
}
