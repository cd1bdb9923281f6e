//! What each instruction announces, and what it does once that has happened.

use crate::machine::Machine;
use crate::program::{How, Instr, Object, Val, status};
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, Policy, SiteId, TaskId};

/// What an instruction needs next.
pub(crate) enum Step {
    /// Nothing: it is done.
    Local,
    /// This operation.
    Op(Op),
    /// A task.
    Spawn(usize),
    /// A value below this, for this register.
    Choose(u32, usize),
}

fn waiting(op: Op, how: How) -> Op {
    match how {
        How::Block => op,
        How::Try => op.mode(Mode::Try),
        How::Timed(nanoseconds) => op.mode(Mode::Timed).arg(nanoseconds),
    }
}

/// What the task must do for `instr`; local instructions are done at once.
pub(crate) fn step<P: Policy>(
    machine: &mut Machine<'_, P>,
    task: TaskId,
    instr: &Instr,
    site: SiteId,
) -> Step {
    let second = machine.tasks[task.index()].second;
    let object = Machine::<P>::object;
    let on = |kind, id: usize| Op::new(kind, object(id), site);
    let bare = |kind| Op::new(kind, ObjectId::NONE, site);
    let child = |machine: &Machine<'_, P>, body: usize| {
        let child = machine.spawned[body];
        child.filter(|child| machine.tasks[child.index()].parent == Some(task))
    };
    let op = match *instr {
        Instr::Spawn(body) => return Step::Spawn(body),
        Instr::SpawnIf(reg, value, body) if machine.tasks[task.index()].registers[reg] == value => {
            return Step::Spawn(body);
        }
        Instr::Join(body) | Instr::Finished(body, _) if child(machine, body).is_some() => {
            let child = child(machine, body).expect("it was there a moment ago");
            let kind = if let Instr::Join(_) = instr { Kind::Join } else { Kind::Finished };
            Op::new(kind, machine.engine.world().task(child).object, site)
        }
        Instr::Choose(arity, reg) => return Step::Choose(arity, reg),
        Instr::Yield => bare(Kind::Yield),
        Instr::Sleep(nanoseconds) => bare(Kind::Sleep).arg(nanoseconds),
        Instr::Park(how, _) => {
            let body = machine.tasks[task.index()].body;
            let token = Machine::<P>::token(machine.program, body);
            waiting(Op::new(Kind::Park, token, site), how)
        }
        Instr::Unpark(body) => Op::new(Kind::Unpark, Machine::<P>::token(machine.program, body), site),
        Instr::Lock(mutex, how, _) => waiting(on(Kind::Lock, mutex), how),
        Instr::Unlock(mutex) => on(Kind::Unlock, mutex),
        Instr::ReadLock(lock, how, _) => waiting(on(Kind::ReadLock, lock), how),
        Instr::WriteLock(lock, how, _) => waiting(on(Kind::WriteLock, lock), how),
        Instr::ReadUnlock(lock) => on(Kind::ReadUnlock, lock),
        Instr::WriteUnlock(lock) => on(Kind::WriteUnlock, lock),
        Instr::Downgrade(lock) => on(Kind::Downgrade, lock),
        Instr::Wait(condvar, mutex, how, _) => {
            let kind = if second { Kind::Wake } else { Kind::Wait };
            waiting(on(kind, condvar).second(object(mutex)), how)
        }
        Instr::NotifyOne(condvar) => on(Kind::NotifyOne, condvar),
        Instr::NotifyAll(condvar) => on(Kind::NotifyAll, condvar),
        Instr::Acquire(semaphore, permits, how, _) => waiting(on(Kind::Acquire, semaphore).arg(permits), how),
        Instr::Release(semaphore, permits) => on(Kind::Release, semaphore).arg(permits),
        Instr::Barrier(barrier, _) if second => on(Kind::Leave, barrier),
        Instr::Barrier(barrier, _) => on(Kind::Arrive, barrier),
        Instr::OnceEnter(once, _) => on(Kind::OnceEnter, once),
        Instr::OnceDone(once, complete) => on(Kind::OnceDone, once).arg(u64::from(complete)),
        Instr::OnceGet(once, _) => on(Kind::OnceGet, once),
        Instr::Send(channel, ..) if second => on(Kind::Handover, channel),
        Instr::Send(channel, _, how, _) => waiting(on(Kind::Send, channel), how),
        Instr::Recv(channel, how, ..) if !second && how != How::Try && is_rendezvous(machine, channel) => {
            on(Kind::RecvReady, channel)
        }
        Instr::Recv(channel, how, ..) => waiting(on(Kind::Recv, channel), how),
        Instr::DropSender(channel) => on(Kind::DropSender, channel),
        Instr::DropReceiver(channel) => on(Kind::DropReceiver, channel),
        Instr::Load(atomic, _) => on(Kind::Load, atomic),
        Instr::Store(atomic, _) => on(Kind::Store, atomic),
        Instr::Add(atomic, ..) | Instr::Swap(atomic, ..) | Instr::Cas(atomic, ..) => on(Kind::Rmw, atomic),
        Instr::Fence => bare(Kind::Fence),
        Instr::Read(cell, _) => on(Kind::CellRead, cell),
        Instr::Write(cell, _) => on(Kind::CellWrite, cell),
        Instr::End => bare(Kind::End),
        _ => {
            local(machine, task, instr);
            return Step::Local;
        }
    };
    Step::Op(op)
}

