//! A set of operations that answers whether another operation conflicts with one of them, without
//! asking each: an object that nobody in the set touches needs no further look.

use alloc::vec::Vec;
use raddle_model::{Kind, ObjectId, Op};

/// Operations, with a mark on every object that they touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    ops: Vec<Op>,
    // invariant: an object is touched by `ops` exactly if its mark equals `round`.
    marks: Vec<u64>,
    round: u64,
    // Whether one of them may touch any object of its kind.
    wide: bool,
}

impl Footprint {
    /// Forgets all operations, keeping memory.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.round += 1;
        self.wide = false;
    }

    /// Adds an operation.
    pub(crate) fn insert(&mut self, op: &Op) {
        for object in [op.object, op.second] {
            if object.is_some() {
                if object.index() >= self.marks.len() {
                    self.marks.resize(object.index() + 1, 0);
                }
                self.marks[object.index()] = self.round;
            }
        }
        self.wide |= is_wide(op);
        self.ops.push(*op);
    }

    fn touches(&self, object: ObjectId) -> bool {
        object.is_some() && self.marks.get(object.index()) == Some(&self.round)
    }

    /// Whether `op` conflicts with an operation of the set ([`Op::conflicts`], no other meaning).
    pub(crate) fn conflicts(&self, op: &Op) -> bool {
        let near = self.touches(op.object) || self.touches(op.second) || self.wide || is_wide(op);
        near && self.ops.iter().any(|other| other.conflicts(op))
    }
}

/// Whether objects do not tell what it conflicts with.
fn is_wide(op: &Op) -> bool {
    op.kind == Kind::End || op.is_wide()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::{Rng, SiteId, Span};

    /// The marks change the speed only: the answer is that of asking each operation.
    #[test]
    fn answers_as_if_each_were_asked() {
        let mut rng = Rng::new(7);
        let mut below = |n: u64| (rng.next_u64() % n) as u32;
        let kinds = [Kind::Load, Kind::Store, Kind::Lock, Kind::Yield, Kind::CellWrite, Kind::End];
        let mut set = Footprint::default();
        for _ in 0..2000 {
            set.clear();
            let mut ops = Vec::new();
            for _ in 0..6 {
                let weight = kinds.len() as u64 * 4;
                let kind = kinds[(below(weight) as usize) % (kinds.len() - 1)];
                let kind = match below(40) {
                    0 => Kind::End,
                    1 => Kind::WideRead,
                    2 => Kind::WideWrite,
                    _ => kind,
                };
                let bare = matches!(kind, Kind::Yield | Kind::WideRead | Kind::WideWrite);
                let object = if bare { ObjectId::NONE } else { ObjectId(below(5)) };
                let mut op = Op::new(kind, object, SiteId::UNKNOWN);
                if below(4) == 0 {
                    op = op.second(ObjectId(below(5)));
                }
                if below(3) == 0 {
                    op.span = Span { start: below(4) * 4, len: 4 };
                }
                let plain = ops.iter().any(|other: &Op| other.conflicts(&op));
                assert_eq!(set.conflicts(&op), plain, "{op:?} against {ops:?}");
                set.insert(&op);
                ops.push(op);
            }
        }
    }
}
