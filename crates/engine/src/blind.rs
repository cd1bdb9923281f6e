//! The blind way: the quick one where the policy looks at nothing but who can run, and there are few tasks. Which of them
//! goes on is a coin toss, so nothing here branches on it.
//!
//! [`Engine::toss`] is what nearly every step of such a run is, and nothing else: whatever may call something, and comes
//! back, is left to [`Engine::go_on_after`], so that registers need not be saved for it.

use crate::current::Current;
use crate::director::{Engine, Next};
use raddle_model::{
    Analysis, Decision, Kind, ObjectId, Order, Outcome, Plain, PlainEvent, Policy, SiteId, TaskId, Touch,
};

/// Where a toss has stopped.
#[derive(Clone, Copy, Debug)]
pub enum Halt {
    /// The task that has arrived cannot do what it is about to do.
    InVain(TaskId),
    /// Nobody can run, or not in this way.
    Nobody,
    /// To draw one of those who can run takes more time.
    Undrawn,
    /// This task was drawn, and does something that is not as frequent.
    Drawn(TaskId),
    /// This task has done it, and the analyses have not been told.
    Untold(TaskId),
}

/// Which operations of whoever is drawn are done where somebody has come to another, which is known where this is compiled. To
/// have more of them there takes registers, which every step would have to save; what is left is a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inline {
    Write,
    Take,
    /// Tasks that end, and those that wait for them, as well.
    All,
}

