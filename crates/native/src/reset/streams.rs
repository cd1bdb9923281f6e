//! Connections of the program with itself, without the kernel: to make two sockets and to end them takes it longer than a
//! small run takes for everything else.
//!
//! Concerns streams on this machine (`AF_UNIX`) whose listener is the run's own, and pairs ([`pairs`]). What is done to them
//! is done here, byte by byte as the kernel would; what nobody has thought of is not done at all: the run is begun again by
//! a process that leaves everything to the kernel ([`Streams::gives_up`]). So this need not know all that a socket can do,
//! only what it knows must be right. Runs in processes of their own never come here, and they are what repeated runs are
//! compared with.
//!
//! Numbers are what they would be: those that the kernel would give out. It is not told of them before it has to know, which
//! mostly is never ([`Streams::tell`]); then each stands for one socket that is never used, the `blank`. A socket that
//! nothing was done to yet is just that, and becomes a real one as soon as something is done to it that is not to connect.
//! Listeners are always real, since others may connect to them, too; those here are heard first.

mod names;
mod pairs;
mod sockets;
mod table;
mod wire;

use super::output::is_blind;
use super::reach::{can_be_read, can_be_written};
use super::undo::{HIDDEN, Undo};
use crate::io::Poll;
use crate::sys::{self, CLOEXEC, nr};
use names::names_descriptor;
use sockets::{duplicate, make_blank, make_real, name, numbers, tell_nameless};
use table::{End, LISTENERS_MAX, Listener, NAME_MAX, NOBODY, NOTHING, SOCKETS_MAX, Socket, Table, WIRES_MAX};
use wire::Wire;

/// Most files that are asked about at once.
const POLLS_MAX: usize = 32;

const LOCAL: usize = 1;
const STREAM: usize = 1;

mod number {
    pub(super) const STAT: usize = 4;
    pub(super) const LSTAT: usize = 6;
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
    pub(super) const SOCKETPAIR: usize = 53;
    pub(super) const GETSOCKOPT: usize = 55;
    pub(super) const READLINK: usize = 89;
    pub(super) const EPOLL_CTL: usize = 233;
    pub(super) const OPENAT: usize = 257;
    pub(super) const READLINKAT: usize = 267;
    pub(super) const PSELECT6: usize = 270;
    pub(super) const PPOLL: usize = 271;
    pub(super) const ACCEPT4: usize = 288;
    pub(super) const DUP3: usize = 292;
    pub(super) const PWRITEV2: usize = 328;
    pub(super) const STATX: usize = 332;
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
    start_wires: [Wire; WIRES_MAX],
    start_wires_count: usize,
    /// Whether anything is not as it was at the start.
    changed: bool,
    gives_up: bool,
    /// Numbers from this one on are given out by the kernel.
    numbers: usize,
    /// How many numbers have been given out that the kernel has not been told of, all of them in this run.
    untold: usize,
}

impl Streams {
    /// None yet. If they `may` not be done here they are all left to the kernel.
    pub(super) fn new(may: bool) -> Streams {
        Streams {
            blank: if may { make_blank() } else { None },
            now: NOTHING,
            start: NOTHING,
            wires: [Wire::NONE; WIRES_MAX],
            wires_count: 0,
            start_wires: [Wire::NONE; WIRES_MAX],
            start_wires_count: 0,
            changed: false,
            gives_up: false,
            numbers: numbers().min(HIDDEN.start),
            untold: 0,
        }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        (self.gives_up, self.untold) = (false, 0);
        if core::mem::take(&mut self.changed) {
            (self.now, self.wires_count) = (self.start, self.start_wires_count);
            let start = &self.start_wires[..self.start_wires_count];
            self.wires.iter_mut().zip(start).for_each(|(wire, start)| wire.follow(start));
        }
    }

    /// Runs begin where this one is.
    pub(super) fn moved(&mut self) {
        (self.start, self.start_wires_count) = (self.now, self.wires_count);
        let wires = &self.wires[..self.wires_count];
        self.start_wires.iter_mut().zip(wires).for_each(|(start, wire)| start.follow(wire));
    }

    /// The descriptor that all stand for.
    pub(super) fn blank(&self) -> Option<usize> {
        self.blank.map(|blank| blank as usize)
    }

    /// Whether this descriptor is one of those here.
    pub(super) fn has(&self, fd: usize) -> bool {
        self.now.socket(fd).is_some()
    }

    /// Whether the kernel would be wrong about this descriptor.
    pub(super) fn is_untold(&self, fd: usize) -> bool {
        self.now.socket(fd).is_some_and(|at| self.now.sockets[at].untold.is_some())
    }

