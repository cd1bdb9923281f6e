//! The same programs with the primitives of std, for those that std has: on real threads, or with the library's types of the
//! same names in its runs. Whose they are is said by `front`, beside this file.

use super::channels::{self, AnySender};
use super::front::sync::atomic::{AtomicU64, fence};
use super::front::sync::mpsc::Receiver;
use super::front::sync::{
    Barrier, Condvar, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use super::front::thread::{self, Scope, ScopedJoinHandle, Thread};
use super::front::{self, REAL};
use raddle_toy::{Body, How, Instr, Obj, Object, Program, REGISTERS, Val, status};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
// What is no part of the program is never under control.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex as Plain, OnceLock};
use std::time::Duration;

/// How long a timed operation waits: short, but long enough to be served now and then.
pub(crate) const PATIENCE: Duration = Duration::from_micros(50);

/// What a run leaves: what each task observed, and memory.
pub(crate) type Left = (Vec<Option<Vec<u64>>>, Vec<u64>);

/// Whether std can do it, and says what came of it in the same words.
pub(crate) fn supports(program: &Program) -> bool {
    let code = || program.tasks.iter().flatten();
    let any = |such: fn(&Instr) -> bool| code().any(such);
    let lacks = any(|instr| match *instr {
        Instr::Lock(mutex, how, _) => matches!(how, How::Timed(_)) || mutex == 4,
        Instr::ReadLock(_, How::Timed(_), _) | Instr::WriteLock(_, How::Timed(_), _) => true,
        // The status of a timed park, and what the clock says, are not std's to tell.
        Instr::Park(How::Timed(_), _) | Instr::Now(_) => true,
        Instr::Send(_, _, How::Timed(_), _) => true,
        Instr::Acquire(..) | Instr::Release(..) | Instr::End => true,
        _ => false,
    });
    // A reader that tries fails while a writer waits: std prefers writers, the model nobody.
    let prefers = any(|instr| matches!(instr, Instr::ReadLock(_, How::Try, _)))
        && any(|instr| matches!(instr, Instr::WriteLock(..)));
    // Channels of std park and unpark their threads themselves, and may take a token with them.
    let mixes = any(|instr| matches!(instr, Instr::Park(..)))
        && any(|instr| matches!(instr, Instr::Send(..) | Instr::Recv(..)));
    !lacks && !prefers && !mixes
}

enum Real {
    Nothing,
    Mutex(Mutex<()>),
    RwLock(RwLock<()>),
    Condvar(Condvar),
    Barrier(Barrier),
    Once(Once),
    Channel { senders: Plain<Vec<AnySender>>, receiver: Plain<Option<Receiver<u64>>> },
    Atomic(AtomicU64),
}

fn real(object: &Object) -> Real {
    match *object {
        Object::Mutex => Real::Mutex(Mutex::new(())),
        Object::RwLock => Real::RwLock(RwLock::new(())),
        Object::Condvar => Real::Condvar(Condvar::new()),
        Object::Barrier(size) => Real::Barrier(Barrier::new(size as usize)),
        Object::Once => Real::Once(Once::new()),
        Object::Channel { capacity, senders } => {
            let (sender, receiver) = channels::create(capacity);
            let senders = Plain::new(vec![sender; senders as usize]);
            Real::Channel { senders, receiver: Plain::new(Some(receiver)) }
        }
        // Plain cells too: a data race on real plain memory would be undefined behaviour.
        Object::Atomic(value) | Object::Cell(value) => Real::Atomic(AtomicU64::new(value)),
        Object::Recursive | Object::Semaphore(_) => Real::Nothing,
    }
}

/// What all threads share.
pub(crate) struct Shared<'p> {
    program: &'p Program,
    objects: Vec<Real>,
    observed: Vec<Plain<Option<Vec<u64>>>>,
    threads: Vec<OnceLock<Thread>>,
    /// Threads that main starts first and that have started, so that each knows whom to unpark.
    started: AtomicUsize,
    seed: u64,
}

