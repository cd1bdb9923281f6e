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
    ends: bool,
}

impl Footprint {
    /// Forgets all operations, keeping memory.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.round += 1;
        self.ends = false;
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
        self.ends |= op.kind == Kind::End;
        self.ops.push(*op);
    }

    fn touches(&self, object: ObjectId) -> bool {
        object.is_some() && self.marks.get(object.index()) == Some(&self.round)
    }

    /// Whether `op` conflicts with an operation of the set ([`Op::conflicts`], no other meaning).
    pub(crate) fn conflicts(&self, op: &Op) -> bool {
        let near = self.touches(op.object) || self.touches(op.second) || self.ends || op.kind == Kind::End;
        near && self.ops.iter().any(|other| other.conflicts(op))
    }
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
        let kinds = [Kind::Load, Kind::Store, Kind::Lock, Kind::Yield, Kind::End, Kind::CellWrite];
        let mut set = Footprint::default();
        for _ in 0..2000 {
            set.clear();
            let mut ops = Vec::new();
            for _ in 0..6 {
                let weight = kinds.len() as u64 * 4;
                let kind = kinds[(below(weight) as usize) % (kinds.len() - 1)];
                let kind = if below(40) == 0 { Kind::End } else { kind };
                let object = if kind == Kind::Yield { ObjectId::NONE } else { ObjectId(below(5)) };
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
