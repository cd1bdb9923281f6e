//! Operations that come after the end of the run, while it is cleared away.

use super::Rt;
use raddle_model::{Kind, Mode, Op, Outcome};

/// Operations that a task may do after its run is over, before it is given up.
const OPERATIONS_MAX: u32 = 10_000;

impl Rt {
    /// An operation after the run is over, in a destructor or after a swallowed unwinding.
    pub(in crate::rt) fn arrive_late(self, op: Op) -> Outcome {
        let late = self.with(|run| {
            let fiber = &mut run.fibers[run.running.index()];
            fiber.late_operations += 1;
            fiber.late_operations
        });
        let answerless = matches!(op.kind, Kind::Join | Kind::Recv | Kind::Park | Kind::Wake | Kind::Leave)
            && op.mode == Mode::Block;
        if late > OPERATIONS_MAX || (answerless && std::thread::panicking()) {
            self.give_up();
        }
        if !std::thread::panicking() {
            // The unwinding was swallowed: once more.
            self.unwind();
        }
        outcome(&op)
    }

    /// The run has ended while the task waited for its turn. What it was about to do is not done: it unwinds. If it
    /// does that already, it goes on with it, unless that would have had to wait for others.
    #[cold]
    #[inline(never)]
    pub(super) fn come_late(self) {
        if !std::thread::panicking() {
            self.unwind();
        }
        let waits = self.with(|run| !run.engine.world().enabled_tasks().contains(run.running));
        if waits {
            self.give_up();
        }
        self.arrive_late(self.with(|run| run.pending()));
    }
}

/// How an operation ends that comes after the end of the run.
pub(super) fn outcome(op: &Op) -> Outcome {
    match (op.kind, op.mode) {
        (Kind::OnceGet | Kind::OnceEnter | Kind::Finished, _) => Outcome::Value(0),
        (Kind::Choose | Kind::Arrive | Kind::NotifyAll, _) => Outcome::Value(0),
        (_, Mode::Timed) => Outcome::TimedOut,
        (Kind::Recv, _) => Outcome::Closed,
        _ => Outcome::Done,
    }
}
