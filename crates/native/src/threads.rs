//! Threads of the program: made, joined, ended.

use crate::cancel;
use crate::fiber::Stack;
use crate::hidden;
use crate::libc::{self, Libc};
use crate::locks::{Patience, error};
use crate::robust;
use crate::run::{Run, Thread, arrive, spawn, with};
use alloc::vec::Vec;
use raddle_model::world::Life;
use raddle_model::{Kind, Op, Outcome, SiteId, TaskId};

/// What a thread gets if it asks for nothing.
pub const STACK_DEFAULT: usize = 8 << 20;

/// Rounds of destructors of thread-specific values, as in POSIX.
const DESTRUCTOR_ROUNDS: u32 = 4;

unsafe extern "C" {
    /// Runs what was registered for the end of the process.
    fn exit(code: i32) -> !;
}

impl Run {
    /// On whose stack an address lies.
    pub fn stack_of(&self, address: usize) -> Option<TaskId> {
        let own = |thread: &Thread| {
            let (start, end) = thread.fiber.stack_range();
            (start..end).contains(&address)
        };
        let owner = self.threads.iter().position(own).map(|at| TaskId(at as u32));
        owner.or_else(|| self.process_stack.contains(&address).then_some(TaskId::MAIN))
    }

    /// Whether this is part of the running thread's stack, as far as that is in use; unknown for main.
    pub fn is_in_use(&self, address: usize, size: usize) -> bool {
        let here = (&raw const address) as usize;
        let (start, end) = self.threads[self.running.index()].fiber.stack_range();
        start <= here && here < address && address.checked_add(size).is_some_and(|upto| upto <= end)
    }

    fn stack(&mut self, size: usize) -> Option<Stack> {
        self.bury_dead();
        let libc = libc::get();
        let stack = match self.stacks.iter().position(|stack| stack.fits(size, libc)) {
            Some(at) => self.stacks.swap_remove(at),
            None => return self.new_stack(size, libc),
        };
        let (start, size) = stack.range();
        self.forget(start, size);
        Some(stack)
    }

    /// A stack that nobody has used in this run.
    fn new_stack(&mut self, size: usize, libc: &Libc) -> Option<Stack> {
        match self.spare.pop_if(|stack| stack.fits(size, libc)) {
            Some(stack) => Some(stack),
            None => Stack::new(size, libc),
        }
    }

    /// The run is over: all threads are.
    pub(crate) fn bury_all(&mut self) {
        for task in 1..self.threads.len() as u32 {
            if !self.threads[task as usize].buried {
                self.bury(TaskId(task));
            }
        }
        self.spare.append(&mut self.stacks);
        self.spare.sort_unstable_by_key(|stack| core::cmp::Reverse(stack.range()));
    }

    fn is_over(&self, task: TaskId) -> bool {
        self.engine.world().task(task).life == Life::Exited
    }

    /// Threads that are over give their stacks back when another is made: those that were joined, and those that nobody
    /// joins. Most programs make all of theirs first, and of what libc takes back for each nothing need be touched then.
    fn bury_dead(&mut self) {
        for task in 1..self.threads.len() as u32 {
            let thread = &self.threads[task as usize];
            if !thread.buried && (thread.joined || thread.detached && self.is_over(TaskId(task))) {
                self.bury(TaskId(task));
            }
        }
    }

    fn bury(&mut self, task: TaskId) {
        let thread = &mut self.threads[task.index()];
        thread.buried = true;
        if task != TaskId::MAIN {
            // SAFETY: it is over, so it is never switched to again.
            self.stacks.push(unsafe { thread.fiber.bury() });
        }
    }

    /// The thread that the program knows by this handle.
    pub(crate) fn find(&self, handle: u64) -> Option<TaskId> {
        let thread = self.threads.iter().rposition(|t| !t.joined && !t.buried && t.fiber.handle() == handle);
        thread.map(|index| TaskId(index as u32))
    }
}

/// Makes a thread. The program's variable has the handle before the thread begins.
///
/// # Safety
/// `handle` must be the program's variable.
pub unsafe fn create(
    handle: *mut u64,
    stack: usize,
    detached: bool,
    start: usize,
    argument: usize,
    pc: usize,
) -> i32 {
    libc::get().several_threads();
    let Some(stack) = with(|run| run.stack(stack)) else { return error::AGAIN };
    let site = with(|run| run.site(pc));
    // SAFETY: the caller says so.
    let told = |made: u64| unsafe { handle.write(made) };
    match spawn(stack, start, argument, detached, site, told) {
        Some(_) => 0,
        None => error::AGAIN,
    }
}

/// Waits for a thread, and gives what it returned.
pub fn join(handle: u64, patience: Patience, pc: usize) -> Result<usize, i32> {
    let (task, me, site) = with(|run| (run.find(handle), run.running, run.site(pc)));
    let task = task.ok_or(error::NO_SUCH)?;
    if task == me {
        return Err(error::DEADLOCK);
    }
    let (object, detached) =
        with(|run| (run.engine.world().task(task).object, run.threads[task.index()].detached));
    if detached {
        return Err(error::INVALID);
    }
    match cancel::point(patience.apply(Op::new(Kind::Join, object, site))) {
        None => Err(error::INVALID),
        Some(Outcome::TimedOut) => Err(error::TIMED_OUT),
        Some(_) => Ok(take_result(task)),
    }
}

