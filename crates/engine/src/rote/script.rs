//! What is written down of a run of a search: lines, and how a run is led by them.

use alloc::vec::Vec;
use raddle_model::{Kind, ObjectId, Plain, SiteId, TaskId};

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
    /// The site, the call with the kind of its operation, and how often it comes, one after the other: more than once only where
    /// a task goes on. Programs have loops.
    word: u64,
}

/// In [`Line::word`]: all but how often.
const CALLED: u64 = ONCE - 1;
/// Once.
const ONCE: u64 = 1 << 48;
/// As often as can be counted.
const OFTEN: u64 = 0xffff << 48;
/// Whoever goes on gives back at once what it takes here. So there is no line for that.
const CLOSED: u64 = 1 << 47;

/// More than the id of any object that is compared in that way.
pub(crate) const IDS: u32 = 1 << 24;

/// What is called where.
#[inline(always)]
fn word(call: Call, kind: Kind, site: SiteId) -> u64 {
    u64::from(site.0) | (kind as u64) << 32 | (call as u64) << 40
}

impl Line {
    #[inline(always)]
    pub(super) fn new(call: Call, kind: Kind, object: ObjectId, site: SiteId, answer: u32) -> Line {
        let object = u64::from(object.0) | u64::from(answer + 1) << 32;
        Line { object, word: word(call, kind, site) | ONCE }
    }

    /// A task has come to a point and goes on.
    #[inline(always)]
    pub(super) fn staying(kind: Kind, task: TaskId, object: ObjectId, site: SiteId) -> Line {
        let line = Line::new(Call::Arrive, kind, object, site, task.0);
        if object.0 < IDS { Line { object: u64::from(object.0), ..line } } else { line }
    }

    /// As it is where nothing has been given back yet, and once.
    fn alone(self) -> Line {
        Line { word: self.word & CALLED & !CLOSED | ONCE, ..self }
    }

    #[inline(always)]
    fn is(&self, other: Line) -> bool {
        (self.object, self.word) == (other.object, other.word)
    }

    /// Whether it is the same call.
    #[inline(always)]
    pub(super) fn is_same(&self, call: Line) -> bool {
        (self.word ^ call.word) & CALLED == 0 && self.object as u32 == call.object as u32
    }

    /// Whether it is the same call with the same answer, however often.
    #[inline(always)]
    fn is_like(&self, other: &Line) -> bool {
        self.object == other.object && (self.word ^ other.word) & CALLED == 0
    }

    /// How often it comes.
    #[inline(always)]
    fn times(&self) -> u32 {
        (self.word / ONCE) as u32
    }

    /// Whether another call like it, after which the task goes on, too, is counted here. If so it was.
    #[inline(always)]
    fn takes_in(&mut self, other: Line) -> bool {
        let takes_in = self.is_like(&other) && self.object < u64::from(IDS) && self.word < OFTEN;
        if takes_in {
            self.word += ONCE;
        }
        takes_in
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
    // invariant: the next line in a run that is led, of which the last lies elsewhere, or the last of several that are alike;
    // beyond all lines in any other.
    at: usize,
    // invariant: the object of the next line, if that is one of a task that goes on; else no object's number.
    next_object: u64,
    // invariant: its site and what it is; nothing that is called if there is none.
    next_word: u64,
    // invariant: how often it is still to come; 0 if there is none.
    left: u32,
    // Whether what a section takes that is led, or foreseen, was taken by the short way, and not given back.
    open: bool,
    // invariant: the next line is closed, and what it is about was taken, and is given back, by a call that goes the long way.
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
            open: false,
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
        let expected = self.lines.get(self.at).filter(|line| line.word & CLOSED != 0)?;
        let kind = if self.opened { Kind::Unlock } else { Kind::Lock };
        let (object, site) = (ObjectId(expected.object as u32), SiteId(expected.word as u32));
        if !Line::new(Call::Arrive, kind, object, site, 0).is_same(call) {
            return None;
        }
        self.opened = !self.opened;
        if !self.opened {
            self.lead_on();
        }
        Some(task.0)
    }

    /// Whether the next line is that the running task takes this mutex, and gives it back before anything else. Then
    /// [`Script::gives_back`] leads on, and whatever else is called before that does not match, if whoever asks sees to it that
    /// nobody takes what is taken.
    #[inline(always)]
    pub(super) fn opens(&mut self, object: u64, site: SiteId) -> bool {
        let opens =
            self.next_object == object && self.next_word == word(Call::Arrive, Kind::Lock, site) | CLOSED;
        if opens {
            self.open = true;
        }
        opens
    }

    /// Whether the next line is about this object, and the task goes on there.
    #[inline(always)]
    pub(super) fn is_about(&self, object: u64) -> bool {
        self.next_object == object
    }

