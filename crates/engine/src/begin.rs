//! How a run begins: in full, or again, if it differs from the one before in its seed only and that ended as most do.

use crate::current::Current;
use crate::director::Engine;
use raddle_model::{Analysis, Plan, Policy, SpinMode, Tail};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Begins a run in which main runs up to its first operation. The policy must be the plan's.
    /// `record` asks for a schedule that can be checked.
    pub fn begin(&mut self, plan: &Plan, record: bool) {
        if self.points != plan.points {
            self.points = plan.points.clone();
        }
        self.world.begin(plan.spurious_max);
        self.analysis.begin();
        self.time.begin();
        self.time_mode = plan.time;
        self.spin.begin(plan.spin == SpinMode::Park);
        self.check.begin(record, &plan.prefix.checks);
        self.decisions.begin();
        self.current = Current::default();
        self.steps = 0;
        self.steps_max = plan.steps_max;
        self.verdict = None;
        self.saw_try = false;
        self.quiet = 0;
        self.ended_calmly = false;
        self.repeats = plan.tail == Tail::None;
        self.fingerprint = plan.prefix.fingerprint;
        self.search.begin(&plan.tail, &mut self.world);
        self.again.begin();
        self.rote.begin(plan, self.analysis.can_keep(), &mut self.script);
        self.look_around();
    }

    /// As [`Engine::begin`], for a run like the last one but for its seed, if that ended as most runs do: then most of what a
    /// run begins with is what it was. False, and nothing has happened, if it did not.
    pub fn begin_again(&mut self) -> bool {
        if !self.ended_calmly {
            return false;
        }
        self.ended_calmly = false;
        self.world.begin_again();
        self.again.begin();
        self.analysis.begin();
        self.spin.used = false;
        self.decisions.begin();
        self.current = Current::default();
        self.steps = 0;
        self.verdict = None;
        self.saw_try = false;
        self.quiet = 0;
        self.calm_until = self.steps_max;
        self.few_until = self.steps_max;
        self.blind_until = if self.policy.is_blind() { self.steps_max } else { 0 };
        true
    }
}
