//! A contest: one object, and the tasks whose accesses to it are still to be ordered.
//!
//! What distinguishes partial orders at one object is the order of its writes, and for each read
//! between which writes it falls; reads are not ordered among each other. A contest draws that order
//! step by step, so that each possible rest is about equally likely as far as one object can tell:
//! - a read goes before the next write of another task with probability a / (a + w), where a is the
//!   number of accesses its task has left here and w the number of writes the others have left;
//! - once every reader has drawn to wait, the next write is that of one of the tasks that write next,
//!   in proportion to the accesses that each has left.
//!
//! A task may draw to be next long before it gets here. Until then the others wait for it. One that stands here has
//! at least one access left, whatever was learned: it counts as much for those who draw as it does when it draws itself.

use alloc::vec::Vec;
use raddle_model::Dice;

/// A task's part in a contest.
#[derive(Clone, Debug)]
struct Member {
    // Which of the learned tasks.
    slot: usize,
    // Whether each of its accesses writes, in program order.
    writes: Vec<bool>,
    next: usize,
    writes_left: u32,
    // Whether its read goes before the next write of another; none if it is yet to be drawn.
    reads_first: Option<bool>,
}

impl Member {
    fn left(&self) -> u32 {
        (self.writes.len() - self.next) as u32
    }

    fn reads_next(&self) -> bool {
        self.writes.get(self.next) == Some(&false)
    }

    fn advance(&mut self) {
        if let Some(&write) = self.writes.get(self.next) {
            self.next += 1;
            self.writes_left -= u32::from(write);
        }
    }
}

/// Where a learned task is, for a contest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// It has ended, or stands here and is blocked.
    Never,
    /// It may have the next access here once it has come.
    Later,
    /// It stands here and can run.
    Here,
}

/// One object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contest {
    members: Vec<Member>,
    // The member whose write comes next; none if it is yet to be drawn.
    writer: Option<usize>,
}

impl Contest {
    /// Adds the next access of a learned task, all of one task together. Returns its member.
    pub(crate) fn add(&mut self, slot: usize, write: bool) -> usize {
        if self.members.last().is_none_or(|member| member.slot != slot) {
            self.members.push(Member {
                slot,
                writes: Vec::new(),
                next: 0,
                writes_left: 0,
                reads_first: None,
            });
        }
        let at = self.members.len() - 1;
        let member = &mut self.members[at];
        member.writes.push(write);
        member.writes_left += u32::from(write);
        at
    }

    /// Before a run.
    pub(crate) fn reset(&mut self) {
        self.forget();
        for member in &mut self.members {
            member.next = 0;
            member.writes_left = member.writes.iter().filter(|&&write| write).count() as u32;
        }
    }

    /// Takes back what was drawn.
    pub(crate) fn forget(&mut self) {
        self.writer = None;
        for member in &mut self.members {
            member.reads_first = None;
        }
    }

    /// The member that a learned task is here.
    pub(crate) fn member(&self, slot: usize) -> Option<usize> {
        self.members.iter().position(|member| member.slot == slot)
    }

    /// A member has left out an access.
    pub(crate) fn skip(&mut self, member: usize) {
        self.members[member].advance();
    }

    /// A member's access has run; `expected` if it is one of those that were learned.
    pub(crate) fn ran(&mut self, member: usize, write: bool, expected: bool) {
        if write {
            self.forget();
        }
        self.members[member].reads_first = None;
        if expected {
            self.members[member].advance();
        }
    }

    /// Whether a member's read need not wait for a write. `reach` says of a learned task whether it
    /// can still have the next access here.
    pub(crate) fn may_read<D: Dice>(
        &mut self,
        reader: usize,
        reach: &impl Fn(usize) -> Reach,
        dice: &mut D,
    ) -> bool {
        if let Some(first) = self.members[reader].reads_first {
            return first;
        }
        let own = self.members[reader].left().max(1);
        let others = self.members.iter().enumerate();
        let others: u32 = others
            .filter(|(i, member)| *i != reader && reach(member.slot) != Reach::Never)
            .map(|(_, member)| member.writes_left)
            .sum();
        let first = others == 0 || dice.below(own + others) < own;
        self.members[reader].reads_first = Some(first);
        first
    }

    /// Whether a member's write is the next one.
    pub(crate) fn may_write<D: Dice>(
        &mut self,
        writer: usize,
        reach: &impl Fn(usize) -> Reach,
        dice: &mut D,
    ) -> bool {
        if let Some(drawn) = self.writer {
            return drawn == writer;
        }
        for reader in 0..self.members.len() {
            let member = &self.members[reader];
            let none = reader == writer || !member.reads_next() || reach(member.slot) == Reach::Never;
            if !none && self.may_read(reader, reach, dice) {
                return false;
            }
        }
        let weight = |i: usize| {
            let member = &self.members[i];
            match reach(member.slot) {
                _ if i == writer => member.left().max(1),
                Reach::Never => 0,
                _ if member.reads_next() => 0,
                Reach::Here => member.left().max(1),
                Reach::Later if member.writes_left > 0 => member.left(),
                Reach::Later => 0,
            }
        };
        let total: u32 = (0..self.members.len()).map(weight).sum();
        let mut drawn = writer;
        if total > weight(writer) {
            let mut rank = dice.below(total);
            drawn = 0;
            while rank >= weight(drawn) {
                rank -= weight(drawn);
                drawn += 1;
            }
        }
        self.writer = Some(drawn);
        drawn == writer
    }
}
