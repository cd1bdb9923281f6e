//! The front end itself: interprets the tasks of a program, tells the engine what each is about
//! to do, and carries out what the engine says.

use crate::operation::{self, Step};
use crate::program::{Body, Instr, Object, Program, REGISTERS, Reg, Val};
use raddle_analysis::fingerprint::Fingerprint;
use raddle_engine::{Engine, Next};
use raddle_model::objects::State;
use raddle_model::objects::barrier::Barrier;
use raddle_model::objects::channel::Channel;
use raddle_model::objects::condvar::Condvar;
use raddle_model::objects::mutex::Mutex;
use raddle_model::objects::once::Once;
use raddle_model::objects::rwlock::RwLock;
use raddle_model::objects::semaphore::Semaphore;
use raddle_model::{
    Failure, FailureKind, Kind, ObjectId, Op, Outcome, Plan, Policy, Recorder, SiteId, TaskId, Trace, Verdict,
};
use std::collections::VecDeque;

/// A task in the middle of its body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TaskState {
    /// Which body it runs.
    pub body: Body,
    /// Who spawned it.
    pub parent: Option<TaskId>,
    /// The instruction it is at.
    pub at: usize,
    /// Whether the first operation of an instruction that has two is done.
    pub second: bool,
    /// Its registers.
    pub registers: [u64; REGISTERS],
    /// All values it was given, in order.
    pub observed: Vec<u64>,
}

/// What is left of a run: every value that each task observed, and memory.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Finals {
    /// `finished`, the kind of the failure, `cut` or `diverged`.
    pub end: String,
    /// For each body, what its task observed; nothing if it was not spawned.
    pub observed: Vec<Option<Vec<u64>>>,
    /// Values of atomics and cells; 0 for other objects.
    pub memory: Vec<u64>,
    /// Messages that nobody took.
    pub messages: Vec<Vec<u64>>,
}

/// A run of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct ToyRun {
    /// How it ended.
    pub verdict: Verdict,
    /// What happened. Its schedule has checks and the fingerprint.
    pub trace: Trace,
    /// Its partial order.
    pub fingerprint: u128,
    /// What is left of it.
    pub finals: Finals,
    /// Whether a spinning task was held back.
    pub parked: bool,
    /// Whether a try or timed operation on a lock was seen.
    pub saw_try: bool,
}

/// Runs one program again and again.
#[derive(Debug)]
pub struct Machine<'p, P> {
    pub(crate) program: &'p Program,
    pub(crate) engine: Engine<P, (Fingerprint, Recorder)>,
    pub(crate) tasks: Vec<TaskState>,
    pub(crate) spawned: Vec<Option<TaskId>>,
    pub(crate) memory: Vec<u64>,
    pub(crate) queues: Vec<VecDeque<u64>>,
}

