//! A campaign ends when its time is over, whatever the run does that it is at, and says so.

use crate::campaigns::{end, own, send, until};
use crate::support::{Ended, raddle};
use std::path::Path;
use std::process::{Child, Stdio};

/// Starts a campaign on a program some of whose runs never end, and that has so many seconds.
fn start(program: &Path, arguments: &[&str], seconds: &str, options: &[&str]) -> Child {
    let mut command = raddle();
    command.args(["run", "--format", "json", "--runs", "100000000", "--steps-max", "1000000000000"]);
    command.args(["--time", seconds, "--out"]).arg(program.with_extension("out"));
    command.args(options).arg(program).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// Waits for its end, which must come: nothing else would end it.
fn finish(mut child: Child, program: &Path) -> Ended {
    until(|| child.try_wait().expect("it can be asked").is_some());
    end(child, program)
}

fn with_program(name: &str, work: impl FnOnce(&Path)) {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    work(&own(name, place.path()));
}

const WAYS: &[&[&str]] = &[
    &["--isolation", "fork"],
    &["--isolation", "reset"],
    &["--isolation", "in-process"],
    &["--isolation", "reset", "--jobs", "2"],
    &["--isolation", "fork", "--jobs", "2"],
];

const SEARCHES: &[&[&str]] = &[
    &["--isolation", "fork", "--checkpoints", "off"],
    &["--isolation", "reset"],
    &["--isolation", "reset", "--jobs", "2"],
];

#[test]
fn time_ends_a_run_that_does_not_end() {
    let samples = WAYS.iter().map(|way| ("random", *way));
    let searches = ["dfs", "odpor"].into_iter().flat_map(|name| SEARCHES.iter().map(move |way| (name, *way)));
    let guided = [("hapset", &["--isolation", "fork"][..])];
    for (strategy, way) in samples.chain(searches).chain(guided) {
        with_program("endless.c", |program| {
            let options = [&["--strategy", strategy][..], way].concat();
            let ended = finish(start(program, &[], "1", &options), program);
            let json = ended.json();
            let notes = json["notes"].to_string();
            assert!(notes.contains("cut off in the middle of a run"), "{options:?}: {}", ended.stdout);
            assert_eq!(ended.code, Some(0), "{options:?}: {}{}", ended.stdout, ended.stderr);
            assert_eq!(json["exhausted"], false, "{options:?}: {}", ended.stdout);
            assert!(json["exhausted_within"].is_null(), "{options:?}: {}", ended.stdout);
        });
    }
}

#[test]
fn a_campaign_without_a_run_that_ends_is_no_pass() {
    for strategy in ["random", "dfs", "odpor"] {
        with_program("endless.c", |program| {
            let ended = finish(start(program, &["always"], "1", &["--strategy", strategy]), program);
            assert_eq!(ended.code, Some(2), "{strategy}: {}{}", ended.stdout, ended.stderr);
            assert!(ended.stderr.contains("no run of"), "{strategy}: {}", ended.stderr);
        });
    }
}

#[test]
fn an_interrupt_ends_a_run_that_does_not_end() {
    for strategy in ["random", "dfs"] {
        with_program("endless.c", |program| {
            let mut child = start(program, &["always"], "3600", &["--strategy", strategy]);
            // Once it has begun to work; before that it is told as always.
            until(|| crate::campaigns::running(program) > 2);
            send("-INT", &child);
            until(|| child.try_wait().expect("it can be asked").is_some());
            let ended = end(child, program);
            assert_eq!(ended.code, Some(2), "{strategy}: {}{}", ended.stdout, ended.stderr);
            assert!(ended.stderr.contains("interrupted"), "{strategy}: {}", ended.stderr);
        });
    }
}

/// What was found is told, and nobody waits for a longer look at it than there is time for.
#[test]
fn time_ends_what_is_done_about_a_failure() {
    with_program("lengthy.c", |program| {
        // On a busy machine no run may end in time.
        let campaigns = [4, 8, 16, 32].into_iter().map(|seconds| {
            (f64::from(seconds), finish(start(program, &[], &seconds.to_string(), &[]), program))
        });
        let (seconds, ended) = { campaigns }.find(|(_, ended)| ended.code != Some(2)).expect("a run ends");
        assert_eq!(ended.kinds(), ["assertion"], "{}", ended.stdout);
        let taken = ended.json()["seconds"].as_f64().expect("a number");
        assert!(taken < seconds + 4.0, "{seconds} s became {taken} s: {}", ended.stdout);
    });
}
