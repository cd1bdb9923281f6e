//! How a task comes to an operation, and waits for its turn. This is where a run spends its time, so
//! what programs do all the time has a way of its own here, as it has in the engine.

use super::fiber::{Report, Signal};
use super::panics::RunOver;
use super::{LATE_OPERATIONS_MAX, Rt, Run};
use raddle_engine::Next;
use raddle_model::{Kind, Mode, ObjectId, Op, Order, Outcome, Plain, SiteId, Touch};
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;

impl Rt {
    /// The task does `op` when its turn has come. Says how that ended.
    #[inline(always)]
    pub(crate) fn arrive(self, op: Op) -> Outcome {
        // All of this is known where it is compiled. What programs do all the time travels in
        // registers: to put an operation together in memory and copy it costs more than the rest.
        let Some(Plain { kind, touch, order, object, site }) = op.plain() else {
            return self.arrive_otherwise(op);
        };
        let mine = match kind {
            Kind::Load => self.read(kind, order, object, site),
            Kind::Store | Kind::Rmw => self.write(kind, order, object, site),
            Kind::Lock => self.take(order, object, site),
            Kind::Join => self.join(order, object, site),
            Kind::Unlock => self.give(order, object, site),
            _ => self.access_cell(kind, touch, order, object, site),
        };
        if !mine {
            // Those that are seldom points leave this out of the program's function.
            if matches!(kind, Kind::Unlock | Kind::CellRead | Kind::CellWrite) {
                self.wait_elsewhere();
            } else {
                self.wait();
            }
        }
        // It comes back when the operation has been done, or not at all.
        Outcome::Done
    }

    // Each of these says whether the operation has been done; if not, the task must wait for its turn.

    #[inline(never)]
    fn read(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.arrive_plainly(Plain { kind, touch: Touch::Read, order, object, site })
    }

    #[inline(never)]
    fn write(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.arrive_plainly(Plain { kind, touch: Touch::Write, order, object, site })
    }

    #[inline(never)]
    fn take(self, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.arrive_plainly(Plain { kind: Kind::Lock, touch: Touch::Take, order, object, site })
    }

    #[inline(never)]
    fn join(self, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.arrive_plainly(Plain { kind: Kind::Join, touch: Touch::Join, order, object, site })
    }

