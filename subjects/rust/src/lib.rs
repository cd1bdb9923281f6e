//! Programs under test.
//!
//! [`TABLE1`] and [`fig1()`] are the subjects of the RAPOS paper (Sen, ASE 2007): programs written for this project that
//! have the threads, locks, shared data and bugs of the paper's; [`hapset::ROWS`] are those of the HaPSet paper
//! (Wang, Said and Gupta, ICSE 2011), likewise. [`bug`] and [`ok`] are small programs for the tests of
//! the library, in pairs: one that fails in some schedule and one that never does. The head of each file lists what
//! the paper says of a subject beside what we made, and what we assumed.
//!
//! Whatever a task of a subject panics with reaches main, and main panics with it.

pub mod barrier;
pub mod boundedbuffer;
pub mod bug;
pub mod collections;
pub mod fig1;
pub mod hapset;
pub mod heap;
pub mod moldyn;
pub mod monitor;
pub mod montecarlo;
pub mod ok;
pub mod philo;
pub mod pipeline;
mod program;
pub mod raytracer;
pub mod shim;
pub mod tasks;

pub use program::{Expect, Program};

use collections::{array_list, hash_set, linked_hash_set, linked_list, tree_set, vector};

/// A row of table 1 of the RAPOS paper.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Its name there.
    pub name: &'static str,
    /// Threads as counted there: main is one of them except in the collections.
    pub threads: usize,
    /// Number of runs in an experiment.
    pub runs: u64,
    /// Distinct partial orders that the paper saw with the simple random algorithm.
    pub paper_random: u32,
    /// Distinct partial orders that the paper saw with RAPOS.
    pub paper_rapos: u32,
    /// Whether figure 7 counts runs up to its `ConcurrentModificationException`; then this is the program with its
    /// threads started in the opposite order.
    pub backwards: Option<fn()>,
    /// Whether a run may end in a deadlock.
    pub deadlock: bool,
    /// The program.
    pub body: fn(),
}

/// The twelve subjects of table 1, in the paper's order.
pub const TABLE1: &[Subject] = &[
    row("ArrayList", 7, 300, [71, 247], array_list::subject).throwing(array_list::backwards).deadlocking(),
    row("boundedbuffer", 4, 300, [118, 171], boundedbuffer::subject).deadlocking(),
    row("HashSet", 7, 300, [42, 230], hash_set::subject),
    row("LinkedHashSet", 7, 300, [48, 230], linked_hash_set::subject),
    row("LinkedList", 7, 300, [58, 259], linked_list::subject).throwing(linked_list::backwards).deadlocking(),
    row("moldyn", 11, 100, [19, 48], moldyn::subject),
    row("montecarlo", 11, 100, [4, 75], montecarlo::subject),
    row("philo", 3, 2000, [1124, 1552], philo::subject),
    row("pipeline", 8, 300, [38, 156], pipeline::subject),
    row("raytracer", 11, 100, [22, 44], raytracer::subject),
    row("TreeSet", 7, 300, [78, 240], tree_set::subject),
    row("Vector", 7, 300, [105, 256], vector::subject).throwing(vector::backwards).deadlocking(),
];

/// The example of figure 1: fails if its second thread comes last.
pub fn fig1() {
    fig1::subject();
}

const fn row(name: &'static str, threads: usize, runs: u64, paper: [u32; 2], body: fn()) -> Subject {
    let [paper_random, paper_rapos] = paper;
    Subject { name, threads, runs, paper_random, paper_rapos, backwards: None, deadlock: false, body }
}

impl Subject {
    const fn throwing(self, backwards: fn()) -> Subject {
        Subject { backwards: Some(backwards), ..self }
    }

    const fn deadlocking(self) -> Subject {
        Subject { deadlock: true, ..self }
    }
}
