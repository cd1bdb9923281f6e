//! What programs do with the library's types is what the model says of them. Random small programs of the toy front end, all of
//! whose runs are enumerated there, are done with the library: as many partial orders, and just what can be observed.

#[path = "../../../toy/tests/oracle/common/channels.rs"]
mod channels;
mod front;
#[path = "../../../toy/tests/oracle/common/real.rs"]
mod real;

use raddle_model::plan::Steps;
use raddle_model::{FailureKind, Plan, PointSet, Rng, Tail, Verdict};
use raddle_toy::{Instr, Program, Sketch, enumerate};
use real::Left;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Interleavings after which a program is left out.
const RUNS_MAX: usize = 4_000;

/// All that a program can do.
struct Possible {
    /// Partial orders; none if the library has more operations than the model's program: it looks at a once before it enters it.
    classes: Option<u64>,
    left: BTreeSet<Left>,
    /// Whether there are runs that do not finish.
    fails: bool,
}

/// None if there is too much to do or nothing to choose, or what fails is no deadlock.
fn possible(program: &Program) -> Option<Possible> {
    let plan = Plan { points: PointSet::everything(), ..Plan::new(0, Tail::Steps(Steps::default())) };
    let runs = enumerate(program, &plan, RUNS_MAX)?;
    let (mut classes, mut left, mut fails) = (BTreeSet::new(), BTreeSet::new(), false);
    for run in runs {
        classes.insert(run.fingerprint);
        match run.verdict {
            Verdict::Finished => _ = left.insert((run.finals.observed, run.finals.memory)),
            Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock => fails = true,
            _ => return None,
        }
    }
    let enters = program.tasks.iter().flatten().any(|instr| matches!(instr, Instr::OnceEnter(..)));
    let several = classes.len() > 1;
    several.then(|| Possible { classes: (!enters).then_some(classes.len() as u64), left, fails })
}

/// Whether the library has all that a program does, and main waits for all who are made: a scope does so in any case. Who is
/// unparked must be there, which is so on real threads only, since they wait for each other.
fn supports(program: &Program) -> bool {
    let code = || program.tasks.iter().flatten();
    let is_joined = |body: usize| code().any(|instr| *instr == Instr::Join(body));
    let parks = code().any(|instr| matches!(instr, Instr::Park(..) | Instr::Unpark(_)));
    real::supports(program) && !parks && (1..program.tasks.len()).all(is_joined)
}

/// What is wrong with what the program does under a strategy; nothing if all is well.
fn judge(program: &Arc<Program>, possible: &Possible, strategy: &str, is_search: bool) -> Result<(), String> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let body = {
        let (program, seen) = (program.clone(), seen.clone());
        move || {
            let left = real::execute(&program, 0);
            seen.lock().expect("nobody panics with it").insert(left);
        }
    };
    let check = raddle::Check::new().strategy(strategy).time(Duration::from_secs(600)).stop_after(0);
    let runs = if is_search { 100_000 } else { 200 };
    let report = check.runs(runs).out(unwanted()).explore(body).map_err(|error| error.to_string())?;
    let seen = seen.lock().expect("nobody panics with it");
    let wrong: Vec<_> = seen.difference(&possible.left).collect();
    if !wrong.is_empty() {
        return Err(format!("{strategy}: these cannot be: {wrong:?}"));
    }
    let told = format!("{strategy} told {}", report.text());
    if report.failed() && !possible.fails {
        return Err(format!("it cannot fail, and {told}"));
    }
    // All operations of a kind have one site here, so that two timed ones may count as one that is done twice.
    if !is_search || report.exhausted_within().is_some() {
        // A sampled run ends where it fails; in a search the others run on.
        let most = possible.classes.filter(|_| !possible.fails).unwrap_or(u64::MAX);
        return if report.distinct_partial_orders() > most { Err(told) } else { Ok(()) };
    }
    let missed: Vec<_> = possible.left.difference(&seen).collect();
    if !missed.is_empty() || report.failed() != possible.fails || !report.exhausted() {
        return Err(format!("missed {missed:?}, it fails: {}, and {told}", possible.fails));
    }
    match possible.classes {
        Some(classes) if classes != report.distinct_partial_orders() => {
            Err(format!("{classes} partial orders, and {told}"))
        }
        _ => Ok(()),
    }
}

/// Where failures are written that nobody wants to see.
fn unwanted() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("sketches")
}

#[test]
fn programs_of_the_library_do_what_the_model_says() {
    let count = raddle_tiers::size("library_sketches");
    let mut rng = Rng::new(42);
    let (mut done, mut classes, mut failing) = (0, 0, 0);
    while done < count {
        let sketch = Sketch::random(&mut rng, 3, 3);
        let program = sketch.program();
        if !supports(&program) {
            continue;
        }
        let Some(possible) = possible(&program) else { continue };
        done += 1;
        classes += possible.classes.unwrap_or(0);
        failing += u64::from(possible.fails);
        let program = Arc::new(program);
        for (strategy, is_search) in
            [("odpor", true), ("dpor", true), ("random", false), ("rapos", false), ("pct", false)]
        {
            if let Err(message) = judge(&program, &possible, strategy, is_search) {
                let tasks: Vec<String> = program.tasks.iter().map(|code| format!("{code:?}")).collect();
                panic!("program {done}: {message}\n{}\n{sketch:?}", tasks.join("\n"));
            }
        }
    }
    println!("{done} programs with {classes} partial orders; {failing} can fail");
    assert!(failing * 20 > done && failing < done, "few programs can fail, and not all");
}
