//! A search that is interrupted goes on where it was: nothing is lost, and nothing is run again but the run in flight.

use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Check, Report, thread};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Set in a child process: where its journal is, and where it notes down what its runs saw.
const CHILD: &str = "JOURNAL_TEST_CHILD";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn check(strategy: &str) -> Check {
    Check::new().strategy(strategy).runs(u64::MAX).time(Duration::from_secs(3_600)).stop_after(0).races(false)
}

/// Which of the readers came after the writer: one number for each partial order.
fn readers(count: u64) -> u64 {
    let x = Arc::new(AtomicU64::new(0));
    let writer = x.clone();
    let writer = thread::spawn(move || writer.store(1, SeqCst));
    let task = |number: u64| {
        let x = x.clone();
        thread::spawn(move || x.load(SeqCst) << number)
    };
    let handles: Vec<_> = (0..count).map(task).collect();
    let seen = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
    writer.join().unwrap();
    seen
}

/// A bit of everything: waiting, being woken, running out of time, choosing.
fn mixed() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    drop(pair.0.lock());
    pair.1.notify_all();
    let other = pair.clone();
    let waiter = thread::spawn(move || {
        let mut count = other.0.lock().unwrap();
        while *count == 0 {
            count = other.1.wait(count).unwrap();
        }
    });
    let other = pair.clone();
    let timed = thread::spawn(move || {
        let guard = other.0.lock().unwrap();
        let _ = other.1.wait_timeout(guard, Duration::from_millis(1)).unwrap();
    });
    *pair.0.lock().unwrap() += 1 + raddle::rand::choose(2);
    pair.1.notify_all();
    waiter.join().unwrap();
    timed.join().unwrap();
}

/// Goes on after every few runs until nothing is left. All runs together, and what was reported last.
fn in_parts(strategy: &str, part: u64, jobs: usize, journal: &Path, body: fn()) -> (u64, Report) {
    let mut before = 0;
    loop {
        let report = check(strategy).runs(part).jobs(jobs).journal(journal).explore(body).unwrap();
        assert_eq!(report.resumed_after(), before, "{strategy}");
        before += report.runs();
        if report.exhausted() || report.exhausted_within().is_some() {
            return (before, report);
        }
        assert!(report.runs() == part, "{strategy}: {}", report.text());
    }
}

#[test]
fn a_search_in_parts_has_the_runs_of_a_whole_one() {
    let folder = folder("parts");
    let small = || {
        readers(3);
    };
    let racy = || {
        let x = Arc::new(raddle::cell::RaceCell::new(0));
        let y = x.clone();
        let other = thread::spawn(move || y.set(y.get() + 1));
        x.set(x.get() + 1);
        other.join().unwrap();
    };
    let all = ["odpor", "dpor", "dfs", "random-dfs", "pcb", "pcb:bound=1"];
    let bodies: [(&str, fn()); 3] = [("readers", small), ("mixed", mixed), ("racy", racy)];
    for (name, body) in bodies {
        for strategy in all {
            // Every interleaving of the others would take too long.
            if name != "racy" && !strategy.contains("por") {
                continue;
            }
            let whole = check(strategy).explore(body).unwrap();
            for (part, jobs) in [(2, 1), (7, 1), (5, 3)] {
                let journal = folder.join("journal");
                let (runs, report) = in_parts(strategy, part, jobs, &journal, body);
                // Several workers may be at a run when another one shows new points, and all begin anew; how many runs
                // of dpor are cut is a matter of the order.
                let exact = jobs == 1 || name != "racy" && strategy != "dpor";
                assert!(!exact || runs == whole.runs(), "{name}, {strategy}, {jobs} jobs: {runs}");
                assert_eq!(report.exhausted(), whole.exhausted(), "{name}, {strategy}");
                assert!(!journal.exists(), "a search that is over leaves no journal");
            }
        }
    }
}

/// What was run, in order, by a search in random order that begins anew now and then. The run in flight at an interruption
/// comes once more.
fn random_orders(part: u64, journal: &Path) -> Vec<Vec<u32>> {
    static SEEN: std::sync::Mutex<Vec<Vec<u32>>> = std::sync::Mutex::new(Vec::new());
    fn body() {
        let (x, order) = (Arc::new(AtomicU64::new(0)), Arc::new(std::sync::Mutex::new(Vec::new())));
        let store = |me: u32| {
            let (x, order) = (x.clone(), order.clone());
            move || {
                for _ in 0..4 {
                    x.store(1, SeqCst);
                    order.lock().unwrap().push(me);
                }
            }
        };
        let other = thread::spawn(store(1));
        store(0)();
        other.join().unwrap();
        SEEN.lock().unwrap().push(order.lock().unwrap().clone());
    }
    SEEN.lock().unwrap().clear();
    in_parts("random-dfs", part, 1, journal, body);
    let mut seen = std::mem::take(&mut *SEEN.lock().unwrap());
    seen.dedup();
    seen
}

