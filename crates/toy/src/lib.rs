//! A front end for tests: runs small programs that are given as data. It has every kind of
//! operation, a plain enumeration of all runs, and the partial order of a run as a plain graph, so
//! that the engine, the fingerprint and every strategy can be held against something simple.
//!
//! ```
//! use raddle_model::{Plan, PointSet, Tail};
//! use raddle_toy::{Instr::*, Object, Program, Val, enumerate, run};
//!
//! let increment = vec![Load(0, 0), Let(0, Val::Reg(0), Val::Const(1)), Store(0, Val::Reg(0))];
//! let program = Program::flat(vec![Object::Atomic(0)], vec![increment.clone(), increment]);
//! let plan = Plan { points: PointSet::everything(), ..Plan::new(7, Tail::Random) };
//! let sampled = run(&program, &plan);
//! let all = enumerate(&program, &plan, 10_000).expect("a small program");
//! assert!(all.iter().any(|run| run.finals == sampled.finals));
//! ```
#![forbid(unsafe_code)]

mod enumerate;
pub mod graph;
mod machine;
mod operation;
mod program;
pub mod sketch;
mod target;

pub use enumerate::{enumerate, for_each_run};
pub use graph::Graph;
pub use machine::{Finals, Machine, TaskState, ToyRun, instr_of, site_of};
pub use program::{Body, How, Instr, Obj, Object, Program, REGISTERS, Reg, Val, status};
pub use sketch::Sketch;
pub use target::ToyTarget;

use raddle_model::{Plan, Policy};
use raddle_policy::Planned;

/// One run of a program under the policy of its plan.
pub fn run(program: &Program, plan: &Plan) -> ToyRun {
    run_with(program, plan, Planned::new(plan))
}

/// One run of a program under another policy.
pub fn run_with<P: Policy>(program: &Program, plan: &Plan, policy: P) -> ToyRun {
    Machine::new(program, policy).run(plan)
}
