//! How a run ends: at the step bound, and when it was to repeat another.

use crate::deadlock;
use crate::director::Engine;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{Analysis, Divergence, Failure, FailureKind, Policy, TaskId, Verdict};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Whether the run has finished and was to repeat no other, so that [`Engine::close`] has nothing to say.
    #[inline]
    pub fn has_just_finished(&self) -> bool {
        !self.repeats && matches!(self.verdict, Some(Verdict::Finished))
    }

    /// The run is over: compares it with the schedule that it was to repeat, if there is one, and
    /// says how it ended. A front end calls this once, with the fingerprint that it has computed
    /// (0 if it has none); without it the last events of a replay go unchecked.
    pub fn close(&mut self, fingerprint: u128) -> Verdict {
        if self.has_just_finished() {
            return Verdict::Finished;
        }
        let verdict = self.verdict.clone();
        let verdict = verdict.expect("raddle bug: a run is closed that is not over");
        if !self.repeats || matches!(verdict, Verdict::Cut | Verdict::Diverged(_)) {
            return verdict;
        }
        if let Err(mut divergence) = self.compare(&verdict, fingerprint) {
            divergence.step = self.steps;
            divergence.decision = self.decisions.len();
            self.verdict = None;
            self.diverge(divergence);
        }
        self.verdict.clone().unwrap_or(verdict)
    }

    /// Whether a run that has ended is the one that was to be repeated.
    fn compare(&mut self, verdict: &Verdict, fingerprint: u128) -> Result<(), Box<Divergence>> {
        if let Verdict::Failed(failure) = verdict {
            // A run that finishes has been asked already.
            self.end_spell();
            self.policy.finished(self.steps).map_err(|mut divergence| {
                divergence.found = format!("{}: {}", failure.kind.name(), failure.message);
                divergence
            })?;
        }
        self.check.close()?;
        if self.fingerprint != 0 && fingerprint != 0 && self.fingerprint != fingerprint {
            return Err(Box::new(Divergence {
                step: 0,
                decision: 0,
                expected: format!("the partial order {:032x}", self.fingerprint),
                found: format!("the partial order {fingerprint:032x}"),
            }));
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn out_of_steps(&mut self) {
        let tasks: Vec<TaskId> = self.world.live().collect();
        let sites = tasks.iter().map(|&task| self.world.task(task).op.site).collect();
        let (kind, message) = if self.spin.stuck {
            let able = tasks.iter().filter(|&&task| self.world.enabled_tasks().contains(task));
            let waits: Vec<String> = able.map(|&task| self.looks_at(task)).collect();
            (FailureKind::Livelock, format!("nobody makes progress: {}", waits.join("; ")))
        } else {
            (FailureKind::Steps, format!("the run did not end within {} steps", self.steps_max))
        };
        self.crash(Failure { kind, message, tasks, sites });
    }

    /// Nobody can run. A front end that knows of an outside is told so by [`Next::Over`](crate::Next::Over) without a
    /// verdict, and may let a task do something else ([`Engine::amend`]).
    #[cold]
    pub(crate) fn stand_still(&mut self) {
        self.idle = self.asks_outside && self.search.verdict() == Verdict::Finished;
        if !self.idle {
            self.come_to_nothing();
        }
    }

    /// Whenever nobody can run it is for the front end to say whether somebody outside may change that.
    pub fn ask_outside(&mut self) {
        self.asks_outside = true;
    }

    /// Nobody can run, and what each of them waits for.
    pub fn standstill(&self) -> Failure {
        deadlock::of_all(&self.world)
    }

    /// Nobody can run, and nobody outside changes that.
    #[cold]
    pub fn come_to_nothing(&mut self) {
        let verdict = self.search.verdict();
        self.verdict = Some(match verdict {
            Verdict::Finished => Verdict::Failed(deadlock::of_all(&self.world)),
            failed => failed,
        });
        self.look_around();
    }

    /// What a spinning task waits for.
    fn looks_at(&self, task: TaskId) -> String {
        let objects: Vec<String> = self
            .spin
            .watched(task)
            .iter()
            .map(|&id| format!("{} {id:?}", self.world.object(id).state.noun()))
            .collect();
        let what =
            if objects.is_empty() { String::from("nothing that is visible") } else { objects.join(", ") };
        format!("{} looks again and again at {what}", self.world.path(task))
    }
}
