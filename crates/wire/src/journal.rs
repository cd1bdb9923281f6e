//! The journal of a search: what it was asked to do, then one entry after each run. An entry holds what the run
//! changed; all of them together are the state of the search, whose size is a matter of the depth of the search and
//! not of the number of runs. A search whose parts may be large writes them once, and from then on what happens to them:
//! what that means only the search knows.
//!
//! Entries are appended. Each has its length and its checksum, so that one that was cut off by the end of the
//! process, whatever that was, is told from a whole one: it and only it is lost.

use crate::envelope;
use crate::error::{What, WireError};
use crate::pack::{self, Unpack};
use crate::v1;
use crate::version::JournalVersion;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::plan::Step;
use raddle_model::{Op, Plan};

/// What was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct JournalHeader {
    /// What is searched, for people.
    pub program: String,
    /// A number that is another one if the program is.
    pub identity: u64,
    /// The strategy, with its parameters.
    pub strategy: String,
    /// The conditions of its runs.
    pub plan: Plan,
}

/// The state of a search: numbered parts, and the rest.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// Part by part.
    pub parts: Vec<Vec<u8>>,
    /// What has happened to them since they were written as a whole, if the search says it in this way.
    pub changes: Vec<u8>,
    /// What belongs to none of them.
    pub rest: Vec<u8>,
}

/// An entry that is being written.
#[derive(Clone, Default, Debug)]
pub struct Entry {
    parts: Vec<u8>,
    rest: Vec<u8>,
    changes: Vec<u8>,
    scratch: Vec<u8>,
    count: u64,
    whole: bool,
}

impl Entry {
    /// Forgets what was written, not its memory.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.rest.clear();
        self.changes.clear();
        self.count = 0;
        self.whole = false;
    }

    /// All parts are in this entry: what has happened to them before need not be known any more.
    pub fn is_whole(&mut self) {
        self.whole = true;
    }

    /// Something has happened to parts since they were written.
    pub fn changes(&mut self, changes: &[u8]) {
        self.changes.extend_from_slice(changes);
    }

    /// A part that has changed, or is new.
    pub fn part(&mut self, number: usize, write: impl FnOnce(&mut Put<'_>)) {
        self.scratch.clear();
        write(&mut Put { out: &mut self.scratch });
        self.count += 1;
        pack::put_varint(&mut self.parts, number as u64);
        pack::put_varint(&mut self.parts, self.scratch.len() as u64);
        self.parts.extend_from_slice(&self.scratch);
    }

    /// Where the rest goes, all of it in every entry.
    pub fn rest(&mut self) -> Put<'_> {
        Put { out: &mut self.rest }
    }

    /// Appends the entry to `out`. From now on there are `parts` parts.
    pub fn write(&self, parts: usize, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(&[0; 8]);
        pack::put_varint(out, parts as u64);
        pack::put_varint(out, self.rest.len() as u64);
        out.extend_from_slice(&self.rest);
        pack::put_varint(out, self.count);
        out.extend_from_slice(&self.parts);
        out.push(u8::from(self.whole));
        out.extend_from_slice(&self.changes);
        let length = u32::try_from(out.len() - begin - 8).expect("raddle bug: an entry of more than 4 GB");
        let crc = crc32fast::hash(&out[begin + 8..]);
        out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
        out[begin + 4..begin + 8].copy_from_slice(&crc.to_le_bytes());
    }
}

impl State {
    /// What it is after another entry.
    fn apply(&mut self, content: &[u8], version: u16) -> Result<(), Unpack> {
        let mut take = Take { reader: pack::Reader { rest: content } };
        let parts = take.size()?;
        self.rest = take.bytes()?.to_vec();
        self.parts.truncate(parts);
        self.parts.resize(parts, Vec::new());
        for _ in 0..take.size()? {
            let number = take.size()?;
            let part = take.bytes()?;
            let place = self.parts.get_mut(number).ok_or(Unpack::Nonsense("a part that is not there"))?;
            place.clear();
            place.extend_from_slice(part);
        }
        // In version 1 there was nothing else.
        if version > 1 {
            if take.flag()? {
                self.changes.clear();
            }
            self.changes.extend_from_slice(take.reader.rest);
        }
        Ok(())
    }
}

/// The bytes with which a journal begins.
pub fn encode_header(header: &JournalHeader) -> Vec<u8> {
    let note = format!("{} by {}; raddle {}", header.program, header.strategy, crate::TOOL_VERSION);
    let content = v1::bytes(&v1::journal::Header::from(header));
    envelope::seal(What::Journal, JournalVersion::CURRENT.0, &[note], &content)
}