#[test]
fn a_random_search_in_parts_begins_anew_where_a_whole_one_does() {
    let journal = folder("random").join("journal");
    let whole = random_orders(u64::MAX, &journal);
    let different: std::collections::BTreeSet<&Vec<u32>> = whole.iter().collect();
    assert_eq!(different.len(), 70, "all orders of two times four stores");
    for part in [7, 16, 33] {
        assert!(random_orders(part, &journal) == whole, "parts of {part}");
    }
}

#[test]
fn failures_from_before_are_reported_again() {
    let journal = folder("failures").join("journal");
    let body = || {
        let x = Arc::new(AtomicU64::new(0));
        let y = x.clone();
        let other = thread::spawn(move || (1..4).for_each(|i| y.store(i, SeqCst)));
        let seen = x.load(SeqCst);
        other.join().unwrap();
        assert_eq!(seen, 0);
    };
    let kinds = |report: &Report| report.failures().iter().map(|found| found.kind()).collect::<Vec<_>>();
    let first = check("odpor").runs(2).name("body").journal(&journal).explore(body).unwrap();
    assert_eq!(kinds(&first), ["assertion"], "{}", first.text());
    let last = check("odpor").name("body").journal(&journal).explore(body).unwrap();
    assert!(last.exhausted(), "{}", last.text());
    assert_eq!(kinds(&last), ["assertion"], "{}", last.text());
}

#[test]
fn what_does_not_fit_is_refused() {
    let journal = folder("refused").join("journal");
    let begin = || check("odpor").runs(2).name("body").journal(&journal);
    let body = || {
        readers(3);
    };
    begin().explore(body).unwrap();
    let refused = |check: Check, what: &str| {
        let error = check.explore(body).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("journal"), "{error}");
    };
    refused(begin().strategy("dpor"), "of the strategy odpor, not of dpor");
    refused(begin().seed(1), "under other settings");
    refused(begin().name("another"), "is one of body, not of another");
    refused(begin().strategy("random"), "this strategy samples");
    let fresh = journal.with_extension("fresh");
    refused(check("random").journal(&fresh), "this strategy samples");
    refused(check("hapset").journal(&fresh), "keeps no journal");
    // The body has changed, which this program's own bytes do not show.
    let error = begin().explore(|| _ = readers(2)).unwrap_err().to_string();
    assert!(error.contains("does not repeat"), "{error}");
    // The last entry was cut off: it is lost, and nothing else.
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() - 3]).unwrap();
    let report = begin().runs(u64::MAX).explore(body).unwrap();
    assert_eq!((report.resumed_after(), report.runs(), report.exhausted()), (1, 7, true));
    std::fs::write(&journal, "raddle-plan 1\n").unwrap();
    refused(begin(), "not a raddle journal");
}

/// What the child process does: a search whose body notes down what each run saw.
fn child(folder: &Path) {
    let count = std::env::var("JOURNAL_TEST_READERS").unwrap().parse::<u64>().unwrap();
    let seen = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("seen")).unwrap();
    let body = move || {
        let orders = readers(count);
        (&seen).write_all(&orders.to_le_bytes()).unwrap();
    };
    let report = check("odpor").name("child").journal(folder.join("journal")).explore(body).unwrap();
    assert!(report.exhausted(), "{}", report.text());
    println!("runs in all: {}", report.resumed_after() + report.runs());
}

#[test]
fn a_search_survives_being_killed() {
    if let Ok(folder) = std::env::var(CHILD) {
        return child(Path::new(&folder));
    }
    let (readers, kills) = (raddle_tiers::size("journal_readers"), raddle_tiers::size("journal_kills"));
    let folder = folder("killed");
    // By one worker or by several: whoever goes on takes what the others left.
    let jobs = |killed: u64| 1 + killed % 3;
    let start = |killed| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_search_survives_being_killed", "--nocapture"]);
        command.env(CHILD, &folder).env("JOURNAL_TEST_READERS", readers.to_string());
        command.env("RADDLE_JOBS", jobs(killed).to_string());
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let (mut killed, mut chance) = (0, 1u64);
    let output = loop {
        let mut process = start(killed);
        if killed < kills {
            chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            std::thread::sleep(Duration::from_millis(5 + (chance >> 33) % 120));
            process.kill().unwrap();
            let status = process.wait().unwrap();
            killed += u64::from(!status.success());
            if !status.success() {
                continue;
            }
            panic!("the search was over after {killed} kills: {readers} readers are too few");
        }
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        break String::from_utf8_lossy(&output.stdout).into_owned();
    };
    assert!(output.contains(&format!("runs in all: {}\n", 1u64 << readers)), "{output}");
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    for record in std::fs::read(folder.join("seen")).unwrap().chunks_exact(8) {
        *times.entry(u64::from_le_bytes(record.try_into().unwrap())).or_default() += 1;
    }
    assert_eq!(times.len() as u64, 1 << readers, "partial orders");
    // For each kill: the runs in flight, and the last run before it, which is repeated to see that it still is the same.
    let again: u64 = times.values().map(|times| times - 1).sum();
    let most: u64 = (0..kills).map(|killed| jobs(killed) + 1).sum();
    assert!(again <= most, "{again} runs too many after {kills} kills");
}
