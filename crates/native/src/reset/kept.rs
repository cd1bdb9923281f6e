//! Descriptors that the program had when the start was moved (see `late`), and whose state is put back after each run: pipes,
//! pairs of sockets (those that are the kernel's, see `streams`), sockets that listen, counters of events, groups that are
//! waited for, files that are read. What the kernel keeps for each is little: what waits to be read, a number, a place. All
//! that would change more (to change its flags) is refused by the guard, and runs begin before main again.
//!
//! Some may be closed: there is another descriptor for the same, out of the way, from which it is made again. So it does
//! not end with the run, and that must not show. Nobody notices the end of a file, a counter or a group, unless one is
//! member of another group, which then is waited for no more ([`Kept::misleads`]). A socket that listens may be closed
//! when nobody waits to be accepted; then nobody may connect, nor take its name ([`Kept::is_deaf`]). Who reads from a
//! pipe or a pair is told of the end, so those are not closed.

use super::undo::{DESCRIPTORS, HIDDEN};
use crate::sys::{self, nr};

/// Most descriptors that are kept.
const KEPT_MAX: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The end of a pipe that is written to: whatever its reader does not read goes.
    Inlet,
    /// The other end of a pipe: nothing waits to be read.
    Empty,
    /// The same for a socket of a pair.
    Stream,
    /// A counter of events has this value.
    Count(u64),
    /// A group (epoll) of which nothing is ready.
    Group,
    /// A file is read from there on.
    File(usize),
    /// A socket that listens, with nobody who waits to be accepted.
    Listener,
    /// A socket that nothing was done to: what the kernel has of those in `streams`.
    Blank,
}

#[derive(Clone, Copy, Debug)]
struct One {
    fd: u32,
    kind: Kind,
    /// Another descriptor for the same, if it may be closed.
    spare: Option<u32>,
    /// Whether it is closed when another program is begun.
    cloexec: bool,
    /// The run has closed it.
    shut: bool,
    /// The same, and the kernel has not been told.
    put_off: bool,
}

/// All of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    all: [One; KEPT_MAX],
    count: usize,
    /// Those of them that are open.
    which: [u64; DESCRIPTORS / 64],
    /// Whether any is not.
    any_shut: bool,
    misleads: bool,
    deaf: bool,
}

/// What the kernel says of a descriptor that is waited for.
const READABLE: u64 = 1;
const BROKEN: u64 = 0x8 | 0x10;

impl Kept {
    pub(super) const NONE: Kept = Kept {
        all: [One { fd: 0, kind: Kind::Inlet, spare: None, cloexec: false, shut: false, put_off: false };
            KEPT_MAX],
        count: 0,
        which: [0; DESCRIPTORS / 64],
        any_shut: false,
        misleads: false,
        deaf: false,
    };

    /// Whether this is one of them.
    pub(super) fn has(&self, fd: usize) -> bool {
        let fd = fd as u32 as usize;
        fd < DESCRIPTORS && self.which[fd / 64] >> (fd % 64) & 1 == 1
    }

    /// Adds a descriptor as it is now; false if its state could not be put back to that.
    /// If somebody has `listened`, a stream may lead to another program. A socket that nothing was done to is kept only if
    /// it is `blank` because `streams` does it all.
    pub(super) fn add(&mut self, fd: usize, listened: bool, blank: bool) -> bool {
        const GET_FD: usize = 1;
        let Some(kind) = Kind::of(fd).filter(|_| self.count < KEPT_MAX) else { return false };
        if kind == Kind::Stream && listened || (kind == Kind::Blank) != blank {
            return false;
        }
        // SAFETY: a question.
        let cloexec = unsafe { sys::call3(nr::FCNTL, fd, GET_FD, 0) } == 1;
        self.all[self.count] = One { fd: fd as u32, kind, spare: None, cloexec, shut: false, put_off: false };
        self.count += 1;
        self.which[fd / 64] |= 1 << (fd % 64);
        true
    }

