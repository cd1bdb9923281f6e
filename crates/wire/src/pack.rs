//! Bytes: varints, and decisions as runs of the same task.
//!
//! A schedule is mostly runs: a task goes on until something stops it. One varint holds the length
//! of a run and who runs, in mixed radix over the tasks that occur; so for a handful of tasks a
//! run takes one byte. One more symbol stands for a chosen value, which follows.

use alloc::vec::Vec;
use raddle_model::{Decision, TaskId};

/// Number of decisions beyond which nothing is unpacked: a damaged length must not eat the memory.
pub(crate) const DECISIONS_MAX: u64 = 1 << 26;

/// Why bytes could not be unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unpack {
    /// They end too early.
    End,
    /// They mean nothing.
    Nonsense(&'static str),
}

impl Unpack {
    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Unpack::End => "it ends too early",
            Unpack::Nonsense(why) => why,
        }
    }
}

/// Appends a number, seven bits at a time.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes bytes from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Unpack> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Unpack::End)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Unpack> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Unpack::Nonsense("a number that is too large"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Unpack::Nonsense("a number that does not end"))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, Unpack> {
        u32::try_from(self.varint()?).map_err(|_| Unpack::Nonsense("a number that is too large"))
    }
}

/// Appends decisions.
pub(crate) fn put_decisions(out: &mut Vec<u8>, decisions: &[Decision]) {
    let runs = decisions.iter().filter_map(|decision| match decision {
        Decision::Run(task) => Some(u64::from(task.0) + 1),
        Decision::Choose(_) => None,
    });
    let tasks = runs.max().unwrap_or(0);
    put_varint(out, decisions.len() as u64);
    put_varint(out, tasks);
    for run in decisions.chunk_by(|a, b| a == b) {
        let more = run.len() as u64 - 1;
        match run[0] {
            Decision::Run(task) => put_varint(out, more * (tasks + 1) + u64::from(task.0)),
            Decision::Choose(value) => {
                put_varint(out, more * (tasks + 1) + tasks);
                put_varint(out, u64::from(value));
            }
        }
    }
}

/// Takes decisions.
pub(crate) fn take_decisions(reader: &mut Reader<'_>) -> Result<Vec<Decision>, Unpack> {
    let count = reader.varint()?;
    if count > DECISIONS_MAX {
        return Err(Unpack::Nonsense("more decisions than any run has"));
    }
    let tasks = reader.varint()?;
    if tasks > u64::from(u32::MAX) {
        return Err(Unpack::Nonsense("more tasks than any run has"));
    }
    let mut decisions = Vec::new();
    while (decisions.len() as u64) < count {
        let token = reader.varint()?;
        let (more, symbol) = (token / (tasks + 1), token % (tasks + 1));
        let left = count - decisions.len() as u64;
        if more >= left {
            return Err(Unpack::Nonsense("more decisions than it says"));
        }
        let decision = if symbol < tasks {
            Decision::Run(TaskId(symbol as u32))
        } else {
            Decision::Choose(reader.varint_u32()?)
        };
        decisions.resize(decisions.len() + more as usize + 1, decision);
    }
    Ok(decisions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_one_task_takes_one_byte() {
        let run = |task, count| alloc::vec![Decision::Run(TaskId(task)); count];
        let all = [run(0, 20), run(1, 1), run(0, 3)].concat();
        let mut out = Vec::new();
        put_decisions(&mut out, &all);
        assert_eq!(out.len(), 2 + 3);
        let mut reader = Reader { rest: &out };
        assert_eq!(take_decisions(&mut reader), Ok(all));
        assert!(reader.rest.is_empty());
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let mut out = Vec::new();
        put_varint(&mut out, u64::MAX);
        put_varint(&mut out, 1);
        assert!(matches!(take_decisions(&mut Reader { rest: &out }), Err(Unpack::Nonsense(_))));
        let mut short = Vec::new();
        put_varint(&mut short, 3);
        put_varint(&mut short, 1);
        put_varint(&mut short, 2 * 7);
        assert!(matches!(take_decisions(&mut Reader { rest: &short }), Err(Unpack::Nonsense(_))));
        assert_eq!(Reader { rest: &[0xff; 3] }.varint(), Err(Unpack::End), "a number cut off");
        assert!(Reader { rest: &[0xff; 11] }.varint().is_err());
    }
}
