//! The short way of a task that goes on: where the policy says that at once, nobody need hear what it was about to do.
//! Like the blind way, it is what nearly every step of such a run is, and nothing else.
//!
//! The policy is not asked at each point. It says for how many the task goes on while the same others can run ([`Spell`]), and
//! hears how many they were before it is asked anything else.

use crate::director::Engine;
use raddle_model::{Analysis, Plain, Policy, TaskId, Touch};

/// The points at which the current task goes on without anybody being asked.
#[derive(Debug, Default)]
pub(crate) struct Spell {
    /// How many they were at first.
    given: u64,
    left: u64,
    /// Who else could run: if that changes, the policy must be asked again.
    others: u64,
}

impl Spell {
    pub(crate) fn new(given: u64, others: u64) -> Spell {
        Spell { given, left: given, others }
    }

    /// How many are left.
    #[inline(always)]
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Whether it is one among those who can run now.
    #[inline(always)]
    pub(crate) fn is_on(&self, others: u64) -> bool {
        self.others == others
    }

    /// The task has gone on at so many.
    #[inline]
    pub(crate) fn go_on(&mut self, points: u64) {
        self.left -= points;
    }

    /// How many decisions were made in it.
    pub(crate) fn decisions(&self) -> u64 {
        if self.others == 0 { 0 } else { self.given - self.left }
    }
}

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive_plain`] if the task goes on, where decisions are only counted
    /// ([`Engine::only_counts_decisions`]) and the run is none of a search. `Err(true)`: it does, and [`Engine::tell`] comes
    /// next. `Err(false)`: nothing has happened.
    #[inline(always)]
    pub fn stay_at_once(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        debug_assert!(!self.search.is_active(), "raddle bug: a run of a search is not written down");
        self.catch_up();
        // Who looks may be spinning, and who exits has a way of its own ([`Engine::exit_aside`]).
        if self.steps >= self.few_until || matches!(plain.touch, Touch::Read | Touch::Exit) {
            return Err(false);
        }
        if !self.goes_on_at_once() {
            return Err(false);
        }
        debug_assert!(self.current.get() == Some(task), "raddle bug: the spell is another task's");
        let event = self.world.perform_low(task, plain).ok_or(false)?;
        self.went_on();
        if plain.touch == Touch::Take {
            self.again.took(self.steps, plain.object);
        }
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(true) }
    }

    /// Whether the task goes on at its next point without anybody being asked.
    #[inline(always)]
    pub(crate) fn goes_on_at_once(&self) -> bool {
        self.spell.left != 0 && self.spell.others == self.world.enabled_tasks().low()
    }

    /// It has.
    #[inline(always)]
    pub(crate) fn went_on(&mut self) {
        self.spell.left -= 1;
        self.quiet = 0;
        self.steps += 1;
    }

    /// Whether a spell was cut short by others that can run now and could not before, or the other way round: then
    /// [`Engine::stay_anew`] is worth a try.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.spell.left != 0 && self.spell.others != self.world.enabled_tasks().low()
    }

    /// The same, by asking the policy. After `Err(false)`, [`Engine::arrive_aside`] comes next.
    #[inline(never)]
    pub fn stay_anew(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        self.catch_up();
        self.end_spell();
        let others = self.world.enabled_tasks().low();
        self.spell = Spell::new(self.policy.spell(task, others, self.world.tasks().len()), others);
        self.stay_at_once(task, plain)
    }

    /// The policy hears at how many points the task has gone on. It must, before it is asked anything.
    #[inline(always)]
    pub(crate) fn end_spell(&mut self) {
        if self.spell.given != 0 {
            self.settle_spell();
        }
    }

    #[inline(never)]
    fn settle_spell(&mut self) {
        let decisions = self.spell.decisions();
        let Spell { given, left, others } = core::mem::take(&mut self.spell);
        if given != left {
            self.decisions.count_more(decisions);
            self.policy.spent(given - left, others == 0);
        }
    }
}
