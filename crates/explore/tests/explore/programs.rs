//! Programs that several tests use.

use raddle_toy::Instr::{AssertNot, Join, Load, Lock, Spawn, Store, Unlock};
use raddle_toy::{How, Instr, Object, Program, Val};

pub(crate) fn store(object: usize, value: u64) -> Instr {
    Store(object, Val::Const(value))
}

/// Fig. 1 of the RAPOS paper: fails in one of its two partial orders.
pub(crate) fn fig1() -> Program {
    let first = vec![store(1, 1), store(1, 2), store(1, 3), store(0, 4)];
    Program::flat(vec![Object::Atomic(0); 2], vec![first, vec![Load(0, 0), AssertNot(0, 4)]])
}

/// Two locks in opposite orders, and an assertion that can fail too.
pub(crate) fn two_bugs() -> Program {
    let both = |a, b| vec![Lock(a, How::Block, 0), Lock(b, How::Block, 0), Unlock(b), Unlock(a)];
    let objects = vec![Object::Mutex, Object::Mutex, Object::Atomic(0)];
    let first = [vec![store(2, 1)], both(0, 1), vec![store(2, 0)]].concat();
    let second = [vec![Load(2, 0), AssertNot(0, 1)], both(1, 0)].concat();
    Program::flat(objects, vec![first, second])
}

/// Main alone.
pub(crate) fn alone() -> Program {
    Program { objects: vec![Object::Atomic(0)], tasks: vec![vec![store(0, 1), Load(0, 0)]] }
}

/// Main waits for a task that does something, and does the rest then.
pub(crate) fn in_turn() -> Program {
    Program {
        objects: vec![Object::Atomic(0)],
        tasks: vec![vec![Spawn(1), Join(1), Load(0, 0)], vec![store(0, 1)]],
    }
}
