//! Small programs as data, run by the engine, with everything kept that an analysis or an oracle
//! may want to see afterwards.

use raddle_engine::{Engine, Next};
use raddle_model::objects::barrier::Barrier;
use raddle_model::objects::channel::Channel;
use raddle_model::objects::mutex::Mutex;
use raddle_model::objects::once::Once;
use raddle_model::objects::semaphore::Semaphore;
use raddle_model::objects::{Object, State};
use raddle_model::{
    Analysis, Event, Kind, Mode, ObjectId, Op, Order, Outcome, Plan, PointSet, SiteId, Tail, TaskId, World,
};
use raddle_policy::Planned;

/// A statement. Numbers name objects, and scripts that run as tasks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Do {
    Load(u32, Order),
    Store(u32, i32, Order),
    Add(u32, i32, Order),
    /// Object, expected, new, order of success, order of failure.
    Exchange(u32, i32, i32, Order, Order),
    Fence(Order),
    /// Goes on only if the last load, read-modify-write or [`Do::Try`] gave this.
    Need(i32),
    Read(u32),
    Write(u32),
    /// An operation that needs nothing else.
    On(Kind, u32),
    /// The same without waiting.
    Try(Kind, u32),
    /// Condition variable and mutex.
    Wait(u32, u32, Mode),
    Barrier(u32),
    Yield,
    /// Whether the initialization succeeds.
    Once(u32, bool),
    Park(Mode),
    Unpark(usize),
    Spawn(usize),
    Join(usize),
    Finished(usize),
}

/// No script is this long: going there ends it.
const END: usize = 98;

/// Objects, and scripts of which the first is main's.
#[derive(Clone, Default, Debug)]
pub(crate) struct Program {
    pub(crate) objects: Vec<State>,
    pub(crate) scripts: Vec<Vec<Do>>,
}

pub(crate) fn mutex() -> State {
    State::Mutex(Mutex::default())
}

pub(crate) fn rwlock() -> State {
    State::RwLock(Default::default())
}

pub(crate) fn condvar() -> State {
    State::Condvar(Default::default())
}

pub(crate) fn semaphore(permits: u64) -> State {
    State::Semaphore(Semaphore { permits })
}

pub(crate) fn barrier(size: u32) -> State {
    State::Barrier(Barrier::new(size))
}

pub(crate) fn once() -> State {
    State::Once(Once::Incomplete)
}

pub(crate) fn channel(capacity: Option<u32>, senders: u32) -> State {
    State::Channel(Channel { senders, ..Channel::new(capacity) })
}

/// What happened at one step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) event: Event,
    /// The state after it.
    pub(crate) world: World,
    /// The order of the load that a compare-exchange became because it failed.
    pub(crate) failed: Option<Order>,
}

/// Keeps everything.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

impl Analysis for Steps {
    fn begin(&mut self) {
        self.0.clear();
    }
    fn event(&mut self, event: &Event, world: &World) {
        self.0.push(Step { event: *event, world: world.clone(), failed: None });
    }
}

/// Feeds a recorded run to an analysis.
pub(crate) fn feed(steps: &[Step], analysis: &mut impl Analysis) {
    analysis.begin();
    for step in steps {
        analysis.event(&step.event, &step.world);
    }
}

#[derive(Clone, Copy)]
struct Running {
    script: usize,
    at: usize,
    /// The second half of the last statement.
    half: bool,
    register: i32,
}

struct Machine<'a> {
    program: &'a Program,
    engine: Engine<Planned, Steps>,
    tasks: Vec<Running>,
    values: Vec<i32>,
    /// Senders that have gone or are about to.
    drops: Vec<u32>,
}

