//! Blocking I/O: a task that would wait in the kernel waits for its turn instead, so it never holds up the others.
//!
//! Files that are connected (both ends of a pipe, all sockets of the run) are one object, and each call on them is an
//! operation that writes it: what was sent happens before what is received. A call that the kernel could not
//! finish now parks its task; whatever another task does to any file may be what it waits for, so all that wait are
//! asked again then. If nobody can do anything any more it is a deadlock like any other, unless something may come
//! from outside (`idle.rs`).
//!
//! What comes from outside the process is waited for in the kernel: only files that this run has made itself
//! (pipes, socket pairs, event counters, sockets) have their other end in here.

use crate::cancel;
use crate::hidden;
use crate::reset::ask;
use crate::run::{Run, arrive, with};
use crate::sys;
use alloc::vec::Vec;
use raddle_model::objects::State;
use raddle_model::trace::Hidden;
use raddle_model::{Kind, ObjectId, Op, Outcome, SiteId, TaskId, call};

/// What `poll` is asked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    /// Which file.
    pub fd: i32,
    /// What is waited for.
    pub events: i16,
    /// What is so.
    pub found: i16,
}

/// There is something to read.
pub const IN: i16 = 1;
/// There is room to write.
pub const OUT: i16 = 4;

/// Who waits, and for what.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) task: TaskId,
    /// Any of these. Who waits for nothing in particular tries again whatever happens.
    polls: Vec<Poll>,
    /// When it would be worth while to try again, if only others could change that.
    room: Option<Poll>,
    /// A number that is to be more than zero, in memory that other processes have, too.
    word: Option<usize>,
    /// How long it waits for the outside, in nanoseconds.
    pub(crate) patience: Option<u64>,
    /// When that is over, once nobody else could go on.
    pub(crate) due: Option<u64>,
}

/// Who waits for which files.
#[derive(Clone, Default, Debug)]
pub struct Waiters {
    pub(crate) all: Vec<Waiting>,
    /// Files that this run has made, each with the number of its object.
    ours: Vec<(i32, usize)>,
    /// Those of them that are closed: who comes to one of these numbers comes too late, and could have come before.
    gone: Vec<(i32, usize)>,
    /// What those are that are made together.
    families: Vec<&'static str>,
    /// Files that are locked, by whomever.
    locked: Vec<i32>,
    /// Groups of files that have one in them whose other end is outside.
    strangers: Vec<(i32, i32)>,
    /// Families of which a process that the program has made has some, too.
    inherited: Vec<usize>,
    /// What the first family is called while there is no socket: an epoll group, or what is in it.
    group: Option<&'static str>,
}

impl Waiters {
    /// Which files it is made with, if the run has made it.
    fn family(&self, fd: i32) -> Option<usize> {
        self.ours.iter().find(|(ours, _)| *ours == fd).map(|(_, family)| *family)
    }

    /// From now on a number means a file of the run's own, or none that is.
    fn set(&mut self, fd: i32, family: Option<usize>) {
        let before = self.family(fd);
        self.ours.retain(|(known, _)| *known != fd);
        self.ours.extend(family.map(|family| (fd, family)));
        if before.is_some() || family.is_some() {
            self.gone.retain(|(known, _)| *known != fd);
        }
        if family.is_none() {
            self.gone.extend(before.map(|before| (fd, before)));
        }
    }

    /// A process has them now, too.
    pub(crate) fn are_inherited(&mut self) {
        for (_, family) in &self.ours {
            if !self.inherited.contains(family) {
                self.inherited.push(*family);
            }
        }
        // Whoever knows the address may connect.
        if !self.inherited.contains(&NETWORK) {
            self.inherited.push(NETWORK);
        }
    }

    /// Whether something may come to a file from outside: its other end is there, or a group has such a file in it.
    fn is_strange(&self, fd: i32) -> bool {
        self.family(fd).is_none() || self.strangers.iter().any(|(group, _)| *group == fd)
    }

