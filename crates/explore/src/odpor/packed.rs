//! Letters in few bytes: most programs have fewer than 64, and those take one byte each.
//!
//! A letter's number and whether it is the last of its sequence, in groups of seven bits, the lowest first; the eighth bit
//! says that there are more. The lowest bit of all tells the last one.

use super::alphabet::LetterId;
use super::wakeup::Place;

/// Sequences of letters one after the other.
#[derive(Clone, Default, Debug)]
pub(super) struct Packed {
    bytes: Vec<u8>,
}

impl Packed {
    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn end(&self) -> Place {
        // Nobody has seen a search that came near it.
        let end = u32::try_from(self.bytes.len()).ok().filter(|&end| end < u32::MAX);
        Place(end.expect("raddle: more than 4 GB of sequences wait: the program is too wide for odpor"))
    }

    /// Appends a sequence.
    pub(super) fn write(&mut self, letters: impl Iterator<Item = LetterId>) -> Place {
        let begin = self.end();
        let mut last = begin;
        for letter in letters {
            last = self.end();
            let mut left = u64::from(letter.number()) << 1;
            while left >= 0x80 {
                self.bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            self.bytes.push(left as u8);
        }
        self.end_at(last);
        begin
    }

    /// Appends a sequence of another.
    pub(super) fn copy(&mut self, bytes: &[u8]) -> Place {
        let begin = self.end();
        self.bytes.extend_from_slice(bytes);
        begin
    }

    /// The letter here is the last of its sequence from now on.
    pub(super) fn end_at(&mut self, Place(place): Place) {
        self.bytes[place as usize] |= 1;
    }

    /// The letter here, and where the next one is.
    #[inline]
    pub(super) fn read(&self, Place(place): Place) -> (LetterId, Option<Place>) {
        let mut at = place as usize;
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[at];
            at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        (LetterId::of((number >> 1) as u32), (number & 1 == 0).then_some(Place(at as u32)))
    }

    /// The bytes of the sequence that begins here.
    pub(super) fn bytes(&self, Place(begin): Place) -> &[u8] {
        let mut place = Some(Place(begin));
        let mut last = begin;
        while let Some(next) = place {
            last = next.0;
            place = self.read(next).1;
        }
        let length = self.bytes[last as usize..].iter().position(|&byte| byte < 0x80);
        let end = last as usize + length.expect("raddle bug: a letter without an end") + 1;
        &self.bytes[begin as usize..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_and_sequences_can_be_cut() {
        let numbers = [0, 1, 62, 63, 64, 8_191, 8_192, 1 << 31, u32::MAX, 5];
        let mut packed = Packed::default();
        packed.write([7].map(LetterId::of).into_iter());
        let begin = packed.write(numbers.map(LetterId::of).into_iter());
        let length = packed.bytes(begin).len();
        assert_eq!(packed.len(), 1 + length);
        packed.write([9].map(LetterId::of).into_iter());
        let read = |packed: &Packed, begin: Place| {
            let (mut place, mut found, mut places) = (Some(begin), Vec::new(), Vec::new());
            while let Some(at) = place {
                places.push(at);
                let (letter, next) = packed.read(at);
                found.push(letter.number());
                place = next;
            }
            (found, places)
        };
        let (found, places) = read(&packed, begin);
        assert_eq!(found, numbers);
        for cut in 1..numbers.len() {
            let mut packed = packed.clone();
            packed.end_at(places[cut - 1]);
            assert_eq!(read(&packed, begin).0, numbers[..cut]);
            assert_eq!(read(&packed, places[cut]).0, numbers[cut..]);
            assert_eq!(packed.bytes(begin).len() + packed.bytes(places[cut]).len(), length);
            let copied = packed.bytes(places[cut]).to_vec();
            let copy = packed.copy(&copied);
            assert_eq!(read(&packed, copy).0, numbers[cut..]);
        }
    }
}
