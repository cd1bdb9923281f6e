//! How a task comes to an operation, and waits for its turn. This is where a run spends its time, so
//! what programs do all the time has a way of its own here, as it has in the engine.

mod giving;
mod late;
mod searched;

use super::switch::Context;
use super::watch::Watch;
use super::{CONTEXTS, Rt, Run};
use raddle_engine::{Engine, Halt, Next};
use raddle_model::{Kind, ObjectId, Op, Order, Outcome, Plain, SiteId, TaskId, Touch};
use raddle_policy::Planned;
use std::ptr;

impl Rt {
    /// The task does `op` when its turn has come. Says how that ended.
    #[inline(always)]
    pub(crate) fn arrive(self, op: Op) -> Outcome {
        // All of this is known where it is compiled. What programs do all the time travels in
        // registers: to put an operation together in memory and copy it costs more than the rest.
        let Some(Plain { kind, touch, order, object, site }) = op.plain() else {
            return self.arrive_otherwise(op);
        };
        let calls = self.with(|run| run.calls);
        if kind == Kind::Unlock {
            // It is seldom a point: then it waits by itself, and whoever gives something back has nothing left to do.
            (calls.give)(self, kind, order, object, site);
            return Outcome::Done;
        }
        let way = match kind {
            Kind::Load => (calls.read)(self, kind, order, object, site),
            Kind::Store | Kind::Rmw => (calls.write)(self, kind, order, object, site),
            Kind::Lock => (calls.take)(self, kind, order, object, site),
            Kind::Join => (calls.join)(self, kind, order, object, site),
            _ => self.access_cell(kind, touch, order, object, site),
        };
        if way.is_some() {
            // Those that are seldom points leave this out of the program's function.
            if matches!(kind, Kind::CellRead | Kind::CellWrite) {
                self.wait_elsewhere(way);
            } else {
                self.wait(way);
            }
        }
        if order != Order::SeqCst && matches!(kind, Kind::Load | Kind::Store | Kind::Rmw) {
            self.had_weak_order();
        }
        // It comes back when the operation has been done, or not at all.
        Outcome::Done
    }

    /// The running task has executed an atomic weaker than sequentially consistent.
    #[inline]
    pub(crate) fn had_weak_order(self) {
        self.with(|run| {
            if !run.ending {
                run.engine.analysis_meanwhile().weak_orders = true;
            }
        });
    }

    // Each of these says who goes on, if the task must wait for its turn; if not, the operation has been
    // done.

    fn read<const WAY: u8>(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.arrive_plainly::<WAY>(Plain { kind, touch: Touch::Read, order, object, site })
    }

    fn write<const WAY: u8>(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.arrive_plainly::<WAY>(Plain { kind, touch: Touch::Write, order, object, site })
    }

    fn take<const WAY: u8>(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.arrive_plainly::<WAY>(Plain { kind: Kind::Lock, touch: Touch::Take, order, object, site })
    }

    fn join<const WAY: u8>(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.arrive_plainly::<WAY>(Plain { kind: Kind::Join, touch: Touch::Join, order, object, site })
    }

    #[inline(never)]
    fn access_cell(self, kind: Kind, touch: Touch, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.with(|run| run.engine.analysis_mut().expect_races());
        self.arrive_quietly(Plain { kind, touch, order, object, site })
    }

    /// An operation that is a point.
    #[inline(always)]
    fn arrive_plainly<const WAY: u8>(self, plain: Plain) -> Way {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        unsafe { (*self.0).turn::<WAY>(plain) }
    }

    /// A point of a task that was just made: others see what it is about to do before anybody goes on.
    /// Or one of a run whose operations take a way of their own.
    #[inline(always)]
    fn begin_with(self, plain: Plain) -> Way {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        let Plain { kind, order, object, site, .. } = plain;
        if run.unusual || !run.engine.announce_at_once(run.running, plain) {
            return self.arrive_first(kind, order, object, site);
        }
        run.go_back_to_maker()
    }

    fn read_first(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.begin_with(Plain { kind, touch: Touch::Read, order, object, site })
    }

    fn write_first(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.begin_with(Plain { kind, touch: Touch::Write, order, object, site })
    }

    fn take_first(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.begin_with(Plain { kind: Kind::Lock, touch: Touch::Take, order, object, site })
    }