    #[inline(never)]
    fn give(self, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.arrive_quietly(Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site })
    }

    #[inline(never)]
    fn access_cell(self, kind: Kind, touch: Touch, order: Order, object: ObjectId, site: SiteId) -> bool {
        self.with(|run| run.engine.analysis_mut().expect_races());
        self.arrive_quietly(Plain { kind, touch, order, object, site })
    }

    /// An operation that is a point.
    #[inline(always)]
    fn arrive_plainly(self, plain: Plain) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let turn = unsafe { (*self.0).turn(plain) };
        match turn {
            Turn::Mine(_) => true,
            Turn::Theirs => false,
            Turn::Special => self.arrive_specially(plain.op()).is_some(),
        }
    }

    #[inline(never)]
    fn arrive_after_all(
        self,
        kind: Kind,
        touch: Touch,
        order: Order,
        object: ObjectId,
        site: SiteId,
    ) -> bool {
        self.arrive_plainly(Plain { kind, touch, order, object, site })
    }

    /// An operation that is a point in some plans only.
    #[inline(always)]
    fn arrive_quietly(self, plain: Plain) -> bool {
        // SAFETY: as above.
        let done = unsafe { (*self.0).perform_quietly(plain) };
        let Plain { kind, touch, order, object, site } = plain;
        done || self.arrive_after_all(kind, touch, order, object, site)
    }

    /// Switches away until it is this task's turn.
    ///
    /// Part of the program's own function, and never a call: a processor guesses where a return
    /// leads to from the calls before it, and after a switch it guesses wrong. The functions above
    /// have returned when this begins, so none of its returns is lost.
    #[inline(always)]
    fn wait(self) {
        let yielder = self.with(|run| run.yielder);
        // SAFETY: the yielder of the running task lies at the root of the stack that is running now.
        match unsafe { &*yielder }.suspend(Report::Waiting) {
            Signal::Run => {}
            Signal::Unwind => self.unwind(),
        }
    }

    #[inline(never)]
    fn arrive_otherwise(self, op: Op) -> Outcome {
        let turn = self.with(|run| {
            run.beat();
            if run.starting | run.ending {
                return Turn::Special;
            }
            let me = run.running;
            if !run.engine.is_point(&op) {
                return Turn::Mine(run.engine.perform(me, op));
            }
            match run.engine.arrive(me, op) {
                Next::Run(task) if task == me => Turn::Mine(run.engine.outcome(me)),
                next => {
                    run.next = next;
                    Turn::Theirs
                }
            }
        });
        match turn {
            Turn::Mine(outcome) => outcome,
            Turn::Theirs => self.switch(op.site),
            Turn::Special => self.arrive_specially(op).unwrap_or_else(|| self.switch(op.site)),
        }
    }

    #[cold]
    fn wait_elsewhere(self) {
        self.wait();
    }

    /// Switches away until it is this task's turn.
    fn switch(self, site: SiteId) -> Outcome {
        let me = self.running();
        self.with(|run| run.heart.site.store(site.0, Ordering::Relaxed));
        self.wait();
        self.with(|run| run.engine.outcome(me))
    }

    /// An operation of a run that is over, or the first of a task. None if the task must wait for its
    /// turn.
    #[cold]
    fn arrive_specially(self, op: Op) -> Option<Outcome> {
        if self.ending() {
            return Some(self.arrive_late(op));
        }
        // A task that was just made: others see what it is about to do before anybody goes on.
        let me = self.running();
        if !self.with(|run| run.engine.is_point(&op)) {
            return Some(self.with(|run| run.engine.perform(me, op)));
        }
        self.with(|run| {
            run.engine.announce(me, op);
            run.starting = false;
        });
        None
    }

    /// An operation after the run is over, in a destructor or after a swallowed unwinding.
    pub(super) fn arrive_late(self, op: Op) -> Outcome {
        let late = self.with(|run| {
            let fiber = &mut run.fibers[run.running.index()];
            fiber.late_operations += 1;
            fiber.late_operations
        });
        let answerless = matches!(op.kind, Kind::Join | Kind::Recv | Kind::Park | Kind::Wake | Kind::Leave)
            && op.mode == Mode::Block;
        if late > LATE_OPERATIONS_MAX || (answerless && std::thread::panicking()) {
            self.give_up();
        }
        if !std::thread::panicking() {
            // The unwinding was swallowed: once more.
            resume_unwind(Box::new(RunOver));
        }
        match (op.kind, op.mode) {
            (Kind::OnceGet | Kind::OnceEnter | Kind::Finished, _) => Outcome::Value(0),
            (Kind::Choose | Kind::Arrive | Kind::NotifyAll, _) => Outcome::Value(0),
            (_, Mode::Timed) => Outcome::TimedOut,
            (Kind::Recv, _) => Outcome::Closed,
            _ => Outcome::Done,
        }
    }
}

enum Turn {
    Mine(Outcome),
    Theirs,
    Special,
}

impl Run {
    /// The running task is at a point: whose turn is it?
    #[inline(always)]
    fn turn(&mut self, plain: Plain) -> Turn {
        self.beat();
        if self.starting | self.ending {
            return Turn::Special;
        }
        let me = self.running;
        match self.engine.arrive_plain(me, plain) {
            Next::Run(task) if task == me => Turn::Mine(Outcome::Done),
            next => {
                self.heart.site.store(plain.site.0, Ordering::Relaxed);
                self.next = next;
                Turn::Theirs
            }
        }
    }

    /// The running task does what is no point. False, and nothing was done, if it is one.
    #[inline(always)]
    fn perform_quietly(&mut self, plain: Plain) -> bool {
        // A task that was just made has not begun before it is at a point: it may be one of those.
        let quiet = !self.ending && !self.engine.is_point_at(plain.kind, plain.site);
        if quiet {
            self.beat();
            self.engine.perform_plain(self.running, plain);
        }
        quiet
    }

    /// A sign of life.
    #[inline(always)]
    pub(crate) fn beat(&self) {
        let beats = &self.heart.beats;
        // Nobody else writes it, so this need not be one indivisible step.
        beats.store(beats.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}