    /// Makes spare descriptors for those that may be closed.
    pub(super) fn make_spares(&mut self) {
        for one in self.all[..self.count].iter_mut().filter(|one| one.kind.can_be_closed()) {
            let spare = sys::duplicate_out_of_the_way(one.fd as usize);
            one.spare = spare.filter(|spare| HIDDEN.contains(spare)).map(|spare| spare as u32);
        }
    }

    /// Whether one of them listens.
    pub(super) fn listens(&self) -> bool {
        self.all().iter().any(|one| one.kind == Kind::Listener)
    }

    /// The run is about to close one of them; false if it must not.
    pub(super) fn close(&mut self, fd: usize) -> bool {
        let fd = fd as u32;
        let Some(at) = self.all().iter().position(|one| one.fd == fd && !one.shut) else { return false };
        let One { kind, spare, .. } = self.all[at];
        if spare.is_none() || kind == Kind::Listener && sys::to_read(fd as usize) & READABLE != 0 {
            return false;
        }
        self.all[at].shut = true;
        self.any_shut = true;
        self.which[fd as usize / 64] &= !(1 << (fd % 64));
        self.deaf |= kind == Kind::Listener;
        let is_group = |one: &One| one.kind == Kind::Group && !one.shut;
        self.misleads |= !matches!(kind, Kind::File(_) | Kind::Blank) && self.all().iter().any(is_group);
        true
    }

    /// The kernel need not know yet that the run has closed this one.
    pub(super) fn put_off(&mut self, fd: usize) {
        let fd = fd as u32;
        self.all[..self.count].iter_mut().filter(|one| one.fd == fd).for_each(|one| one.put_off = true);
    }

    /// Whether the kernel would be wrong about this descriptor.
    pub(super) fn is_put_off(&self, fd: usize) -> bool {
        self.any_shut && self.all().iter().any(|one| one.put_off && one.fd == fd as u32)
    }

    /// Has the kernel close what the run has closed. Whether there was anything.
    pub(super) fn close_put_off(&mut self) -> bool {
        let mut any = false;
        if self.any_shut {
            for one in self.all[..self.count].iter_mut().filter(|one| one.put_off) {
                // SAFETY: the program has closed it.
                unsafe { sys::call3(nr::CLOSE, one.fd as usize, 0, 0) };
                (one.put_off, any) = (false, true);
            }
        }
        any
    }

    /// Whether a group could tell of something that is closed.
    pub(super) fn misleads(&self) -> bool {
        self.misleads
    }

    /// Whether one that listened is closed, which the kernel does not know.
    pub(super) fn is_deaf(&self) -> bool {
        self.deaf
    }

    /// Opens again what the run has closed, and tells of each.
    pub(super) fn open_again(&mut self, mut opened: impl FnMut(usize)) {
        if !core::mem::take(&mut self.any_shut) {
            return;
        }
        (self.misleads, self.deaf) = (false, false);
        for one in self.all[..self.count].iter_mut().filter(|one| one.shut) {
            let (fd, spare) = (one.fd as usize, one.spare.expect("raddle bug: closed for good"));
            if !core::mem::take(&mut one.put_off) {
                // The run is over, so nobody uses what has this number now.
                sys::duplicate_as(spare as usize, fd, one.cloexec);
            }
            one.shut = false;
            self.which[fd / 64] |= 1 << (fd % 64);
            opened(fd);
        }
    }

    fn all(&self) -> &[One] {
        &self.all[..self.count]
    }