    /// The same for all others, and with everything that is seldom.
    #[inline(never)]
    fn arrive_first(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        let plain = plain(kind, order, object, site);
        if self.with(|run| run.unusual) {
            return self.arrive_specially(plain.op()).err().unwrap_or(Way::NONE);
        }
        self.with(|run| {
            if !run.engine.repeat_announcement(run.running, kind, object, site) {
                run.engine.announce_plain(run.running, plain);
            }
            run.go_back_to_maker()
        })
    }

    /// An operation that is a point in some plans only, and in this one.
    #[inline(never)]
    fn arrive_after_all(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        if self.with(|run| run.is_special()) {
            return self.arrive_first(kind, order, object, site);
        }
        let plain = plain(kind, order, object, site);
        if self.with(|run| tosses(&run.engine)) {
            return self.arrive_plainly::<BLIND>(plain);
        }
        self.arrive_plainly::<SEARCHED>(plain)
    }

    /// An operation that is a point in some plans only.
    #[inline(always)]
    fn arrive_quietly(self, plain: Plain) -> Way {
        // SAFETY: as above.
        let done = unsafe { (*self.0).perform_quietly(plain) };
        let Plain { kind, order, object, site, .. } = plain;
        if done { Way::NONE } else { self.arrive_after_all(kind, order, object, site) }
    }

    /// Switches away until it is this task's turn.
    ///
    /// Part of the program's own function, and never a call: a processor guesses where a return
    /// leads to from the calls before it, and after a switch it guesses wrong. The functions above
    /// have returned when this begins, so none of its returns is lost.
    #[inline(always)]
    fn wait(self, way: Way) {
        // SAFETY: the running task is left, and whoever the engine named waits in a switch.
        let eventful = unsafe { self.switch(way.from, way.to) };
        if eventful && self.ending() {
            self.come_late();
        }
    }

    /// The same where there mostly is no way to go.
    #[inline(always)]
    fn wait_if_it_must(self, way: Way) {
        if way.is_some() {
            self.wait_elsewhere(way);
        }
    }

    #[inline(never)]
    fn arrive_otherwise(self, op: Op) -> Outcome {
        if self.with(|run| run.engine.is_led()) {
            self.stray();
        }
        let turn = self.with(|run| {
            if run.is_special() {
                return Turn::Special;
            }
            let me = run.running;
            if !run.engine.is_point(&op) {
                return Turn::Mine(run.engine.perform(me, op));
            }
            match run.engine.arrive(me, op) {
                Next::Run(task) if task == me => Turn::Mine(run.engine.outcome(me)),
                next => Turn::Theirs(run.hand_over(next)),
            }
        });
        match turn {
            Turn::Mine(outcome) => outcome,
            Turn::Theirs(way) => self.wait_for_outcome(way),
            Turn::Special => self.arrive_specially(op).unwrap_or_else(|way| self.wait_for_outcome(way)),
        }
    }

    // Never part of its caller, which would have to save all registers for it.
    #[cold]
    #[inline(never)]
    fn wait_elsewhere(self, way: Way) {
        self.wait(way);
    }

    /// Switches away until it is this task's turn. Says how its operation ended.
    fn wait_for_outcome(self, way: Way) -> Outcome {
        self.wait(way);
        self.with(|run| if run.ending { Err(run.pending()) } else { Ok(run.engine.outcome(run.running)) })
            .unwrap_or_else(|op| late::outcome(&op))
    }

    /// An operation of a run that is over or wants to know its callers, or the first of a task. Who goes on
    /// if the task must wait for its turn.
    #[cold]
    fn arrive_specially(self, op: Op) -> Result<Outcome, Way> {
        if self.ending() {
            return Ok(self.arrive_late(op));
        }
        self.with(|run| {
            let me = run.running;
            if let Some(hapsets) = &mut run.engine.analysis_mut().hapsets {
                hapsets.callers.announce(me, op.site);
            }
            if !run.engine.is_point(&op) {
                return Ok(run.engine.perform(me, op));
            }
            // A task that was just made: others see what it is about to do before anybody goes on.
            if run.maker.is_some() {
                run.engine.announce(me, op);
                return Err(run.go_back_to_maker());
            }
            match run.engine.arrive(me, op) {
                Next::Run(task) if task == me => Ok(run.engine.outcome(me)),
                next => Err(run.hand_over(next)),
            }
        })
    }
}

