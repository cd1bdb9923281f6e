//! Follows a run along what was learned: for what does each task contend next?
//!
//! A task is found again by its stable name, its accesses by their index within the task and their
//! site. One that leaves its profile (a loop that turns once more, another branch) is looked for a
//! little further on by site. What is lost in doing so changes probabilities and nothing else.

use crate::contest::{Contest, Reach};
use alloc::vec::Vec;
use raddle_model::plan::Weights;
use raddle_model::{Op, TaskId, View};

/// How far ahead an access is looked for once its task has left the profile.
const WINDOW: usize = 32;

/// A task's place in a contest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Which contest.
    pub(crate) contest: usize,
    /// As which member.
    pub(crate) member: usize,
    /// Whether this is the access that the profile expects.
    pub(crate) expected: bool,
}

/// How far a learned task has come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    task: Option<TaskId>,
    next: usize,
    // How many more events it has had than the learned task at this access.
    shift: u32,
}

/// A task of this run.
#[derive(Clone, Copy, Debug, Default)]
struct Seat {
    slot: Option<usize>,
    place: Option<Place>,
}

/// All tasks and objects of a run, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    weights: Weights,
    // For each access of the weights, as which member of its contest.
    members: Vec<Vec<usize>>,
    // One for each task of the weights.
    progress: Vec<Progress>,
    // One for each task of the run.
    seats: Vec<Seat>,
    // For each object of the run its contest plus one, or 0.
    bound: Vec<u32>,
}

impl Profile {
    /// The profile that was learned, and its contests.
    pub(crate) fn new(weights: Weights) -> (Profile, Vec<Contest>) {
        let mut contests: Vec<Contest> = Vec::new();
        let mut members = Vec::new();
        for (slot, task) in weights.tasks.iter().enumerate() {
            let of_task = task.accesses.iter().map(|access| {
                let contest = access.object as usize;
                if contests.len() <= contest {
                    contests.resize_with(contest + 1, Contest::default);
                }
                contests[contest].add(slot, access.write)
            });
            members.push(of_task.collect());
        }
        let profile = Profile {
            members,
            progress: alloc::vec![Progress::default(); weights.tasks.len()],
            weights,
            ..Profile::default()
        };
        (profile, contests)
    }

    /// Before a run.
    pub(crate) fn reset(&mut self) {
        self.progress.fill(Progress::default());
        self.seats.clear();
        self.bound.clear();
    }

    /// Whether nothing was learned.
    pub(crate) fn is_empty(&self) -> bool {
        self.weights.tasks.is_empty()
    }

    /// How many tasks of the run are known.
    pub(crate) fn tasks(&self) -> usize {
        self.seats.len()
    }

    /// Number of scheduling points of the learned run.
    pub(crate) fn length(&self) -> u64 {
        self.weights.length
    }

    /// For what a task contends now.
    #[inline]
    pub(crate) fn place(&self, task: TaskId) -> Option<Place> {
        self.seats[task.index()].place
    }

    /// Whether a learned task can have the next access in a contest. One that was not made yet can;
    /// one that stands there and is blocked cannot.
    pub(crate) fn reach(&self, view: &View<'_>, contest: usize, slot: usize) -> Reach {
        let Some(task) = self.progress[slot].task else {
            return Reach::Later;
        };
        let here = self.seats[task.index()].place.is_some_and(|place| place.contest == contest);
        match (view.world.is_live(task), here) {
            (false, _) => Reach::Never,
            (true, false) => Reach::Later,
            (true, true) if view.world.enabled_tasks().contains(task) => Reach::Here,
            (true, true) => Reach::Never,
        }
    }

    /// Takes in what is new since the last pick: tasks that were made, and what `last` is about to do.
    pub(crate) fn update(&mut self, view: &View<'_>, last: Option<TaskId>, contests: &mut [Contest]) {
        if let Some(last) = last {
            self.sit(view, last, contests);
        }
        let known = self.seats.len();
        for (i, task) in view.world.tasks().iter().enumerate().skip(known) {
            let found = self.weights.tasks.binary_search_by_key(&task.name, |learned| learned.name);
            if let Ok(slot) = found {
                self.progress[slot].task = Some(TaskId(i as u32));
            }
            self.seats.push(Seat { slot: found.ok(), place: None });
        }
        for i in known..self.seats.len() {
            self.sit(view, TaskId(i as u32), contests);
        }
    }

    /// The task's access has run.
    pub(crate) fn ran(&mut self, task: TaskId) {
        let seat = &mut self.seats[task.index()];
        if let (Some(slot), Some(place)) = (seat.slot, seat.place.take())
            && place.expected
        {
            self.progress[slot].next += 1;
        }
    }

    fn sit(&mut self, view: &View<'_>, task: TaskId, contests: &mut [Contest]) {
        let place = match self.seats[task.index()].slot {
            Some(slot) if view.world.is_live(task) => {
                self.find(slot, view.op(task), view.world.task(task).events, contests)
            }
            _ => None,
        };
        self.seats[task.index()].place = place;
    }

    fn find(&mut self, slot: usize, op: &Op, index: u32, contests: &mut [Contest]) -> Option<Place> {
        let expected = self.expected(slot, op, index, contests);
        let object = op.object.is_some().then(|| op.object.index())?;
        if self.bound.len() <= object {
            self.bound.resize(object + 1, 0);
        }
        // What is known of the object itself counts for more than what the profile says; and what is known of a mutex
        // counts for the condition variable that it is used with.
        if self.bound[object] == 0 {
            let second = self.bound.get(op.second.index()).copied().filter(|_| op.second.is_some());
            self.bound[object] = match expected {
                Some(contest) => contest as u32 + 1,
                None => second.filter(|&bound| bound != 0)?,
            };
        }
        let contest = self.bound[object] as usize - 1;
        Some(Place { contest, member: contests[contest].member(slot)?, expected: expected == Some(contest) })
    }

    /// The contest that the profile has for this operation, if any.
    fn expected(&mut self, slot: usize, op: &Op, index: u32, contests: &mut [Contest]) -> Option<usize> {
        let accesses = &self.weights.tasks[slot].accesses;
        let Progress { next, shift, .. } = self.progress[slot];
        if index.wrapping_sub(shift) < accesses.get(next)?.index {
            return None;
        }
        let ahead = accesses[next..].iter().take(WINDOW);
        let Some(ahead) = ahead.into_iter().position(|access| access.site == op.site) else {
            // The expected access is still to come, one event later than it was.
            self.progress[slot].shift = shift.wrapping_add(1);
            return None;
        };
        for skipped in next..next + ahead {
            contests[accesses[skipped].object as usize].skip(self.members[slot][skipped]);
        }
        let found = accesses[next + ahead];
        self.progress[slot].next = next + ahead;
        self.progress[slot].shift = index.wrapping_sub(found.index);
        Some(found.object as usize)
    }
}
