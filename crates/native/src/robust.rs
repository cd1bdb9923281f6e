//! Robust mutexes: who dies with one leaves it to the next, who is told so and may mend what it protects. If nobody
//! does, it can never be had again.
//!
//! To the engine such a mutex is like any other: the dying thread gives it back. What is more is kept here.

use crate::locks::error;
use crate::run::{Run, with};
use alloc::vec::Vec;
use raddle_model::{Kind, ObjectId, Op, SiteId, TaskId};

/// How far a mutex can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Sound,
    /// Its owner has died, and nobody has said since that all is well.
    Orphaned,
    /// It was given back like that.
    Lost,
}

/// The robust mutexes of a run.
#[derive(Clone, Default, Debug)]
pub struct Robust {
    all: Vec<(ObjectId, State)>,
    held: Vec<(TaskId, ObjectId)>,
}

impl Robust {
    fn state(&mut self, object: ObjectId) -> &mut State {
        let at = match self.all.iter().position(|(known, _)| *known == object) {
            Some(at) => at,
            None => {
                self.all.push((object, State::Sound));
                self.all.len() - 1
            }
        };
        &mut self.all[at].1
    }
}

impl Run {
    /// The running task has taken it. What it is told.
    pub(crate) fn took_robust(&mut self, object: ObjectId) -> i32 {
        let me = self.running;
        match *self.robust.state(object) {
            State::Sound => {}
            State::Orphaned => {
                self.robust.held.push((me, object));
                return error::OWNER_DEAD;
            }
            State::Lost => return error::NOT_RECOVERABLE,
        }
        self.robust.held.push((me, object));
        0
    }

    /// The running task is about to give it back.
    pub(crate) fn gives_robust(&mut self, object: ObjectId) {
        let me = self.running;
        let held = &mut self.robust.held;
        if let Some(at) = held.iter().rposition(|&held| held == (me, object)) {
            held.remove(at);
        }
        let gone = !held.contains(&(me, object));
        let state = self.robust.state(object);
        if *state == State::Orphaned && gone {
            *state = State::Lost;
        }
    }

    /// The running task, which holds it, says that all is well.
    pub(crate) fn mends(&mut self, object: ObjectId) -> i32 {
        match self.robust.state(object) {
            state @ State::Orphaned => {
                *state = State::Sound;
                0
            }
            _ => error::INVALID,
        }
    }

    /// A robust mutex that the running task still holds, and how often; its next owner will be told.
    fn orphan(&mut self) -> Option<(ObjectId, usize)> {
        let me = self.running;
        let object = self.robust.held.iter().find(|(task, _)| *task == me)?.1;
        let before = self.robust.held.len();
        self.robust.held.retain(|&held| held != (me, object));
        *self.robust.state(object) = State::Orphaned;
        Some((object, before - self.robust.held.len()))
    }
}

/// The running task ends: what it holds goes to others.
pub(crate) fn bequeath() {
    while let Some((object, times)) = with(Run::orphan) {
        for _ in 0..times {
            crate::run::arrive(Op::new(Kind::Unlock, object, SiteId::UNKNOWN));
        }
    }
}
