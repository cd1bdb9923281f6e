//! Once more: programs have loops, and what a task has just done it mostly does again. Where it is known that it will go on
//! whenever it does, so often, nobody need hear of each time: the front end counts, by the comparison with which a run is led
//! by rote, and the engine catches up as soon as anything else is asked of it.
//!
//! What is foreseen is a plain write, or a mutex that is taken and given back with nothing in between. Both leave everything as
//! it was but for numbers that grow: events, steps, decisions, versions and hashes, and the rows that a search is told of.
//!
//! Whoever asks for anything must find the engine as if it had heard of each: all that a front end can call begins with
//! [`Engine::catch_up`], or asserts that there is nothing to be caught up with.

use crate::director::Engine;
use raddle_model::{Analysis, Kind, ObjectId, Order, Plain, PlainEvent, Policy, SiteId, TaskId, Touch};

/// What is foreseen, if anything is.
#[derive(Debug)]
pub(crate) struct Again {
    /// How often it may come; 0 if nothing is foreseen.
    given: u32,
    task: TaskId,
    /// What comes again: an access, or what takes a mutex that is then given back.
    what: Option<Plain>,
    closes: bool,
    /// The step before which a mutex was taken last by a task that went on, and which one.
    taken: (u64, ObjectId),
    /// How many more chances are let go by: those that are taken in vain cost a little.
    shy: u32,
    /// So many were taken in vain, one after the other.
    vain: u32,
    /// Somebody did something else while it held a mutex that it had taken so. What gives that back must not be taken for
    /// the end of another section, so that none is foreseen for the rest of the run.
    parted: bool,
}

/// More would be no quicker.
const TIMES_MAX: u32 = 1 << 16;
/// Chances that are let go by at most, as a power of two.
const SHY_MAX: u32 = 10;
/// An access that has come so often has been worth it: to foresee and to catch up take as long as a few that are told one by one.
/// A section is, once it has come at all.
const WORTH: u32 = 6;

impl Default for Again {
    fn default() -> Again {
        let taken = (u64::MAX, ObjectId::NONE);
        Again {
            given: 0,
            task: TaskId::MAIN,
            what: None,
            closes: false,
            taken,
            shy: 0,
            vain: 0,
            parted: false,
        }
    }
}

