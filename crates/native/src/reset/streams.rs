//! Connections of the program with itself, without the kernel: to make two sockets and to end them takes it longer than a
//! small run takes for everything else.
//!
//! Concerns streams on this machine (`AF_UNIX`) whose listener is the run's own. What is done to them is done here, byte by
//! byte as the kernel would; what nobody has thought of is not done at all: the run is begun again by a process that leaves
//! everything to the kernel ([`Streams::gives_up`]). So this need not know all that a socket can do, only what it knows must
//! be right. Runs in processes of their own never come here, and they are what repeated runs are compared with.
//!
//! Descriptors are the kernel's, so that numbers are what they would be: each stands for one socket that is never used, the
//! `blank`. A socket that nothing was done to yet is just that, and becomes a real one as soon as something is done to it
//! that is not to connect. Listeners are always real, since others may connect to them, too; those here are heard first.

use super::output::is_blind;
use super::reach::{can_be_read, can_be_written};
use super::undo::{HIDDEN, Undo};
use crate::io::Poll;
use crate::sys::{self, nr};

/// Most sockets, listeners, and connections of a run.
const SOCKETS_MAX: usize = 16;
const LISTENERS_MAX: usize = 4;
const WIRES_MAX: usize = 16;
/// Bytes that wait to be read. The kernel has more room: who needs that goes there.
const ROOM: usize = 1 << 11;
/// The longest name of a socket.
const NAME_MAX: usize = 110;
/// Most files that are asked about at once.
const POLLS_MAX: usize = 32;

const LOCAL: usize = 1;
const STREAM: usize = 1;
const CLOEXEC: usize = 0o2000000;

mod number {
    pub(super) const READV: usize = 19;
    pub(super) const WRITEV: usize = 20;
    pub(super) const SELECT: usize = 23;
    pub(super) const DUP: usize = 32;
    pub(super) const DUP2: usize = 33;
    pub(super) const ACCEPT: usize = 43;
    pub(super) const SENDTO: usize = 44;
    pub(super) const RECVFROM: usize = 45;
    pub(super) const SENDMSG: usize = 46;
    pub(super) const RECVMSG: usize = 47;
    pub(super) const GETSOCKNAME: usize = 51;
    pub(super) const GETSOCKOPT: usize = 55;
    pub(super) const EPOLL_CTL: usize = 233;
    pub(super) const PSELECT6: usize = 270;
    pub(super) const PPOLL: usize = 271;
    pub(super) const ACCEPT4: usize = 288;
    pub(super) const DUP3: usize = 292;
    pub(super) const PWRITEV2: usize = 328;
}

/// What is said to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// It is the kernel's.
    Kernel,
    /// This is what it gives back.
    Is(isize),
    /// Nobody here knows.
    Unknown,
}

use Answer::{Is, Kernel, Unknown};

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    wire: u8,
    side: u8,
}

#[derive(Clone, Copy, Debug)]
struct Socket {
    fd: u32,
    /// None if nothing was done to it yet.
    end: Option<End>,
}

#[derive(Clone, Copy, Debug)]
struct Listener {
    fd: u32,
    name: [u8; NAME_MAX],
    length: u8,
    /// As many may wait, and one more.
    most: u32,
    /// Connections that wait to be accepted.
    waiting: [u8; WIRES_MAX],
    count: u8,
}

/// What there is besides connections.
#[derive(Clone, Copy, Debug)]
struct Table {
    sockets: [Socket; SOCKETS_MAX],
    sockets_count: usize,
    listeners: [Listener; LISTENERS_MAX],
    listeners_count: usize,
    /// Something may have another name, or be waited for as one of a group: whoever listens from now on is left to the kernel.
    odd: bool,
}

/// A connection: what waits to be read at each side, and whether it is open.
#[derive(Debug)]
struct Wire {
    bytes: [[u8; ROOM]; 2],
    lengths: [usize; 2],
    open: [bool; 2],
}