/// One execution.
pub(crate) fn execute(program: &Program, seed: u64) -> Left {
    let bodies = program.tasks.len();
    let shared = Shared {
        program,
        objects: program.objects.iter().map(real).collect(),
        observed: (0..bodies).map(|_| Plain::new(None)).collect(),
        threads: (0..bodies).map(|_| OnceLock::new()).collect(),
        started: AtomicUsize::new(0),
        seed,
    };
    thread::scope(|scope| run_body(&shared, scope, 0));
    let value = |object: &Real| match object {
        Real::Atomic(value) => value.load(SeqCst),
        _ => 0,
    };
    let observed = shared.observed.into_iter().map(|observed| observed.into_inner().expect("no panic"));
    (observed.collect(), shared.objects.iter().map(value).collect())
}

fn run_body<'scope>(shared: &'scope Shared<'_>, scope: &'scope Scope<'scope, '_>, body: Body) {
    shared.threads[body].get_or_init(thread::current);
    let first = shared.program.tasks[0].iter().take_while(|instr| matches!(instr, Instr::Spawn(_))).count();
    if REAL && (1..=first).contains(&body) {
        shared.started.fetch_add(1, SeqCst);
        while shared.started.load(SeqCst) < first {
            std::thread::yield_now();
        }
    }
    let mut task = Task {
        shared,
        scope,
        body,
        registers: [0; REGISTERS],
        observed: Vec::new(),
        guards: HashMap::new(),
        senders: HashMap::new(),
        receivers: HashMap::new(),
        children: HashMap::new(),
        noise: shared.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (body as u64 + 1) << 17,
    };
    task.run(0);
    // What the program did not drop lives on, as in the model.
    task.senders.drain().for_each(|(_, sender)| std::mem::forget(sender));
    task.receivers.drain().for_each(|(_, receiver)| std::mem::forget(receiver));
    *shared.observed[body].lock().expect("no panic") = Some(task.observed);
}