    /// Tells the kernel of all numbers that are given out, and of those that were given back.
    pub(super) fn tell(&mut self, undo: &mut Undo) {
        undo.close_put_off();
        if self.untold == 0 {
            return;
        }
        undo.anything = true;
        undo.opens(core::mem::take(&mut self.untold));
        let Table { sockets, sockets_count, .. } = &mut self.now;
        for socket in &mut sockets[..*sockets_count] {
            if let (Some(cloexec), Some(blank)) = (socket.untold.take(), self.blank) {
                let made = sys::duplicate_as(blank as usize, socket.fd as usize, cloexec);
                assert!(made, "raddle bug: the kernel has another number");
            }
        }
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
        if number == number::SOCKETPAIR {
            return self.pair(args, undo);
        }
        if NAMES.contains(&number) || number == nr::FCNTL && sys::is_duplicate(args[1]) {
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
            _ if names_descriptor(number, args) => Unknown,
            nr::CONNECT => self.connect(args, undo),
            number::ACCEPT => self.accept(args, 0, undo),
            number::ACCEPT4 => self.accept(args, args[3], undo),
            nr::CLOSE => self.close(args[0]),
            nr::POLL => self.poll(args, undo),
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
        let made = match self.now.sockets[at].end {
            Some(End { wire, .. }) => self.leave_pair(wire, undo),
            None => {
                self.tell(undo);
                let made = make_real(fd, undo);
                self.now.remove(at);
                made
            }
        };
        if made { Kernel } else { Unknown }
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
        self.changed = true;
        let fd = if let Some(fd) = self.next_number(undo) {
            self.untold += 1;
            self.now.add(Socket { fd: fd as u32, end, untold: Some(cloexec) });
            fd
        } else {
            self.tell(undo);
            undo.anything = true;
            undo.opens(1);
            let Ok(fd) = usize::try_from(duplicate(blank as usize, cloexec)) else { return Unknown };
            self.now.add(Socket { fd: fd as u32, end, untold: None });
            fd
        };
        Is(fd as isize)
    }

    /// The number that the kernel would give out, if that is known: as long as it has made none for the run.
    fn next_number(&self, undo: &Undo) -> Option<usize> {
        let is_free = |fd: &usize| !undo.is_inherited(*fd) && self.now.socket(*fd).is_none();
        (undo.opened == 0).then(|| (0..self.numbers).find(is_free)).flatten()
    }

    /// The program listens, and the kernel agrees.
    pub(super) fn listens(&mut self, fd: usize, most: usize) {
        const MOST: u32 = 4096;
        let most = (most as u32).min(MOST);
        if let Some(at) = self.now.listener(fd) {
            self.now.listeners[at].most = most;
            return;
        }
        let Table { listeners, listeners_count: count, odd, .. } = &mut self.now;
        if self.blank.is_none() || *odd || *count == LISTENERS_MAX {
            return;
        }
        if let Some((name, length)) = name(fd) {
            listeners[*count] = Listener { fd: fd as u32, name, length, most, ..NOBODY };
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
        to.waiting[to.count as usize] = self.wires_count as u8;
        to.count += 1;
        let wire = self.begin_wire(false);
        self.now.sockets[at].end = Some(End { wire, side: 0 });
        Is(0)
    }

    fn begin_wire(&mut self, is_pair: bool) -> u8 {
        self.wires[self.wires_count].begin(is_pair);
        self.wires_count += 1;
        self.wires_count as u8 - 1
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

    /// A number that the kernel knows of it closes itself.
    fn close(&mut self, fd: usize) -> Answer {
        if let Some(at) = self.now.listener(fd) {
            return if self.now.unlist(at) { Kernel } else { Unknown };
        }
        let Some(at) = self.now.socket(fd) else { return Kernel };
        if let Some(End { wire, side }) = self.now.sockets[at].end {
            self.wires[wire as usize].close(side as usize);
        }
        let told = self.now.sockets[at].untold.is_none();
        self.now.remove(at);
        if told { Kernel } else { Is(0) }
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
            number::SENDTO => wire.send(side, address, size, flags & NO_SIGNAL != 0),
            _ => wire.send(side, address, size, false),
        }
    }

    /// What `poll` says of one; none if that is the kernel's.
    fn state(&self, fd: i32) -> Option<i16> {
        const IN: i16 = 0x1 | 0x40;
        const OUT: i16 = 0x4 | 0x100 | 0x200;
        const HUNG_UP: i16 = 0x10 | 0x2000;
        const ERROR: i16 = 0x8;
        let fd = usize::try_from(fd).ok()?;
        if let Some(at) = self.now.listener(fd) {
            return (self.now.listeners[at].count > 0).then_some(IN);
        }
        let End { wire, side } = self.now.end(fd)?;
        let (wire, side) = (&self.wires[wire as usize], side as usize);
        let over = wire.is_over(side);
        let readable = if over || wire.has_bytes(side) { IN } else { 0 };
        let broken = if wire.is_reset(side) { ERROR } else { 0 };
        Some(readable | OUT | broken | if over { HUNG_UP } else { 0 })
    }

    /// Whether the kernel need not be asked about a file.
    pub(super) fn knows(&self, fd: i32) -> bool {
        self.state(fd).is_some()
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
        for (other, poll) in others.iter_mut().zip(&*polls).filter(|(_, poll)| self.state(poll.fd).is_none())
        {
            *other = Poll { found: 0, ..*poll };
        }
        if others.iter().any(|poll| poll.fd >= 0) {
            // SAFETY: the list lives until the call returns.
            unsafe { sys::call3(nr::POLL, others.as_mut_ptr() as usize, others.len(), 0) };
        }
        for (poll, other) in polls.iter_mut().zip(others) {
            poll.found = self.state(poll.fd).map_or(other.found, |state| state & (poll.events | ALWAYS));
        }
        Ok(Some(polls.iter().filter(|poll| poll.found != 0).count()))
    }

    fn poll(&mut self, args: &[usize; 6], undo: &mut Undo) -> Answer {
        let [list, count, wait, ..] = *args;
        if !self.now.is_secret() {
            return Kernel;
        }
        if count > POLLS_MAX || !can_be_written(list, count * size_of::<Poll>()) {
            return Unknown;
        }
        // SAFETY: the program's list, which can be written.
        let polls = unsafe { core::slice::from_raw_parts_mut(list as *mut Poll, count) };
        if !polls.iter().all(|poll| self.knows(poll.fd)) {
            self.tell(undo);
        }
        match self.ask(polls) {
            Ok(Some(0)) if wait as u32 != 0 => Unknown,
            Ok(Some(found)) => Is(found as isize),
            Ok(None) => Kernel,
            Err(()) => Unknown,
        }
    }
}