/// All connections of the run.
#[derive(Debug)]
pub(super) struct Streams {
    /// What all descriptors stand for; none if everything is left to the kernel.
    blank: Option<u32>,
    now: Table,
    /// As it was where runs begin.
    start: Table,
    wires: [Wire; WIRES_MAX],
    wires_count: usize,
    /// Whether anything is not as it was at the start.
    changed: bool,
    gives_up: bool,
}

const NOBODY: Listener =
    Listener { fd: 0, name: [0; NAME_MAX], length: 0, most: 0, waiting: [0; WIRES_MAX], count: 0 };
const NOTHING: Table = Table {
    sockets: [Socket { fd: 0, end: None }; SOCKETS_MAX],
    sockets_count: 0,
    listeners: [NOBODY; LISTENERS_MAX],
    listeners_count: 0,
    odd: false,
};

impl Table {
    fn socket(&self, fd: usize) -> Option<usize> {
        self.sockets[..self.sockets_count].iter().position(|socket| socket.fd == fd as u32)
    }

    fn end(&self, fd: usize) -> Option<End> {
        self.socket(fd).and_then(|at| self.sockets[at].end)
    }

    fn listener(&self, fd: usize) -> Option<usize> {
        self.listeners[..self.listeners_count].iter().position(|listener| listener.fd == fd as u32)
    }

    fn is_empty(&self) -> bool {
        self.sockets_count == 0 && self.listeners_count == 0
    }

    /// Whether anything is so that the kernel does not know of.
    fn is_secret(&self) -> bool {
        let ends = self.sockets[..self.sockets_count].iter().any(|socket| socket.end.is_some());
        ends || self.listeners[..self.listeners_count].iter().any(|listener| listener.count > 0)
    }

    fn add(&mut self, fd: usize, end: Option<End>) {
        self.sockets[self.sockets_count] = Socket { fd: fd as u32, end };
        self.sockets_count += 1;
    }

    fn remove(&mut self, at: usize) {
        self.sockets_count -= 1;
        self.sockets[at] = self.sockets[self.sockets_count];
    }

    /// A listener is left to the kernel; false if somebody waits for it.
    fn unlist(&mut self, at: usize) -> bool {
        let free = self.listeners[at].count == 0;
        if free {
            self.listeners_count -= 1;
            self.listeners[at] = self.listeners[self.listeners_count];
        }
        free
    }
}

impl Streams {
    /// None yet. If they `may` not be done here they are all left to the kernel.
    pub(super) fn new(may: bool) -> Streams {
        const WIRE: Wire = Wire { bytes: [[0; ROOM]; 2], lengths: [0; 2], open: [false; 2] };
        Streams {
            blank: if may { make_blank() } else { None },
            now: NOTHING,
            start: NOTHING,
            wires: [WIRE; WIRES_MAX],
            wires_count: 0,
            changed: false,
            gives_up: false,
        }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        self.gives_up = false;
        if core::mem::take(&mut self.changed) {
            (self.now, self.wires_count) = (self.start, 0);
        }
    }

    /// Runs begin where this one is.
    pub(super) fn moved(&mut self) {
        self.start = self.now;
    }

    /// Whether this descriptor is a socket that nothing was done to yet.
    pub(super) fn is_blank(&self, fd: usize) -> bool {
        self.now.socket(fd).is_some_and(|at| self.now.sockets[at].end.is_none())
    }

    /// The descriptor that all stand for.
    pub(super) fn blank(&self) -> Option<usize> {
        self.blank.map(|blank| blank as usize)
    }

    /// Whether anything is so that the kernel does not know of.
    pub(super) fn are_secret(&self) -> bool {
        self.now.is_secret()
    }

    /// Whether this descriptor is one of those here.
    pub(super) fn has(&self, fd: usize) -> bool {
        self.now.socket(fd).is_some()
    }

    /// The run has done what is not known here.
    pub(super) fn give_up(&mut self) {
        self.gives_up = true;
    }

    pub(super) fn gives_up(&self) -> bool {
        self.gives_up
    }

