//! HaPSet coverage as a user of the library sees it: figures in the report, and files that outlive the process.

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Check, Report};
use std::path::PathBuf;

/// Three statements of two tasks on one atomic: the load of one, the store of the other, and a store of main's.
fn body() {
    let flag = Arc::new(AtomicU32::new(0));
    let other = raddle::thread::spawn({
        let flag = flag.clone();
        move || flag.store(1, SeqCst)
    });
    flag.load(SeqCst);
    other.join().unwrap();
}

fn explore(check: Check) -> Report {
    check.runs(50).explore(body).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("raddle-hapsets-{}-{name}", std::process::id()))
}

#[test]
fn coverage_is_measured_if_it_is_asked_for() {
    let report = explore(Check::new());
    assert_eq!((report.hapset_pairs(), report.hapset_growth()), (None, &[][..]));
    for strategy in
        ["random", "rapos", "pct", "pos", "walks", "coverage", "dfs", "pcb", "dpor", "odpor", "hapset"]
    {
        let report = explore(Check::new().strategy(strategy).hapset_coverage(true));
        // The load after the store, and the store after the load.
        assert_eq!(report.hapset_pairs(), Some(2), "{strategy}: {}", report.text());
        let growth = report.hapset_growth();
        assert_eq!((growth[0], growth[1].1, growth.len()), ((1, 1), 2, 2), "{strategy}: {growth:?}");
        let line = format!("HaPSet coverage: 2 pairs, the last new one after {} runs\n", growth[1].0);
        assert!(report.text().contains(&line), "{}", report.text());
    }
}

#[test]
fn jobs_change_nothing() {
    let of = |jobs| explore(Check::new().hapset_coverage(true).jobs(jobs)).hapset_growth().to_vec();
    assert_eq!(of(1), of(3));
}

