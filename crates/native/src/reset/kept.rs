//! Descriptors that the program had when the start was moved (see `late`), and whose state is put back after each run: pipes,
//! pairs of sockets, counters of events, groups that are waited for, files that are read. What the kernel keeps for each is
//! little: what waits to be read, a number, a place. All that would change more (to close one, to change its flags) is
//! refused by the guard, and runs begin before main again.

use super::undo::DESCRIPTORS;
use crate::sys::{self, nr};

/// Most descriptors that are kept.
const KEPT_MAX: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The end of a pipe that is written to: whatever its reader does not read goes.
    Inlet,
    /// Nothing waits to be read.
    Empty,
    /// A counter of events has this value.
    Count(u64),
    /// A group (epoll) of which nothing is ready.
    Group,
    /// A file is read from there on.
    File(usize),
}

#[derive(Clone, Copy, Debug)]
struct One {
    fd: u32,
    kind: Kind,
}

/// All of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    all: [One; KEPT_MAX],
    count: usize,
    which: [u64; DESCRIPTORS / 64],
}

/// What the kernel says of a descriptor that is waited for.
const READABLE: u64 = 1;
const BROKEN: u64 = 0x8 | 0x10;

impl Kept {
    pub(super) const NONE: Kept =
        Kept { all: [One { fd: 0, kind: Kind::Inlet }; KEPT_MAX], count: 0, which: [0; DESCRIPTORS / 64] };

    /// Whether this is one of them.
    pub(super) fn has(&self, fd: usize) -> bool {
        let fd = fd as u32 as usize;
        fd < DESCRIPTORS && self.which[fd / 64] >> (fd % 64) & 1 == 1
    }

    /// Adds a descriptor as it is now; false if its state could not be put back to that.
    pub(super) fn add(&mut self, fd: usize) -> bool {
        let Some(kind) = Kind::of(fd).filter(|_| self.count < KEPT_MAX) else { return false };
        self.all[self.count] = One { fd: fd as u32, kind };
        self.count += 1;
        self.which[fd / 64] |= 1 << (fd % 64);
        true
    }

    fn all(&self) -> &[One] {
        &self.all[..self.count]
    }

    /// Puts all of them back; false if that does not come to an end.
    pub(super) fn put_back(&self) -> bool {
        let mut polls = [0u64; KEPT_MAX];
        for (poll, one) in polls.iter_mut().zip(self.all()) {
            *poll = u64::from(one.fd) | READABLE << 32;
        }
        if self.count > 0 {
            // SAFETY: the list lives until the call returns.
            unsafe { sys::call3(nr::POLL, polls.as_mut_ptr() as usize, self.count, 0) };
        }
        let mut all = true;
        for (poll, &One { fd, kind }) in polls.iter().zip(self.all()) {
            let fd = fd as usize;
            let readable = poll >> 48 & READABLE != 0;
            match kind {
                Kind::Inlet | Kind::Group => {}
                Kind::Empty | Kind::Count(0) if !readable => {}
                Kind::Empty => all &= drain(fd),
                Kind::Count(count) => {
                    all &= drain(fd);
                    if count > 0 {
                        // SAFETY: the number lives until the call returns; there is room for it, since nothing is left.
                        unsafe { sys::call3(nr::WRITE, fd, (&raw const count) as usize, 8) };
                    }
                }
                Kind::File(place) => {
                    // SAFETY: no memory is involved.
                    unsafe { sys::call3(nr::LSEEK, fd, place, 0) };
                }
            }
        }
        // Once all that it waits for is put back: it still has a list of what was ready, which this empties.
        for group in self.all().iter().filter(|one| one.kind == Kind::Group) {
            all &= !has_ready(group.fd as usize);
        }
        all
    }

    /// One that is not as it was.
    pub(super) fn difference(&self) -> Option<usize> {
        let differs = |one: &&One| Kind::of(one.fd as usize) != Some(one.kind);
        self.all().iter().find(differs).map(|one| one.fd as usize)
    }
}

impl Kind {
    /// What a descriptor is; none if nobody knows how to put it back.
    fn of(fd: usize) -> Option<Kind> {
        const GET_FLAGS: usize = 3;
        const ACCESS: isize = 3;
        const HERE: usize = 1;
        let mut room = [0u8; 64];
        let name = name(fd, &mut room)?;
        // SAFETY: a question.
        let flags = unsafe { sys::call3(nr::FCNTL, fd, GET_FLAGS, 0) };
        let quiet = sys::to_read(fd) & (READABLE | BROKEN) == 0;
        if name.starts_with(b"pipe:[") {
            return quiet.then_some(if flags & ACCESS == 0 { Kind::Empty } else { Kind::Inlet });
        }
        if name.starts_with(b"socket:[") {
            return (quiet && is_of_pair(fd)).then_some(Kind::Empty);
        }
        if name == b"anon_inode:[eventpoll]" {
            return (waits_plainly(fd) && !has_ready(fd)).then_some(Kind::Group);
        }
        if name == b"anon_inode:[eventfd]" {
            return count(fd).map(Kind::Count);
        }
        if name.starts_with(b"/") && flags & ACCESS == 0 && is_file(fd) {
            // SAFETY: a question.
            let place = unsafe { sys::call3(nr::LSEEK, fd, 0, HERE) };
            return (place >= 0).then_some(Kind::File(place as usize));
        }
        None
    }
}

