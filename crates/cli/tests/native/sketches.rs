//! What C programs do under control is what the model says of them. Random small programs of the toy front end, all of whose runs
//! are enumerated there, are written as C and searched and sampled: as many partial orders, and just what can be observed.

mod emit;

use crate::support::{build_source, files, run_with};
use emit::MEMORY;
use raddle_model::plan::Steps;
use raddle_model::{Plan, PointSet, Rng, Tail, Verdict};
use raddle_toy::{Program, Sketch, enumerate};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Interleavings after which a program is left out.
const RUNS_MAX: usize = 4_000;

/// What each task has observed, and memory.
type Left = (Vec<Option<Vec<u64>>>, Vec<u64>);

/// A program and all that it can do.
struct Sample {
    program: Program,
    classes: u64,
    left: BTreeSet<Left>,
    /// Whether some runs do not finish.
    fails: bool,
}

impl Sample {
    /// None if there is too much to do.
    fn new(program: Program) -> Option<Sample> {
        let tail = Tail::Steps(Steps::default());
        let plan = Plan { points: PointSet::everything(), ..Plan::new(0, tail) };
        let runs = enumerate(&program, &plan, RUNS_MAX)?;
        let classes: BTreeSet<u128> = runs.iter().map(|run| run.fingerprint).collect();
        let finished = |run: &&raddle_toy::ToyRun| run.verdict == Verdict::Finished;
        let left = runs.iter().filter(finished).map(|run| {
            let memory = MEMORY.iter().map(|object| run.finals.memory[*object]).collect();
            (run.finals.observed.clone(), memory)
        });
        let (left, fails) = (left.collect(), !runs.iter().all(|run| finished(&run)));
        Some(Sample { program, classes: classes.len() as u64, left, fails })
    }

    /// The lines that its runs have written.
    fn read(&self, file: &Path) -> BTreeSet<Left> {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let number = |word: &str| -> u64 { word.parse().expect("a number") };
        let line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (tasks, memory) = words.split_at(words.len() - MEMORY.len());
            let mut observed = vec![None; self.program.tasks.len()];
            for task in tasks {
                let (body, values) = task.split_once(':').expect("a task");
                let values = values.split(',').filter(|value| !value.is_empty()).map(number).collect();
                observed[number(body) as usize] = Some(values);
            }
            (observed, memory.iter().map(|word| number(word)).collect())
        };
        text.lines().map(line).collect()
    }
}

/// Random programs that C can do and that have something to choose.
fn samples(seed: u64, count: u64) -> Vec<Sample> {
    let mut rng = Rng::new(seed);
    let mut samples = Vec::new();
    while (samples.len() as u64) < count {
        let program = Sketch::random(&mut rng, 3, 3).program();
        if emit::supports(&program) {
            samples.extend(Sample::new(program).filter(|sample| sample.classes > 1));
        }
    }
    samples
}

fn is_race(failure: &Value) -> bool {
    failure["kind"] == "race"
}

/// Runs program `number` of a file: what is told of the campaign, and what its runs have left, if that is asked for.
fn campaign(
    program: &Path,
    number: usize,
    sample: &Sample,
    options: &[&str],
    asked: bool,
) -> (Value, BTreeSet<Left>) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = directory.path().join("left");
    let name = file.to_str().expect("a name");
    let number = number.to_string();
    let arguments = if asked { vec![number.as_str(), name] } else { vec![number.as_str()] };
    let (ended, _out) = run_with(program, &[&["--stop-after", "0"], options].concat(), &arguments);
    assert!(matches!(ended.code, Some(0 | 1)), "{}{}", ended.stdout, ended.stderr);
    let left = if asked { sample.read(&file) } else { BTreeSet::new() };
    assert!(files(directory.path()).len() <= 1);
    (ended.json(), left)
}

/// What is wrong with what the program does under control; nothing if all is well.
fn judge(program: &Path, number: usize, sample: &Sample) -> Result<(), String> {
    let fork = ["--isolation", "fork"];
    let search = ["--strategy", "odpor", "--runs", "100000"];
    let (told, left) = campaign(program, number, sample, &[&fork[..], &search].concat(), true);
    if told["exhausted"] != true {
        return Err(format!("odpor is not done: {told}"));
    }
    if left != sample.left {
        let missed: Vec<_> = sample.left.difference(&left).collect();
        let wrong: Vec<_> = left.difference(&sample.left).collect();
        return Err(format!("odpor: missed {missed:?}, and these cannot be: {wrong:?}"));
    }
    let failures = told["failures"].as_array().expect("a list");
    if failures.iter().any(|failure| !is_race(failure)) != sample.fails {
        return Err(format!("it fails: {}, and told was {failures:?}", sample.fails));
    }
    // Where memory is raced for, runs that did not know that yet are other partial orders.
    let points = if failures.iter().any(is_race) { "all" } else { "sync" };
    let (told, _) = campaign(program, number, sample, &[&search[..], &["--points", points]].concat(), false);
    if told["distinct_partial_orders"] != sample.classes || told["exhausted"] != true {
        return Err(format!("{} partial orders, and told was {told}", sample.classes));
    }
    let sampled = ["--strategy", "random", "--runs", "100"];
    let (_, left) = campaign(program, number, sample, &[&fork[..], &sampled].concat(), true);
    let wrong: Vec<_> = left.difference(&sample.left).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("random: these cannot be: {wrong:?}")) }
}

fn listing(program: &Program) -> String {
    let tasks = program.tasks.iter().enumerate();
    tasks.map(|(body, code)| format!("task {body}: {code:?}\n")).collect()
}

#[test]
fn programs_in_c_do_what_the_model_says() {
    let samples = samples(41, raddle_tiers::size("sketch_programs"));
    let programs: Vec<Program> = samples.iter().map(|sample| sample.program.clone()).collect();
    let program = build_source("sketches", &emit::source(&programs));
    let mut wrong = Vec::new();
    for (number, sample) in samples.iter().enumerate() {
        if let Err(message) = judge(&program, number, sample) {
            wrong.push(format!("program {number}: {message}\n{}", listing(&sample.program)));
        }
    }
    let classes: u64 = samples.iter().map(|sample| sample.classes).sum();
    let failing = samples.iter().filter(|sample| sample.fails).count();
    println!("{} programs with {classes} partial orders; {failing} can fail", samples.len());
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}
