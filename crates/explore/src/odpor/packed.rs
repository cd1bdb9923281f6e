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
    /// Bytes that nobody needs any more.
    wasted: usize,
    /// Where some of them are that are so many in a row: most sequences are short, and some are always taken.
    free: [Vec<Place>; SHORT],
    scratch: Vec<u8>,
}

/// Length of the longest pieces that are used again one by one, and most of each length that are remembered.
const SHORT: usize = 8;
const FREE_MAX: usize = 1 << 16;

/// Wasted bytes that are not worth the trouble.
const WASTE: usize = 1 << 16;

impl Packed {
    /// Whether it would be much smaller without what is wasted.
    pub(super) fn is_wasteful(&self) -> bool {
        self.wasted > WASTE && self.wasted > self.bytes.len() / 2
    }

    /// Nobody needs the sequence that begins here any more.
    pub(super) fn free(&mut self, place: Place) {
        let length = self.bytes(place).len();
        self.wasted += length;
        if let Some(free) = self.free.get_mut(length - 1)
            && free.len() < FREE_MAX
        {
            free.push(place);
        }
    }

    fn end(&self) -> Place {
        // Nobody has seen a search that came near it.
        let end = u32::try_from(self.bytes.len()).ok().filter(|&end| end < u32::MAX);
        Place(end.expect("raddle: more than 4 GB of sequences wait: the program is too wide for odpor"))
    }

    /// Adds a sequence, which must not be empty.
    pub(super) fn write(&mut self, letters: impl Iterator<Item = LetterId>) -> Place {
        let mut packed = core::mem::take(&mut self.scratch);
        packed.clear();
        let mut last = 0;
        for letter in letters {
            last = packed.len();
            let mut left = u64::from(letter.number()) << 1;
            while left >= 0x80 {
                packed.push(left as u8 | 0x80);
                left >>= 7;
            }
            packed.push(left as u8);
        }
        packed[last] |= 1;
        let place = match self.free.get_mut(packed.len() - 1).and_then(Vec::pop) {
            Some(place) => {
                self.bytes[place.0 as usize..][..packed.len()].copy_from_slice(&packed);
                self.wasted -= packed.len();
                place
            }
            None => self.copy(&packed),
        };
        self.scratch = packed;
        place
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
        let byte = self.bytes[at];
        if byte < 0x80 {
            let next = (byte & 1 == 0).then_some(Place(place + 1));
            return (LetterId::of(u32::from(byte >> 1)), next);
        }
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
        assert_eq!(packed.bytes.len(), 1 + length);
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

    #[test]
    fn what_nobody_needs_is_used_again() {
        let mut packed = Packed::default();
        let sequence =
            |numbers: &[u32]| numbers.iter().map(|&number| LetterId::of(number)).collect::<Vec<_>>();
        let [first, second] =
            [[1, 2, 3], [4, 5, 6]].map(|letters| packed.write(sequence(&letters).into_iter()));
        packed.free(first);
        assert_eq!(packed.wasted, 3);
        let longer = packed.write(sequence(&[7, 8, 9, 10]).into_iter());
        let third = packed.write(sequence(&[100, 11]).into_iter());
        assert_eq!((third, packed.wasted, packed.bytes.len()), (first, 0, 10));
        for (place, letters) in [(second, vec![4, 5, 6]), (longer, vec![7, 8, 9, 10]), (third, vec![100, 11])]
        {
            let mut at = Some(place);
            for letter in letters {
                let (found, next) = packed.read(at.expect("one more letter"));
                assert_eq!(found.number(), letter);
                at = next;
            }
            assert_eq!(at, None);
        }
    }
}