    /// The same if somebody who has inherited it may be left.
    fn is_inherited(&self, fd: i32) -> bool {
        self.family(fd).is_some_and(|family| self.inherited.contains(&family))
    }

    /// The same for one that is closed.
    fn former_family(&self, fd: i32) -> Option<usize> {
        self.gone.iter().find(|(gone, _)| *gone == fd).map(|(_, family)| *family)
    }
}

impl Run {
    /// The object of an open file; those that others have made share one.
    fn file(&mut self, fd: i32, site: SiteId) -> ObjectId {
        let waiters = &self.waiters;
        let family = waiters.family(fd).or_else(|| waiters.former_family(fd)).unwrap_or(0);
        let noun = match family {
            0 => "file",
            NETWORK => self.waiters.group.unwrap_or(SOCKET),
            other => self.waiters.families[other - NETWORK - 1],
        };
        // No object of the program's lies at such an address; the last one of all means none.
        self.object(usize::MAX - 1 - family, site, || State::Kernel(noun))
    }

    /// A call on a file; which one is told if somebody will read it.
    fn call(&mut self, fd: i32, number: usize, site: SiteId) -> Op {
        let op = Op::new(Kind::Rmw, self.file(fd, site), site);
        if self.calls.wanted { op.arg(call::told(number)) } else { op }
    }
}

/// The family of sockets that are connected by their addresses, and of epoll groups, which may have any of them in them.
pub const NETWORK: usize = 1;

const SOCKET: &str = "socket";
const GROUP: &str = "epoll";

/// The run has made an epoll group.
pub fn made_group(fd: i32) {
    with(|run| {
        let none = !run.waiters.ours.iter().any(|(_, family)| *family == NETWORK);
        if none {
            run.waiters.group = Some(GROUP);
        }
    });
    joined(fd, NETWORK);
}

/// The run has made a socket.
pub fn made_socket(fd: i32) {
    with(|run| run.waiters.group = None);
    joined(fd, NETWORK);
}

/// The run has made files that are connected with each other; what they are, for people.
pub fn made(fds: &[i32], noun: &'static str) {
    let family = with(|run| {
        run.waiters.families.push(noun);
        run.waiters.families.len() + NETWORK
    });
    fds.iter().for_each(|&fd| joined(fd, family));
}

/// The run has made a file that belongs to a family.
pub fn joined(fd: i32, family: usize) {
    hidden::numbers_file();
    with(|run| run.waiters.set(fd, Some(family)));
}

/// From now on two files are connected, and with them all that are connected with either.
pub fn unite(a: i32, b: i32) {
    with(|run| {
        if let (Some(to), Some(from)) = (run.waiters.family(a), run.waiters.family(b))
            && to != from
        {
            // Whoever has come to the one before does not know that it is the other.
            run.hides(Hidden::FILES);
            if run.waiters.group == Some(GROUP) && from > NETWORK {
                run.waiters.group = Some(run.waiters.families[from - NETWORK - 1]);
            }
            if run.waiters.inherited.contains(&from) {
                run.waiters.inherited.push(to);
            }
            let Waiters { ours, gone, .. } = &mut run.waiters;
            let all = ours.iter_mut().chain(gone);
            all.filter(|(_, family)| *family == from).for_each(|(_, family)| *family = to);
        }
    });
}

/// A group has another file in it, or no longer.
pub fn grouped(group: i32, fd: i32, is_in: bool) {
    with(|run| {
        run.waiters.strangers.retain(|known| *known != (group, fd));
        if is_in && run.waiters.family(fd).is_none() {
            run.waiters.strangers.push((group, fd));
        }
    });
}

/// Whether the other end of a file is in this run.
pub fn is_ours(fd: i32) -> bool {
    with(|run| run.waiters.ours.iter().any(|(ours, _)| *ours == fd))
}