fn take_result(task: TaskId) -> usize {
    with(|run| {
        let result = run.threads[task.index()].fiber.result();
        run.common.join(task, run.running);
        run.threads[task.index()].joined = true;
        run.threads[task.index()].fiber.end();
        result
    })
}

/// Joins a thread if it is over.
pub fn try_join(handle: u64, pc: usize) -> Result<usize, i32> {
    let (task, site) = with(|run| (run.find(handle), run.site(pc)));
    let task = task.ok_or(error::NO_SUCH)?;
    let object = with(|run| run.engine.world().task(task).object);
    match arrive(Op::new(Kind::Finished, object, site)) {
        Outcome::Value(1) => Ok(take_result(task)),
        _ => Err(error::BUSY),
    }
}

/// Nobody will join the thread.
pub fn detach(handle: u64) -> i32 {
    with(|run| match run.find(handle) {
        None => error::NO_SUCH,
        Some(task) if run.threads[task.index()].detached => error::INVALID,
        Some(task) => {
            run.threads[task.index()].detached = true;
            0
        }
    })
}

/// The lowest address and the size of a thread's stack, if it is one of ours.
pub fn stack_of(handle: u64) -> Option<(usize, usize)> {
    with(|run| {
        let task = run.find(handle).filter(|&task| task != TaskId::MAIN)?;
        let (start, end) = run.threads[task.index()].fiber.stack_range();
        Some((start, end - start))
    })
}

/// The thread of a handle, if it is alive, and whether it is the running one.
pub fn alive(handle: u64) -> Option<(TaskId, bool)> {
    with(|run| {
        let task = run.find(handle).filter(|&task| !run.is_over(task))?;
        Some((task, task == run.running))
    })
}

/// Gives a thread a name.
pub fn set_name(handle: u64, name: &[u8]) -> i32 {
    with(|run| {
        let Some(task) = run.find(handle) else { return error::NO_SUCH };
        run.threads[task.index()].name = name.to_vec();
        0
    })
}

/// The name of a thread; empty if nobody has given it one.
pub fn name(handle: u64) -> Option<Vec<u8>> {
    with(|run| run.find(handle).map(|task| run.threads[task.index()].name.clone()))
}

/// The running thread is about to end with this result. For main it ends here, since the functions that called
/// it belong to libc, which would end the process.
pub fn exiting(result: usize) {
    cancel::leaving();
    let main = with(|run| {
        run.threads[run.running.index()].fiber.set_result(result);
        run.running == TaskId::MAIN
    });
    if main {
        ended();
    }
}

/// The thread's function is done: destructors, then the last operation. The last thread of all ends the process.
pub fn ended() -> ! {
    cancel::leaving();
    libc::get().end_thread();
    destroy_specifics();
    robust::bequeath();
    let (object, last) = with(|run| {
        let world = run.engine.world();
        // Those that have come to their own last operation will do nothing any more.
        let goes_on = |task: TaskId| {
            let other = world.task(task);
            task != run.running && !(other.life == Life::Pending && other.op.kind == Kind::Exit)
        };
        (world.task(run.running).object, !world.live().any(goes_on))
    });
    if last {
        // SAFETY: what libc does when its last thread ends.
        unsafe { exit(0) };
    }
    arrive(Op::new(Kind::Exit, object, SiteId::UNKNOWN));
    unreachable!("raddle bug: a thread that has ended goes on")
}

fn destroy_specifics() {
    for _ in 0..DESTRUCTOR_ROUNDS {
        let due = with(|run| {
            let Run { threads, keys, running, .. } = run;
            let values = &mut threads[running.index()].specifics;
            let mut due: Vec<(usize, usize)> = Vec::new();
            for (value, key) in values.iter_mut().zip(keys.iter()) {
                if let (true, Some(destructor)) = (*value != 0, *key)
                    && destructor != 0
                {
                    due.push((destructor, core::mem::take(value)));
                }
            }
            due
        });
        if due.is_empty() {
            return;
        }
        for (destructor, value) in due {
            // SAFETY: the program has given this function for this purpose.
            unsafe { core::mem::transmute::<usize, extern "C" fn(usize)>(destructor)(value) };
        }
    }
}

/// Makes a key; 0 stands for no destructor.
pub fn key_create(destructor: usize) -> u32 {
    hidden::numbers_key();
    with(|run| {
        let free = run.keys.iter().position(Option::is_none);
        let key = free.unwrap_or(run.keys.len());
        match free {
            Some(at) => run.keys[at] = Some(destructor),
            None => run.keys.push(Some(destructor)),
        }
        for thread in &mut run.threads {
            if let Some(value) = thread.specifics.get_mut(key) {
                *value = 0;
            }
        }
        key as u32
    })
}

/// Gives a key back.
pub fn key_delete(key: u32) -> i32 {
    hidden::numbers_key();
    with(|run| match run.keys.get_mut(key as usize) {
        Some(slot @ Some(_)) => {
            *slot = None;
            0
        }
        _ => error::INVALID,
    })
}

/// Sets a thread-specific value.
pub fn set_specific(key: u32, value: usize) -> i32 {
    with(|run| {
        if run.keys.get(key as usize).copied().flatten().is_none() {
            return error::INVALID;
        }
        let values = &mut run.threads[run.running.index()].specifics;
        if values.len() <= key as usize {
            values.resize(key as usize + 1, 0);
        }
        values[key as usize] = value;
        0
    })
}

/// A thread-specific value; 0 if there is none.
pub fn specific(key: u32) -> usize {
    with(|run| run.threads[run.running.index()].specifics.get(key as usize).copied().unwrap_or(0))
}
