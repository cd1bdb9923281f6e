//! Programs as data: objects, and for each task a list of instructions.

/// A register of a task.
pub type Reg = usize;

/// Number of registers of a task.
pub const REGISTERS: usize = 8;

/// An object of the program, by its position in [`Program::objects`].
pub type Obj = usize;

/// The body of a task, by its position in [`Program::tasks`]. A body is spawned at most once in a
/// run, so that it names its task.
pub type Body = usize;

/// What an instruction writes into its status register. A spurious wake-up looks like a
/// notification, as it does to every program.
pub mod status {
    /// Done, acquired, sent, notified.
    pub const DONE: u64 = 0;
    /// A try that could not be done.
    pub const FAILED: u64 = 1;
    /// A timed operation that could not be done.
    pub const TIMED_OUT: u64 = 2;
    /// The other side of the channel is gone.
    pub const CLOSED: u64 = 3;
}

/// What an object is at the start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Object {
    /// A plain mutex.
    Mutex,
    /// A recursive mutex.
    Recursive,
    /// A readers-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A semaphore with this many permits.
    Semaphore(u64),
    /// A barrier for this many tasks.
    Barrier(u32),
    /// A once.
    Once,
    /// A channel.
    Channel {
        /// How many messages fit; `None` is unbounded, 0 a rendezvous.
        capacity: Option<u32>,
        /// How many senders there are at the start.
        senders: u32,
    },
    /// An atomic with this value.
    Atomic(u64),
    /// A plain cell with this value.
    Cell(u64),
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// Always the same.
    Const(u64),
    /// What the register holds.
    Reg(Reg),
}

/// Whether an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// Until it can be done.
    Block,
    /// Not at all.
    Try,
    /// For this many nanoseconds of virtual time.
    Timed(u64),
}

/// An instruction. The last register of those that have one is where the result goes; operations
/// with a [`How`] write a [`status`] there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each names the operation of the model that it does")]
pub enum Instr {
    Spawn(Body),
    /// Spawns if the register holds the value.
    SpawnIf(Reg, u64, Body),
    /// Joins a task that this one has spawned; nothing if it has not.
    Join(Body),
    /// Whether a task that this one has spawned has exited; 2 if it has not spawned it.
    Finished(Body, Reg),
    Yield,
    Sleep(u64),
    Now(Reg),
    Choose(u32, Reg),
    Park(How, Reg),
    Unpark(Body),
    Lock(Obj, How, Reg),
    Unlock(Obj),
    ReadLock(Obj, How, Reg),
    WriteLock(Obj, How, Reg),
    ReadUnlock(Obj),
    WriteUnlock(Obj),
    Downgrade(Obj),
    /// Waits on a condition variable, with a mutex.
    Wait(Obj, Obj, How, Reg),
    NotifyOne(Obj),
    NotifyAll(Obj),
    /// Takes this many permits; exactly one if it is timed.
    Acquire(Obj, u64, How, Reg),
    Release(Obj, u64),
    /// Arrives and leaves; the result is 1 for the last to arrive.
    Barrier(Obj, Reg),
    /// The result is 1 if the once was complete, 0 if this task is to complete it.
    OnceEnter(Obj, Reg),
    /// Leaves a once complete, or incomplete again.
    OnceDone(Obj, bool),
    OnceGet(Obj, Reg),
    Send(Obj, Val, How, Reg),
    /// The first register takes the status, the second the message, if there is one.
    Recv(Obj, How, Reg, Reg),
    AddSender(Obj),
    DropSender(Obj),
    DropReceiver(Obj),
    Load(Obj, Reg),
    Store(Obj, Val),
    /// Fetch-and-add; the result is the old value.
    Add(Obj, Val, Reg),
    /// Swap; the result is the old value.
    Swap(Obj, Val, Reg),
    /// Compare-exchange of the first value by the second; the result is the old value.
    Cas(Obj, Val, Val, Reg),
    Fence,
    Read(Obj, Reg),
    Write(Obj, Val),
    /// The register becomes the sum. No operation.
    Let(Reg, Val, Val),
    Jump(usize),
    /// Jumps if the register holds the value.
    JumpIf(Reg, u64, usize),
    /// Jumps if the register holds another value.
    JumpUnless(Reg, u64, usize),
    /// The run fails if the register holds the value.
    AssertNot(Reg, u64),
    /// Ends the process, whoever is alive.
    End,
}

/// A program. Task 0 is main; when main's instructions are at an end, the process ends, even if
/// other tasks are alive.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Program {
    /// What the tasks share.
    pub objects: Vec<Object>,
    /// What each task does.
    pub tasks: Vec<Vec<Instr>>,
}

impl Program {
    /// A program in which all given tasks are there at the start: main only spawns and joins them.
    /// They are the bodies 1, 2, …
    pub fn flat(objects: Vec<Object>, tasks: Vec<Vec<Instr>>) -> Program {
        let bodies = 1..=tasks.len();
        let main = bodies.clone().map(Instr::Spawn);
        let main = main.chain(bodies.map(Instr::Join)).collect();
        let tasks = core::iter::once(main).chain(tasks).collect();
        Program { objects, tasks }
    }
}