/// What a journal was asked for, the state after its last whole entry, and the number of bytes up to there. There is
/// no state if there is no entry.
pub fn decode(bytes: &[u8]) -> Result<(JournalHeader, Option<State>, usize), WireError> {
    let readable = |version| JournalVersion(version).check_readable_by(JournalVersion::CURRENT);
    let (version, content, begin) = envelope::open_front(What::Journal, bytes, readable)?;
    let header: v1::journal::Header = envelope::parse(What::Journal, content)?;
    let header = JournalHeader::try_from(header).map_err(|error| error.in_a(What::Journal))?;
    let (mut state, mut at) = (None::<State>, begin);
    while let Some(content) = entry(&bytes[at..]) {
        let state = state.get_or_insert_default();
        state.apply(content, version).map_err(|error| envelope::damaged(What::Journal, at, error.why()))?;
        at += 8 + content.len();
    }
    Ok((header, state, at))
}

/// The entry at the front of these bytes, if it is a whole one.
fn entry(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let content = rest.get(..u32::from_le_bytes(*length) as usize)?;
    (crc32fast::hash(content) == u32::from_le_bytes(*crc)).then_some(content)
}

/// Writes what searches are made of.
pub struct Put<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Put<'a> {
    /// At the end of these bytes.
    pub fn new(out: &'a mut Vec<u8>) -> Put<'a> {
        Put { out }
    }

    /// A number.
    pub fn number(&mut self, number: u64) {
        pack::put_varint(self.out, number);
    }

    /// A number that is a hash: all of its bytes.
    pub fn name(&mut self, name: u64) {
        self.out.extend_from_slice(&name.to_le_bytes());
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: bool) {
        self.out.push(u8::from(flag));
    }

    /// How many follow, and each of them.
    pub fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| each(self, item));
    }

    /// Bytes, with their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// A step of a plan.
    pub fn step(&mut self, step: &Step) {
        self.name(step.task);
        self.list(step.choices.iter(), |put, &value| put.number(u64::from(value)));
    }

    /// An operation.
    pub fn op(&mut self, op: &Op) {
        let mut space = [0; 64];
        let bytes = postcard::to_slice(&v1::op::Op::from(op), &mut space);
        let bytes = bytes.expect("raddle bug: an operation does not fit");
        self.out.extend_from_slice(bytes);
    }
}

/// Reads what [`Put`] has written.
pub struct Take<'a> {
    reader: pack::Reader<'a>,
}

impl<'a> Take<'a> {
    /// From the front of these bytes.
    pub fn new(bytes: &'a [u8]) -> Take<'a> {
        Take { reader: pack::Reader { rest: bytes } }
    }

    /// Whether there is no more.
    pub fn is_over(&self) -> bool {
        self.reader.rest.is_empty()
    }

    /// A number.
    pub fn number(&mut self) -> Result<u64, Unpack> {
        self.reader.varint()
    }

    /// A number that is a place or an amount.
    pub fn size(&mut self) -> Result<usize, Unpack> {
        Ok(self.reader.varint_u32()? as usize)
    }

    /// A small number.
    pub fn small(&mut self) -> Result<u32, Unpack> {
        self.reader.varint_u32()
    }

    /// All of the bytes of a number.
    pub fn name(&mut self) -> Result<u64, Unpack> {
        Ok(u64::from_le_bytes(self.reader.bytes()?))
    }

    /// Yes or no.
    pub fn flag(&mut self) -> Result<bool, Unpack> {
        let [byte] = self.reader.bytes()?;
        Ok(byte != 0)
    }

    /// As many as there are.
    pub fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, Unpack>,
    ) -> Result<Vec<T>, Unpack> {
        (0..self.size()?).map(|_| each(self)).collect()
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], Unpack> {
        let size = self.size()?;
        let (head, rest) = self.reader.rest.split_at_checked(size).ok_or(Unpack::End)?;
        self.reader.rest = rest;
        Ok(head)
    }

    /// A step of a plan.
    pub fn step(&mut self) -> Result<Step, Unpack> {
        Ok(Step { task: self.name()?, choices: self.list(Take::small)? })
    }

    /// An operation.
    pub fn op(&mut self) -> Result<Op, Unpack> {
        let (op, rest) = postcard::take_from_bytes::<v1::op::Op>(self.reader.rest)
            .map_err(|_| Unpack::Nonsense("an operation that is none"))?;
        self.reader.rest = rest;
        Ok(op.into())
    }
}