enum Turn {
    Mine(Outcome),
    Theirs(Way),
    Special,
}

/// A call that says who goes on, if the task must wait for its turn; if not, the operation has been done.
type Call = fn(Rt, Kind, Order, ObjectId, SiteId) -> Way;

/// One that waits by itself.
type Give = fn(Rt, Kind, Order, ObjectId, SiteId);

/// What operations call. Runs of a search have calls of their own, and so have those that are led by another, in which
/// there is nothing to find out: to ask at each operation which run this is would cost all of them time.
pub(crate) struct Calls {
    read: Call,
    write: Call,
    take: Call,
    join: Call,
    give: Give,
    /// The end of the running task: where to switch to.
    pub(super) exit: fn(&mut Run) -> *const Context,
}

/// The ways of plain operations that are points, as parameters of what they call: nothing else is compiled in.
const SAMPLED: u8 = 0;
/// What is drawn blindly has a way of its own through the engine.
const BLIND: u8 = 1;
/// The same for a task that goes on.
const STAYING: u8 = 3;
/// Runs of a search, and everything that nobody has thought of.
const SEARCHED: u8 = 2;

impl Calls {
    const fn usual<const WAY: u8>() -> Calls {
        Calls {
            read: Rt::read::<WAY>,
            write: Rt::write::<WAY>,
            take: Rt::take::<WAY>,
            join: Rt::join::<WAY>,
            give: Rt::give,
            exit: Run::exit,
        }
    }

    const fn all(call: Call) -> Calls {
        Calls { read: call, write: call, take: call, join: call, give: Rt::give, exit: Run::exit }
    }

    pub(crate) const SAMPLED: Calls = Calls::usual::<SAMPLED>();
    pub(crate) const BLIND: Calls =
        Calls { give: Rt::give_at_once::<false>, exit: Run::exit_blindly, ..Calls::usual::<BLIND>() };
    pub(crate) const STAYING: Calls =
        Calls { give: Rt::give_at_once::<true>, exit: Run::exit_aside, ..Calls::usual::<STAYING>() };
    pub(crate) const SEARCHED: Calls = Calls {
        write: Rt::write_in_search,
        take: Rt::take_in_search,
        join: Rt::join_in_search,
        give: Rt::give_in_search,
        exit: Run::exit_in_search,
        ..Calls::usual::<SEARCHED>()
    };
    pub(crate) const LED: Calls = Calls {
        take: Rt::take_by_rote,
        give: |rt, kind, order, object, site| {
            rt.wait_if_it_must(rt.give_by_rote(kind, order, object, site));
        },
        ..Calls::all(Rt::access_by_rote)
    };
    /// Those of a task that was just made, and of runs that are unusual.
    pub(crate) const FIRST: Calls = Calls {
        read: Rt::read_first,
        write: Rt::write_first,
        take: Rt::take_first,
        ..Calls::all(Rt::arrive_first)
    };

    /// Those of a run that goes its usual way.
    fn of(engine: &Engine<Planned, Watch>) -> &'static Calls {
        match (engine.is_led(), engine.is_searched()) {
            (true, _) => &Calls::LED,
            (_, true) => &Calls::SEARCHED,
            _ if tosses(engine) => &Calls::BLIND,
            _ if engine.only_counts_decisions() => &Calls::STAYING,
            _ => &Calls::SAMPLED,
        }
    }
}

/// Whether the blind way may be gone.
fn tosses(engine: &Engine<Planned, Watch>) -> bool {
    engine.is_blind() && engine.only_counts_decisions()
}

/// What is called as a plain operation is one.
#[inline(always)]
fn plain(kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Plain {
    let plain = Op::new(kind, object, site).order(order).plain();
    plain.expect("raddle bug: a point that is not plain was called as if it were")
}

/// From which stack to which, or nowhere.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    from: *mut Context,
    to: *const Context,
}

impl Way {
    const NONE: Way = Way { from: ptr::null_mut(), to: ptr::null() };

    #[inline(always)]
    fn is_some(self) -> bool {
        !self.from.is_null()
    }
}

