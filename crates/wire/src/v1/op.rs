//! Operations and outcomes of version 1.

use super::mirror;
use raddle_model::{ObjectId, SiteId, TaskId};
use serde::{Deserialize, Serialize};

mirror!(Kind of raddle_model::Kind {
    Spawn, Exit, Join, Finished, End, Yield, Sleep, Park, Unpark, Choose, Lock, Unlock, ReadLock,
    WriteLock, ReadUnlock, WriteUnlock, Downgrade, Wait, Wake, NotifyOne, NotifyAll, Acquire,
    Release, Arrive, Leave, OnceGet, OnceEnter, OnceDone, Send, Handover, RecvReady, Recv,
    DropSender, DropReceiver, Load, Store, Rmw, Fence, CellRead, CellWrite,
    WideRead, WideWrite, Free, Destroy,
});

mirror!(Mode of raddle_model::Mode { Block, Try, Timed });

mirror!(Order of raddle_model::Order { Relaxed, Acquire, Release, AcqRel, SeqCst });

/// An object, shifted by one so that none takes one byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Object(u32);

impl From<ObjectId> for Object {
    fn from(object: ObjectId) -> Object {
        Object(object.0.wrapping_add(1))
    }
}

impl From<Object> for ObjectId {
    fn from(object: Object) -> ObjectId {
        ObjectId(object.0.wrapping_sub(1))
    }
}

/// An operation. A span of `None` is the whole object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Op {
    kind: Kind,
    mode: Mode,
    order: Order,
    object: Object,
    second: Object,
    span: Option<(u32, u32)>,
    arg: u64,
    site: u32,
}

impl From<&raddle_model::Op> for Op {
    fn from(op: &raddle_model::Op) -> Op {
        let raddle_model::Op { kind, mode, order, object, second, span, arg, site } = *op;
        let whole = span == raddle_model::Span::WHOLE;
        Op {
            kind: kind.into(),
            mode: mode.into(),
            order: order.into(),
            object: object.into(),
            second: second.into(),
            span: (!whole).then_some((span.start, span.len)),
            arg,
            site: site.0,
        }
    }
}

impl From<Op> for raddle_model::Op {
    fn from(op: Op) -> raddle_model::Op {
        let span = match op.span {
            None => raddle_model::Span::WHOLE,
            Some((start, len)) => raddle_model::Span { start, len },
        };
        raddle_model::Op {
            kind: op.kind.into(),
            mode: op.mode.into(),
            order: op.order.into(),
            object: op.object.into(),
            second: op.second.into(),
            span,
            arg: op.arg,
            site: SiteId(op.site),
        }
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Done,
    Failed,
    TimedOut,
    Spurious,
    Closed,
    Woke(u32),
    Spawned(u32),
    Value(u32),
    Misuse,
}

impl From<raddle_model::Outcome> for Outcome {
    fn from(outcome: raddle_model::Outcome) -> Outcome {
        use raddle_model::Outcome as Model;
        match outcome {
            Model::Done => Outcome::Done,
            Model::Failed => Outcome::Failed,
            Model::TimedOut => Outcome::TimedOut,
            Model::Spurious => Outcome::Spurious,
            Model::Closed => Outcome::Closed,
            Model::Woke(task) => Outcome::Woke(task.0),
            Model::Spawned(task) => Outcome::Spawned(task.0),
            Model::Value(value) => Outcome::Value(value),
            Model::Misuse => Outcome::Misuse,
        }
    }
}

impl From<Outcome> for raddle_model::Outcome {
    fn from(outcome: Outcome) -> raddle_model::Outcome {
        use raddle_model::Outcome as Model;
        match outcome {
            Outcome::Done => Model::Done,
            Outcome::Failed => Model::Failed,
            Outcome::TimedOut => Model::TimedOut,
            Outcome::Spurious => Model::Spurious,
            Outcome::Closed => Model::Closed,
            Outcome::Woke(task) => Model::Woke(TaskId(task)),
            Outcome::Spawned(task) => Model::Spawned(TaskId(task)),
            Outcome::Value(value) => Model::Value(value),
            Outcome::Misuse => Model::Misuse,
        }
    }
}
