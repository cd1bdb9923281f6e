//! The real policies on toy programs: exact probabilities by enumeration of draws, and samples.

mod classes;
mod coverage;
mod fairness;
mod fig1;
mod noise;
mod pct_bound;
mod pos;
mod rapos_new_tasks;
mod rapos_release;
mod reseed;
mod support;
mod uniform;
mod walks_waiting;