/// Reads until nothing is left. False if that is too much: some counters go down by one at a time.
fn drain(fd: usize) -> bool {
    const READS_MAX: u32 = 1000;
    let mut buffer = [0u8; 1 << 14];
    for _ in 0..READS_MAX {
        if sys::to_read(fd) & READABLE == 0 {
            return true;
        }
        // SAFETY: the kernel writes into a buffer that is alive.
        if unsafe { sys::call3(nr::READ, fd, buffer.as_mut_ptr() as usize, buffer.len()) } <= 0 {
            return false;
        }
    }
    false
}

/// Whether it is a stream to another socket of this machine's. Nobody but the program itself can be at the other end: the guard
/// lets it connect only to itself, and nobody who listens has the start moved.
fn is_of_pair(fd: usize) -> bool {
    const GETPEERNAME: usize = 52;
    const GETSOCKOPT: usize = 55;
    const SOCKET: usize = 1;
    const TYPE: usize = 3;
    const DOMAIN: usize = 39;
    const STREAM: u32 = 1;
    const LOCAL: u32 = 1;
    let option = |which: usize| {
        let (mut value, mut length) = (0u32, 4u32);
        // SAFETY: a number and its length, which live until the call returns.
        unsafe {
            let args = [fd, SOCKET, which, (&raw mut value) as usize, (&raw mut length) as usize, 0];
            sys::call(GETSOCKOPT, args);
        }
        value
    };
    let (mut address, mut length) = ([0u8; 110], 110u32);
    // SAFETY: room for an address, and its length.
    let connected = unsafe {
        sys::call3(GETPEERNAME, fd, address.as_mut_ptr() as usize, (&raw mut length) as usize) == 0
    };
    connected && option(TYPE) == STREAM && option(DOMAIN) == LOCAL
}

fn is_file(fd: usize) -> bool {
    const FSTAT: usize = 5;
    const KIND: u32 = 0o170000;
    const REGULAR: u32 = 0o100000;
    // Its mode is the first half of the fourth word.
    let mut stat = [0u64; 18];
    // SAFETY: the kernel's structure, which lives until the call returns.
    unsafe { sys::call3(FSTAT, fd, stat.as_mut_ptr() as usize, 0) == 0 && stat[3] as u32 & KIND == REGULAR }
}

/// The path of something the kernel says about a descriptor, ended by zero.
fn path(fd: usize, folder: &[u8], room: &mut [u8; 64]) -> usize {
    room[..folder.len()].copy_from_slice(folder);
    let mut at = folder.len();
    let mut digit = 1;
    while fd / digit >= 10 {
        digit *= 10;
    }
    while digit > 0 {
        room[at] = b'0' + (fd / digit % 10) as u8;
        (at, digit) = (at + 1, digit / 10);
    }
    room[at] = 0;
    room.as_ptr() as usize
}

/// What the kernel calls it; the beginning of that.
fn name(fd: usize, room: &mut [u8; 64]) -> Option<&[u8]> {
    const READLINK: usize = 89;
    let mut link = [0u8; 64];
    let link = path(fd, b"/proc/self/fd/", &mut link);
    // SAFETY: a path that ends with zero, and room for an answer.
    let length = unsafe { sys::call3(READLINK, link, room.as_mut_ptr() as usize, room.len()) };
    (length > 0).then(|| &room[..length as usize])
}

/// Whether something that a group waits for is ready.
fn has_ready(group: usize) -> bool {
    const EPOLL_WAIT: usize = 232;
    // Twelve bytes each.
    let mut events = [0u8; 12 * 16];
    // SAFETY: room for so many, which lives until the call returns.
    unsafe { sys::call(EPOLL_WAIT, [group, events.as_mut_ptr() as usize, 16, 0, 0, 0]) != 0 }
}

/// What the kernel says about a descriptor, line by line; none if that is too much.
fn info(fd: usize, text: &mut [u8; 4096]) -> Option<impl Iterator<Item = &str>> {
    let mut file = [0u8; 64];
    let file = path(fd, b"/proc/self/fdinfo/", &mut file);
    // SAFETY: a path that ends with zero, and room for the text.
    let length = unsafe {
        let info = sys::call3(nr::OPEN, file, 0, 0);
        if info < 0 {
            return None;
        }
        let length = sys::call3(nr::READ, info as usize, text.as_mut_ptr() as usize, text.len());
        sys::call3(nr::CLOSE, info as usize, 0, 0);
        length
    };
    let length = usize::try_from(length).ok().filter(|&length| length < text.len())?;
    core::str::from_utf8(&text[..length]).ok().map(str::lines)
}

/// The value of a counter of events.
fn count(fd: usize) -> Option<u64> {
    let number = |line: &str| u64::from_str_radix(line.strip_prefix("eventfd-count:")?.trim(), 16).ok();
    info(fd, &mut [0; 4096])?.find_map(number)
}

/// Whether all that a group waits for is told as long as it is ready: nothing of what was told before matters.
fn waits_plainly(group: usize) -> bool {
    let plain = |line: &str| {
        // Told once, told of changes, told to one of several: the highest bits.
        let events = line.split_once("events:")?.1.split_whitespace().next()?;
        u32::from_str_radix(events, 16).ok().map(|events| events >> 28 == 0)
    };
    let members = |lines: &mut dyn Iterator<Item = &str>| {
        lines.filter(|line| line.starts_with("tfd:")).all(|line| plain(line) == Some(true))
    };
    info(group, &mut [0; 4096]).is_some_and(|mut lines| members(&mut lines))
}
