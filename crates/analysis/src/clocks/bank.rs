//! Vector clocks in one flat memory: a clock is a row, a task is a column.
//!
//! Rows are handed out and taken back without touching the allocator, the whole bank is emptied
//! between runs by resetting a counter, and joining two rows is a loop over whole groups of lanes
//! that the compiler turns into vector instructions. A bank starts narrow, so that two tasks pay
//! for eight columns and not for the most that any run ever had.

use alloc::vec::Vec;
use raddle_model::TaskId;

/// Columns that are joined at a time.
pub(crate) const LANES: usize = 8;

/// A point in the life of a task: its events between two releases have the same epoch, since
/// nobody else can tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch {
    /// Whose.
    pub task: TaskId,
    /// Counts from 1; 0 is before everything.
    pub time: i32,
}

impl Epoch {
    /// Before everything that any task does.
    pub const NEVER: Epoch = Epoch { task: TaskId::MAIN, time: 0 };
}

/// A row of the bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row(u32);

impl Row {
    /// No row yet.
    pub(crate) const NONE: Row = Row(u32::MAX);
}

/// All clocks of a run.
#[derive(Default, Debug)]
pub(crate) struct Bank {
    // Signed, since the oldest vector instructions compare only signed numbers.
    times: Vec<i32>,
    // invariant: columns from `tasks` on are 0 in every row.
    stride: usize,
    lanes: usize,
    tasks: usize,
    rows: u32,
    free: Vec<Row>,
}

impl Bank {
    /// Gives all rows back and forgets all tasks.
    pub(crate) fn begin(&mut self) {
        self.stride = LANES;
        self.lanes = LANES;
        self.tasks = 0;
        self.rows = 0;
        self.times.clear();
        self.free.clear();
    }

    /// One more column.
    pub(crate) fn add_task(&mut self) {
        self.tasks += 1;
        if self.tasks > self.stride {
            self.widen();
        }
        self.lanes = self.tasks.next_multiple_of(LANES);
    }

    /// Moves the rows apart, the last one first, so that none is overwritten before it has moved.
    #[cold]
    fn widen(&mut self) {
        let (old, new) = (self.stride, self.stride * 2);
        self.stride = new;
        self.times.resize(self.rows as usize * new, 0);
        for row in (0..self.rows as usize).rev() {
            self.times.copy_within(row * old..(row + 1) * old, row * new);
            self.times[row * new + old..(row + 1) * new].fill(0);
        }
    }

