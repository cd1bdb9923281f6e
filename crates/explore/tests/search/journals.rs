//! The journal of an optimal search says what has happened to its states. Whoever repeats that has the states themselves, after
//! every run, by however many workers; and an entry is as long as what its run has changed.

use crate::classes::classes;
use crate::common::{everywhere, for_programs};
use crate::counts::readers;
use crate::workers::{each_class_once, search_together};
use raddle_explore::{Next, Odpor, Outlook, Request, Search};
use raddle_model::plan::Step;
use raddle_model::{Plan, Rng, Trace, Verdict};
use raddle_toy::Program;
use raddle_wire::JournalHeader;
use raddle_wire::journal::{self, Entry, State, Take};
use std::sync::{Arc, Mutex};

fn header() -> Vec<u8> {
    let (program, strategy) = (String::from("toy"), String::from("odpor"));
    journal::encode_header(&JournalHeader { program, identity: 0, strategy, plan: everywhere() })
}

/// What a search is that goes on with a journal: the steps of its last run, and all that it would write.
fn resumed(bytes: &[u8]) -> (Vec<Step>, State) {
    let (_, state, length) = journal::decode(bytes).expect("a journal");
    assert_eq!(length, bytes.len());
    let state = state.expect("an entry");
    let mut search = Odpor::new();
    let steps = search.load(&state, &mut Take::new(&state.rest)).expect("what was saved");
    (steps, state_of(&mut search))
}

fn written(search: &mut Odpor, trace: &Trace, all: bool, bytes: &mut Vec<u8>) {
    let mut entry = Entry::default();
    let parts = search.save(trace, &mut entry, all).expect("it keeps a journal");
    entry.write(parts, bytes);
}

/// Everything, as it is written at once.
fn state_of(search: &mut Odpor) -> State {
    let mut bytes = header();
    // Nothing was run.
    written(search, &Trace::default(), true, &mut bytes);
    journal::decode(&bytes).expect("a journal").1.expect("an entry")
}

/// What was written, the ends of its entries, and what a search is that goes on from there.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    ends: Vec<(usize, (Vec<Step>, State))>,
}

/// A search that keeps a journal in memory, and compares it after every run with one that is written at once.
#[derive(Clone)]
struct Kept {
    search: Odpor,
    written: Arc<Mutex<Written>>,
    /// After so many runs a new journal takes the place of the old one.
    renewed: usize,
    runs: usize,
}

impl Kept {
    fn new(renewed: usize) -> Kept {
        let written = Arc::new(Mutex::new(Written { bytes: header(), ends: Vec::new() }));
        Kept { search: Odpor::new(), written, renewed, runs: 0 }
    }
}

impl Search for Kept {
    fn next(&mut self, worker: usize, request: &mut Request) -> Next {
        self.search.next(worker, request)
    }

    fn learn(&mut self, worker: usize, plan: &Plan, trace: &Trace, verdict: &Verdict) {
        self.search.learn(worker, plan, trace, verdict);
        self.runs += 1;
        let Written { bytes, ends } = &mut *self.written.lock().expect("nobody has failed");
        let all = self.runs.is_multiple_of(self.renewed);
        if all {
            *bytes = header();
            ends.clear();
        }
        written(&mut self.search, trace, all, bytes);
        let mut at_once = header();
        written(&mut self.search.clone(), trace, true, &mut at_once);
        let found = resumed(bytes);
        assert_eq!(found, resumed(&at_once), "after {} runs", self.runs);
        ends.push((bytes.len(), found));
    }

    fn lose(&mut self, worker: usize) {
        self.search.lose(worker);
    }

    fn shares(&self) -> bool {
        true
    }

    fn is_over(&mut self) -> bool {
        self.search.is_over()
    }

    fn restart(&mut self) {
        self.search.restart();
    }

    fn outlook(&self) -> Option<Outlook> {
        self.search.outlook()
    }
}

#[test]
fn what_has_happened_to_states_is_what_they_are() {
    let mut rng = Rng::new(11);
    for_programs(31, raddle_tiers::size("search_programs") / 2, |program, plan, runs| {
        if runs.len() > 400 {
            return Ok(());
        }
        let expected = classes(runs);
        for (workers, renewed) in [(1, usize::MAX), (3, 7)] {
            let kept = Kept::new(renewed);
            let most = 2 * runs.len() + 1;
            let (found, _) = search_together(program, plan, kept, workers, &mut rng, most);
            each_class_once(&found, &expected, true).map_err(|why| format!("{workers} workers: {why}"))?;
        }
        Ok(())
    });
}

/// A journal of a search through the partial orders of one writer and so many readers.
fn of_readers(count: usize) -> Arc<Mutex<Written>> {
    let kept = Kept::new(usize::MAX);
    let written = kept.written.clone();
    let (objects, tasks) = readers(count);
    let program = Program::flat(objects, tasks);
    let (found, _) = search_together(&program, &everywhere(), kept, 1, &mut Rng::new(1), 1 << count);
    assert_eq!(found.len(), 1 << count);
    written
}

/// Wherever it is cut off, a search goes on from the last whole entry.
#[test]
fn a_journal_that_is_cut_off_is_one_of_fewer_runs() {
    let written = of_readers(4);
    let Written { bytes, ends } = &*written.lock().expect("nobody has failed");
    assert_eq!(ends.len(), 16);
    let first = ends[0].0;
    for cut in first..=bytes.len() {
        let (_, _, length) = journal::decode(&bytes[..cut]).expect("a journal");
        let (_, state) = ends.iter().rfind(|(end, _)| *end <= cut).expect("an entry");
        assert_eq!(&resumed(&bytes[..length]), state, "{cut} bytes");
    }
}

/// However many sequences wait, an entry is about those that its run has taken and added.
#[test]
fn an_entry_is_as_long_as_what_has_changed() {
    let lengths = |count: usize| {
        let written = of_readers(count);
        let Written { ends, .. } = &*written.lock().expect("nobody has failed");
        let lengths: Vec<usize> = ends.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let all = ends.iter().map(|(_, (_, state))| state.parts.iter().map(Vec::len).sum()).max();
        (lengths.iter().sum::<usize>() / lengths.len(), all.unwrap_or(0))
    };
    let ((few, small), (many, large)) = (lengths(4), lengths(8));
    assert!(large > 10 * small, "the search has {large} bytes, and {small} with few readers");
    assert!(many < 2 * few, "{many} bytes an entry, and {few} with few readers");
}

/// A journal of version 1, in which states are written whole: nine runs of one writer and four readers.
#[test]
fn a_journal_of_the_first_version_is_gone_on_with() {
    let (_, state, _) = journal::decode(include_bytes!("../golden/odpor-1.journal")).expect("a journal");
    let state = state.expect("an entry");
    let mut kept = Kept::new(usize::MAX);
    kept.search.load(&state, &mut Take::new(&state.rest)).expect("what was saved");
    let (objects, tasks) = readers(4);
    let program = Program::flat(objects, tasks);
    let (found, _) = search_together(&program, &everywhere(), kept, 2, &mut Rng::new(1), 16);
    assert_eq!(found.len(), 16 - 9);
}
