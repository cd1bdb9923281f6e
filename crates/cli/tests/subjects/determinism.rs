//! The same plans give the same runs on servers that were started anew, each with an address layout of its own, another
//! environment, another directory and another name of the program; one of them with kernel threads in place of fibers,
//! and one beside a process that keeps a processor busy.

use crate::expectation::{Subject, bugs, mended};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environments by their size, which moves the stack; each has its own directory and name.
const SERVERS: [usize; 5] = [0, 1, 333, 4_000, 20_000];

/// Which of them has kernel threads, and which has company.
const WITH_THREADS: usize = 333;
const WITH_LOAD: usize = 4_000;

/// A process that does nothing, as fast as it can. It ends with this.
struct Load(std::process::Child);

impl Load {
    fn start() -> Load {
        let command = Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Load(command.expect("a shell"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.kill().expect("it runs until it is ended");
        self.0.wait().expect("our own child");
    }
}

/// Builds a subject as `raddle run` would.
fn build(subject: &Subject, at: &Path) -> PathBuf {
    let program = at.join("program");
    let wrapper = if subject.source.extension().is_some_and(|end| end == "cc") { "c++" } else { "cc" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.arg(wrapper).args(["-O0", "-g", "-pthread", "-w"]).args(subject.flags.split_ascii_whitespace());
    command.env("RADDLE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let built = command.arg(&subject.source).arg("-o").arg(&program).output().expect("the wrapper starts");
    assert!(built.status.success(), "{}: {}", subject.name, String::from_utf8_lossy(&built.stderr));
    program
}

/// A command in surroundings of its own.
fn surrounded(mut command: Command, at: &Path, server: usize) -> Command {
    let directory = at.join("d".repeat(1 + server % 100));
    std::fs::create_dir_all(&directory).expect("a directory");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("PADDING", "x".repeat(server)).current_dir(directory).stdin(Stdio::null());
    command
}

/// What each run of a campaign was.
fn log(subject: &Subject, program: &Path, at: &Path, server: usize) -> String {
    let name = at.join(format!("program-{}", "n".repeat(server % 200)));
    if !name.exists() {
        std::fs::hard_link(program, &name).expect("another name");
    }
    let log = at.join("log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(["run", "--format", "json", "--stop-after", "0", "--time", "600", "--steps-max", "20000"]);
    command.args(["--hang-ms", "20000", "--runs", &raddle_tiers::size("determinism_plans").to_string()]);
    let backend = if server == WITH_THREADS { "threads" } else { "fibers" };
    let _load = (server == WITH_LOAD).then(Load::start);
    command
        .args(["--backend", backend])
        .args(&subject.options)
        .arg("--out")
        .arg(at.join("out"))
        .arg("--log")
        .arg(&log);
    command.arg(&name).args(&subject.arguments);
    let output = surrounded(command, at, server).output().expect("the command starts");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{}: {}", subject.name, String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(&log).expect("a log")
}

#[test]
fn every_server_gives_the_same_runs() {
    let all: Vec<Subject> =
        bugs().into_iter().chain(mended()).filter(|subject| subject.later.is_none()).collect();
    let wanted = raddle_tiers::size("determinism_subjects") as usize;
    // Spread over all of them if only some are wanted.
    let step = all.len().div_ceil(wanted.min(all.len()));
    let mut wrong = Vec::new();
    for subject in all.iter().step_by(step) {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let program = build(subject, place.path());
        let rounds = 0..raddle_tiers::size("determinism_repetitions") as usize;
        let logs: BTreeSet<String> = rounds
            .map(|round| log(subject, &program, place.path(), SERVERS[round % SERVERS.len()]))
            .collect();
        let lines = logs.first().map_or(0, |log| log.lines().count());
        if logs.len() != 1 || lines < 2 {
            wrong.push(format!(
                "{} ({}): {} different logs of {lines} lines",
                subject.name,
                subject.source.display(),
                logs.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_layouts_of_those_servers_do_differ() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = place.path().join("layout.c");
    let text = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int x; printf(\"%p %p %p\", (void *)&x, malloc(1), (void *)main); }\n";
    std::fs::write(&source, text).expect("a file");
    let mut subject = bugs().remove(0);
    subject.source = source;
    let program = build(&subject, place.path());
    let layouts: BTreeSet<Vec<u8>> = SERVERS
        .iter()
        .map(|&server| {
            let output = surrounded(Command::new(&program), place.path(), server).output();
            output.expect("the program starts").stdout
        })
        .collect();
    assert_eq!(
        layouts.len(),
        SERVERS.len(),
        "the kernel does not draw address layouts: the test above proves little"
    );
}