/// Whether what is done to a file has an order: its other end is in this run, or was until it was closed.
pub fn concerns(fd: i32) -> bool {
    is_ours(fd) || with(|run| run.waiters.former_family(fd).is_some())
}

/// A file is locked from now on, or no longer.
pub fn locked(fd: i32, held: bool) {
    with(|run| {
        run.waiters.locked.retain(|&known| known != fd);
        run.waiters.locked.extend(held.then_some(fd));
    });
}

/// Whether the run has locked a file by another number than this one: that may be what this one waits for.
pub fn is_locked_by_us(fd: i32) -> bool {
    with(|run| run.waiters.locked.iter().any(|&known| known != fd))
}

/// Whether a file is locked: to close it may let another go on.
pub fn is_locked(fd: i32) -> bool {
    with(|run| run.waiters.locked.contains(&fd))
}

/// A file is closed.
pub fn closed(fd: i32) {
    hidden::numbers_file();
    with(|run| run.waiters.set(fd, None));
}

/// An operation on a file that does not wait; what it does happens when this returns, and then
/// [`after`] is to be called. The call has a number of the kernel's; so in all that follow.
pub fn before(fd: i32, number: usize, pc: usize) {
    arrive(with(|run| {
        let site = run.site(pc);
        run.call(fd, number, site)
    }));
}

/// The same for a call that may come too late, to a file that is closed. False if it does not.
pub fn come_late(fd: i32, number: usize, pc: usize) -> bool {
    let late = !is_ours(fd) && concerns(fd);
    if late {
        before(fd, number, pc);
    }
    late
}

/// The same for one that is about two files. False if neither is one of the run's own.
pub fn before_both(fds: [i32; 2], number: usize, pc: usize) -> bool {
    let known: Vec<i32> = fds.into_iter().filter(|&fd| concerns(fd)).collect();
    let mut ops: Vec<Op> = with(|run| {
        let site = run.site(pc);
        known.into_iter().map(|fd| run.call(fd, number, site)).collect()
    });
    let Some(last) = ops.pop() else { return false };
    arrive(match ops.pop() {
        Some(other) if other.object != last.object => last.second(other.object),
        _ => last,
    });
    true
}

/// Something was done to some file: whoever waits may go on.
pub fn after(pc: usize) {
    let ready = with(|run| {
        let mut ready = Vec::new();
        run.waiters.all.retain_mut(|waiting| {
            let go = waiting.word.is_none() && (waiting.polls.is_empty() || ask(&mut waiting.polls));
            if go {
                ready.push(waiting.task);
            }
            !go
        });
        ready
    });
    wake(ready, pc);
}

fn wake(ready: Vec<TaskId>, pc: usize) {
    let site = with(|run| run.site(pc));
    for task in ready {
        let token = with(|run| run.engine.world_mut().token(task));
        arrive(Op::new(Kind::Unpark, token, site));
    }
}

/// Waits until anything is done to any file: for what the kernel cannot be asked about. If others make room in this one
/// that is a change, too. None if the thread is cancelled.
pub fn wait_for_change(full: Option<i32>, pc: usize) -> Option<()> {
    hidden::hides(Hidden::FILES);
    let site = with(|run| run.site(pc));
    let room = full.map(|fd| Poll { fd, events: OUT, found: 0 });
    let waiting = Waiting { room, ..with(|run| run.waiting()) };
    wait_once(waiting, None, site).map(|_| ())
}

/// Waits until a number in memory that others have, too, is more than zero; somebody may take it away again. Limit in
/// nanoseconds. None if the thread is cancelled.
pub(crate) fn wait_for_word(address: usize, limit: Option<u64>, site: SiteId) -> Option<Outcome> {
    let (waiting, limit) = with(|run| {
        let (patience, limit) = run.divide(limit, run.outside.children.have_been());
        (Waiting { word: Some(address), patience, ..run.waiting() }, limit)
    });
    wait_once(waiting, limit, site)
}