/// Runs under `random` with this seed.
pub(crate) fn run(program: &Program, seed: u64) -> Vec<Step> {
    let mut plan = Plan::new(seed, Tail::Random);
    plan.points = PointSet::everything();
    plan.spurious_max = 1;
    plan.steps_max = 2_000;
    let mut machine = Machine {
        program,
        engine: Engine::new(Planned::new(&plan), Steps::default()),
        tasks: Vec::new(),
        values: vec![0; program.objects.len()],
        drops: vec![0; program.objects.len()],
    };
    machine.engine.begin(&plan, false);
    for state in &program.objects {
        machine.engine.world_mut().create(state.clone(), SiteId::UNKNOWN);
    }
    machine.add(0);
    let op = machine.next(TaskId::MAIN);
    let mut next = machine.engine.arrive(TaskId::MAIN, op);
    while let Next::Run(task) = next {
        machine.settle(task);
        let op = machine.next(task);
        next = machine.engine.arrive(task, op);
    }
    std::mem::take(&mut machine.engine.analysis_mut().0)
}

/// Object `number` of a program; main's task object comes first.
pub(crate) fn object(number: u32) -> ObjectId {
    ObjectId(number + 1)
}

impl Machine<'_> {
    fn add(&mut self, script: usize) {
        self.tasks.push(Running { script, at: 0, half: false, register: 0 });
    }

    fn object(&self, number: u32) -> &Object {
        self.engine.world().object(object(number))
    }

    /// The task that runs a script, if there is one.
    fn of(&self, script: usize) -> Option<TaskId> {
        let at = self.tasks.iter().position(|task| task.script == script);
        at.map(|at| TaskId(at as u32))
    }

    fn statement(&self, task: TaskId) -> Option<Do> {
        let Running { script, at, .. } = self.tasks[task.index()];
        self.program.scripts[script].get(at).copied()
    }

    /// What the task announces next.
    fn next(&mut self, task: TaskId) -> Op {
        loop {
            let Running { script, at, .. } = self.tasks[task.index()];
            let site = SiteId(script as u32 * 100 + at as u32 + 1);
            let Some(statement) = self.statement(task) else {
                let object = self.engine.world().task(task).object;
                return match task {
                    TaskId::MAIN => Op::new(Kind::End, ObjectId::NONE, site),
                    _ => Op::new(Kind::Exit, object, site),
                };
            };
            if let Some(op) = self.op(task, statement, site) {
                return op;
            }
            self.tasks[task.index()].at += 1;
            self.tasks[task.index()].half = false;
        }
    }

    /// None if the statement does nothing that is announced.
    fn op(&mut self, task: TaskId, statement: Do, site: SiteId) -> Option<Op> {
        let half = self.tasks[task.index()].half;
        let on = |kind, number| Op::new(kind, object(number), site);
        Some(match statement {
            Do::Load(o, order) => on(Kind::Load, o).order(order),
            Do::Store(o, _, order) => on(Kind::Store, o).order(order),
            Do::Add(o, _, order) | Do::Exchange(o, _, _, order, _) => on(Kind::Rmw, o).order(order),
            Do::Fence(order) => {
                let op = Op::new(Kind::Fence, ObjectId::NONE, site).order(order);
                self.engine.perform(task, op);
                return None;
            }
            Do::Need(value) => {
                if self.tasks[task.index()].register != value {
                    self.tasks[task.index()].at = END;
                }
                return None;
            }
            Do::Read(o) => on(Kind::CellRead, o),
            Do::Write(o) => on(Kind::CellWrite, o),
            Do::On(Kind::Send, o) if half => on(Kind::Handover, o),
            Do::On(Kind::Recv, o) if !half && self.rendezvous(o) => on(Kind::RecvReady, o),
            Do::On(kind, o) | Do::Try(kind, o) if !self.allowed(task, kind, o) => return None,
            Do::On(kind, o) => {
                self.drops[o as usize] += u32::from(kind == Kind::DropSender);
                on(kind, o).arg(1)
            }
            Do::Try(kind, o) => on(kind, o).arg(1).mode(Mode::Try),
            Do::Wait(c, m, mode) if half => on(Kind::Wake, c).second(object(m)).mode(mode),
            Do::Wait(c, m, _) if self.holds(task, m) => on(Kind::Wait, c).second(object(m)),
            Do::Yield => Op::new(Kind::Yield, ObjectId::NONE, site),
            Do::Barrier(o) if half => on(Kind::Leave, o),
            Do::Barrier(o) => on(Kind::Arrive, o),
            Do::Once(o, done) if half => on(Kind::OnceDone, o).arg(u64::from(done)),
            Do::Once(o, _) => on(Kind::OnceEnter, o),
            Do::Park(mode) => {
                let token = self.engine.world_mut().token(task);
                Op::new(Kind::Park, token, site).mode(mode)
            }
            Do::Unpark(script) => {
                let token = self.of(script).map(|t| self.engine.world_mut().token(t))?;
                Op::new(Kind::Unpark, token, site)
            }
            Do::Spawn(script) => {
                let child = self.engine.spawn(task, site);
                self.add(script);
                let op = self.next(child);
                self.engine.announce(child, op);
                return None;
            }
            Do::Join(script) | Do::Finished(script) => {
                let child = self.of(script)?;
                let kind = match statement {
                    Do::Join(_) => Kind::Join,
                    _ => Kind::Finished,
                };
                Op::new(kind, self.engine.world().task(child).object, site)
            }
            Do::Wait(..) => return None,
        })
    }

    fn rendezvous(&self, number: u32) -> bool {
        matches!(&self.object(number).state, State::Channel(c) if c.capacity == Some(0) && c.receiver)
    }

    fn holds(&self, task: TaskId, number: u32) -> bool {
        matches!(&self.object(number).state, State::Mutex(m) if m.owner == Some(task))
    }

    /// Generated programs may ask for what no program could express.
    fn allowed(&self, task: TaskId, kind: Kind, number: u32) -> bool {
        match (kind, &self.object(number).state) {
            (Kind::Lock, _) => !self.holds(task, number),
            (Kind::Unlock, _) => self.holds(task, number),
            (Kind::WriteUnlock | Kind::Downgrade, State::RwLock(l)) => l.writer == Some(task),
            (Kind::ReadUnlock, State::RwLock(l)) => l.readers.contains(&task),
            (Kind::ReadLock | Kind::WriteLock, State::RwLock(l)) => {
                l.writer != Some(task) && !l.readers.contains(&task)
            }
            (Kind::DropSender, _) => match &self.program.objects[number as usize] {
                State::Channel(c) => self.drops[number as usize] < c.senders,
                _ => false,
            },
            (Kind::Send, State::Channel(c)) => c.senders > 0,
            (Kind::Recv | Kind::DropReceiver, State::Channel(c)) => c.receiver,
            _ => true,
        }
    }

    /// The operation has happened: values change, and the task goes to its next statement or half.
    fn settle(&mut self, task: TaskId) {
        let outcome = self.engine.outcome(task);
        let statement = self.statement(task).expect("a statement that happened");
        let mut me = self.tasks[task.index()];
        let in_two = match statement {
            Do::Wait(..) | Do::Barrier(_) => true,
            Do::Once(..) => outcome == Outcome::Value(0),
            Do::On(Kind::Send, o) => self.rendezvous(o) && outcome == Outcome::Done,
            Do::On(Kind::Recv, _) => {
                self.engine.analysis().0.last().unwrap().event.op.kind == Kind::RecvReady
            }
            _ => false,
        };
        me.half = !me.half && in_two;
        me.at += usize::from(!me.half);
        match statement {
            Do::Load(o, _) => me.register = self.values[o as usize],
            Do::Store(o, value, _) => self.values[o as usize] = value,
            Do::Add(o, value, _) => {
                me.register = self.values[o as usize];
                self.values[o as usize] += value;
            }
            Do::Exchange(o, expected, new, _, failure) => {
                me.register = self.values[o as usize];
                if me.register == expected {
                    self.values[o as usize] = new;
                } else {
                    self.engine.unchanged(object(o));
                    self.engine.analysis_mut().0.last_mut().unwrap().failed = Some(failure);
                }
            }
            Do::Try(..) | Do::Finished(_) | Do::On(Kind::OnceGet, _) => {
                me.register = i32::from(matches!(outcome, Outcome::Done | Outcome::Value(1)));
            }
            _ => {}
        }
        self.tasks[task.index()] = me;
    }
}
