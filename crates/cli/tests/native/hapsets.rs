//! HaPSets of C programs: who called a statement belongs to it, sets are kept in a file, and a search begins with it.

use crate::support::{Ended, build, ended, raddle};
use raddle_model::hapset::{Frame, Pair, Statement};
use raddle_wire::hapset;
use std::path::Path;

const SOURCE: &str = include_str!("c/two_ways.c");

/// Runs `two_ways.c`, and adds what it teaches to a file.
fn learn(file: &Path, options: &[&str], arguments: &[&str]) -> Ended {
    let mut command = raddle();
    let out = file.with_extension("out");
    command.args(["run", "--runs", "100", "--races", "off", "--format", "json", "--out"]).arg(out);
    command.args(options).arg("--hapset").arg(file).arg(build("two_ways.c")).args(arguments);
    ended(&command.output().expect("the command starts"))
}

/// The pairs of a file, by the text of the lines.
fn pairs(file: &Path) -> Vec<String> {
    let line = |frame: &Frame| {
        assert!(frame.file.ends_with("two_ways.c"), "{frame}");
        SOURCE.lines().nth(frame.line as usize - 1).expect("a line").trim().to_owned()
    };
    let lines = |statement: &Statement| {
        let frames = std::iter::once(&statement.frame).chain(&statement.context);
        frames.map(line).collect::<Vec<_>>().join(" < ")
    };
    let read = hapset::decode(&std::fs::read(file).expect("the file")).expect("sets");
    let told = |pair: &Pair<Statement>| format!("{} after {}", lines(&pair.of), lines(&pair.before));
    let mut pairs: Vec<String> = read.sets.iter().map(told).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn callers_tell_statements_apart() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let store = |by: &str| format!("atomic_store(&flag, 1); < set(); < {by}();");
    let load = "seen = atomic_load(&flag);";
    let [early, late] = ["set_early", "set_late"].map(store);
    let mut all = [
        format!("{early} after {load}"),
        format!("{load} after {early}"),
        format!("{late} after {load}"),
        format!("{load} after {late}"),
    ];
    all.sort_unstable();
    for strategy in ["random", "odpor", "hapset"] {
        let file = directory.path().join(strategy);
        let json = learn(&file, &["--strategy", strategy], &[]).json();
        assert_eq!(json["hapset"]["pairs"], 4, "{strategy}: {json}");
        assert_eq!(pairs(&file), all, "{strategy}");
    }
    // Everything is known: one run shows that.
    let file = directory.path().join("odpor");
    let again = learn(&file, &["--strategy", "hapset"], &[]).json();
    assert_eq!((&again["runs"], &again["hapset"]["pairs"]), (&1.into(), &1.into()), "{again}");
    assert_eq!(pairs(&file), all);
}

/// Whatever keeps runs apart, and wherever they go on from: the same runs, and the same file.
#[test]
fn who_called_is_known_of_runs_that_share_a_process() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    for strategy in ["random", "odpor", "dfs", "hapset"] {
        let told = |isolation: &str, checkpoints: &str| {
            let file = directory.path().join(format!("{strategy}-{isolation}-{checkpoints}"));
            let how = ["--strategy", strategy, "--isolation", isolation, "--checkpoints", checkpoints];
            let json = learn(&file, &how, &["often"]).json();
            let same = ["runs", "steps", "runs_digest", "failing_runs"].map(|field| json[field].clone());
            (same, std::fs::read(&file).expect("the file"), json["checkpoint_hits"].as_u64())
        };
        let alone = told("fork-checked", "off");
        for (isolation, checkpoints) in
            [("reset-checked", "off"), ("reset-checked", "always"), ("fork-checked", "always")]
        {
            let found = told(isolation, checkpoints);
            assert_eq!(found.0, alone.0, "{strategy}, {isolation}, {checkpoints}");
            assert_eq!(found.1, alone.1, "{strategy}, {isolation}, {checkpoints}");
            let hits = checkpoints == "always" && strategy != "random";
            assert_eq!(found.2 > Some(0), hits, "{strategy}, {isolation}, {checkpoints}");
        }
    }
}

/// Both orders of a copy of a structure and of a look at one of its words are tried, and told by that word.
#[test]
fn wide_accesses_have_predecessors() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = directory.path().join("wide");
    let copy = "memcpy(&shared, &mine, sizeof shared);";
    let look = "seen = shared.words[2];";
    let json = learn(&file, &["--strategy", "hapset", "--points", "all"], &["wide"]).json();
    assert_eq!(json["runs"], 2, "{json}");
    assert_eq!(pairs(&file), [format!("{copy} after {look}"), format!("{look} after {copy}")]);
}

/// What follows an access that is told as a whole belongs to that one, and not to the next from the same line.
#[test]
fn words_of_wide_accesses_have_their_callers() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = directory.path().join("copies");
    let json = learn(&file, &["--strategy", "odpor", "--points", "all"], &["copies"]).json();
    assert_eq!(json["distinct_partial_orders"], 3, "{json}");
    let look = "seen = shared.words[2];";
    let fill = |by: &str| format!("memcpy(&shared, &filled, sizeof filled); < {by}");
    let fills = [fill("fill(1); < fill_early();"), fill("fill(2); < fill_late();")];
    let mut all: Vec<String> = fills
        .iter()
        .flat_map(|fill| [format!("{fill} after {look}"), format!("{look} after {fill}")])
        .collect();
    all.sort_unstable();
    assert_eq!(pairs(&file), all);
}

#[test]
fn sets_without_callers_are_refused_before_anything_is_run() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = directory.path().join("old");
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/golden/hapset-1.hapset");
    std::fs::copy(old, &file).expect("a copy");
    let refused = learn(&file, &[], &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("made by an older raddle"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&file).expect("the file"), std::fs::read(old).expect("the file"));
}