    /// What is to be said to a call of the program's.
    pub(super) fn call(&mut self, number: usize, args: &[usize; 6], undo: &mut Undo) -> Answer {
        const NAMES: [usize; 5] = [number::DUP, number::DUP2, number::DUP3, number::SENDMSG, number::RECVMSG];
        if self.blank.is_none() {
            return Kernel;
        }
        if number == nr::SOCKET {
            return self.socket(args, undo);
        }
        if NAMES.contains(&number) || is_duplicate(number, args) {
            (self.now.odd, self.changed) = (true, true);
        }
        if number == number::EPOLL_CTL {
            (self.now.odd, self.changed) = (true, true);
            return self.odd(args[2], number, undo);
        }
        if self.now.is_empty() {
            return Kernel;
        }
        self.changed = true;
        match number {
            // Any of them may go with it.
            number::SENDMSG => Unknown,
            nr::CONNECT => self.connect(args, undo),
            number::ACCEPT => self.accept(args, 0, undo),
            number::ACCEPT4 => self.accept(args, args[3], undo),
            nr::CLOSE => self.close(args[0]),
            nr::POLL => self.poll(args),
            number::SELECT | number::PSELECT6 | number::PPOLL if self.now.is_secret() => Unknown,
            number::DUP2 | number::DUP3 if self.odd(args[1], number, undo) == Unknown => Unknown,
            nr::READ
            | nr::WRITE
            | number::READV
            | number::WRITEV
            | number::PWRITEV2
            | number::SENDTO
            | number::RECVFROM => match self.now.end(args[0]) {
                Some(end) => self.transfer(end, number, args),
                None => self.odd(args[0], number, undo),
            },
            _ if is_blind(number) => Kernel,
            _ => self.odd(args[0], number, undo),
        }
    }

    /// A descriptor is used in a way that is not known here: if it is a socket it becomes a real one.
    fn odd(&mut self, fd: usize, number: usize, undo: &mut Undo) -> Answer {
        if let Some(at) = self.now.listener(fd) {
            let known = [number::GETSOCKNAME, number::GETSOCKOPT].contains(&number);
            return if known || self.now.unlist(at) { Kernel } else { Unknown };
        }
        let Some(at) = self.now.socket(fd) else { return Kernel };
        if self.now.sockets[at].end.is_some() || !make_real(fd, undo) {
            return Unknown;
        }
        self.now.remove(at);
        Kernel
    }

    fn socket(&mut self, args: &[usize; 6], undo: &mut Undo) -> Answer {
        let [domain, kind, protocol, ..] = args.map(|argument| argument as u32 as usize);
        if (domain, kind & !CLOEXEC, protocol) != (LOCAL, STREAM, 0) {
            return Kernel;
        }
        self.make(None, kind & CLOEXEC != 0, undo)
    }

    /// Makes a descriptor.
    fn make(&mut self, end: Option<End>, cloexec: bool, undo: &mut Undo) -> Answer {
        if self.now.sockets_count == SOCKETS_MAX {
            return if end.is_none() { Kernel } else { Unknown };
        }
        let Some(blank) = self.blank else { return Kernel };
        (undo.anything, self.changed) = (true, true);
        undo.opens(1);
        let Ok(fd) = usize::try_from(duplicate(blank as usize, cloexec)) else { return Unknown };
        self.now.add(fd, end);
        Is(fd as isize)
    }

    /// The program listens, and the kernel agrees.
    pub(super) fn listens(&mut self, fd: usize, most: usize) {
        const MOST: u32 = 4096;
        let Table { listeners, listeners_count: count, odd, .. } = &mut self.now;
        if self.blank.is_none() || *odd || *count == LISTENERS_MAX {
            return;
        }
        let known = listeners[..*count].iter().any(|listener| listener.fd == fd as u32);
        if let Some((name, length)) = name(fd).filter(|_| !known) {
            listeners[*count] =
                Listener { fd: fd as u32, name, length, most: (most as u32).min(MOST), ..NOBODY };
            *count += 1;
            self.changed = true;
        }
    }