    /// Makes room for so many rows of few tasks.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.times.reserve(rows * LANES);
        self.free.reserve(rows);
    }

    /// A row of zeros.
    pub(crate) fn take(&mut self) -> Row {
        if let Some(row) = self.free.pop() {
            let at = row.0 as usize * self.stride;
            self.times[at..at + self.stride].fill(0);
            return row;
        }
        let row = Row(self.rows);
        self.rows += 1;
        self.times.resize(self.rows as usize * self.stride, 0);
        row
    }

    /// A row that nobody needs any more.
    pub(crate) fn give(&mut self, row: Row) {
        if row != Row::NONE {
            self.free.push(row);
        }
    }

    #[inline]
    pub(crate) fn get(&self, row: Row, task: TaskId) -> i32 {
        self.times[row.0 as usize * self.stride + task.index()]
    }

    #[inline]
    pub(crate) fn row(&self, row: Row) -> &[i32] {
        let at = row.0 as usize * self.stride;
        &self.times[at..at + self.stride]
    }

    /// The same where rows are one group of lanes.
    #[inline(always)]
    pub(crate) fn narrow_row(&self, row: Row) -> Option<&[i32; LANES]> {
        if self.is_narrow() { self.times.as_chunks().0.get(row.0 as usize) } else { None }
    }

    #[inline]
    pub(crate) fn set(&mut self, row: Row, task: TaskId, time: i32) {
        self.times[row.0 as usize * self.stride + task.index()] = time;
    }

    /// Whether a row is one group of lanes.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.lanes == LANES
    }

    /// All rows, while each is one group of lanes: the columns only grow in number, and there have never been more.
    #[inline(always)]
    fn narrow(&mut self) -> &mut [[i32; LANES]] {
        debug_assert!(self.is_narrow() && self.stride == LANES);
        self.times.as_chunks_mut().0
    }

    /// While rows are narrow: `task`, whose clock `own` is, joins `other`, leaves what it knows there, and begins its
    /// next time. All in whole rows, since a row of which a part has just been written is waited for.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, own: Row, other: Row, task: TaskId) {
        let rows = self.narrow();
        let both = later(rows[own.0 as usize], rows[other.0 as usize]);
        rows[other.0 as usize] = both;
        rows[own.0 as usize] = next(both, task);
    }

    /// While rows are narrow: the same, and nothing is learned.
    #[inline(always)]
    pub(crate) fn leave(&mut self, own: Row, other: Row, task: TaskId) {
        let rows = self.narrow();
        let known = rows[own.0 as usize];
        rows[other.0 as usize] = known;
        rows[own.0 as usize] = next(known, task);
    }

    /// While rows are narrow: as [`Bank::join`].
    #[inline(always)]
    pub(crate) fn learn(&mut self, own: Row, other: Row) {
        let rows = self.narrow();
        rows[own.0 as usize] = later(rows[own.0 as usize], rows[other.0 as usize]);
    }

    #[inline]
    fn two(&mut self, into: Row, from: Row) -> (&mut [[i32; LANES]], &[[i32; LANES]]) {
        let (into, from) = (into.0 as usize * self.stride, from.0 as usize * self.stride);
        let lanes = self.lanes;
        let (into, from) = if into < from {
            let (low, high) = self.times.split_at_mut(from);
            (&mut low[into..into + lanes], &high[..lanes])
        } else {
            let (low, high) = self.times.split_at_mut(into);
            (&mut high[..lanes], &low[from..from + lanes])
        };
        (into.as_chunks_mut().0, from.as_chunks().0)
    }

    /// The later of both, column by column.
    #[inline]
    pub(crate) fn join(&mut self, into: Row, from: Row) {
        if into == from {
            return;
        }
        let (into, from) = self.two(into, from);
        for (into, from) in into.iter_mut().zip(from) {
            *into = later(*into, *from);
        }
    }

    /// The same as `from`.
    #[inline]
    pub(crate) fn copy(&mut self, into: Row, from: Row) {
        if into == from {
            return;
        }
        let (into, from) = self.two(into, from);
        for (into, from) in into.iter_mut().zip(from) {
            *into = *from;
        }
    }
}

/// The later of both, column by column. Whole arrays in and out: written in place, the loop is unrolled before it is
/// vectorized.
#[inline(always)]
fn later(one: [i32; LANES], other: [i32; LANES]) -> [i32; LANES] {
    core::array::from_fn(|lane| one[lane].max(other[lane]))
}

/// The time of `task` is one later.
#[inline(always)]
fn next(mut row: [i32; LANES], task: TaskId) -> [i32; LANES] {
    for (lane, time) in row.iter_mut().enumerate() {
        *time += i32::from(lane as u32 == task.0);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank(tasks: u32) -> Bank {
        let mut bank = Bank::default();
        bank.begin();
        (0..tasks).for_each(|_| bank.add_task());
        bank
    }

    #[test]
    fn a_join_takes_the_later_of_each() {
        let mut bank = bank(20);
        let (a, b) = (bank.take(), bank.take());
        for task in 0..20 {
            bank.set(a, TaskId(task), task as i32);
            bank.set(b, TaskId(task), 20 - task as i32);
        }
        bank.join(a, b);
        for task in 0..20u32 {
            assert_eq!(bank.get(a, TaskId(task)), task.max(20 - task) as i32);
            assert_eq!(bank.get(b, TaskId(task)), 20 - task as i32);
        }
        bank.copy(b, a);
        assert_eq!(bank.get(b, TaskId(19)), 19);
    }

    #[test]
    fn rows_keep_their_times_when_the_bank_widens() {
        let mut bank = bank(8);
        let rows: [Row; 5] = core::array::from_fn(|_| bank.take());
        for (i, &row) in rows.iter().enumerate() {
            bank.set(row, TaskId(i as u32), i as i32 + 1);
        }
        (0..60).for_each(|_| bank.add_task());
        for (i, &row) in rows.iter().enumerate() {
            for task in 0..68 {
                let time = if task == i as u32 { i as i32 + 1 } else { 0 };
                assert_eq!(bank.get(row, TaskId(task)), time);
            }
        }
    }

    #[test]
    fn a_row_comes_back_empty() {
        let mut bank = bank(3);
        let row = bank.take();
        bank.set(row, TaskId(2), 5);
        bank.give(row);
        assert_eq!(bank.take(), row);
        assert_eq!(bank.get(row, TaskId(2)), 0);
    }
}
