//! Deadlocks: a cycle of owners among untimed waits, found the moment it closes; or nobody can
//! run although somebody is alive.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{Failure, FailureKind, Kind, Mode, TaskId, World};

/// A cycle of tasks in which each waits for what the next owns, beginning with `start`.
///
/// A cycle can close only when a task announces an operation that it cannot do: one who takes a
/// lock is running and waits for nothing, and a notification ends no wait for a mutex.
pub(crate) fn cycle(world: &World, start: TaskId) -> Option<Vec<TaskId>> {
    fn search(world: &World, start: TaskId, path: &mut Vec<TaskId>, seen: &mut Vec<TaskId>) -> bool {
        let mut owners = Vec::new();
        let last = *path.last().expect("raddle bug: an empty path");
        world.owners(last, |owner| owners.push(owner));
        for owner in owners {
            if owner == start {
                return true;
            }
            if !seen.contains(&owner) {
                seen.push(owner);
                path.push(owner);
                if search(world, start, path, seen) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }
    // The common case, without allocation: somebody owns it, and waits for nobody.
    let mut waits = false;
    world.owners(start, |owner| {
        waits |= owner == start;
        world.owners(owner, |_| waits = true);
    });
    if !waits {
        return None;
    }
    let mut path = alloc::vec![start];
    search(world, start, &mut path, &mut Vec::new()).then_some(path)
}

/// The failure for a cycle.
pub(crate) fn of_cycle(world: &World, tasks: Vec<TaskId>) -> Failure {
    let parts: Vec<String> = tasks.iter().map(|&task| waiting(world, task, true)).collect();
    let message =
        if tasks.len() == 1 { format!("{} and holds it itself", parts[0]) } else { parts.join("; ") };
    failure(world, tasks, message)
}

/// The failure for a state in which nobody can run.
pub(crate) fn of_all(world: &World) -> Failure {
    let tasks: Vec<TaskId> = world.live().collect();
    let parts: Vec<String> = tasks.iter().map(|&task| waiting(world, task, false)).collect();
    failure(world, tasks, parts.join("; "))
}

fn failure(world: &World, tasks: Vec<TaskId>, message: String) -> Failure {
    let sites = tasks.iter().map(|&task| world.task(task).op.site).collect();
    Failure { kind: FailureKind::Deadlock, message, tasks, sites }
}

/// What a blocked task waits for, and who could end that. One that nobody has notified waits at
/// its condition variable, but what closes a cycle is the mutex.
fn waiting(world: &World, task: TaskId, in_cycle: bool) -> String {
    let op = world.task(task).op;
    let unnotified = op.kind == Kind::Wake && op.mode == Mode::Block && !world.task(task).woken;
    let unnotified = unnotified && !in_cycle;
    let id = if op.kind == Kind::Wake && !unnotified { op.second } else { op.object };
    let object = world.object(id);
    let what = match op.kind {
        Kind::Join => {
            let mut joined = String::new();
            world.owners(task, |owner| joined = world.path(owner));
            return format!("{} waits for {joined} to exit", world.path(task));
        }
        Kind::Park => return format!("{} is parked and nobody unparks it", world.path(task)),
        _ => format!("{} {:?}", object.state.noun(), id),
    };
    let mut holders = Vec::new();
    world.owners(task, |owner| {
        if unnotified {
            return;
        }
        let state = if world.is_live(owner) { "" } else { ", which has exited" };
        holders.push(format!("{}{state}", world.path(owner)));
    });
    let held = if holders.is_empty() { String::new() } else { format!(" held by {}", holders.join(", ")) };
    let missing = match op.kind {
        Kind::Wake if unnotified => " and nobody notifies it",
        Kind::Recv => " and nobody sends",
        Kind::Send | Kind::Handover => " and nobody receives",
        Kind::Acquire => " and nobody releases a permit",
        Kind::Leave => " and not enough tasks arrive",
        Kind::OnceGet => " and nobody completes it",
        _ => "",
    };
    format!("{} waits for {what}{held}{missing}", world.path(task))
}