    fn connect(&mut self, args: &[usize; 6], undo: &mut Undo) -> Answer {
        let [fd, address, length, ..] = *args;
        let Some(at) = self.now.socket(fd) else { return self.odd(fd, nr::CONNECT, undo) };
        if self.now.sockets[at].end.is_some() {
            return Unknown;
        }
        let length = length as u32 as usize;
        if length > NAME_MAX || !can_be_read(address, length) {
            return self.odd(fd, nr::CONNECT, undo);
        }
        // SAFETY: the program's name, which can be read.
        let name = unsafe { core::slice::from_raw_parts(address as *const u8, length) };
        let listeners = &mut self.now.listeners[..self.now.listeners_count];
        let Some(to) = listeners.iter_mut().find(|to| to.name[..to.length as usize] == *name) else {
            return self.odd(fd, nr::CONNECT, undo);
        };
        if self.wires_count == WIRES_MAX || u32::from(to.count) > to.most {
            return Unknown;
        }
        let wire = self.wires_count as u8;
        to.waiting[to.count as usize] = wire;
        to.count += 1;
        let Wire { lengths, open, .. } = &mut self.wires[self.wires_count];
        (*lengths, *open) = ([0; 2], [true; 2]);
        self.wires_count += 1;
        self.now.sockets[at].end = Some(End { wire, side: 0 });
        Is(0)
    }

    fn accept(&mut self, args: &[usize; 6], flags: usize, undo: &mut Undo) -> Answer {
        let [fd, address, length, ..] = *args;
        let Some(at) = self.now.listener(fd) else { return self.odd(fd, number::ACCEPT, undo) };
        let Listener { waiting, count, .. } = self.now.listeners[at];
        if count == 0 {
            return Kernel;
        }
        let reached = address == 0 || can_be_written(length, 4) && tell_nameless(address, length as *mut u32);
        if flags & !CLOEXEC != 0 || !reached {
            return Unknown;
        }
        let made = self.make(Some(End { wire: waiting[0], side: 1 }), flags & CLOEXEC != 0, undo);
        if made != Unknown {
            let Listener { waiting, count, .. } = &mut self.now.listeners[at];
            waiting.copy_within(1.., 0);
            *count -= 1;
        }
        made
    }

    /// The kernel closes the number itself.
    fn close(&mut self, fd: usize) -> Answer {
        if let Some(at) = self.now.listener(fd) {
            return if self.now.unlist(at) { Kernel } else { Unknown };
        }
        let Some(at) = self.now.socket(fd) else { return Kernel };
        if let Some(End { wire, side }) = self.now.sockets[at].end {
            let (wire, side) = (&mut self.wires[wire as usize], side as usize);
            // Who has sent what is not read is told so.
            if wire.lengths[side] > 0 && wire.open[1 - side] {
                return Unknown;
            }
            wire.open[side] = false;
        }
        self.now.remove(at);
        Kernel
    }

    /// Something is sent or received.
    fn transfer(&mut self, End { wire, side }: End, number: usize, args: &[usize; 6]) -> Answer {
        const DONT_WAIT: usize = 0x40;
        const NO_SIGNAL: usize = 0x4000;
        const HERE: usize = usize::MAX;
        const NO_WAIT: usize = 8;
        let (wire, side) = (&mut self.wires[wire as usize], side as usize);
        let [_, first, second, third, ..] = *args;
        // A vector of one is what it is about.
        let one = || {
            let readable = second == 1 && can_be_read(first, 16);
            // SAFETY: the program's vector, which can be read.
            readable.then(|| unsafe { (*(first as *const usize), *(first as *const usize).add(1)) })
        };
        let flags = third as u32 as usize;
        let plain = match number {
            number::SENDTO => flags & !(DONT_WAIT | NO_SIGNAL) == 0 && args[4] == 0,
            number::RECVFROM => flags & !DONT_WAIT == 0 && args[4] == 0,
            number::PWRITEV2 => third == HERE && args[5] & !NO_WAIT == 0,
            _ => true,
        };
        let place = match number {
            number::READV | number::WRITEV | number::PWRITEV2 => one(),
            _ => Some((first, second)),
        };
        let Some((address, size)) = place.filter(|&(_, size)| plain && size > 0) else { return Unknown };
        match number {
            nr::READ | number::READV => wire.receive(side, address, size, true),
            number::RECVFROM => wire.receive(side, address, size, flags & DONT_WAIT == 0),
            _ => wire.send(side, address, size),
        }
    }