impl Run {
    /// The running task is at a point: whose turn is it?
    #[inline(always)]
    fn turn<const WAY: u8>(&mut self, plain: Plain) -> Way {
        // Read once: what is written in between might be the same place, for all that a compiler knows.
        let me = self.running;
        if WAY == BLIND {
            if !self.engine.is_blind() {
                return self.turn_with_eyes_open(plain.kind, plain.order, plain.object, plain.site);
            }
            // Whoever it is, oneself included, goes on the same way.
            let (mut to, contexts) = (ptr::null_mut(), &self.contexts);
            let tossed = self.engine.toss::<true>(me, plain, |task| to = contexts[task.index() % CONTEXTS]);
            return self.hand_over_blindly(tossed, to);
        }
        if WAY == STAYING {
            return match self.engine.stay_at_once(me, plain) {
                Ok(()) => {
                    if plain.touch == Touch::Write {
                        self.engine.foresee(me, plain);
                    }
                    Way::NONE
                }
                Err(true) => self.stay_told(plain.kind, plain.order, plain.object, plain.site),
                Err(false) => self.turn_aside(plain.kind, plain.order, plain.object, plain.site, plain.touch),
            };
        }
        let next = if WAY == SEARCHED {
            self.engine.arrive_in_writing(me, plain)
        } else {
            self.engine.arrive_plain(me, plain)
        };
        if next == Next::Run(me) { Way::NONE } else { self.hand_over(next) }
    }

    /// A task that goes on, where that was not told.
    #[inline(never)]
    fn stay_told(&mut self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.engine.tell(self.running, plain(kind, order, object, site));
        Way::NONE
    }

    /// A task whose turn it may not be.
    #[inline(never)]
    fn turn_aside(&mut self, kind: Kind, order: Order, object: ObjectId, site: SiteId, touch: Touch) -> Way {
        if !self.engine.has_few() {
            return self.turn_with_eyes_open(kind, order, object, site);
        }
        let (me, plain) = (self.running, Plain { kind, touch, order, object, site });
        if !touch.reads() && self.engine.is_interrupted() {
            match self.engine.stay_anew(me, plain) {
                Ok(()) => return Way::NONE,
                Err(true) => return self.stay_told(kind, order, object, site),
                Err(false) => {}
            }
        }
        let (mut to, contexts) = (ptr::null_mut(), &self.contexts);
        match self.engine.arrive_aside(me, plain, |task| to = contexts[task.index() % CONTEXTS]) {
            Ok(task) => {
                self.running = task;
                Way { from: self.contexts[me.index() % CONTEXTS], to }
            }
            Err(halt) => self.hand_over_after(halt),
        }
    }

    /// The running task is at its last operation: who goes on.
    fn exit(&mut self) -> *const Context {
        let me = self.running;
        if self.maker.is_some()
            && let Some(maker) = self.take_maker()
        {
            let object = self.engine.world().task(me).object;
            self.engine.announce(me, Op::new(Kind::Exit, object, SiteId::UNKNOWN));
            return self.go(maker);
        }
        let next = self.engine.arrive_at_exit(me, SiteId::UNKNOWN);
        self.go_on(next)
    }

    fn exit_blindly(&mut self) -> *const Context {
        if !self.engine.is_blind() {
            return self.exit();
        }
        let (mut to, contexts) = (ptr::null_mut(), &self.contexts);
        let whom = |task: TaskId| to = contexts[task.index() % CONTEXTS];
        let tossed = self.engine.toss_at_exit(self.running, SiteId::UNKNOWN, whom);
        self.hand_over_blindly(tossed, to).to
    }

    fn exit_in_search(&mut self) -> *const Context {
        match self.engine.exit_in_writing(self.running, SiteId::UNKNOWN) {
            Some(next) => self.go_on(next),
            None => self.exit(),
        }
    }

    fn exit_aside(&mut self) -> *const Context {
        self.engine.catch_up();
        if !self.engine.has_few() {
            return self.exit();
        }
        let (mut to, contexts) = (ptr::null_mut(), &self.contexts);
        let picked = |task: TaskId| to = contexts[task.index() % CONTEXTS];
        match self.engine.exit_aside(self.running, SiteId::UNKNOWN, picked) {
            Ok(task) => {
                self.running = task;
                to
            }
            Err(halt) => self.hand_over_after(halt).to,
        }
    }

