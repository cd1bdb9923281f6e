//! Operations and outcomes in words.

use crate::names::Names;
use raddle_model::{Kind, Mode, Op, Order, Outcome};

/// The name of a kind, for tools.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Spawn => "spawn",
        Kind::Exit => "exit",
        Kind::Join => "join",
        Kind::Finished => "finished",
        Kind::End => "end",
        Kind::Yield => "yield",
        Kind::Sleep => "sleep",
        Kind::Park => "park",
        Kind::Unpark => "unpark",
        Kind::Choose => "choose",
        Kind::Lock => "lock",
        Kind::Unlock => "unlock",
        Kind::ReadLock => "read-lock",
        Kind::WriteLock => "write-lock",
        Kind::ReadUnlock => "read-unlock",
        Kind::WriteUnlock => "write-unlock",
        Kind::Downgrade => "downgrade",
        Kind::Wait => "wait",
        Kind::Wake => "wake",
        Kind::NotifyOne => "notify-one",
        Kind::NotifyAll => "notify-all",
        Kind::Acquire => "acquire",
        Kind::Release => "release",
        Kind::Arrive => "arrive",
        Kind::Leave => "leave",
        Kind::OnceGet => "once-get",
        Kind::OnceEnter => "once-enter",
        Kind::OnceDone => "once-done",
        Kind::Send => "send",
        Kind::Handover => "handover",
        Kind::RecvReady => "recv-ready",
        Kind::Recv => "recv",
        Kind::DropSender => "drop-sender",
        Kind::DropReceiver => "drop-receiver",
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Rmw => "rmw",
        Kind::Fence => "fence",
        Kind::CellRead => "read",
        Kind::CellWrite => "write",
        Kind::WideRead => "read several",
        Kind::WideWrite => "write several",
        Kind::Free => "free",
        Kind::Destroy => "destroy",
    }
}

/// The name of a memory order.
pub(crate) fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq-rel",
        Order::SeqCst => "seq-cst",
    }
}

/// Whether this is an atomic access or fence weaker than sequential consistency.
pub(crate) fn is_weak(op: &Op) -> bool {
    matches!(op.kind, Kind::Load | Kind::Store | Kind::Rmw | Kind::Fence) && op.order != Order::SeqCst
}

/// What people must know if a weak access was executed.
pub(crate) const WEAK_NOTE: &str =
    "note: an atomic weaker than SeqCst was executed; weak-memory outcomes were not explored";

/// The call on a file that this is, if that was told.
pub(crate) fn call(op: &Op) -> Option<&'static str> {
    if op.kind == Kind::Rmw { raddle_model::call::name(op.arg) } else { None }
}

/// `try lock mutex#1`.
pub(crate) fn op(op: &Op, names: &Names<'_>) -> String {
    let object = names.object(op.object);
    let verb = match op.kind {
        Kind::Finished => "finished?",
        Kind::OnceGet => "look at",
        Kind::OnceEnter => "enter",
        Kind::OnceDone => "complete",
        Kind::Handover => "hand over",
        Kind::RecvReady => "ready at",
        Kind::Arrive => "arrive at",
        // Which call it is has not always been told.
        Kind::Rmw if object.starts_with("file#") => call(op).unwrap_or("use"),
        Kind::Rmw => call(op).unwrap_or("update"),
        Kind::Wake => "wake at",
        Kind::Wait => "wait at",
        Kind::DropSender => "drop sender of",
        Kind::DropReceiver => "drop receiver of",
        Kind::Destroy if op.arg == 1 => "too late for",
        other => kind(other),
    };
    let plain = match op.kind {
        Kind::Spawn | Kind::Exit | Kind::Yield | Kind::Park | Kind::Choose => String::from(verb),
        Kind::End => String::from("end of the process"),
        Kind::Sleep => return format!("sleep {}", duration(op.arg)),
        Kind::OnceDone if op.arg != 1 => format!("give up {object}"),
        Kind::Acquire | Kind::Release if op.permits() > 1 => {
            format!("{verb} {} of {object}", op.permits())
        }
        Kind::Wait => format!("{verb} {object}, give {}", names.object(op.second)),
        Kind::Wake => format!("{verb} {object}, take {}", names.object(op.second)),
        Kind::Rmw if op.second.is_some() => format!("{verb} {object}, {}", names.object(op.second)),
        Kind::Fence | Kind::WideRead | Kind::WideWrite | Kind::Free => String::from(verb),
        _ => format!("{verb} {object}"),
    };
    let plain = if is_weak(op) { format!("{plain} {}", order(op.order)) } else { plain };
    match op.mode {
        Mode::Block => plain,
        Mode::Try => format!("try {plain}"),
        // The duration stood at the wait already.
        Mode::Timed if op.kind == Kind::Wake => plain,
        Mode::Timed if op.arg == 0 => format!("timed {plain}"),
        Mode::Timed if op.kind == Kind::Park => format!("{plain} for {}", duration(op.arg)),
        Mode::Timed => format!("{plain} within {}", duration(op.arg)),
    }
}

