//! The subjects in C and C++: every bug is found, of its kind and at its lines, and nothing is found in what is mended;
//! with gcc and with clang.

mod backends;
mod determinism;
mod expectation;
mod orders;

use expectation::{Subject, bugs, mended};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// The compilers that build them: for C and for C++.
const COMPILERS: [[&str; 2]; 2] = [["gcc", "g++"], ["clang-19", "clang++-19"]];

/// What is found in a subject: kind, and sites.
type Found = Vec<(String, Vec<String>)>;

/// `raddle run` on a subject: what it says, and its exit code.
fn campaign(
    subject: &Subject,
    compiler: [&str; 2],
    sweep: &str,
    more: &[&str],
) -> (serde_json::Value, Option<i32>) {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RADDLE_") {
            command.env_remove(name);
        }
    }
    command.env("RADDLE_CC", compiler[0]).env("RADDLE_CXX", compiler[1]);
    command.env("RADDLE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    command.env("CFLAGS", &subject.flags).env("CXXFLAGS", &subject.flags).env_remove("LDFLAGS");
    command.args(["run", "--format", "json", "--stop-after", "0", "--time", "300", "--steps-max", "20000"]);
    command.args(["--hang-ms", "3000"]).args(&subject.options).args(more);
    command.args(["--runs", &raddle_tiers::size(sweep).to_string(), "--out"]).arg(out.path());
    command.arg(&subject.source).args(&subject.arguments).stdin(Stdio::null());
    let output = command.output().expect("the command starts");
    let (said, json) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let json = json.lines().last().and_then(|line| serde_json::from_str(line).ok());
    (json.unwrap_or_else(|| serde_json::json!({ "said": said })), output.status.code())
}

fn run(subject: &Subject, compiler: [&str; 2], sweep: &str) -> Result<Found, String> {
    let (json, code) = campaign(subject, compiler, sweep, &[]);
    let failures = json["failures"].as_array().ok_or_else(|| format!("no list of failures: {json}"))?;
    let runs = raddle_tiers::size(sweep);
    if json["runs"] != runs && json["exhausted"] != true {
        return Err(format!("{} runs of {runs} were done", json["runs"]));
    }
    let expected = if failures.is_empty() { 0 } else { 1 };
    if code != Some(expected) {
        return Err(format!("exit code {code:?} with {} failures", failures.len()));
    }
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let site = |site: &serde_json::Value| format!("{}:{}", text(&site["file"]), site["line"]);
    let sites =
        |failure: &serde_json::Value| failure["sites"].as_array().into_iter().flatten().map(site).collect();
    Ok(failures.iter().map(|failure| (text(&failure["kind"]), sites(failure))).collect())
}

/// What is wrong with what was found.
fn judge(subject: &Subject, found: &Found) -> Vec<String> {
    let kinds: BTreeSet<&String> = found.iter().map(|(kind, _)| kind).collect();
    let missing = subject.find.iter().filter(|kind| !kinds.contains(kind));
    let mut wrong: Vec<String> = missing.map(|kind| format!("{kind} was not found")).collect();
    for (kind, sites) in found {
        if !subject.find.contains(kind) && !subject.may.contains(kind) {
            wrong.push(format!("{kind} at {sites:?} is not expected"));
            continue;
        }
        // What the system does by itself, such as destroying statics at the end, has no line of ours; the other side has.
        let marked = |site: &&String| subject.is_marked(kind, site);
        let alone = !sites.iter().any(|site| marked(&site));
        let outside = sites.iter().filter(|site| !marked(site) && (alone || !site.starts_with("/usr/")));
        let outside: Vec<&String> = outside.collect();
        if !outside.is_empty() {
            wrong.push(format!("{kind} at {outside:?}, which are not marked"));
        }
    }
    wrong
}

/// Runs all subjects with one compiler and tells everything that is wrong.
fn all(subjects: &[Subject], compiler: [&str; 2], sweep: &str) {
    let mut wrong = Vec::new();
    for subject in subjects {
        if let Some(why) = &subject.later {
            println!("{} is left out: {why}", subject.name);
            continue;
        }
        let messages = match run(subject, compiler, sweep) {
            Ok(found) => judge(subject, &found),
            Err(message) => vec![message],
        };
        wrong.extend(messages.iter().map(|message| format!("{}: {message}", subject.name)));
    }
    assert!(wrong.is_empty(), "with {}:\n{}", compiler[0], wrong.join("\n"));
}

#[test]
fn bugs_are_found_with_gcc() {
    all(&bugs(), COMPILERS[0], "native_bug_runs");
}

#[test]
fn bugs_are_found_with_clang() {
    all(&bugs(), COMPILERS[1], "native_bug_runs");
}

