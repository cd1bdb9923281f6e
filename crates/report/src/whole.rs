//! What is one operation, and several events: an access to many words of memory is announced as one, and its words follow; so do
//! the words of a block that is given back, and the locks in it. For readers that is one thing that happened.

use raddle_model::{Event, Kind};

/// For each event the first one of its operation: itself, mostly.
pub(crate) fn first_events(events: &[Event]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..events.len()).collect();
    let mut at = 0;
    while at < events.len() {
        let end = at + length(&events[at..]);
        first[at..end].fill(at);
        at = end;
    }
    first
}

/// How many events the operation has that begins with the first of these.
fn length(events: &[Event]) -> usize {
    let head = &events[0];
    let word = match head.op.kind {
        _ if head.op.object.is_some() => return 1,
        Kind::WideRead => Kind::CellRead,
        Kind::WideWrite | Kind::Free => Kind::CellWrite,
        _ => return 1,
    };
    let own = |event: &&Event| event.task == head.task && event.op.second == head.op.second;
    let is_word = |event: &&Event| own(event) && event.op.kind == word && event.op.site == head.op.site;
    let words = events[1..].iter().take_while(is_word).count();
    let rest = &events[1 + words..];
    let is_lock = |event: &&Event| own(event) && event.op.kind == Kind::Free && event.op.object.is_some();
    let locks = if head.op.kind == Kind::Free { rest.iter().take_while(is_lock).count() } else { 0 };
    let assigned = if head.op.kind == Kind::WideWrite { assigned(head, rest, words) } else { 0 };
    1 + words + locks + assigned
}

/// How many words are read from, if the words that were written are those of an assignment of structures: as many, but for
/// where they begin.
fn assigned(head: &Event, rest: &[Event], written: usize) -> usize {
    let Some(next) = rest.first() else { return 0 };
    let read = |event: &&Event| {
        event.task == head.task && event.op.kind == Kind::CellRead && event.op.site == next.op.site
    };
    let words = rest.iter().take_while(read).filter(|event| !event.op.second.is_some()).count();
    if written > 2 && words.abs_diff(written) <= 1 { words } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::{ObjectId, Op, Outcome, SiteId, TaskId};

    fn events(of: &[(u32, Kind, Option<u32>, u32)]) -> Vec<Event> {
        let event = |(index, &(task, kind, object, site)): (usize, &(u32, Kind, Option<u32>, u32))| Event {
            task: TaskId(task),
            index: index as u32,
            op: Op::new(kind, object.map_or(ObjectId::NONE, ObjectId), SiteId(site)),
            outcome: Outcome::Done,
        };
        of.iter().enumerate().map(event).collect()
    }

    #[test]
    fn words_belong_to_what_announced_them() {
        use Kind::{CellRead, CellWrite, Free, Lock, WideRead, WideWrite};
        let block = [
            (0, CellWrite, Some(9), 7),
            (1, Free, None, 7),
            (1, CellWrite, Some(1), 7),
            (1, CellWrite, Some(2), 7),
            (1, Free, Some(3), 7),
            (0, CellWrite, Some(1), 7),
            (0, Lock, Some(3), 8),
        ];
        assert_eq!(first_events(&events(&block)), [0, 1, 1, 1, 1, 5, 6]);
        let copy = [
            (0, WideRead, None, 1),
            (0, CellRead, Some(1), 1),
            (0, CellRead, Some(2), 1),
            (0, WideWrite, None, 1),
            (0, CellWrite, Some(3), 1),
            (0, CellWrite, Some(4), 1),
            (0, CellRead, Some(5), 2),
        ];
        assert_eq!(first_events(&events(&copy)), [0, 0, 0, 3, 3, 3, 6]);
    }

    #[test]
    fn an_assignment_is_one() {
        let words = |kind, site| (1..4).map(move |object| (0, kind, Some(object), site));
        let mut all = vec![(0, Kind::WideWrite, None, 1)];
        all.extend(words(Kind::CellWrite, 1).chain(words(Kind::CellRead, 2)));
        assert_eq!(first_events(&events(&all)), [0; 7]);
        all.truncate(5);
        assert_eq!(first_events(&events(&all)), [0, 0, 0, 0, 4], "a read of its own");
    }
}
