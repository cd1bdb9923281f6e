//! The straight way into the engine, for plain operations while nothing is unusual. That is found out where it changes,
//! so that a step asks in a few instructions what `run::arrive` looks at one by one.

use crate::deferred;
use crate::run::{GLANCE, Run, with};
use raddle_engine::Next;
use raddle_model::{Op, Outcome, Plain, TaskId};

/// Lets whoever is next go on, and says how its operation ended when it is the running task's turn. Whether that is the same is
/// chance, so nothing branches on it.
#[inline(always)]
pub(crate) fn go(next: Next) -> Outcome {
    let (me, way) = with(|run| (run.running, run.hand_over(next)));
    way.unwrap_or_else(crate::idle::next).ends(me)
}

impl Run {
    /// Finds out whether tasks may go straight to the engine.
    pub(crate) fn look_around(&mut self) {
        let calls = self.calls.wanted || self.calls.told;
        self.straight = !self.choice_ahead && self.beginning == 0 && !calls;
        let points = self.points.all_accesses || !self.points.accesses.is_empty();
        self.only_notes = self.several
            && !calls
            && !points
            && self.objects.mappings.is_empty()
            && self.annotations.conceal_nothing();
    }

    /// Makes room for what most runs need, so that it need not grow in each of them; and for no more, since what is used of
    /// it lies on the fewer pages.
    pub(crate) fn reserve(&mut self) {
        const TASKS: usize = 4;
        const OBJECTS: usize = 12;
        self.engine.reserve(TASKS, OBJECTS);
        self.engine.analysis_mut().reserve(TASKS, OBJECTS);
        self.objects.reserve(OBJECTS - TASKS);
        self.threads.reserve(TASKS);
        self.blocks.reserve();
    }

    /// The task has come to its first operation, if it has not been told before. Whom to go on with then.
    pub(crate) fn arrived(&mut self, task: TaskId) -> Option<TaskId> {
        let maker = self.threads[task.index()].maker.take();
        if maker.is_some() {
            self.beginning -= 1;
            self.look_around();
        }
        maker
    }

    /// The running task comes to a plain operation, and who goes on is a toss. None if it is not as simple.
    #[inline(always)]
    pub(crate) fn toss(&mut self, plain: Plain) -> Option<Next> {
        if !self.is_straight() || !self.engine.is_point_at(plain.kind, plain.site) {
            return None;
        }
        let me = self.running;
        crate::server::beat(me, plain.site);
        GLANCE.rest();
        Some(self.engine.arrive_blindly(me, plain))
    }

    /// The running task comes to any operation: who goes on. None, and nothing has happened, if it is not as simple.
    #[inline(always)]
    pub(crate) fn straight_turn(&mut self, op: Op) -> Option<Next> {
        if !self.is_straight() || !self.engine.is_point(&op) {
            return None;
        }
        let me = self.running;
        crate::server::beat(me, op.site);
        GLANCE.rest();
        Some(self.engine.arrive(me, op))
    }

    /// The running task gives back what it holds, and goes on. False, and nothing has happened, if it is not as simple.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, plain: Plain) -> bool {
        let me = self.running;
        let simple = self.is_straight() && !self.engine.is_point_at(plain.kind, plain.site);
        if simple {
            crate::server::beat(me, plain.site);
            self.engine.give_blindly(me, plain);
        }
        simple
    }

    #[inline(always)]
    fn is_straight(&self) -> bool {
        self.engine.is_blind() && self.straight && !deferred::is_pending()
    }
}
