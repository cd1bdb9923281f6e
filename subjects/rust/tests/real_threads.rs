//! The subjects with the operating system's threads: every body ends, and what must not fail does not.

use raddle_subjects::{Expect, TABLE1, bug, fig1, ok};
use std::any::Any;
use std::panic::catch_unwind;
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;

/// Long enough on a loaded machine: only a deadlock takes it.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, PartialEq)]
enum Ended {
    Well,
    Panicked(String),
    Never,
}

/// Runs a body in a thread of its own, which is abandoned if it does not end.
fn run(body: fn()) -> Ended {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(catch_unwind(body)));
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(())) => Ended::Well,
        Ok(Err(payload)) => Ended::Panicked(message(&*payload)),
        Err(_) => Ended::Never,
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Keeps expected panics out of the output of the tests.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = message(info.payload());
            if !text.contains("Exception") && text != "x is 4" {
                usual(info);
            }
        }));
    });
}

#[test]
fn subjects_end() {
    quietly();
    for subject in TABLE1 {
        for _ in 0..50 {
            match run(subject.body) {
                Ended::Well => {}
                Ended::Never => {
                    assert!(subject.deadlock, "{} hangs", subject.name);
                    break;
                }
                Ended::Panicked(text) => {
                    assert!(text.contains("Exception"), "{}: {text}", subject.name)
                }
            }
        }
    }
}

#[test]
fn figure_1_ends_or_sees_4() {
    quietly();
    for _ in 0..200 {
        let ended = run(fig1);
        assert!(ended == Ended::Well || ended == Ended::Panicked("x is 4".into()), "{ended:?}");
    }
}

#[test]
fn correct_programs_never_fail() {
    for program in ok::PROGRAMS {
        assert_eq!(program.expect, Expect::Ok);
        for _ in 0..200 {
            assert_eq!(run(program.body), Ended::Well, "{}", program.name);
        }
    }
}

#[test]
fn programs_come_in_pairs() {
    let names = |programs: &[raddle_subjects::Program]| programs.iter().map(|p| p.name).collect::<Vec<_>>();
    assert_eq!(names(bug::PROGRAMS), names(ok::PROGRAMS));
    assert!(names(bug::PROGRAMS).is_sorted());
    for program in bug::PROGRAMS {
        let kinds = ["assertion", "panic", "deadlock", "race", "livelock"];
        assert!(matches!(program.expect, Expect::Kind(kind) if kinds.contains(&kind)), "{}", program.name);
    }
}

#[test]
fn the_table_is_the_papers() {
    assert_eq!(TABLE1.len(), 12);
    assert!(TABLE1.iter().all(|s| s.paper_random < s.paper_rapos && u64::from(s.paper_rapos) <= s.runs));
    let throwing: Vec<_> = TABLE1.iter().filter(|s| s.backwards.is_some()).map(|s| s.name).collect();
    assert_eq!(throwing, ["ArrayList", "LinkedList", "Vector"]);
}