impl<'p, P: Policy> Machine<'p, P> {
    /// A machine for `program` under `policy`.
    pub fn new(program: &'p Program, policy: P) -> Machine<'p, P> {
        Machine {
            program,
            engine: Engine::new(policy, Default::default()),
            tasks: Vec::new(),
            spawned: Vec::new(),
            memory: Vec::new(),
            queues: Vec::new(),
        }
    }

    /// The engine, to look at its world or to replace its policy between runs.
    pub fn engine(&mut self) -> &mut Engine<P, (Fingerprint, Recorder)> {
        &mut self.engine
    }

    /// The tasks as they stand, by dense id.
    pub fn tasks(&self) -> &[TaskState] {
        &self.tasks
    }

    /// The id under which an object of the program is known to the engine.
    pub fn object(object: usize) -> ObjectId {
        // Object 0 of the engine is the main task.
        ObjectId(object as u32 + 1)
    }

    /// The park token of a body's task.
    pub fn token(program: &Program, body: Body) -> ObjectId {
        ObjectId((program.objects.len() + body) as u32 + 1)
    }

    /// One run. The policy must be the plan's.
    pub fn run(&mut self, plan: &Plan) -> ToyRun {
        self.run_as(plan, true)
    }

    /// One run whose schedule has no checks unless they are asked for.
    pub fn run_as(&mut self, plan: &Plan, checks: bool) -> ToyRun {
        assert!(!plan.points.spawns, "the toy front end makes tasks at once");
        self.begin(plan, checks);
        self.spawned[0] = Some(TaskId::MAIN);
        self.add_task(0, None);
        let mut next = match self.next_op(TaskId::MAIN) {
            Some(op) => self.engine.arrive(TaskId::MAIN, op),
            None => self.engine.schedule_next(),
        };
        while let Next::Run(task) = next {
            let outcome = self.engine.outcome(task);
            self.apply(task, outcome);
            next = match self.next_op(task) {
                Some(op) => self.engine.arrive(task, op),
                None => self.engine.schedule_next(),
            };
        }
        self.result()
    }

    fn begin(&mut self, plan: &Plan, checks: bool) {
        self.engine.begin(plan, checks);
        self.tasks.clear();
        self.spawned = vec![None; self.program.tasks.len()];
        self.memory.clear();
        self.queues = vec![VecDeque::new(); self.program.objects.len()];
        for object in &self.program.objects {
            let (state, value) = initial(object);
            self.memory.push(value);
            self.engine.world_mut().create(state, SiteId::UNKNOWN);
        }
        // All tokens are there from the start: a task may be unparked before it is spawned.
        for _ in &self.program.tasks {
            self.engine.world_mut().create(State::Token(false), SiteId::UNKNOWN);
        }
    }

    fn add_task(&mut self, body: Body, parent: Option<TaskId>) {
        self.tasks.push(TaskState {
            body,
            parent,
            at: 0,
            second: false,
            registers: [0; REGISTERS],
            observed: Vec::new(),
        });
    }

    /// Lets the task run up to its next scheduling point. None if the run is over, or the task has failed.
    fn next_op(&mut self, task: TaskId) -> Option<Op> {
        while self.engine.verdict().is_none() && !self.engine.has_stopped(task) {
            let site = self.site(task);
            let state = &self.tasks[task.index()];
            let Some(&instr) = self.program.tasks[state.body].get(state.at) else {
                return Some(self.last_op(task));
            };
            match operation::step(self, task, &instr, site) {
                Step::Op(op) if self.engine.is_point(&op) => return Some(op),
                Step::Op(op) => {
                    let outcome = self.engine.perform(task, op);
                    self.apply(task, outcome);
                }
                Step::Spawn(body) => {
                    self.tasks[task.index()].at += 1;
                    self.spawn(task, body, site);
                }
                Step::Choose(arity, reg) => {
                    let value = self.engine.choose(task, arity, site);
                    self.write(task, reg, u64::from(value));
                    self.tasks[task.index()].at += 1;
                }
                Step::Local => {}
            }
        }
        None
    }

    fn last_op(&self, task: TaskId) -> Op {
        if task == TaskId::MAIN {
            Op::new(Kind::End, ObjectId::NONE, self.site(task))
        } else {
            let object = self.engine.world().task(task).object;
            Op::new(Kind::Exit, object, self.site(task))
        }
    }

    fn spawn(&mut self, parent: TaskId, body: Body, site: SiteId) {
        assert!(self.spawned[body].is_none(), "body {body} is spawned a second time");
        let child = self.engine.spawn(parent, site);
        self.spawned[body] = Some(child);
        self.add_task(body, Some(parent));
        if let Some(op) = self.next_op(child) {
            self.engine.announce(child, op);
        }
    }

    /// The operation of the task's instruction has happened.
    fn apply(&mut self, task: TaskId, outcome: Outcome) {
        let state = &self.tasks[task.index()];
        let instr = self.program.tasks[state.body].get(state.at).copied();
        if let Some(instr) = instr.filter(|_| outcome != Outcome::Misuse) {
            operation::apply(self, task, &instr, outcome);
        }
    }

    pub(crate) fn value(&self, task: TaskId, value: Val) -> u64 {
        match value {
            Val::Const(value) => value,
            Val::Reg(reg) => self.tasks[task.index()].registers[reg],
        }
    }

    /// Writes a register with a value that came from outside the task.
    pub(crate) fn write(&mut self, task: TaskId, reg: Reg, value: u64) {
        let state = &mut self.tasks[task.index()];
        state.registers[reg] = value;
        state.observed.push(value);
    }

    fn site(&self, task: TaskId) -> SiteId {
        let TaskState { body, at, .. } = self.tasks[task.index()];
        site_of(body, at)
    }

    pub(crate) fn fail_assertion(&mut self, task: TaskId, instr: &Instr) {
        let message = format!("{} fails {instr:?}", self.engine.world().path(task));
        let sites = vec![self.site(task)];
        self.engine.fail(Failure { kind: FailureKind::Assertion, message, tasks: vec![task], sites });
    }

    /// What each task observed so far, and memory.
    pub fn finals(&self) -> Finals {
        let observed = |body: &Option<TaskId>| body.map(|t| self.tasks[t.index()].observed.clone());
        Finals {
            end: match self.engine.verdict() {
                None => String::from("running"),
                Some(Verdict::Finished) => String::from("finished"),
                Some(Verdict::Failed(failure)) => String::from(failure.kind.name()),
                Some(Verdict::Cut) => String::from("cut"),
                Some(Verdict::Diverged(_)) => String::from("diverged"),
            },
            observed: self.spawned.iter().map(observed).collect(),
            memory: self.memory.clone(),
            messages: self.queues.iter().cloned().map(Vec::from).collect(),
        }
    }

    fn result(&mut self) -> ToyRun {
        let fingerprint = self.engine.analysis().0.value();
        let verdict = self.engine.close(fingerprint);
        let events = self.engine.analysis().1.events.clone();
        let mut trace = self.engine.trace(events);
        trace.schedule.fingerprint = fingerprint;
        ToyRun {
            verdict,
            trace,
            fingerprint,
            finals: self.finals(),
            parked: self.engine.parked(),
            saw_try: self.engine.saw_try(),
        }
    }
}

/// Instructions a body may have: how sites are numbered.
const BODY_MAX: u32 = 1 << 12;

/// The site of an instruction.
pub fn site_of(body: Body, at: usize) -> SiteId {
    SiteId(body as u32 * BODY_MAX + at as u32 + 1)
}

/// The instruction at a site, as body and position.
pub fn instr_of(site: SiteId) -> Option<(Body, usize)> {
    let number = site.0.checked_sub(1)?;
    Some(((number / BODY_MAX) as usize, (number % BODY_MAX) as usize))
}

fn initial(object: &Object) -> (State, u64) {
    let state = match *object {
        Object::Mutex => State::Mutex(Mutex::default()),
        Object::Recursive => State::Mutex(Mutex { recursive: true, ..Mutex::default() }),
        Object::RwLock => State::RwLock(RwLock::default()),
        Object::Condvar => State::Condvar(Condvar::default()),
        Object::Semaphore(permits) => State::Semaphore(Semaphore { permits }),
        Object::Barrier(size) => State::Barrier(Barrier::new(size)),
        Object::Once => State::Once(Once::default()),
        Object::Channel { capacity, senders } => {
            State::Channel(Channel { senders, ..Channel::new(capacity) })
        }
        Object::Atomic(value) => return (State::Atomic, value),
        Object::Cell(value) => return (State::Cell, value),
    };
    (state, 0)
}
