//! The model: ids, operations and their dependence, the objects' semantics, the seam between
//! engine and strategies, plans, traces and failures. Pure: no I/O, no unsafe, no clock.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod call;
pub mod dice;
pub mod failure;
pub mod hapset;
pub mod hash;
pub mod ids;
pub mod objects;
pub mod op;
pub mod plan;
pub mod policy;
pub mod taskset;
pub mod trace;
pub mod world;

pub use dice::{Dice, Rng};
pub use failure::{Failure, FailureKind, Verdict};
pub use hapset::{HapSets, Pair, Statement, StatementId};
pub use ids::{ObjectId, SiteId, TaskId};
pub use op::{Access, Kind, Mode, Op, Order, Plain, Span, Touch};
pub use plan::{Decision, Plan, PointSet, Schedule, SpinMode, Tail, TimeMode};
pub use policy::{Choice, Divergence, Pending, Pick, Policy, View};
pub use taskset::{Ballot, TaskSet};
pub use trace::{Analysis, Event, ObjectInfo, Outcome, Place, PlainEvent, Recorder, Trace};
pub use world::World;
