//! What is written down of a run of a search: lines, and how a run is led by them.

use alloc::vec::Vec;
use raddle_model::{Kind, ObjectId, SiteId, TaskId};

/// No line is there.
const BEYOND: usize = usize::MAX;

/// What a front end asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Arrive,
    Announce,
    Spawn,
    Register,
    Unchanged,
}

/// A call, and its answer if it has one: a task or an object. Whose call it is need not be said: the lines before it tell who
/// is running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// In the lower half the object. In the upper half nothing where a task goes on that has come to a point, and one more
    /// than the answer in all other lines: so what nearly all calls are is told by one comparison of a whole word.
    object: u64,
    site: SiteId,
    /// The call, and the kind of its operation.
    what: u16,
    /// How often it comes, one after the other. More than once only where a task goes on: programs have loops.
    times: u16,
}

/// In [`Line::what`]: whoever goes on gives back at once what it takes here. So there is no line for that.
const CLOSED: u16 = 1 << 15;
/// What a line is where a task comes to a mutex.
const TAKES: u16 = what(Call::Arrive, Kind::Lock);

/// More than the id of any object that is compared in that way.
const IDS: u32 = 1 << 24;

const fn what(call: Call, kind: Kind) -> u16 {
    (call as u16) << 8 | kind as u16
}

/// Site and call in one word.
#[inline(always)]
fn word(site: SiteId, what: u16) -> u64 {
    u64::from(site.0) | u64::from(what) << 32
}

impl Line {
    #[inline(always)]
    pub(super) fn new(call: Call, kind: Kind, object: ObjectId, site: SiteId, answer: u32) -> Line {
        let object = u64::from(object.0) | u64::from(answer + 1) << 32;
        Line { object, site, what: what(call, kind), times: 1 }
    }

    /// A task has come to a point and goes on.
    #[inline(always)]
    pub(super) fn staying(kind: Kind, task: TaskId, object: ObjectId, site: SiteId) -> Line {
        let line = Line::new(Call::Arrive, kind, object, site, task.0);
        if object.0 < IDS { Line { object: u64::from(object.0), ..line } } else { line }
    }

    /// As it is where nothing has been given back yet, and once.
    pub(super) fn alone(self) -> Line {
        Line { what: self.what & !CLOSED, times: 1, ..self }
    }

    /// Whether it is the same call.
    #[inline(always)]
    pub(super) fn is_same(&self, call: Line) -> bool {
        self.what == call.what && self.site == call.site && self.object as u32 == call.object as u32
    }

    /// Whether it is the same call with the same answer.
    #[inline(always)]
    fn is_like(&self, other: &Line) -> bool {
        self.object == other.object && word(self.site, self.what) == word(other.site, other.what)
    }

    /// Whether another call like it, after which the task goes on, too, can be counted here.
    #[inline(always)]
    fn takes_in(&self, other: &Line) -> bool {
        self.is_like(other) && self.object < u64::from(IDS) && self.times < u16::MAX
    }

    /// Its answer, to a call of this task.
    #[inline(always)]
    pub(super) fn answer(&self, task: TaskId) -> u32 {
        ((self.object >> 32) as u32).checked_sub(1).unwrap_or(task.0)
    }
}

/// The lines that are written, or that lead the run: within reach of every operation.
#[derive(Debug)]
pub(crate) struct Script {
    /// While a run is led all but the last one of those that lead it, so that nothing but the end of the list is to be
    /// looked out for.
    lines: Vec<Line>,
    // invariant: the next line in a run that is led, of which the last lies elsewhere; beyond all lines in any other.
    at: usize,
    // invariant: the object of the next line, if that is one of a task that goes on; else no object's number.
    next_object: u64,
    // invariant: its site and what it is; nothing that is called if there is none.
    next_word: u64,
    // invariant: how often it is still to come; 0 if there is none.
    left: u32,
    // invariant: the next line is closed, and the running task has taken what it is about. Only giving that back is
    // a match then, and leads on.
    opened: bool,
    // invariant: states are kept in between so many first lines, and not behind them: these stay as many.
    settled: usize,
}

impl Default for Script {
    fn default() -> Script {
        let nothing = u64::MAX;
        Script {
            lines: Vec::new(),
            at: BEYOND,
            next_object: nothing,
            next_word: nothing,
            left: 0,
            opened: false,
            settled: 0,
        }
    }
}

// How lines lead.
impl Script {
    /// Holds a task's call against the next line. Its answer; none if the run has strayed, or has come to its last line.
    #[inline(always)]
    pub(super) fn answer(&mut self, call: Line, task: TaskId) -> Option<u32> {
        let expected = self.lines.get(self.at)?;
        if !expected.is_same(call) {
            return self.answer_closed(call, task);
        }
        let answer = expected.answer(task);
        self.lead_on();
        Some(answer)
    }

