//! What a run writes to the two outputs, kept in memory until somebody looks. Of a run that is one of many nobody does: what
//! a failing run has written is shown of the run that is recorded for that. So most of it never gets to the kernel, which
//! takes longer to put a file back than a small run takes.
//!
//! Whatever could look (at the file's size, its place, what is in it) has it written first; whatever could make another way to
//! the file ends this for the run. Only calls that are known to do neither are let pass.

use super::guard::is_held;
use super::reach::can_be_read;
use crate::sys::{self, nr};

/// Bytes that are kept of each output.
const KEPT_MAX: usize = 1 << 13;

/// The bits of both outputs, by descriptor.
const BOTH: u8 = 0b110;

/// What waits to be written.
pub(super) struct Output {
    /// Whether anything is kept at all, and in this run.
    may: bool,
    on: bool,
    bytes: [[u8; KEPT_MAX]; 2],
    lengths: [usize; 2],
}

impl Output {
    /// Nothing waits. If outputs are files of the controller's own that it does not read, they `may` be kept.
    pub(super) fn new(may: bool) -> Output {
        Output { may: may && files_may_grow(), on: false, bytes: [[0; KEPT_MAX]; 2], lengths: [0; 2] }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        self.on = self.may;
    }

    /// Runs begin where this one is. What it has written stays.
    pub(super) fn moved(&mut self) {
        self.settle(BOTH);
        self.may = self.on;
    }

    /// The run is over: what it has written is of no use, unless somebody `looks`. Which files were written to.
    pub(super) fn end(&mut self, looks: bool) -> u8 {
        let written = if looks { self.settle(BOTH) } else { 0 };
        self.lengths = [0; 2];
        written
    }

    /// What a call would write to an output is kept, and the call need not be made: what it gives back.
    pub(super) fn keep(&mut self, number: usize, &[fd, from, size, ..]: &[usize; 6]) -> Option<isize> {
        if !self.on || number != nr::WRITE || !matches!(fd as u32, 1 | 2) {
            return None;
        }
        let which = fd as u32 as usize - 1;
        let (bytes, length) = (&mut self.bytes[which], &mut self.lengths[which]);
        let room = bytes.get_mut(*length..length.checked_add(size)?)?;
        if size == 0 || !can_be_read(from, size) {
            return None;
        }
        // SAFETY: the program's bytes, which can be read.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u8, room.as_mut_ptr(), size) };
        *length += size;
        Some(size as isize)
    }

    /// A call will be made: whatever it could see is written. Which files were written to.
    pub(super) fn before(&mut self, number: usize, args: &[usize; 6]) -> u8 {
        if !self.on {
            return 0;
        }
        match Sight::of(number, args) {
            Sight::None => 0,
            Sight::Of(files) => self.settle(files),
            Sight::Lasting => {
                self.on = false;
                self.settle(BOTH)
            }
        }
    }

    fn settle(&mut self, files: u8) -> u8 {
        let mut written = 0;
        for fd in [1, 2] {
            let length = self.lengths[fd - 1];
            if length > 0 && files >> fd & 1 == 1 {
                sys::write_all(fd as i32, &self.bytes[fd - 1][..length]);
                self.lengths[fd - 1] = 0;
                written |= 1 << fd;
            }
        }
        written
    }
}

/// What a call can see of the outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    None,
    /// Of these.
    Of(u8),
    /// Of both, and maybe later ones, too.
    Lasting,
}

/// Calls that have nothing to do with files, or only make new ones, or wait for some.
const BLIND: &[usize] = &[
    7, 10, 11, 12, 13, 14, 22, 23, 24, 25, 28, 35, 39, 41, 53, 63, 96, 97, 98, 100, 102, 104, 107, 108, 110,
    111, 127, 186, 201, 202, 204, 213, 228, 229, 230, 232, 270, 271, 281, 283, 284, 290, 291, 293, 309, 318,
    319,
];

/// Calls that concern the descriptor which is their first argument and make no other name of it.
const OF_ONE: &[usize] =
    &[0, 1, 3, 5, 8, 16, 17, 19, 20, 42, 43, 44, 45, 48, 49, 50, 51, 52, 54, 55, 233, 286, 287, 288, 328];