impl Inline {
    /// Tasks mostly do the same at a time.
    fn after(touch: Touch) -> Inline {
        match touch {
            Touch::Write => Inline::Write,
            Touch::Take => Inline::Take,
            _ => Inline::All,
        }
    }
}

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Whether [`Engine::arrive_blindly`] may be called.
    #[inline(always)]
    pub fn is_blind(&self) -> bool {
        self.steps < self.blind_until
    }

    /// Whether [`Engine::give`] may be called, if the run is none of a search: nothing unusual goes on, and there are few tasks.
    #[inline(always)]
    pub fn has_few(&self) -> bool {
        self.assert_up_to_date();
        self.steps < self.few_until
    }

    /// Whether decisions are only counted, so that [`Engine::toss`] may be asked for `COUNTED` ones.
    pub fn only_counts_decisions(&self) -> bool {
        self.decisions.only_counts()
    }

    /// As [`Engine::arrive_plain`], while [`Engine::is_blind`].
    #[inline(always)]
    pub fn arrive_blindly(&mut self, task: TaskId, plain: Plain) -> Next {
        let tossed = self.toss::<false>(task, plain, |_| {});
        self.next_after(tossed)
    }

    /// What comes of a toss.
    #[inline(always)]
    fn next_after(&mut self, tossed: Result<TaskId, Halt>) -> Next {
        match tossed {
            Ok(task) => Next::Run(task),
            Err(halt) => self.go_on_after(halt),
        }
    }

    /// The same in two parts. Says who goes on, or where it has stopped; then [`Engine::go_on_after`] comes next. Calls `drawn`
    /// with each one that is drawn, before anything is done: the last of them goes on. What must be looked up to get
    /// there can be on its way while the rest is done; a processor has mostly guessed wrong where that is, and waits for it.
    #[inline(always)]
    pub fn toss<const COUNTED: bool>(
        &mut self,
        task: TaskId,
        plain: Plain,
        drawn: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        self.assert_up_to_date();
        // What is mostly nothing is looked at, and not written again.
        if self.quiet != 0 {
            self.quiet = 0;
        }
        // What is taken is seldom taken in vain; to find out here who has it would take registers.
        let enabled = if plain.touch == Touch::Join {
            self.announce_for_others(task, plain)?
        } else {
            self.world.announce_low(task, plain).ok_or(Halt::InVain(task))?
        };
        self.toss_among::<COUNTED>(enabled, Inline::after(plain.touch), drawn)
    }

    /// A task says what it is about to do. Who can run then, unless nobody may be asked for yet.
    #[inline(always)]
    pub(crate) fn announce_for_others(&mut self, task: TaskId, plain: Plain) -> Result<u64, Halt> {
        match self.world.announce_low(task, plain) {
            Some(enabled) => Ok(enabled),
            // As in `waits`: then it is in no circle, and there is somebody to draw.
            None if self.world.is_owned_by_one_that_can(plain.object) => Ok(self.world.enabled_tasks().low()),
            None => Err(Halt::InVain(task)),
        }
    }

    /// Who was drawn last, where somebody was.
    #[inline(always)]
    pub fn last_drawn(&self) -> TaskId {
        self.current.task()
    }

    /// The same for a task's last operation, where decisions are only counted.
    #[inline(always)]
    pub fn toss_at_exit(
        &mut self,
        task: TaskId,
        site: SiteId,
        drawn: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        self.toss::<true>(task, self.exit_of(task, site), drawn)
    }

    /// As [`Engine::perform`], while [`Engine::is_blind`], where something is given back.
    #[inline(always)]
    pub fn give_blindly(&mut self, task: TaskId, plain: Plain) -> Outcome {
        match self.give(task, plain) {
            Ok(()) => Outcome::Done,
            Err(happened) => self.give_with_care(task, plain.kind, plain.object, plain.site, happened),
        }
    }

    /// What [`Engine::give`] has left. In parts: whoever hands a whole one over has it in memory all along.
    #[inline(never)]
    fn give_with_care(
        &mut self,
        task: TaskId,
        kind: Kind,
        object: ObjectId,
        site: SiteId,
        happened: bool,
    ) -> Outcome {
        let plain = Plain { kind, touch: Touch::Give, order: Order::SeqCst, object, site };
        if happened {
            self.tell(task, plain);
            return Outcome::Done;
        }
        self.perform_plain(task, plain)
    }

    /// The same in two parts. `Err(true)`: it has happened, and [`Engine::tell`] comes next. `Err(false)`: nothing
    /// has happened, and [`Engine::perform_plain`] comes next.
    #[inline(always)]
    pub fn give(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        debug_assert!(plain.touch == Touch::Give && plain.order == Order::SeqCst);
        debug_assert!(!self.search.is_active(), "raddle bug: a run of a search is not written down");
        self.assert_up_to_date();
        let event = self.world.perform_low(task, plain).ok_or(false)?;
        self.quiet += 1;
        self.steps += 1;
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(true) }
    }

    /// The analyses are told what a task has just done.
    #[inline(never)]
    pub fn tell(&mut self, task: TaskId, plain: Plain) {
        let index = self.world.task(task).events - 1;
        self.analysis.plain(PlainEvent { task, index, plain }, &self.world);
    }

    /// One of those who can run does what it was about to do; if it exits, another one, too.
    #[inline(always)]
    fn toss_among<const COUNTED: bool>(
        &mut self,
        mut enabled: u64,
        inline: Inline,
        mut whom: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        loop {
            // Nothing is drawn or decided where there is nothing to choose.
            let alone = enabled & enabled.wrapping_sub(1) == 0;
            // While tasks only write, those who can run are mostly the same.
            let drawn = match inline {
                Inline::Write => self.policy.draw_again(enabled),
                _ if alone => None,
                // Whoever ends changes who can run, and whoever writes after that does not.
                _ => self.policy.draw_at_once(enabled, inline == Inline::All),
            };
            let task = match drawn {
                Some(task) if COUNTED => {
                    self.decisions.count_one();
                    task
                }
                Some(task) => {
                    self.decisions.push(Decision::Run(task));
                    task
                }
                None if alone => TaskId(enabled.trailing_zeros()),
                None => {
                    self.world.keep_low(enabled);
                    return Err(Halt::Undrawn);
                }
            };
            whom(task);
            match self.do_as_drawn(task, enabled, inline)? {
                Some(others) => enabled = others,
                None => return Ok(task),
            }
        }
    }

    /// A task that was drawn of these does what it was about to do. Who can run then, if it has exited.
    #[inline(always)]
    pub(crate) fn do_as_drawn(
        &mut self,
        task: TaskId,
        enabled: u64,
        inline: Inline,
    ) -> Result<Option<u64>, Halt> {
        self.current = Current::of(task);
        // What most steps are is written out, so that nothing more is asked of them.
        let touch = match inline {
            Inline::Write => self.world.tasks().get(task.index()).and_then(|task| task.touch),
            _ => self.world.task(task).touch,
        };
        let done = match touch {
            Some(Touch::Write) if inline != Inline::Take => self.step_at_once(task, Touch::Write, enabled),
            Some(Touch::Take) if inline != Inline::Write => self.step_at_once(task, Touch::Take, enabled),
            Some(Touch::Join) if inline == Inline::All => self.step_at_once(task, Touch::Join, enabled),
            Some(Touch::Exit) if inline == Inline::All => {
                self.step_at_once(task, Touch::Exit, enabled)?;
                let others = self.world.enabled_tasks().low();
                return if others != 0 && self.has_few() { Ok(Some(others)) } else { Err(Halt::Nobody) };
            }
            _ => {
                self.world.keep_low(enabled);
                Err(Halt::Drawn(task))
            }
        };
        done.map(|()| None)
    }

    /// A task that was drawn of these is about to do this, and does it.
    #[inline(always)]
    fn step_at_once(&mut self, task: TaskId, touch: Touch, enabled: u64) -> Result<(), Halt> {
        let others = enabled & !(1 << (task.0 & 63));
        let Some(event) = self.world.step_low(task, touch, others) else {
            self.world.keep_low(enabled);
            return Err(Halt::Drawn(task));
        };
        self.steps += 1;
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(Halt::Untold(task)) }
    }

    /// The rest of what a toss is not.
    #[inline(never)]
    pub fn go_on_after(&mut self, mut halt: Halt) -> Next {
        loop {
            let task = match halt {
                Halt::InVain(task) => {
                    self.waits(task);
                    self.toss_again()
                }
                Halt::Nobody => return self.schedule_next(),
                Halt::Undrawn if !self.is_blind() => return self.next_at_once(),
                Halt::Undrawn => {
                    let enabled = self.world.enabled_tasks().low();
                    let task = self.policy.draw(enabled);
                    self.decisions.push(Decision::Run(task));
                    self.do_as_drawn(task, enabled, Inline::Write).map(|_| task)
                }
                Halt::Untold(task) => {
                    let step = self.world.last_step(task);
                    self.analysis.plain(step, &self.world);
                    if step.plain.touch == Touch::Exit { self.toss_again() } else { Ok(task) }
                }
                Halt::Drawn(task) => {
                    // By itself, so that nothing more is asked of it.
                    let done = match self.world.task(task).touch {
                        Some(Touch::Read) => self.step_blindly(task, Touch::Read),
                        Some(Touch::Write) => self.step_blindly(task, Touch::Write),
                        Some(Touch::Take) => self.step_blindly(task, Touch::Take),
                        Some(touch) => self.step_blindly(task, touch),
                        None => None,
                    };
                    match done {
                        None => return self.proceed(task),
                        Some(Touch::Exit) => self.toss_again(),
                        Some(_) => Ok(task),
                    }
                }
            };
            match task {
                Ok(task) => return Next::Run(task),
                Err(again) => halt = again,
            }
        }
    }

    /// The task does the plain operation that it was about to do. What that was; nothing if it does not succeed.
    #[inline(always)]
    fn step_blindly(&mut self, task: TaskId, touch: Touch) -> Option<Touch> {
        let event = self.world.step_plain_as::<true>(task, touch)?;
        self.happened(event);
        Some(touch)
    }

    /// As [`Engine::schedule_next`], by a toss where that can be.
    #[inline]
    pub(crate) fn next_as_can_be(&mut self) -> Next {
        if !self.is_blind() {
            return self.schedule_next();
        }
        self.quiet = 0;
        let tossed = self.toss_again();
        self.next_after(tossed)
    }

    /// Another one of those who can run.
    // Once in the loop that it is for, where it is no more frequent than all the rest.
    #[inline(never)]
    fn toss_again(&mut self) -> Result<TaskId, Halt> {
        let enabled = self.world.enabled_tasks().low();
        if enabled == 0 || !self.has_few() {
            Err(Halt::Nobody)
        } else if self.is_blind() {
            self.toss_among::<false>(enabled, Inline::All, |_| {})
        } else {
            self.pick_among(enabled, |_| {})
        }
    }

    /// As [`Engine::schedule_next`], where these can run.
    #[inline(always)]
    pub(crate) fn next_blindly(&mut self, enabled: u64) -> Next {
        let tossed = self.toss_among::<false>(enabled, Inline::All, |_| {});
        self.next_after(tossed)
    }
}