#[test]
fn sets_are_kept_in_a_file_and_added_to_it() {
    let file = scratch("kept.hapset");
    let learn = |runs| {
        let check = Check::new().name("flags").hapset_file(&file).runs(runs);
        check.explore(body).unwrap();
        raddle::tool::read_hapsets(&file).unwrap()
    };
    let one = learn(1);
    assert_eq!((one.sets.len(), one.runs, one.programs.as_slice()), (1, 1, &["flags".to_owned()][..]));
    let many = learn(49);
    assert_eq!((many.sets.len(), many.runs, many.programs.len()), (2, 50, 1));
    assert!(one.sets.iter().all(|pair| many.sets.contains(pair)));
    let text = many.sets.to_string();
    assert!(text.contains("tests/hapsets.rs:1") && text.lines().count() == 2, "{text}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_file_that_is_something_else_is_refused_before_anything_is_run() {
    let file = scratch("other.hapset");
    std::fs::write(&file, "nothing of ours").unwrap();
    let error = Check::new().hapset_file(&file).explore(|| panic!("this was run")).unwrap_err();
    assert!(error.to_string().ends_with("other.hapset: not a raddle HaPSet file"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"nothing of ours");
    std::fs::remove_file(&file).unwrap();
}

/// A failure is told even if its sets cannot be kept, and runs that fail teach nothing.
#[test]
fn failures_come_first_and_teach_nothing() {
    let directory = scratch("directory");
    let always_fails = || {
        let lock = Arc::new(Mutex::new(0));
        let other = raddle::thread::spawn({
            let lock = lock.clone();
            move || *lock.lock().unwrap() += 1
        });
        *lock.lock().unwrap() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock().unwrap(), 3);
    };
    let file = directory.join("file.hapset");
    let check = Check::new().runs(10).out(&directory).hapset_file(&file);
    let report = check.clone().explore(always_fails).unwrap();
    assert_eq!((report.failures().len(), report.hapset_pairs()), (1, Some(0)));
    assert!(report.notes().is_empty() && file.exists());
    // Where the file is written before it takes its name.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(directory.join(format!("file.hapset-{}", std::process::id()))).unwrap();
    let report = check.explore(always_fails).unwrap();
    assert_eq!(report.failures().len(), 1);
    assert!(report.notes()[0].contains("cannot be written to"), "{:?}", report.notes());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Two tasks that take turns at a lock, after a hundred others of their own: only one order is worth a second run.
fn turns() {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let turn = |own: usize| {
        let locks = locks.clone();
        move || {
            for _ in 0..10 {
                *locks[own].lock().unwrap() += 1;
            }
            *locks[0].lock().unwrap() += 1;
        }
    };
    let other = raddle::thread::spawn(turn(1));
    turn(0)();
    other.join().unwrap();
}

#[test]
fn the_strategy_ends_by_itself_and_begins_with_what_was_saved() {
    let file = scratch("begins.hapset");
    let explore = |strategy: &str| Check::new().strategy(strategy).hapset_file(&file).explore(turns).unwrap();
    let first = explore("hapset");
    assert!(first.runs() > 1 && first.runs() < 10, "{}", first.text());
    assert!(first.text().contains("all there are, as far as HaPSets tell them apart"), "{}", first.text());
    let second = explore("hapset");
    assert_eq!(second.runs(), 1, "{}", second.text());
    std::fs::remove_file(&file).unwrap();
    let trained = explore("hapset:training=100,bound=1");
    assert!((101..110).contains(&trained.runs()), "{}", trained.text());
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_strategy_finds_a_bug_that_replays() {
    let lost = || {
        let sum = Arc::new(AtomicU32::new(0));
        let add = |sum: &AtomicU32| {
            let old = sum.load(SeqCst);
            sum.store(old + 1, SeqCst);
        };
        let other = raddle::thread::spawn({
            let sum = sum.clone();
            move || add(&sum)
        });
        add(&sum);
        other.join().unwrap();
        assert_eq!(sum.load(SeqCst), 2);
    };
    let out = scratch("out");
    let report = Check::new().strategy("hapset").out(&out).explore(lost).unwrap();
    let found = &report.failures()[0];
    assert!(found.kind() == "assertion" && found.run() < 3, "{}", report.text());
    let again = std::panic::catch_unwind(|| raddle::replay(found.schedule(), lost));
    assert!(again.is_err());
    std::fs::remove_dir_all(&out).unwrap();
}

/// The store of both call paths is one line.
fn set(flag: &AtomicU32) {
    flag.store(1, SeqCst);
}

fn set_early(flag: &AtomicU32) {
    set(flag);
}

fn set_late(flag: &AtomicU32) {
    set(flag);
}

/// One task stores twice at the same line, from two callers; main looks at it.
fn two_ways() {
    let flag = Arc::new(AtomicU32::new(0));
    let other = raddle::thread::spawn({
        let flag = flag.clone();
        move || {
            set_early(&flag);
            set_late(&flag);
        }
    });
    flag.load(SeqCst);
    other.join().unwrap();
}

/// Statements that the sets of a check of [`two_ways`] name, without columns and directories.
fn statements(strategy: &str) -> (u64, Vec<String>) {
    let file = scratch(&format!("ways-{}.hapset", strategy.replace(':', "-")));
    let check = Check::new().strategy(strategy).hapset_file(&file).runs(200);
    let report = check.explore(two_ways).unwrap();
    let kept = raddle::tool::read_hapsets(&file).unwrap();
    assert_eq!(report.hapset_pairs(), Some(kept.sets.len() as u64));
    std::fs::remove_file(&file).unwrap();
    let lines = |statement: &raddle_model::Statement| {
        let frames = std::iter::once(&statement.frame).chain(&statement.context);
        let line = |frame: &raddle_model::hapset::Frame| {
            assert!(frame.file.ends_with("crates/raddle/tests/hapsets.rs"), "{statement}");
            assert!(!frame.file.starts_with('/'), "{statement}");
            SOURCE.lines().nth(frame.line as usize - 1).unwrap().trim().to_owned()
        };
        frames.map(line).collect::<Vec<_>>().join(" < ")
    };
    let told = |pair: &raddle_model::Pair<raddle_model::Statement>| {
        format!("{} after {}", lines(&pair.of), lines(&pair.before))
    };
    (report.runs(), kept.sets.iter().map(told).collect())
}

const SOURCE: &str = include_str!("hapsets.rs");

/// Two call paths to one line are two statements, in whatever way the runs are chosen.
#[test]
fn callers_tell_statements_apart() {
    let store = |by: &str| format!("flag.store(1, SeqCst); < set(flag); < {by}(&flag);");
    let load = "flag.load(SeqCst);";
    let [early, late] = ["set_early", "set_late"].map(store);
    // The line of the caller in between is another one, though its text is the same.
    let mut all = [
        format!("{early} after {load}"),
        format!("{load} after {early}"),
        format!("{late} after {load}"),
        format!("{load} after {late}"),
    ];
    all.sort_unstable();
    for strategy in ["random", "dfs", "odpor", "hapset"] {
        let (runs, mut found) = statements(strategy);
        found.sort_unstable();
        assert_eq!(found, all, "{strategy}, {runs} runs");
    }
}