/// By number whether a call is one of these.
const fn table(calls: &[usize]) -> [u64; 8] {
    let mut table = [0; 8];
    let mut at = 0;
    while at < calls.len() {
        table[calls[at] / 64] |= 1 << (calls[at] % 64);
        at += 1;
    }
    table
}

fn has(table: &[u64; 8], number: usize) -> bool {
    table.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

static BLIND_TABLE: [u64; 8] = table(BLIND);
static OF_ONE_TABLE: [u64; 8] = table(OF_ONE);

/// Whether a call has nothing to do with files that are open, but that it may wait for some.
pub(super) fn is_blind(number: usize) -> bool {
    has(&BLIND_TABLE, number)
}

/// The same of one with these arguments.
pub(super) fn looks_at_no_file(number: usize, args: &[usize; 6]) -> bool {
    const ANONYMOUS: usize = 0x20;
    is_blind(number) || number == nr::MMAP && args[3] & ANONYMOUS != 0
}

/// Whether the only open file that it has to do with is its first argument, and it makes no other name of that.
pub(super) fn is_of_one(number: usize) -> bool {
    has(&OF_ONE_TABLE, number)
}

impl Sight {
    fn of(number: usize, args: &[usize; 6]) -> Sight {
        if looks_at_no_file(number, args) {
            return Sight::None;
        }
        let is_question = number == nr::NEWFSTATAT && is_of_descriptor(args);
        if !is_of_one(number) && !is_question {
            return Sight::Lasting;
        }
        match args[0] as u32 {
            0 => Sight::None,
            fd @ 1..=2 => Sight::Of(1 << fd),
            _ if is_held(args[0]) => Sight::None,
            _ => Sight::Lasting,
        }
    }
}

/// Whether `newfstatat` asks about the descriptor itself, and not about a name: as libc's `fstat` does.
fn is_of_descriptor(args: &[usize; 6]) -> bool {
    const EMPTY_PATH: usize = 0x1000;
    // SAFETY: one byte that can be read.
    args[3] == EMPTY_PATH && can_be_read(args[1], 1) && unsafe { *(args[1] as *const u8) == 0 }
}

/// Whether files may be as large as they like: a write beyond a limit fails, and kills.
fn files_may_grow() -> bool {
    const GET_LIMIT: usize = 97;
    const FILE_SIZE: usize = 1;
    let mut limit = [0u64; 2];
    // SAFETY: the kernel writes two words.
    unsafe { sys::call3(GET_LIMIT, FILE_SIZE, limit.as_mut_ptr() as usize, 0) == 0 && limit[0] == u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_at_an_output_is_known() {
        let sight = |number, first| Sight::of(number, &[first, 0, 0, 0, 0, 0]);
        assert_eq!(sight(nr::BRK, 1), Sight::None);
        assert_eq!(sight(nr::LSEEK, 1), Sight::Of(0b10));
        assert_eq!(sight(nr::READ, 0), Sight::None);
        // `dup`, `openat`, `sendmsg`, `recvmsg`, `fcntl`, a file that is mapped, and whatever is not known.
        for number in [32, 257, 46, 47, nr::FCNTL, nr::MMAP, 1000] {
            assert_eq!(sight(number, 1), Sight::Lasting, "{number}");
        }
    }

    #[test]
    fn what_is_kept_is_given_back_as_a_write_would() {
        let text = b"some words";
        let write = |fd, size| [fd, text.as_ptr() as usize, size, 0, 0, 0];
        let mut output = Output::new(true);
        assert_eq!(output.keep(nr::WRITE, &write(1, 4)), None, "no run has begun");
        output.begin();
        if !output.on {
            return;
        }
        assert_eq!(output.keep(nr::WRITE, &write(1, 4)), Some(4));
        assert_eq!(output.keep(nr::WRITE, &write(2, 10)), Some(10));
        assert_eq!(output.keep(nr::WRITE, &write(1, 2)), Some(2));
        assert_eq!((&output.bytes[0][..6], output.lengths), (&b"someso"[..], [6, 10]));
        for (fd, size) in [(3, 4), (1, 0), (1, KEPT_MAX)] {
            assert_eq!(output.keep(nr::WRITE, &write(fd, size)), None);
        }
        assert_eq!(output.keep(nr::WRITE, &[1, 8, 4, 0, 0, 0]), None, "what cannot be read the kernel says");
        assert_eq!((output.end(false), output.lengths), (0, [0, 0]));
    }
}
