//! Random small programs. A sketch is a list of numbers for each task; each number becomes one
//! step, so that leaving numbers out or making them smaller gives a simpler program, which is what
//! a shrinking test needs. Every kind of operation occurs, steps branch on values read before, and
//! tasks are spawned on conditions.

use crate::program::{Body, How, Instr, Object, Program, Val, status};
use raddle_model::{Dice, Rng};

/// The seed of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sketch {
    /// What the program is about, besides atomics: two of [`FAMILIES`].
    pub families: [u8; 2],
    /// What main does between spawning and joining.
    pub main: Vec<u32>,
    /// What the tasks do that main spawns.
    pub tasks: Vec<Vec<u32>>,
}

/// Number of families of steps.
pub const FAMILIES: u8 = 12;

const X: usize = 0;
const Y: usize = 1;
const MUTEX: usize = 2;
const OTHER_MUTEX: usize = 3;
const RECURSIVE: usize = 4;
const RWLOCK: usize = 5;
const CONDVAR: usize = 6;
const SEMAPHORE: usize = 7;
const BARRIER: usize = 8;
const ONCE: usize = 9;
const CHANNELS: usize = 10;
const CELL: usize = 13;

/// Where results go: values, statuses, messages.
const VALUE: usize = 0;
const STATUS: usize = 1;
const MESSAGE: usize = 2;

impl Sketch {
    /// A random sketch with at most `tasks_max` tasks of at most `steps_max` steps.
    pub fn random(rng: &mut Rng, tasks_max: u32, steps_max: u32) -> Sketch {
        let families = [(); 2].map(|()| rng.below(u32::from(FAMILIES)) as u8);
        let mut steps = |least: u32, most: u32| -> Vec<u32> {
            let count = least + rng.below(most - least + 1);
            (0..count).map(|_| rng.next_u64() as u32).collect()
        };
        let main = steps(0, 1);
        let count = 2 + steps(0, tasks_max - 2).len();
        let tasks = (0..count).map(|_| steps(1, steps_max)).collect();
        Sketch { families, main, tasks }
    }

    /// The program.
    pub fn program(&self) -> Program {
        let count = self.tasks.len();
        let mut bodies: Vec<Vec<Instr>> = vec![Vec::new(); count + 1];
        let mut children = Vec::new();
        for (body, steps) in core::iter::once(&self.main).chain(&self.tasks).enumerate() {
            let mut writer = Writer::new(self, body, count + 1 + children.len());
            if body == 0 {
                writer.code.extend((1..=count).map(Instr::Spawn));
            }
            steps.iter().for_each(|&gene| writer.step(gene));
            writer.drop_senders();
            if body == 0 {
                writer.code.extend((1..=count).map(Instr::Join));
            }
            bodies[body] = writer.code;
            children.extend(writer.children);
        }
        bodies.extend(children);
        let channel = |nth: usize, capacity| {
            let drops = |code: &&Vec<Instr>| code.contains(&Instr::DropSender(CHANNELS + nth));
            Object::Channel { capacity, senders: bodies.iter().filter(drops).count() as u32 }
        };
        let objects = vec![
            Object::Atomic(0),
            Object::Atomic(0),
            Object::Mutex,
            Object::Mutex,
            Object::Recursive,
            Object::RwLock,
            Object::Condvar,
            Object::Semaphore(1),
            Object::Barrier(2),
            Object::Once,
            channel(0, None),
            channel(1, Some(1)),
            channel(2, Some(0)),
            Object::Cell(0),
        ];
        Program { objects, tasks: bodies }
    }
}

/// Writes the body of one task.
struct Writer<'s> {
    sketch: &'s Sketch,
    body: Body,
    code: Vec<Instr>,
    /// Bodies of the tasks that this one spawns; the first has the number `first_child`.
    children: Vec<Vec<Instr>>,
    first_child: Body,
    /// Channels that this task no longer sends to, and those it no longer receives from.
    closed: [[bool; 2]; 3],
}

