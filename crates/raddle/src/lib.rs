//! The library front end: std-shaped types under a scheduler.

pub mod cell;
mod check;
pub mod future;
pub mod hint;
pub mod rand;
mod rt;
pub mod sync;
pub mod thread;
pub mod time;

pub use check::{Check, Error, Found, Report, Warning, check, replay};
pub use raddle_macros::test;
pub use rand::choose;

/// What `#[raddle::test]` expands to, and what this project's own tests need beyond the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::check::fail_on_error;
    use crate::rt::carrier::LibraryTarget;
    use raddle_explore::target::Target;

    /// A body as something that plans can be run on.
    pub fn target(body: impl Fn() + Send + Sync + 'static) -> impl Target {
        LibraryTarget::new(std::sync::Arc::new(body), std::time::Duration::from_secs(5))
    }
}

/// What the `raddle` command needs beyond the interface. May change at any time.
#[doc(hidden)]
pub mod tool {
    pub use crate::check::files::{lines, minimized, quoted, source};
    pub use crate::check::recorded::{Smaller, again, read, smaller, story};
    pub use crate::rt::carrier::{Body, LibraryTarget};
}

/// For the speed experiment only.
#[doc(hidden)]
pub fn probe(
    runs: u64,
    tail: raddle_model::Tail,
    body: impl Fn() + Send + Sync + 'static,
) -> (f64, u64, usize) {
    use raddle_explore::target::*;
    struct S(u64, raddle_analysis::statistics::Distinct);
    impl Sink for S {
        fn run(&mut self, d: &Digest) -> Flow {
            self.0 += d.steps;
            assert_eq!(d.verdict, raddle_model::Verdict::Finished);
            self.1.insert(d.fingerprint);
            Flow::Continue
        }
    }
    let mut target =
        rt::carrier::LibraryTarget::new(std::sync::Arc::new(body), std::time::Duration::from_secs(5));
    let plan = raddle_model::Plan::new(0, tail);
    let mut s = S(0, Default::default());
    target.sample(&plan, 0..1, &mut s).unwrap();
    let t = std::time::Instant::now();
    target.sample(&plan, 0..runs, &mut s).unwrap();
    (t.elapsed().as_secs_f64() / runs as f64 * 1e9, s.0 / (runs + 1), s.1.distinct().value as usize)
}