impl Again {
    /// A run begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        debug_assert!(self.given == 0, "raddle bug: a run ends that nobody has caught up with");
        self.taken = (u64::MAX, ObjectId::NONE);
        self.parted = false;
    }

    /// A mutex was taken, which was so many steps ago all that has happened.
    #[inline(always)]
    pub(crate) fn took(&mut self, steps: u64, object: ObjectId) {
        self.taken = (steps, object);
    }

    /// Whether a chance is let go by.
    #[inline(always)]
    fn lets_go_by(&mut self) -> bool {
        let shy = self.shy != 0;
        if shy {
            self.shy -= 1;
        }
        shy
    }

    /// What was foreseen came so often.
    fn learn(&mut self, times: u32) {
        let worth = if self.closes { 1 } else { WORTH };
        self.vain = if times < worth { (self.vain + 1).min(SHY_MAX) } else { 0 };
        self.shy = (1 << self.vain) - 1;
    }
}

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Whatever the front end has counted is heard of now.
    #[inline(always)]
    pub fn catch_up(&mut self) {
        if self.again.given != 0 {
            self.catch_up_now();
        }
    }

    /// For whoever looks without catching up: there must be nothing to be caught up with.
    #[inline(always)]
    pub(crate) fn assert_up_to_date(&self) {
        debug_assert!(self.again.given == 0, "raddle bug: the engine has not heard of what was foreseen");
    }

    /// A task has just done this, which is a write, and gone on ([`Engine::stay_at_once`]). It may do so again.
    #[inline(always)]
    pub fn foresee(&mut self, task: TaskId, plain: Plain) {
        if !self.again.lets_go_by() {
            let times = self.spell.left().min(self.few_until.saturating_sub(self.steps));
            self.foresee_times(task, plain, false, times);
        }
    }

    /// A task has just given this mutex back ([`Engine::give`]). If it had only just taken it, and gone on there, it may do both again.
    #[inline(always)]
    pub fn foresee_section(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        let section = self.again.taken == (self.steps - 1, object) && !self.again.parted;
        if section && self.spell.is_on(self.world.enabled_tasks().low()) && !self.again.lets_go_by() {
            let times = self.spell.left().min(self.few_until.saturating_sub(self.steps) / 2);
            self.foresee_times(task, taking(object, site), true, times);
        }
    }

    /// As [`Engine::foresee`], in a run of a search ([`Engine::stay_in_writing`]).
    #[inline(always)]
    pub fn foresee_in_search(&mut self, task: TaskId, plain: Plain) {
        if !self.again.lets_go_by() {
            self.foresee_in_writing(task, plain, false);
        }
    }

    /// The same for a mutex that was given back where it was taken ([`Engine::close_at_once`]).
    #[inline(always)]
    pub fn foresee_section_in_search(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        if !self.again.parted && !self.again.lets_go_by() {
            self.foresee_in_writing(task, taking(object, site), true);
        }
    }

    #[inline(always)]
    fn foresee_in_writing(&mut self, task: TaskId, plain: Plain, closes: bool) {
        let events = 1 + u64::from(closes);
        let rows = self.search.room(1 + usize::from(closes)).min(self.rote.room(self.search.progress().0));
        let others = self.world.enabled_tasks().low();
        let times = self.policy.spell(task, others, self.world.tasks().len()).min(rows as u64);
        self.foresee_times(
            task,
            plain,
            closes,
            times.min(self.few_until.saturating_sub(self.steps) / events),
        );
    }

    #[inline(always)]
    fn foresee_times(&mut self, task: TaskId, plain: Plain, closes: bool, times: u64) {
        let times = times.min(u64::from(TIMES_MAX)) as u32;
        if times != 0 && self.analysis.can_be_late() && plain.object.0 < crate::rote::IDS {
            self.again.given = times;
            self.again.task = task;
            self.again.what = Some(plain);
            self.again.closes = closes;
            self.script.foresee(plain.kind, plain.object, plain.site, closes, times);
        }
    }

    #[inline(never)]
    fn catch_up_now(&mut self) {
        let (task, given) = (self.again.task, core::mem::take(&mut self.again.given));
        let plain = self.again.what.expect("raddle bug: nothing was foreseen");
        let closes = self.again.closes;
        let (left, open) = self.script.forget_foreseen();
        let times = given - left;
        self.again.learn(times + u32::from(open));
        // Also where it did not come: whatever is written down next finds room.
        self.repeat(task, plain, closes, times);
        if open {
            self.again.parted = true;
            let searched = self.search.is_active();
            let done =
                if searched { self.stay_in_writing(task, plain) } else { self.stay_at_once(task, plain) };
            match done {
                Ok(()) => {}
                Err(true) => self.tell(task, plain),
                Err(false) => panic!("raddle bug: what was foreseen could not be"),
            }
        }
    }

    /// A task has done this so often, and has given back what it took.
    fn repeat(&mut self, task: TaskId, plain: Plain, closes: bool, times: u32) {
        let others = self.world.enabled_tasks().low();
        let give = closes.then_some(Plain { kind: Kind::Unlock, touch: Touch::Give, ..plain });
        let first = PlainEvent { task, index: self.world.task(task).events, plain };
        if self.search.is_active() {
            self.write_again(first, give, others, times);
        } else {
            self.spell.go_on(u64::from(times));
        }
        let events = times * (1 + u32::from(closes));
        self.steps += u64::from(events);
        self.quiet = u32::from(closes);
        self.world.again(task, plain.object, events);
        self.analysis.again(first, give, times, &self.world);
    }

    /// What a search is told of it.
    fn write_again(&mut self, first: PlainEvent, give: Option<Plain>, others: u64, times: u32) {
        let (able, objects) = (others | 1 << first.task.0, self.world.objects().len() as u32);
        let (mut event, mut steps) = (first, self.steps as u32);
        for _ in 0..times {
            let rows = self.search.next_rows().expect("raddle bug: there was room for what was foreseen");
            rows.write(steps, objects, able, event);
            (event.index, steps) = (event.index + 1, steps + 1);
            if let Some(give) = give {
                let row = self.search.next_event().expect("raddle bug: there was room for what was foreseen");
                row.write(PlainEvent { plain: give, ..event });
                (event.index, steps) = (event.index + 1, steps + 1);
            }
        }
        self.script.write_again(first.task, first.plain, give.is_some(), times);
        if others != 0 {
            self.decisions.count_more(u64::from(times));
        }
        self.policy.spent(u64::from(times), others == 0);
    }
}

/// What takes a mutex.
#[inline(always)]
fn taking(object: ObjectId, site: SiteId) -> Plain {
    Plain { kind: Kind::Lock, touch: Touch::Take, order: Order::SeqCst, object, site }
}