    /// The same where the next line is closed.
    #[inline(never)]
    fn answer_closed(&mut self, call: Line, task: TaskId) -> Option<u32> {
        let expected = self.lines.get(self.at).filter(|line| line.what & CLOSED != 0)?;
        let kind = if self.opened { Kind::Unlock } else { Kind::Lock };
        if !Line::new(Call::Arrive, kind, ObjectId(expected.object as u32), expected.site, 0).is_same(call) {
            return None;
        }
        if self.opened {
            self.lead_on();
        }
        self.opened = !self.opened;
        Some(task.0)
    }

    /// Whether the next line is that the running task takes this mutex, and gives it back before anything else. If so, and if
    /// nobody `can` say no, it has taken it, and [`Script::gives_back`] leads on.
    #[inline(always)]
    pub(super) fn opens(&mut self, object: u64, site: SiteId, can: impl FnOnce() -> bool) -> bool {
        let opens = self.next_object == object && self.next_word == word(site, CLOSED | TAKES) && can();
        if opens {
            self.opened = true;
        }
        opens
    }

    /// Whether what was taken last is given back now, as the line says. If so a number as [`Script::stays`] has it.
    #[inline(always)]
    pub(super) fn gives_back(&mut self) -> Option<usize> {
        if !self.opened {
            return None;
        }
        self.opened = false;
        Some(self.lead_on())
    }

    /// Whether the next line is that the running task comes to this point and goes on. If so it has, and this is a number that
    /// differs from the one before it.
    #[inline(always)]
    pub(super) fn stays(&mut self, kind: Kind, object: u64, site: SiteId) -> Option<usize> {
        if self.next_object != object || self.next_word != word(site, what(Call::Arrive, kind)) {
            return None;
        }
        Some(self.lead_on())
    }

    /// The call of the next line was made.
    #[inline(always)]
    fn lead_on(&mut self) -> usize {
        if self.left <= 1 {
            return self.read_next();
        }
        self.left -= 1;
        self.left as usize
    }

    #[inline(never)]
    fn read_next(&mut self) -> usize {
        self.read(self.at + 1);
        usize::MAX - self.at
    }

    /// This line comes next.
    fn read(&mut self, at: usize) {
        self.at = at;
        (self.next_object, self.next_word, self.left) = (u64::MAX, u64::MAX, 0);
        if let Some(line) = self.lines.get(at) {
            if line.object < u64::from(IDS) {
                self.next_object = line.object;
            }
            (self.next_word, self.left) = (word(line.site, line.what), u32::from(line.times));
        }
    }

    /// So many lines lead a run; the last of them.
    pub(super) fn lead(&mut self, lines: usize) -> Option<Line> {
        self.lines.truncate(lines);
        // What the state was kept after was done once, and had not given anything back.
        let last = self.lines.pop().map(Line::alone);
        self.read(0);
        last
    }

    /// Nobody is led any more.
    pub(super) fn end(&mut self) {
        self.read(BEYOND);
        self.opened = false;
    }

    /// Whether they lead the run.
    #[inline(always)]
    pub(super) fn leads(&self) -> bool {
        self.at != BEYOND
    }

    /// Whether all of them were read.
    pub(super) fn is_read(&self) -> bool {
        self.at == self.lines.len()
    }

    /// The answer of the next line, if there is one.
    pub(super) fn next_answer(&self) -> Option<u32> {
        self.lines.get(self.at).map(|line| line.answer(TaskId::MAIN))
    }
}

// How they are written.
impl Script {
    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.settled = 0;
    }

    /// How many there are. A state is kept here, so that they stay as many.
    pub(super) fn settle(&mut self) -> usize {
        self.settled = self.lines.len();
        self.settled
    }

    /// Whether one more can be written without a call.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.lines.len() < self.lines.capacity()
    }

    #[inline]
    pub(super) fn write(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// A task has come to a point and goes on.
    #[inline(always)]
    pub(super) fn write_stay(&mut self, kind: Kind, task: TaskId, object: ObjectId, site: SiteId) {
        let line = Line::staying(kind, task, object, site);
        // Nobody takes twice what is not given back in between, which has a line of its own then or closes this.
        if kind != Kind::Lock
            && let Some([.., last]) = self.lines.get_mut(self.settled..)
            && last.takes_in(&line)
        {
            last.times += 1;
            return;
        }
        self.lines.push(line);
    }

    /// The task that goes on gives back what it has taken, where it took it.
    #[inline(always)]
    pub(super) fn close(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        let taken = Line::staying(Kind::Lock, task, object, site);
        let Some(line) = self.lines.last_mut().filter(|line| line.is_like(&taken)) else {
            return self.lines.push(Line::staying(Kind::Unlock, task, object, site));
        };
        line.what |= CLOSED;
        let closed = *line;
        if let Some([.., before, _]) = self.lines.get_mut(self.settled..)
            && before.takes_in(&closed)
        {
            before.times += 1;
            self.lines.pop();
        }
    }
}

#[cfg(test)]
mod tests;