    /// The rest of a toss that was not all.
    #[inline(never)]
    fn hand_over_after(&mut self, halt: Halt) -> Way {
        let next = self.engine.go_on_after(halt);
        self.hand_over(next)
    }

    /// The same in a run that has a short way, where something keeps it from that.
    #[inline(never)]
    fn turn_with_eyes_open(&mut self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        let me = self.running;
        let next = self.engine.arrive_plain(me, plain(kind, order, object, site));
        if next == Next::Run(me) { Way::NONE } else { self.hand_over(next) }
    }

    /// The running task does what is no point. False, and nothing was done, if it is one.
    #[inline(always)]
    fn perform_quietly(&mut self, plain: Plain) -> bool {
        // A task that was just made has not begun before it is at a point: it may be one of those.
        let quiet = !self.unusual && !self.engine.is_point_at(plain.kind, plain.site);
        if quiet {
            self.engine.perform_plain(self.running, plain);
        }
        quiet
    }

    /// The running task has come to its first point: its maker goes on.
    #[inline]
    fn go_back_to_maker(&mut self) -> Way {
        let maker = self.take_maker().expect("raddle bug: nobody has made the task");
        self.hand_over(Next::Run(maker))
    }

    /// Says who has made the running task, if that has not come to its first operation yet, and forgets it.
    #[inline]
    pub(super) fn take_maker(&mut self) -> Option<TaskId> {
        let maker = self.maker;
        self.set_maker(None);
        maker
    }

    /// Says who has made the task that is to run now, if it has not come to its first operation yet.
    #[inline]
    pub(super) fn set_maker(&mut self, maker: Option<TaskId>) {
        self.maker = maker;
        self.calls = if self.is_special() { &Calls::FIRST } else { self.usual_calls };
    }

    /// Finds out what plain operations are to call from here on.
    pub(super) fn find_calls(&mut self) {
        self.usual_calls = Calls::of(&self.engine);
        self.set_maker(self.maker);
    }

    /// Whether the running task has not come to its first operation yet, or all operations of this run take
    /// a way of their own.
    #[inline(always)]
    fn is_special(&self) -> bool {
        self.maker.is_some() | self.unusual
    }

    /// The running task waits, and this one goes on.
    #[inline(always)]
    fn hand_over(&mut self, next: Next) -> Way {
        Way { from: self.here(), to: self.go_on(next) }
    }

    /// The same on the blind way, on which there are few tasks, or the rest of a toss that was not all. `to` is where whoever was
    /// drawn last stands.
    // Who goes on is read again, as is who did: to keep them would take registers all along. For the same reason each of the
    // seldom cases is by itself.
    #[inline(always)]
    fn hand_over_blindly(&mut self, tossed: Result<TaskId, Halt>, to: *mut Context) -> Way {
        match tossed {
            Ok(_) => {
                let task = self.engine.last_drawn();
                let me = std::mem::replace(&mut self.running, task);
                debug_assert!(
                    me.index() < CONTEXTS && task.index() < CONTEXTS,
                    "raddle bug: so many are not few"
                );
                Way { from: self.contexts[me.index() % CONTEXTS], to }
            }
            Err(Halt::Undrawn) => self.hand_over_undrawn(),
            Err(Halt::Drawn(_)) => self.hand_over_drawn(),
            Err(Halt::Untold(_)) => self.hand_over_untold(),
            Err(halt) => self.hand_over_after(halt),
        }
    }

    #[inline(never)]
    fn hand_over_undrawn(&mut self) -> Way {
        self.hand_over_after(Halt::Undrawn)
    }

    #[inline(never)]
    fn hand_over_drawn(&mut self) -> Way {
        self.hand_over_after(Halt::Drawn(self.engine.last_drawn()))
    }

    #[inline(never)]
    fn hand_over_untold(&mut self) -> Way {
        self.hand_over_after(Halt::Untold(self.engine.last_drawn()))
    }

    /// The same in a run that is led, in which nothing happens that would be told of.
    #[inline(always)]
    fn hand_over_led(&mut self, task: TaskId) -> Way {
        self.heart.goes_on(task, self.heart.last_of(task));
        self.hand_over(Next::Run(task))
    }

    /// A sign of life of the running task, where nothing happens that would be told of.
    pub(super) fn beat_at(&self, site: SiteId) {
        self.heart.goes_on(self.running, site);
    }
}