fn is_rendezvous<P>(machine: &Machine<'_, P>, channel: usize) -> bool {
    matches!(machine.program.objects[channel], Object::Channel { capacity: Some(0), .. })
}

/// Instructions that are no operation.
fn local<P: Policy>(machine: &mut Machine<'_, P>, task: TaskId, instr: &Instr) {
    let registers = machine.tasks[task.index()].registers;
    let mut at = machine.tasks[task.index()].at + 1;
    match *instr {
        Instr::Now(reg) => {
            let now = machine.engine.now(task);
            machine.write(task, reg, now);
        }
        // Reached only if the task has not spawned it.
        Instr::Finished(_, reg) => machine.write(task, reg, 2),
        Instr::Let(reg, a, b) => {
            let sum = machine.value(task, a).wrapping_add(machine.value(task, b));
            machine.tasks[task.index()].registers[reg] = sum;
        }
        Instr::AddSender(channel) => {
            let channel = Machine::<P>::object(channel);
            machine.engine.world_mut().add_sender(channel);
        }
        Instr::Jump(to) => at = to,
        Instr::JumpIf(reg, value, to) if registers[reg] == value => at = to,
        Instr::JumpUnless(reg, value, to) if registers[reg] != value => at = to,
        Instr::AssertNot(reg, value) if registers[reg] == value => {
            machine.fail_assertion(task, instr);
        }
        _ => {}
    }
    machine.tasks[task.index()].at = at;
}

fn status_of(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Failed => status::FAILED,
        Outcome::TimedOut => status::TIMED_OUT,
        Outcome::Closed => status::CLOSED,
        _ => status::DONE,
    }
}

/// The operation of `instr` has happened: memory and registers follow.
pub(crate) fn apply<P: Policy>(machine: &mut Machine<'_, P>, task: TaskId, instr: &Instr, outcome: Outcome) {
    let status = status_of(outcome);
    let number = match outcome {
        Outcome::Value(value) => u64::from(value),
        _ => status,
    };
    let second = machine.tasks[task.index()].second;
    let mut continues = false;
    match *instr {
        Instr::Wait(..) if !second => continues = true,
        // Who is the last to arrive goes on at once, as with both other front ends.
        Instr::Barrier(..) if !second && number == 0 => continues = true,
        Instr::Barrier(_, reg) => machine.write(task, reg, u64::from(!second)),
        Instr::Send(channel, value, how, reg) => {
            if !second && outcome == Outcome::Done {
                let value = machine.value(task, value);
                machine.queues[channel].push_back(value);
                continues = how != How::Try && is_rendezvous(machine, channel);
            }
            if !continues {
                machine.write(task, reg, status);
            }
        }
        Instr::Recv(channel, how, ..) if !second && how != How::Try && is_rendezvous(machine, channel) => {
            continues = true;
        }
        Instr::Recv(channel, _, reg, into) => {
            machine.write(task, reg, status);
            if outcome == Outcome::Done {
                let value = machine.queues[channel].pop_front();
                machine.write(task, into, value.expect("raddle bug: a message was counted"));
            }
        }
        Instr::Load(object, reg) | Instr::Read(object, reg) => {
            let value = machine.memory[object];
            machine.write(task, reg, value);
        }
        Instr::Write(cell, value) => machine.memory[cell] = machine.value(task, value),
        Instr::Store(..) | Instr::Add(..) | Instr::Swap(..) | Instr::Cas(..) => {
            store(machine, task, instr);
        }
        Instr::Finished(_, reg) | Instr::OnceEnter(_, reg) | Instr::OnceGet(_, reg) => {
            machine.write(task, reg, number);
        }
        Instr::Park(_, reg)
        | Instr::Lock(_, _, reg)
        | Instr::ReadLock(_, _, reg)
        | Instr::WriteLock(_, _, reg)
        | Instr::Wait(_, _, _, reg)
        | Instr::Acquire(_, _, _, reg) => machine.write(task, reg, status),
        _ => {}
    }
    let state = &mut machine.tasks[task.index()];
    state.second = continues;
    if !continues {
        state.at += 1;
    }
}

/// A store or read-modify-write.
fn store<P: Policy>(machine: &mut Machine<'_, P>, task: TaskId, instr: &Instr) {
    let (object, reg) = match *instr {
        Instr::Store(object, _) => (object, None),
        Instr::Add(object, _, reg) | Instr::Swap(object, _, reg) | Instr::Cas(object, _, _, reg) => {
            (object, Some(reg))
        }
        _ => return,
    };
    let old = machine.memory[object];
    let value = |value: Val| machine.value(task, value);
    let new = match *instr {
        Instr::Add(_, more, _) => old.wrapping_add(value(more)),
        Instr::Cas(_, expected, new, _) if value(expected) == old => value(new),
        Instr::Cas(..) => old,
        Instr::Store(_, new) | Instr::Swap(_, new, _) => value(new),
        _ => old,
    };
    machine.memory[object] = new;
    if new == old {
        machine.engine.unchanged(Machine::<P>::object(object));
    }
    if let Some(reg) = reg {
        machine.write(task, reg, old);
    }
}