enum Guard<'a> {
    Mutex(MutexGuard<'a, ()>),
    #[expect(dead_code, reason = "it is held, not read")]
    Read(RwLockReadGuard<'a, ()>),
    Write(RwLockWriteGuard<'a, ()>),
}

struct Task<'scope, 'env, 'p> {
    shared: &'scope Shared<'p>,
    scope: &'scope Scope<'scope, 'env>,
    body: Body,
    registers: [u64; REGISTERS],
    observed: Vec<u64>,
    guards: HashMap<Obj, Guard<'scope>>,
    senders: HashMap<Obj, AnySender>,
    receivers: HashMap<Obj, Receiver<u64>>,
    children: HashMap<Body, ScopedJoinHandle<'scope, ()>>,
    noise: u64,
}

impl Task<'_, '_, '_> {
    fn write(&mut self, reg: usize, value: u64) {
        self.registers[reg] = value;
        self.observed.push(value);
    }

    fn value(&self, value: Val) -> u64 {
        match value {
            Val::Const(value) => value,
            Val::Reg(reg) => self.registers[reg],
        }
    }

    fn dice(&mut self, n: u64) -> u64 {
        self.noise =
            self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 33) % n
    }

    /// Runs from `at` to the end, or to the end of the once that it is in.
    fn run(&mut self, mut at: usize) -> (usize, bool) {
        while let Some(&instr) = self.shared.program.tasks[self.body].get(at) {
            if REAL && self.dice(3) == 0 {
                thread::yield_now();
            }
            at += 1;
            match instr {
                Instr::Jump(to) => at = to,
                Instr::JumpIf(reg, value, to) if self.registers[reg] == value => at = to,
                Instr::JumpUnless(reg, value, to) if self.registers[reg] != value => at = to,
                Instr::OnceEnter(once, reg) => at = self.once(once, reg, at),
                Instr::OnceDone(_, complete) => return (at, complete),
                instr => self.instr(instr),
            }
        }
        (at, true)
    }

    /// What is between entering and leaving runs inside the call; giving up is a panic there.
    fn once(&mut self, once: Obj, reg: usize, at: usize) -> usize {
        let Real::Once(real) = &self.shared.objects[once] else { panic!("no once") };
        let mut after = None;
        let _ = catch_unwind(AssertUnwindSafe(|| {
            real.call_once_force(|_| {
                self.write(reg, 0);
                let (at, complete) = self.run(at);
                after = Some(at);
                if !complete {
                    resume_unwind(Box::new(()));
                }
            });
        }));
        after.unwrap_or_else(|| {
            self.write(reg, 1);
            at
        })
    }

    fn instr(&mut self, instr: Instr) {
        match instr {
            Instr::Spawn(body) => self.spawn(body),
            Instr::SpawnIf(reg, value, body) if self.registers[reg] == value => self.spawn(body),
            Instr::Join(body) => {
                self.children.remove(&body).into_iter().for_each(|child| child.join().expect("no panic"));
            }
            Instr::Finished(body, reg) => {
                let child = self.children.get(&body);
                let finished = child.map_or(2, |child| u64::from(child.is_finished()));
                self.write(reg, finished);
            }
            Instr::Yield => thread::yield_now(),
            Instr::Sleep(nanoseconds) => thread::sleep(Duration::from_nanos(nanoseconds)),
            Instr::Choose(arity, reg) => {
                let value = front::choose(arity).unwrap_or_else(|| self.dice(u64::from(arity)));
                self.write(reg, value);
            }
            Instr::Park(_, reg) => {
                thread::park();
                self.write(reg, status::DONE);
            }
            Instr::Unpark(body) => self.shared.threads[body].get().expect("it has started").unpark(),
            Instr::Barrier(barrier, reg) => {
                let Real::Barrier(real) = &self.shared.objects[barrier] else { panic!("no barrier") };
                let leader = real.wait().is_leader();
                self.write(reg, u64::from(leader));
            }
            Instr::OnceGet(once, reg) => {
                let Real::Once(real) = &self.shared.objects[once] else { panic!("no once") };
                self.write(reg, u64::from(real.is_completed()));
            }
            Instr::Fence => fence(SeqCst),
            Instr::Let(reg, a, b) => self.registers[reg] = self.value(a).wrapping_add(self.value(b)),
            Instr::Load(..)
            | Instr::Store(..)
            | Instr::Add(..)
            | Instr::Swap(..)
            | Instr::Cas(..)
            | Instr::Read(..)
            | Instr::Write(..) => self.memory(instr),
            Instr::Send(..) | Instr::Recv(..) | Instr::DropSender(_) | Instr::DropReceiver(_) => {
                self.channel(instr);
            }
            other => self.lock(other),
        }
    }

    fn spawn(&mut self, body: Body) {
        let (shared, scope) = (self.shared, self.scope);
        self.children.insert(body, scope.spawn(move || run_body(shared, scope, body)));
    }

    fn memory(&mut self, instr: Instr) {
        let atomic = |object: Obj| match &self.shared.objects[object] {
            Real::Atomic(atomic) => atomic,
            _ => panic!("no memory"),
        };
        let (reg, old) = match instr {
            Instr::Load(object, reg) | Instr::Read(object, reg) => (reg, atomic(object).load(SeqCst)),
            Instr::Store(object, value) | Instr::Write(object, value) => {
                return atomic(object).store(self.value(value), SeqCst);
            }
            Instr::Add(object, more, reg) => (reg, atomic(object).fetch_add(self.value(more), SeqCst)),
            Instr::Swap(object, value, reg) => (reg, atomic(object).swap(self.value(value), SeqCst)),
            Instr::Cas(object, expected, new, reg) => {
                let (expected, new) = (self.value(expected), self.value(new));
                let result = atomic(object).compare_exchange(expected, new, SeqCst, SeqCst);
                (reg, result.unwrap_or_else(|old| old))
            }
            _ => return,
        };
        self.write(reg, old);
    }

    fn lock(&mut self, instr: Instr) {
        let mutex = |object: Obj| match &self.shared.objects[object] {
            Real::Mutex(mutex) => mutex,
            _ => panic!("no mutex"),
        };
        let rwlock = |object: Obj| match &self.shared.objects[object] {
            Real::RwLock(lock) => lock,
            _ => panic!("no rwlock"),
        };
        let (object, reg, guard) = match instr {
            Instr::Lock(object, How::Try, reg) => {
                (object, reg, mutex(object).try_lock().ok().map(Guard::Mutex))
            }
            Instr::Lock(object, _, reg) => (object, reg, mutex(object).lock().ok().map(Guard::Mutex)),
            Instr::ReadLock(object, How::Try, reg) => {
                (object, reg, rwlock(object).try_read().ok().map(Guard::Read))
            }
            Instr::ReadLock(object, _, reg) => (object, reg, rwlock(object).read().ok().map(Guard::Read)),
            Instr::WriteLock(object, How::Try, reg) => {
                (object, reg, rwlock(object).try_write().ok().map(Guard::Write))
            }
            Instr::WriteLock(object, _, reg) => (object, reg, rwlock(object).write().ok().map(Guard::Write)),
            Instr::Unlock(object) | Instr::ReadUnlock(object) | Instr::WriteUnlock(object) => {
                return drop(self.guards.remove(&object).expect("it is held"));
            }
            Instr::Downgrade(object) => {
                let Some(Guard::Write(guard)) = self.guards.remove(&object) else { panic!("not held") };
                self.guards.insert(object, Guard::Read(RwLockWriteGuard::downgrade(guard)));
                return;
            }
            Instr::Wait(condvar, mutex, how, reg) => return self.wait(condvar, mutex, how, reg),
            Instr::NotifyOne(condvar) | Instr::NotifyAll(condvar) => {
                let Real::Condvar(real) = &self.shared.objects[condvar] else { panic!("no condvar") };
                return if let Instr::NotifyOne(_) = instr { real.notify_one() } else { real.notify_all() };
            }
            _ => return,
        };
        let taken = guard.map(|guard| self.guards.insert(object, guard)).is_some();
        self.write(reg, if taken { status::DONE } else { status::FAILED });
    }

    fn wait(&mut self, condvar: Obj, mutex: Obj, how: How, reg: usize) {
        let Real::Condvar(real) = &self.shared.objects[condvar] else { panic!("no condvar") };
        let Some(Guard::Mutex(guard)) = self.guards.remove(&mutex) else { panic!("not held") };
        let (guard, timed_out) = match how {
            How::Timed(_) => {
                let (guard, result) = real.wait_timeout(guard, PATIENCE).expect("no poison");
                (guard, result.timed_out())
            }
            _ => (real.wait(guard).expect("no poison"), false),
        };
        self.guards.insert(mutex, Guard::Mutex(guard));
        self.write(reg, if timed_out { status::TIMED_OUT } else { status::DONE });
    }

    fn channel(&mut self, instr: Instr) {
        let (Instr::Send(channel, ..)
        | Instr::Recv(channel, ..)
        | Instr::DropSender(channel)
        | Instr::DropReceiver(channel)) = instr
        else {
            return;
        };
        let Real::Channel { senders, receiver } = &self.shared.objects[channel] else { panic!("no channel") };
        if let Instr::Send(..) | Instr::DropSender(_) = instr {
            let own = || senders.lock().expect("no panic").pop().expect("each sends through its own");
            self.senders.entry(channel).or_insert_with(own);
        } else {
            let own = || receiver.lock().expect("no panic").take().expect("one receives");
            self.receivers.entry(channel).or_insert_with(own);
        }
        match instr {
            Instr::Send(_, value, how, reg) => {
                let value = self.value(value);
                let result = self.senders[&channel].send(value, how);
                self.write(reg, result);
            }
            Instr::Recv(_, how, reg, into) => match channels::recv(&self.receivers[&channel], how) {
                Ok(value) => {
                    self.write(reg, status::DONE);
                    self.write(into, value);
                }
                Err(result) => self.write(reg, result),
            },
            Instr::DropSender(_) => drop(self.senders.remove(&channel)),
            _ => drop(self.receivers.remove(&channel)),
        }
    }
}