    /// What `poll` says of one; none if that is the kernel's.
    fn state(&self, fd: i32) -> Option<i16> {
        const IN: i16 = 0x1 | 0x40;
        const OUT: i16 = 0x4 | 0x100 | 0x200;
        const HUNG_UP: i16 = 0x10 | 0x2000;
        let fd = usize::try_from(fd).ok()?;
        if let Some(at) = self.now.listener(fd) {
            return (self.now.listeners[at].count > 0).then_some(IN);
        }
        let End { wire, side } = self.now.end(fd)?;
        let (wire, side) = (&self.wires[wire as usize], side as usize);
        let over = !wire.open[1 - side];
        let readable = if over || wire.lengths[side] > 0 { IN } else { 0 };
        Some(readable | OUT | if over { HUNG_UP } else { 0 })
    }

    /// Says what is so of these files, without waiting: of how many anything. None if the kernel is to be asked about all of
    /// them, or too many were asked about.
    pub(super) fn ask(&self, polls: &mut [Poll]) -> Result<Option<usize>, ()> {
        const ALWAYS: i16 = 0x8 | 0x10;
        if !self.now.is_secret() || polls.iter().all(|poll| self.state(poll.fd).is_none()) {
            return Ok(None);
        }
        let mut others = [Poll { fd: -1, events: 0, found: 0 }; POLLS_MAX];
        let Some(others) = others.get_mut(..polls.len()) else { return Err(()) };
        others.copy_from_slice(polls);
        others.iter_mut().filter(|poll| self.state(poll.fd).is_some()).for_each(|poll| poll.fd = -1);
        if others.iter().any(|poll| poll.fd >= 0) {
            // SAFETY: the list lives until the call returns.
            unsafe { sys::call3(nr::POLL, others.as_mut_ptr() as usize, others.len(), 0) };
        }
        for (poll, other) in polls.iter_mut().zip(others) {
            poll.found = self.state(poll.fd).map_or(other.found, |state| state & (poll.events | ALWAYS));
        }
        Ok(Some(polls.iter().filter(|poll| poll.found != 0).count()))
    }

    fn poll(&self, args: &[usize; 6]) -> Answer {
        let [list, count, wait, ..] = *args;
        if !self.now.is_secret() {
            return Kernel;
        }
        if count > POLLS_MAX || !can_be_written(list, count * size_of::<Poll>()) {
            return Unknown;
        }
        // SAFETY: the program's list, which can be written.
        let polls = unsafe { core::slice::from_raw_parts_mut(list as *mut Poll, count) };
        match self.ask(polls) {
            Ok(Some(0)) if wait as u32 != 0 => Unknown,
            Ok(Some(found)) => Is(found as isize),
            Ok(None) => Kernel,
            Err(()) => Unknown,
        }
    }
}

impl Wire {
    fn send(&mut self, side: usize, address: usize, size: usize) -> Answer {
        let (to, length) = (&mut self.bytes[1 - side], &mut self.lengths[1 - side]);
        let room = length.checked_add(size).and_then(|end| to.get_mut(*length..end));
        let Some(room) = room.filter(|_| self.open[1 - side] && can_be_read(address, size)) else {
            return Unknown;
        };
        // SAFETY: the program's bytes, which can be read.
        unsafe { core::ptr::copy_nonoverlapping(address as *const u8, room.as_mut_ptr(), size) };
        *length += size;
        Is(size as isize)
    }