    /// What was taken so is given back now. A number as [`Script::stays`] has it; none if the run is not led any more.
    #[inline(always)]
    pub(super) fn gives_back(&mut self) -> Option<usize> {
        if !self.open {
            return None;
        }
        self.open = false;
        let left = self.left;
        if left <= 1 {
            return self.give_back_last();
        }
        self.left = left - 1;
        Some(left as usize)
    }

    // Not a cold one, though mostly there is more to come.
    #[cold]
    #[inline(never)]
    fn give_back_last(&mut self) -> Option<usize> {
        (self.left != 0).then(|| self.read_next())
    }

    /// Whether the next line is that the running task comes to this point and goes on. If so it has, and this is a number that
    /// differs from the one before it.
    #[inline(always)]
    pub(super) fn stays(&mut self, kind: Kind, object: u64, site: SiteId) -> Option<usize> {
        if self.next_object != object || self.next_word != word(Call::Arrive, kind, site) {
            return None;
        }
        Some(self.lead_on())
    }

    /// The call of the next line was made.
    #[inline(always)]
    fn lead_on(&mut self) -> usize {
        let left = self.left;
        if left <= 1 {
            return self.read_next();
        }
        self.left = left - 1;
        left as usize
    }

    #[inline(never)]
    fn read_next(&mut self) -> usize {
        // Behind what is foreseen there is nothing.
        self.read(self.at.saturating_add(1));
        usize::MAX - self.at
    }

    /// This line comes next, with those behind it that only say that it comes again: each state that was kept has parted some.
    fn read(&mut self, at: usize) {
        self.at = at;
        (self.next_object, self.next_word, self.left) = (u64::MAX, u64::MAX, 0);
        let Some([line, behind @ ..]) = self.lines.get(at..) else { return };
        (self.next_word, self.left) = (line.word & CALLED, line.times());
        if line.object < u64::from(IDS) {
            self.next_object = line.object;
            for again in behind.iter().take_while(|again| again.is_like(line)) {
                self.at += 1;
                self.left += again.times();
            }
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
        self.open = false;
        self.opened = false;
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

// What is foreseen, where no run is led.
impl Script {
    /// The running task may do this so often.
    #[inline(always)]
    pub(crate) fn foresee(&mut self, kind: Kind, object: ObjectId, site: SiteId, closes: bool, times: u32) {
        debug_assert!(self.at == BEYOND, "raddle bug: what a run is led to is foreseen");
        self.next_object = u64::from(object.0);
        self.next_word = word(Call::Arrive, kind, site) | if closes { CLOSED } else { 0 };
        self.left = times;
    }

    /// Nothing is foreseen any more. How often it might still have come, and whether a section was begun and not ended.
    pub(crate) fn forget_foreseen(&mut self) -> (u32, bool) {
        let foreseen = (self.left, self.open);
        self.end();
        foreseen
    }

    /// It came so often, which is written down, with room for one line behind it.
    pub(crate) fn write_again(&mut self, task: TaskId, plain: Plain, closes: bool, times: u32) {
        let once = Line::staying(plain.kind, task, plain.object, plain.site);
        let called = once.word & CALLED | if closes { CLOSED } else { 0 };
        let mut left = u64::from(times);
        while left > 0 {
            let like = Line { word: called, ..once };
            let last = self.lines[self.settled..].last_mut().filter(|last| last.is_like(&like));
            let room = last.as_ref().map_or(0, |last| u64::from(u16::MAX) - u64::from(last.times()));
            match last {
                Some(last) if room > 0 => {
                    last.word += left.min(room) * ONCE;
                    left = left.saturating_sub(room);
                }
                _ => self.lines.push(like),
            }
        }
        self.lines.reserve(1);
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
            && self.lines.len() > self.settled
            && let [.., last] = &mut *self.lines
            && last.takes_in(line)
        {
            return;
        }
        self.lines.push(line);
    }

    /// The task that goes on gives back what it has taken, where it took it.
    #[inline(always)]
    pub(super) fn close(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        let taken = Line::staying(Kind::Lock, task, object, site);
        let closed = Line { word: taken.word | CLOSED, ..taken };
        let taken_last = self.lines.last().is_some_and(|last| last.is(taken));
        if !taken_last {
            return self.lines.push(Line::staying(Kind::Unlock, task, object, site));
        }
        let own = self.lines.len() - 1;
        if own > self.settled && self.lines[own - 1].takes_in(closed) {
            return self.lines.truncate(own);
        }
        self.lines[own] = closed;
    }

    /// What was given back last was given back while somebody panicked, which is nothing that is done the short way: it is a line
    /// by itself.
    pub(super) fn part(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        let taken = Line::staying(Kind::Lock, task, object, site);
        let Some(last) = self.lines.last_mut() else { return };
        if last.object != taken.object || (last.word ^ taken.word) & CALLED != CLOSED {
            return;
        }
        if last.word >= 2 * ONCE {
            last.word -= ONCE;
            self.lines.push(taken);
        } else {
            *last = taken;
        }
        self.lines.push(Line::staying(Kind::Unlock, task, object, site));
    }
}

#[cfg(test)]
mod tests;
