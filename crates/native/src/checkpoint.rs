//! Checkpoints: the state of a run at a scheduling point, from which runs go on whose plans begin with the same steps.
//! Whoever keeps the state (`reset` in its process, `server::left` in a process that is left behind) says when one is
//! due, and with which plan a run goes on; here is what is the same for both.
//!
//! All that a run knows is in its memory: who goes on finds the engine, the analyses and the log as they were. Only
//! the plan is another, and what came before is left out of the report.

use crate::run::{Run, with};
use crate::server;
use alloc::vec::Vec;
use raddle_engine::Known;
use raddle_model::{Plan, Trace};
use raddle_wire::report::{Recorded, Since};

/// A task of a run of a search is about to say what it does next.
pub(crate) fn look() {
    let (points, choice) = with(|run| {
        let (points, _) = run.engine.search_progress();
        (points, !run.engine.world().enabled_tasks().is_empty())
    });
    if !server::is_due(points, choice) {
        return;
    }
    if let Some(plan) = server::keep_checkpoint(points as u32) {
        with(|run| run.go_on(plan));
    }
}

impl Run {
    /// Goes on with another plan, whose steps up to here are those that were taken and are left out of it.
    fn go_on(&mut self, plan: Plan) {
        let (picks, chosen) = self.engine.search_progress();
        let (stacks, arrivals) = self.calls.progress();
        let world = self.engine.world();
        self.since = Some(Since {
            events: world.tasks().iter().map(|task| task.events).collect(),
            picks: picks as u32,
            chosen: chosen as u32,
            objects: world.first_states().len() as u32,
            stacks,
            arrivals,
        });
        self.engine.policy_mut().go_on(plan);
    }
}

/// What the reader of a report has.
fn known(since: &Since) -> Known {
    let &Since { picks, chosen, objects, .. } = since;
    Known {
        events: since.events() as usize,
        picks: picks as usize,
        chosen: chosen as usize,
        objects: objects as usize,
    }
}

/// What a search wants to know of a run that has ended.
pub(crate) fn report(run: &mut Run) -> Recorded {
    let mut trace = Trace::default();
    server::had_points(run.engine.search_progress().0);
    match &run.since {
        // There may be far more of it than of the rest.
        Some(since) => run.engine.write_rest_of_search_trace(known(since), &mut trace),
        None => run.engine.write_search_trace(&mut trace),
    }
    Recorded {
        trace,
        objects: Vec::new(),
        tasks: Vec::new(),
        places: Vec::new(),
        modules: run.modules.all().iter().map(|module| module.path.clone()).collect(),
        arrivals: Vec::new(),
        accesses: Vec::new(),
    }
}