    fn receive(&mut self, side: usize, address: usize, size: usize, waits: bool) -> Answer {
        const AGAIN: isize = -11;
        let (from, length) = (&mut self.bytes[side], &mut self.lengths[side]);
        let size = size.min(*length);
        if size == 0 {
            return match (self.open[1 - side], waits) {
                (false, _) => Is(0),
                (true, false) => Is(AGAIN),
                // A task of the program's waits elsewhere, so this is something else.
                (true, true) => Unknown,
            };
        }
        if !can_be_written(address, size) {
            return Unknown;
        }
        // SAFETY: the program's memory, which can be written.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, size) };
        from.copy_within(size..*length, 0);
        *length -= size;
        Is(size as isize)
    }
}

/// A socket that is never used.
fn make_blank() -> Option<u32> {
    // SAFETY: makes a descriptor.
    let blank = sys::out_of_the_way(unsafe { sys::call3(nr::SOCKET, LOCAL, STREAM, 0) })?;
    HIDDEN.contains(&blank).then_some(blank as u32)
}

/// Makes another descriptor for the same.
fn duplicate(fd: usize, cloexec: bool) -> isize {
    const DUPLICATE: usize = 0;
    const DUPLICATE_CLOEXEC: usize = 1030;
    // SAFETY: a descriptor that nobody knows yet.
    unsafe { sys::call3(nr::FCNTL, fd, if cloexec { DUPLICATE_CLOEXEC } else { DUPLICATE }, 0) }
}

fn is_duplicate(number: usize, args: &[usize; 6]) -> bool {
    const DUPLICATES: [usize; 2] = [0, 1030];
    number == nr::FCNTL && DUPLICATES.contains(&args[1])
}

/// Puts a socket of the kernel's in the place of one that nothing was done to yet.
fn make_real(fd: usize, undo: &mut Undo) -> bool {
    const GET_FD: usize = 1;
    undo.anything = true;
    undo.opens(1);
    // SAFETY: one socket takes the place of one like it.
    unsafe {
        let cloexec = if sys::call3(nr::FCNTL, fd, GET_FD, 0) == 1 { CLOEXEC } else { 0 };
        let real = sys::call3(nr::SOCKET, LOCAL, STREAM, 0);
        if real < 0 || !undo.may_close(fd) {
            return false;
        }
        let made = sys::call3(number::DUP3, real as usize, fd, cloexec);
        sys::call3(nr::CLOSE, real as usize, 0, 0);
        made >= 0
    }
}

/// The name by which a stream on this machine can be found; none if it is none.
fn name(fd: usize) -> Option<([u8; NAME_MAX], u8)> {
    let (mut name, mut length) = ([0; NAME_MAX], NAME_MAX as u32);
    // SAFETY: room for a name, and its length, which live until the call returns.
    let known = unsafe {
        sys::call3(number::GETSOCKNAME, fd, name.as_mut_ptr() as usize, (&raw mut length) as usize) == 0
    };
    let local = u16::from_ne_bytes([name[0], name[1]]) as usize == LOCAL;
    (known && local && super::kept::is_local_stream(fd)).then_some((name, length as u8))
}

/// Tells whoever accepts that the other has no name; false if that cannot be.
fn tell_nameless(address: usize, length: *mut u32) -> bool {
    const FAMILY: [u8; 2] = (LOCAL as u16).to_ne_bytes();
    // SAFETY: the program's variable, which can be written.
    let room = unsafe { length.read_unaligned() } as usize;
    if i32::try_from(room).is_err() || !can_be_written(address, room.min(FAMILY.len())) {
        return false;
    }
    // SAFETY: the program's memory, which can be written.
    unsafe {
        core::ptr::copy_nonoverlapping(FAMILY.as_ptr(), address as *mut u8, room.min(FAMILY.len()));
        length.write_unaligned(FAMILY.len() as u32);
    }
    true
}