#[test]
fn nothing_is_found_in_what_is_mended_with_gcc() {
    all(&mended(), COMPILERS[0], "native_ok_runs");
}

#[test]
fn nothing_is_found_in_what_is_mended_with_clang() {
    all(&mended(), COMPILERS[1], "native_ok_runs");
}

#[test]
fn runs_that_are_reset_are_what_they_are_in_processes_of_their_own() {
    let (mut wrong, mut reset) = (Vec::new(), 0);
    let subjects = || bugs().into_iter().chain(mended()).filter(|subject| subject.later.is_none());
    // Once with all memory compared after each run; and once without, when pages are looked at every so many runs only.
    let by = |isolation: &'static str| vec!["--isolation", isolation];
    let fork = || by("fork-checked");
    let checked = subjects().map(|subject| (subject, [fork(), by("reset-checked")], "reset_runs"));
    // And once in processes that are copies of one at the first choice.
    let always = || [fork(), vec!["--checkpoints", "always"]].concat();
    let late = subjects().map(|subject| (subject, [fork(), always()], "reset_runs"));
    let plain = subjects().map(|subject| (subject, [by("fork"), by("reset")], "reset_batch_runs"));
    let mut moved = 0;
    for (subject, how, sweep) in checked.chain(late).chain(plain) {
        let [fork, own] = how.map(|options| campaign(&subject, COMPILERS[0], sweep, &options).0);
        for field in ["runs", "steps", "failing_runs", "runs_digest"] {
            if fork[field].is_null() || fork[field] != own[field] {
                wrong.push(format!("{}: {field} {} and {}", subject.name, fork[field], own[field]));
            }
        }
        let isolation = &own["isolation"];
        let all = isolation["alone"].as_object().is_some_and(serde_json::Map::is_empty);
        reset += usize::from(all && isolation["name"] == "reset");
        moved += usize::from(isolation["moved"] != 0 && isolation["name"] == "fork");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(moved > 80, "only {moved} programs are copied at their first choice");
    assert!(reset > 200, "only {reset} programs are reset in all their runs");
}

#[test]
fn searches_are_the_same_from_checkpoints() {
    let (mut wrong, mut hits) = (Vec::new(), 0);
    let subjects: Vec<Subject> =
        bugs().into_iter().chain(mended()).filter(|subject| subject.later.is_none()).collect();
    let wanted = raddle_tiers::size("checkpoint_subjects") as usize;
    for subject in subjects.iter().step_by(subjects.len().div_ceil(wanted)) {
        let how = [["fork-checked", "off"], ["reset-checked", "always"], ["fork-checked", "always"]];
        let [plain, own @ ..] = how.map(|[isolation, checkpoints]| {
            let options = ["--isolation", isolation, "--checkpoints", checkpoints, "--strategy", "odpor"];
            campaign(subject, COMPILERS[0], "checkpoint_runs", &options).0
        });
        for own in own {
            for field in ["runs", "steps", "failing_runs", "exhausted", "warnings", "runs_digest"] {
                if plain[field].is_null() || plain[field] != own[field] {
                    wrong.push(format!("{}: {field} {} and {}", subject.name, plain[field], own[field]));
                }
            }
            hits += own["checkpoint_hits"].as_u64().unwrap_or(0);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hits > 20, "hardly any run went on from a checkpoint: {hits}");
}

#[test]
fn every_subject_says_what_must_be_found_and_where() {
    let bugs = bugs();
    assert!(bugs.len() >= 50, "{}", bugs.len());
    for bug in bugs {
        assert!(!bug.find.is_empty(), "{}", bug.name);
        for kind in bug.find.iter().chain(&bug.may) {
            assert!(bug.has_mark(kind), "{}: no line is marked !{kind}", bug.name);
            let known = raddle_model::FailureKind::ALL.iter().any(|known| known.name() == kind);
            assert!(known, "{}: there is no kind {kind}", bug.name);
        }
    }
}

#[test]
fn a_verdict_can_be_wrong() {
    let bug = bugs().into_iter().find(|bug| bug.name == "counter").expect("a subject");
    let race = |line: u32| (String::from("race"), vec![format!("/subjects/bug/counter.c:{line}")]);
    let assertion = || (String::from("assertion"), vec![]);
    let line = (1..).find(|line| bug.is_marked("race", &format!("counter.c:{line}"))).unwrap();
    assert_eq!(judge(&bug, &vec![race(line), assertion()]), [] as [String; 0]);
    for found in [vec![], vec![race(line)], vec![race(line + 1), assertion()]] {
        assert_eq!(judge(&bug, &found).len(), 2 - found.len().min(1), "{found:?}");
    }
    let strange = vec![race(line), assertion(), (String::from("deadlock"), vec![])];
    assert_eq!(judge(&bug, &strange).len(), 1);
}