/// A number in memory that others have, too, is more than zero: whoever waits for that may go on.
pub(crate) fn after_word(address: usize, pc: usize) {
    let ready = with(|run| {
        let mut ready = Vec::new();
        run.waiters.all.retain(|waiting| {
            let go = waiting.word == Some(address);
            ready.extend(go.then_some(waiting.task));
            !go
        });
        ready
    });
    wake(ready, pc);
}

/// The same for a call at which no thread is cancelled.
pub fn wait_for_any_change(pc: usize) {
    hidden::hides(Hidden::FILES);
    arrive(with(|run| {
        let site = run.site(pc);
        run.waiters.all.push(run.waiting());
        run.parking(None, site)
    }));
    with(|run| run.waits_no_more());
}

/// Waits until something is done that may be what these wait for. None if the thread is cancelled.
fn wait_once(waiting: Waiting, limit: Option<u64>, site: SiteId) -> Option<Outcome> {
    with(|run| run.waiters.all.push(waiting));
    let outcome = cancel::park(limit, site);
    if outcome != Some(Outcome::TimedOut) {
        with(|run| run.waits_no_more());
    }
    outcome
}

impl Run {
    /// The running task waits for nothing in particular.
    fn waiting(&self) -> Waiting {
        let task = self.running;
        Waiting { task, polls: Vec::new(), room: None, word: None, patience: None, due: None }
    }

    /// How long to wait for the outside, and how long by the program's own time: what comes from outside does not know
    /// that, and would always come too late.
    fn divide(&self, limit: Option<u64>, outside: bool) -> (Option<u64>, Option<u64>) {
        if outside { (limit, None) } else { (None, limit) }
    }

    /// Whether somebody outside may do something to one of these, now or as long as a child lives.
    fn are_for_outside(&self, polls: &[Poll]) -> bool {
        let mut known = polls.iter().filter(|poll| poll.fd >= 0);
        known.any(|poll| self.waiters.is_strange(poll.fd) || self.waiters.is_inherited(poll.fd))
    }

    /// Whether the running task was still among those that wait.
    pub(crate) fn waits_no_more(&mut self) -> bool {
        let (me, all) = (self.running, &mut self.waiters.all);
        let before = all.len();
        all.retain(|waiting| waiting.task != me);
        all.len() < before
    }
}

/// The running task comes to all of these files: two that are not connected in one step, more of them one after the other,
/// and what is done to one of those while it is at the next has no order. Nor has who wakes it, of two that do something to
/// two of them. None if it is cancelled.
fn come_to(polls: &[Poll], number: usize, site: SiteId) -> Option<()> {
    let mut ops = with(|run| {
        let mut ops: Vec<Op> = Vec::new();
        for poll in polls.iter().filter(|poll| poll.fd >= 0) {
            let op = run.call(poll.fd, number, site);
            if ops.iter().all(|known| known.object != op.object) {
                ops.push(op);
            }
        }
        if ops.len() > 1 {
            run.hides(Hidden::FILES);
        }
        ops
    });
    if ops.len() >= 2
        && let Some(last) = ops.pop()
        && let Some(other) = ops.last_mut()
    {
        *other = other.second(last.object);
    }
    for op in ops {
        cancel::point(op)?;
    }
    Some(())
}

/// The time is over. What is so now, and whether somebody still found it waiting, is a matter of order.
fn come_back(polls: &[Poll], number: usize, site: SiteId) -> Option<()> {
    let back = come_to(polls, number, site);
    if !with(|run| run.waits_no_more()) && back.is_some() {
        // Its token is on its way.
        cancel::park(None, site)?;
    }
    back
}

/// A file is another name of one that the run has made.
pub fn same(fd: i32, as_fd: i32) {
    hidden::numbers_file();
    with(|run| {
        let (before, family) = (run.waiters.family(fd), run.waiters.family(as_fd));
        if before.is_some() && before != family {
            // Whoever has come to the one that had this number does not know that it is the other.
            run.hides(Hidden::FILES);
        }
        run.waiters.set(fd, family);
    });
}