    /// Puts all of them back, once they are open; false if that does not come to an end.
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
        for (poll, &One { fd, kind, .. }) in polls.iter().zip(self.all()) {
            let fd = fd as usize;
            let readable = poll >> 48 & READABLE != 0;
            match kind {
                Kind::Inlet | Kind::Group | Kind::Blank => {}
                Kind::Empty | Kind::Stream | Kind::Count(0) | Kind::Listener if !readable => {}
                Kind::Listener => all &= accept_all(fd),
                Kind::Empty | Kind::Stream => all &= drain(fd),
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
    /// Whether nobody notices that it is closed.
    fn can_be_closed(self) -> bool {
        !matches!(self, Kind::Inlet | Kind::Empty | Kind::Stream)
    }

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
            if is_blank(fd) {
                return Some(Kind::Blank);
            }
            let kind =
                if listens(fd) { Some(Kind::Listener) } else { is_of_pair(fd).then_some(Kind::Stream) };
            return kind.filter(|_| quiet);
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

/// Sends away all who wait to be accepted. False if that are too many.
fn accept_all(fd: usize) -> bool {
    const ACCEPT: usize = 43;
    const MOST: u32 = 5000;
    for _ in 0..MOST {
        if sys::to_read(fd) & READABLE == 0 {
            return true;
        }
        // SAFETY: somebody waits; what is made is closed at once.
        unsafe {
            let accepted = sys::call3(ACCEPT, fd, 0, 0);
            if accepted < 0 {
                return false;
            }
            sys::call3(nr::CLOSE, accepted as usize, 0, 0);
        }
    }
    false
}

/// Whether it is a stream of this machine's.
pub(super) fn is_local_stream(fd: usize) -> bool {
    const TYPE: usize = 3;
    const DOMAIN: usize = 39;
    const STREAM: u32 = 1;
    const LOCAL: u32 = 1;
    option(fd, TYPE) == STREAM && option(fd, DOMAIN) == LOCAL
}

/// Bytes that the kernel keeps at most of what is sent.
pub(super) fn room_to_send(fd: usize) -> usize {
    const SEND_BUFFER: usize = 7;
    option(fd, SEND_BUFFER) as usize
}

/// Whether it is one that listens.
fn listens(fd: usize) -> bool {
    const ACCEPTS: usize = 30;
    option(fd, ACCEPTS) == 1 && is_local_stream(fd)
}

/// Whether it is one that has no name, and is not connected.
fn is_blank(fd: usize) -> bool {
    const GETSOCKNAME: usize = 51;
    const GETPEERNAME: usize = 52;
    const FAMILY: u32 = 2;
    address(GETSOCKNAME, fd) == Some(FAMILY) && address(GETPEERNAME, fd).is_none() && is_local_stream(fd)
}

/// How long the address is by which this call tells of a socket.
fn address(call: usize, fd: usize) -> Option<u32> {
    let (mut address, mut length) = ([0u8; 128], 128u32);
    // SAFETY: room for an address, and its length, which live until the call returns.
    let known =
        unsafe { sys::call3(call, fd, address.as_mut_ptr() as usize, (&raw mut length) as usize) == 0 };
    known.then_some(length)
}

fn option(fd: usize, which: usize) -> u32 {
    const GETSOCKOPT: usize = 55;
    const SOCKET: usize = 1;
    let (mut value, mut length) = (0u32, 4u32);
    // SAFETY: a number and its length, which live until the call returns.
    unsafe {
        let args = [fd, SOCKET, which, (&raw mut value) as usize, (&raw mut length) as usize, 0];
        sys::call(GETSOCKOPT, args);
    }
    value
}

/// Whether it is a stream to another socket of this machine's. Nobody but the program itself can be at the other end: the guard
/// lets it connect only to itself, and where somebody listened no such stream is kept.
fn is_of_pair(fd: usize) -> bool {
    const GETPEERNAME: usize = 52;
    address(GETPEERNAME, fd).is_some() && is_local_stream(fd)
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

/// Whether it is a folder in which the kernel tells of processes.
pub(super) fn is_of_kernel(fd: usize) -> bool {
    name(fd, &mut [0; 64]).is_some_and(|name| name.starts_with(b"/proc/"))
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