/// What came of it, beyond that it was done; empty if there is nothing to say.
pub(crate) fn outcome(op: &Op, outcome: Outcome, names: &Names<'_>) -> String {
    match (op.kind, outcome) {
        (_, Outcome::Done) => String::new(),
        (_, Outcome::Failed) => String::from("failed"),
        (_, Outcome::TimedOut) => String::from("timed out"),
        (_, Outcome::Spurious) => String::from("spurious"),
        (_, Outcome::Closed) => String::from("closed"),
        (_, Outcome::Misuse) => String::from("misuse"),
        (_, Outcome::Woke(task)) => format!("woke {}", names.task(task)),
        (_, Outcome::Spawned(task)) => String::from(names.task(task)),
        (Kind::Choose, Outcome::Value(value)) => format!("{value} of 0..{}", op.arg),
        (Kind::NotifyAll, Outcome::Value(0)) => String::from("woke nobody"),
        (Kind::NotifyAll, Outcome::Value(count)) => format!("woke {count}"),
        (Kind::Arrive, Outcome::Value(0)) => String::new(),
        (Kind::Arrive, Outcome::Value(_)) => String::from("the last"),
        (Kind::Finished, Outcome::Value(0)) => String::from("no"),
        (Kind::Finished, Outcome::Value(_)) => String::from("yes"),
        (Kind::OnceEnter, Outcome::Value(0)) => String::from("first"),
        (Kind::OnceGet, Outcome::Value(0)) => String::from("incomplete"),
        (Kind::OnceEnter | Kind::OnceGet, Outcome::Value(_)) => String::from("complete"),
        (_, Outcome::Value(value)) => value.to_string(),
    }
}

/// An operation with its outcome, in one phrase.
pub(crate) fn event(op: &Op, outcome: Outcome, names: &Names<'_>) -> String {
    let what = self::op(op, names);
    match (op.kind, self::outcome(op, outcome, names)) {
        (_, came) if came.is_empty() => what,
        (Kind::Spawn | Kind::Choose, came) => format!("{what} {came}"),
        (_, came) => format!("{what} → {came}"),
    }
}

/// `10ms`: nanoseconds in the largest unit that keeps them whole.
pub(crate) fn duration(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    units
        .into_iter()
        .find(|&(size, _)| nanoseconds >= size && nanoseconds.is_multiple_of(size))
        .map_or_else(|| format!("{nanoseconds}ns"), |(size, unit)| format!("{}{unit}", nanoseconds / size))
}

/// `1,234`: three digits at a time.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 run`, `2 runs`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_durations() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [1, 1_500, 2_000, 3_000_000, 4_000_000_000].map(duration),
            ["1ns", "1500ns", "2µs", "3ms", "4s"]
        );
        assert_eq!(count(1, "run"), "1 run");
    }
}