/// Asks the kernel what is so of these files now; whether anything is.
pub(crate) fn ask_kernel(polls: &mut [Poll]) -> bool {
    // SAFETY: the structures live until the call returns.
    unsafe { sys::call3(sys::nr::POLL, polls.as_mut_ptr() as usize, polls.len(), 0) > 0 }
}

/// Whether a file is a timer that will not end.
fn is_idle_timer(fd: i32) -> bool {
    const TIMERFD_GETTIME: usize = 287;
    let mut left = [0u64; 4];
    // SAFETY: room for what the kernel says.
    let timer = unsafe { sys::call3(TIMERFD_GETTIME, fd as usize, left.as_mut_ptr() as usize, 0) == 0 };
    timer && left[2..] == [0, 0]
}

impl Waiting {
    /// What it waits for that may come from outside, if a process that the program has made is left or none is.
    fn outside(&self, waiters: &Waiters, children: bool) -> impl Iterator<Item = Poll> {
        let strange = move |poll: &&Poll| {
            let Poll { fd, .. } = **poll;
            let mut group = waiters.strangers.iter().filter(|(group, _)| *group == fd).peekable();
            let timer = match group.peek() {
                None => is_idle_timer(fd),
                Some(_) => group.all(|(_, fd)| is_idle_timer(*fd)),
            };
            fd >= 0 && (waiters.is_strange(fd) && !timer || children && waiters.is_inherited(fd))
        };
        self.polls.iter().chain(&self.room).filter(strange).copied()
    }

    /// Whether it can go on by now.
    pub(crate) fn is_over(&mut self, waiters: &Waiters, children: bool) -> bool {
        let Waiting { polls, room, word, .. } = self;
        // SAFETY: the program says that a number lies there.
        let word = word.is_some_and(|word| unsafe { (word as *const u32).read_volatile() } > 0);
        let room = room.as_mut().is_some_and(|room| {
            children && waiters.is_inherited(room.fd) && ask(core::slice::from_mut(room))
        });
        word || room || !polls.is_empty() && ask(polls)
    }
}

impl Run {
    /// What may come to those who wait from outside, and whether it is also to be looked at now and then.
    pub(crate) fn awaited(&self, children: bool) -> (Vec<Poll>, bool) {
        let all = &self.waiters.all;
        let polls = all.iter().flat_map(|waiting| waiting.outside(&self.waiters, children)).collect();
        (polls, children && all.iter().any(|waiting| waiting.word.is_some()))
    }
}

/// Waits until one of the files is as asked for. False if the time is over before. Limit in nanoseconds. None if the
/// thread is cancelled.
pub fn wait(polls: &mut [Poll], limit: Option<u64>, number: usize, pc: usize) -> Option<bool> {
    wait_if(polls, || limit, number, pc)
}

/// The same; how long is asked only if it is not so at once.
pub fn wait_if(
    polls: &mut [Poll],
    limit: impl FnOnce() -> Option<u64>,
    number: usize,
    pc: usize,
) -> Option<bool> {
    let site = with(|run| run.site(pc));
    come_to(polls, number, site)?;
    if ask(polls) {
        return Some(true);
    }
    let limit = limit();
    if limit == Some(0) {
        return Some(false);
    }
    loop {
        let (waiting, limit) = with(|run| {
            let (patience, limit) = run.divide(limit, run.are_for_outside(polls));
            (Waiting { polls: polls.to_vec(), patience, ..run.waiting() }, limit)
        });
        let over = wait_once(waiting, limit, site)? == Outcome::TimedOut;
        match over {
            true => come_back(polls, number, site)?,
            // What is so now is a matter of order, as it was at first.
            false => come_to(polls, number, site)?,
        }
        let found = ask(polls);
        if found || over {
            return Some(found);
        }
    }
}
