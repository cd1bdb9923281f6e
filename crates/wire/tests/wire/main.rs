//! Tests of the formats, in one program.

mod any;
mod damage;
mod golden;
mod hapsets;
mod journals;
mod samples;
mod schedules;