impl<'s> Writer<'s> {
    fn new(sketch: &'s Sketch, body: Body, first_child: Body) -> Writer<'s> {
        Writer { sketch, body, code: Vec::new(), children: Vec::new(), first_child, closed: [[false; 2]; 3] }
    }

    /// One step: which family, which of its kinds, and under which condition.
    fn step(&mut self, gene: u32) {
        let [first, second] = self.sketch.families;
        let family = match gene % 4 {
            0 => u8::MAX,
            1 | 2 => first,
            _ => second,
        };
        let guard = (gene >> 24) % 4 == 3;
        let at = self.code.len();
        if guard {
            // The target is known only when the step is written.
            self.code.push(Instr::Yield);
        }
        self.family(family, gene >> 2);
        if guard {
            let wanted = u64::from(gene >> 26 & 1);
            self.code[at] = Instr::JumpUnless(VALUE, wanted, self.code.len());
        }
    }

    fn family(&mut self, family: u8, gene: u32) {
        match family {
            0 => self.section(gene),
            1 => self.recursive(gene),
            2 => self.rwlock(gene),
            3 => self.condvar(gene),
            4 => self.semaphore(gene),
            5 => self.code.push(Instr::Barrier(BARRIER, VALUE)),
            6 => self.once(gene),
            7 => self.channel(gene),
            8 => self.park(gene),
            9 => self.time(gene),
            10 => self.spawn(gene),
            11 => self.cell(gene),
            _ => self.atomic(gene),
        }
    }

    fn atomic(&mut self, gene: u32) {
        let object = if gene >> 8 & 1 == 0 { X } else { Y };
        let value = Val::Const(1 + u64::from(gene >> 9 & 1));
        self.code.push(match gene % 8 {
            0 | 6 => Instr::Load(object, VALUE),
            1 => Instr::Store(object, value),
            2 => Instr::Add(object, Val::Const(1), VALUE),
            3 => Instr::Cas(object, Val::Const(0), value, VALUE),
            4 => Instr::Swap(object, Val::Const(0), VALUE),
            5 => Instr::Store(object, Val::Reg(VALUE)),
            _ => Instr::AssertNot(VALUE, 1),
        });
    }

    /// An access to plain memory, or an assertion about what was read.
    fn cell(&mut self, gene: u32) {
        self.code.push(match gene % 4 {
            0 => Instr::Read(CELL, VALUE),
            1 => Instr::Write(CELL, Val::Const(u64::from(gene >> 4 & 1))),
            2 => Instr::AssertNot(VALUE, 1),
            _ => Instr::Fence,
        });
    }

    /// Does `inside` only if the last status says that the operation succeeded.
    fn if_done(&mut self, inside: impl FnOnce(&mut Self)) {
        let at = self.code.len();
        self.code.push(Instr::Yield);
        inside(self);
        self.code[at] = Instr::JumpUnless(STATUS, status::DONE, self.code.len());
    }

    fn section(&mut self, gene: u32) {
        let how = how(gene);
        match gene >> 4 & 3 {
            // Two locks, in either order.
            3 => {
                let (a, b) = if gene >> 6 & 1 == 0 { (MUTEX, OTHER_MUTEX) } else { (OTHER_MUTEX, MUTEX) };
                self.code.push(Instr::Lock(a, How::Block, STATUS));
                self.code.push(Instr::Lock(b, how, STATUS));
                self.if_done(|writer| writer.code.push(Instr::Unlock(b)));
                self.code.push(Instr::Unlock(a));
            }
            inside => {
                self.code.push(Instr::Lock(MUTEX, how, STATUS));
                self.if_done(|writer| {
                    if inside > 0 {
                        writer.cell(inside - 1);
                    }
                    writer.code.push(Instr::Unlock(MUTEX));
                });
            }
        }
    }

    fn recursive(&mut self, gene: u32) {
        let lock = |how| Instr::Lock(RECURSIVE, how, STATUS);
        self.code.push(lock(how(gene)));
        self.if_done(|writer| {
            writer.code.push(lock(how(gene >> 2)));
            if gene >> 4 & 1 == 1 {
                writer.cell(gene >> 5 & 1);
            }
            let unlock = Instr::Unlock(RECURSIVE);
            writer.code.extend([unlock, unlock]);
        });
    }

    fn rwlock(&mut self, gene: u32) {
        let how = how(gene >> 1);
        if gene.is_multiple_of(2) {
            self.code.push(Instr::ReadLock(RWLOCK, how, STATUS));
            self.if_done(|writer| writer.code.push(Instr::ReadUnlock(RWLOCK)));
            return;
        }
        self.code.push(Instr::WriteLock(RWLOCK, how, STATUS));
        self.if_done(|writer| {
            if gene >> 4 & 1 == 1 {
                let rest = [Instr::Downgrade(RWLOCK), Instr::ReadUnlock(RWLOCK)];
                writer.code.extend(rest);
            } else {
                writer.code.push(Instr::WriteUnlock(RWLOCK));
            }
        });
    }

    fn condvar(&mut self, gene: u32) {
        let held = gene >> 4 & 1 == 1;
        match gene % 4 {
            0 | 1 => {
                let how = if gene >> 5 & 1 == 1 { How::Timed(5) } else { How::Block };
                let lock = Instr::Lock(MUTEX, How::Block, STATUS);
                self.code.extend([lock, Instr::Load(X, VALUE)]);
                let after = self.code.len() + 2;
                self.code.push(Instr::JumpUnless(VALUE, 0, after));
                self.code.push(Instr::Wait(CONDVAR, MUTEX, how, STATUS));
                self.code.push(Instr::Unlock(MUTEX));
            }
            kind => {
                let notify = if kind == 2 { Instr::NotifyOne(CONDVAR) } else { Instr::NotifyAll(CONDVAR) };
                if held {
                    self.code.push(Instr::Lock(MUTEX, How::Block, STATUS));
                }
                self.code.push(Instr::Store(X, Val::Const(1)));
                self.code.push(notify);
                if held {
                    self.code.push(Instr::Unlock(MUTEX));
                }
            }
        }
    }

    fn semaphore(&mut self, gene: u32) {
        if gene % 4 == 3 {
            self.code.push(Instr::Release(SEMAPHORE, 1));
            return;
        }
        let acquire = Instr::Acquire(SEMAPHORE, 1, how(gene >> 4), STATUS);
        self.code.push(acquire);
        if gene % 4 != 2 {
            self.if_done(|writer| writer.code.push(Instr::Release(SEMAPHORE, 1)));
        }
    }

    fn once(&mut self, gene: u32) {
        if gene.is_multiple_of(3) {
            self.code.push(Instr::OnceGet(ONCE, VALUE));
            return;
        }
        self.code.push(Instr::OnceEnter(ONCE, VALUE));
        let at = self.code.len();
        self.code.push(Instr::Yield);
        self.code.push(Instr::Store(Y, Val::Const(1)));
        let complete = gene >> 4 & 3 != 0;
        self.code.push(Instr::OnceDone(ONCE, complete));
        self.code[at] = Instr::JumpUnless(VALUE, 0, self.code.len());
    }

    /// Only task 1 receives: a channel has one receiver.
    fn channel(&mut self, gene: u32) {
        let nth = (gene >> 4) as usize % 3;
        let channel = CHANNELS + nth;
        let mut how = how(gene >> 6);
        let receives = self.body == 1 && gene >> 8 & 1 == 0;
        let closes = gene >> 9 & 3 == 3;
        let closed = &mut self.closed[nth][usize::from(receives)];
        if *closed {
            return;
        }
        *closed = closes;
        if nth == 2 && !receives && matches!(how, How::Timed(_)) {
            how = How::Block;
        }
        self.code.push(match (receives, closes) {
            (true, true) => Instr::DropReceiver(channel),
            (false, true) => Instr::DropSender(channel),
            (true, false) => Instr::Recv(channel, how, STATUS, MESSAGE),
            (false, false) => {
                let value = Val::Const(10 * self.body as u64 + self.code.len() as u64);
                Instr::Send(channel, value, how, STATUS)
            }
        });
    }

    /// A task that sends has a sender, and drops it at its end at the latest.
    fn drop_senders(&mut self) {
        for nth in 0..3 {
            let channel = CHANNELS + nth;
            let sends = |instr: &Instr| matches!(instr, Instr::Send(to, ..) if *to == channel);
            if !self.closed[nth][0] && self.code.iter().any(sends) {
                self.code.push(Instr::DropSender(channel));
            }
        }
    }

    fn park(&mut self, gene: u32) {
        let other = 1 + (gene >> 4) as usize % self.sketch.tasks.len();
        self.code.push(match gene % 3 {
            0 => Instr::Unpark(other),
            1 => Instr::Park(How::Timed(3), STATUS),
            _ => Instr::Park(How::Block, STATUS),
        });
    }

    fn time(&mut self, gene: u32) {
        self.code.push(match gene % 5 {
            0 => Instr::Yield,
            1 => Instr::Sleep(7),
            2 => Instr::Choose(2, VALUE),
            _ => Instr::Now(MESSAGE),
        });
    }

    /// A child that is spawned on a condition, and joined, asked or left alone.
    fn spawn(&mut self, gene: u32) {
        let child = self.first_child + self.children.len();
        let mut writer = Writer::new(self.sketch, child, 0);
        writer.atomic(gene >> 6);
        self.children.push(writer.code);
        self.code.push(match gene % 3 {
            0 => Instr::Spawn(child),
            _ => Instr::SpawnIf(VALUE, u64::from(gene >> 4 & 1), child),
        });
        match gene >> 14 & 3 {
            0 => {}
            1 => self.code.push(Instr::Finished(child, VALUE)),
            _ => self.code.push(Instr::Join(child)),
        }
    }
}

fn how(gene: u32) -> How {
    match gene % 4 {
        0 | 1 => How::Block,
        2 => How::Try,
        _ => How::Timed(5),
    }
}
