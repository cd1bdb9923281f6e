//! Objects that outlive a run: those in statics, and those that the closure of a check captures. All
//! runs of the check share them, so no two runs that use one may go on at the same time.
//!
//! Where several jobs are asked for, a run that meets such an object says so, and the carriers give
//! way to one. If another run has the object at that moment, this run is ended there and then: it
//! must not so much as look at the object. Nothing is told of it; it is run again later.

use super::Rt;
use raddle_model::{Failure, FailureKind};

impl Rt {
    /// The run uses an object that an earlier run has used, or that lies in a static.
    pub(super) fn outlived(self) {
        self.with(|run| run.shared = true);
    }

    /// Another run is using the object that this one comes to.
    #[cold]
    pub(super) fn collide(self) -> ! {
        self.outlived();
        if !self.with(|run| run.several) {
            panic!(
                "raddle: this object is in use by two runs at the same time, of two checks. Make the object \
                 inside the closure of the check, or run the checks one after the other"
            );
        }
        if self.ending() {
            self.give_up();
        }
        self.with(|run| {
            let message = String::from("raddle bug: a run that collided with another is told");
            let (tasks, sites) = (Vec::new(), Vec::new());
            run.engine.crash(Failure { kind: FailureKind::Nondeterminism, message, tasks, sites });
        });
        self.leave();
        self.unwind()
    }
}
