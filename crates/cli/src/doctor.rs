//! `raddle doctor`: what works on this machine and what does not, found out by using it. Each probe is a process of
//! its own, since some of them crash where they do not work.

use crate::cc::compiler::{Compiler, Language, on_path};
use crate::native::Backend;
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{EXIT_PROBLEM, Exit};
use raddle_probe::{PROBES, Probe};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Tell what works on this machine, and what not.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// One probe, in this process: what the command asks itself
    #[arg(long, hide = true)]
    probe: Option<String>,
}

/// Longer than any probe takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found out.
struct Check {
    name: String,
    purpose: &'static str,
    otherwise: &'static str,
    result: Result<String, String>,
}

/// A compiler that was found.
struct Candidate {
    name: String,
    language: Language,
    result: Result<Compiler, Problem>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    if let Some(name) = &args.probe {
        return probe(name);
    }
    let checks: Vec<Check> = PROBES.iter().map(check).collect();
    let compilers = compilers();
    let fit = needed(&checks, &compilers);
    match args.format {
        Format::Human => output::print(&text(&checks, &compilers, &fit)),
        Format::Json => output::print_line(&json(&checks, &compilers, &fit)),
    }
    fit.map(|()| Exit::NothingFound)
}

/// The answer of one probe: on stdout, with our exit code.
fn probe(name: &str) -> Result<Exit, Problem> {
    let probe = PROBES.iter().find(|probe| probe.name == name);
    let probe = probe.ok_or_else(|| Problem::new(format!("there is no probe {name}"), ""))?;
    let (text, exit) = match (probe.ask)() {
        Ok(found) => (found, Exit::NothingFound),
        Err(why) => (why, Exit::FailureFound),
    };
    output::print_line(&text);
    Ok(exit)
}

fn check(probe: &Probe) -> Check {
    let Probe { name, purpose, otherwise, .. } = *probe;
    Check { name: name.to_owned(), purpose, otherwise, result: ask(name) }
}

/// Asks in another process.
fn ask(name: &str) -> Result<String, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(me);
    command
        .args(["doctor", "--probe", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer after {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut answer = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_string(&mut answer);
    }
    let answer = answer.trim_end().to_owned();
    match status.code() {
        Some(0) => Ok(answer),
        Some(1) => Err(answer),
        _ => Err(format!("trying it ended with {status}")),
    }
}

/// All compilers under their common names, each file once.
fn compilers() -> Vec<Candidate> {
    let names = |language: Language| -> Vec<String> {
        let [plain, gcc, clang] = match language {
            Language::C => ["cc", "gcc", "clang"],
            Language::Cpp => ["c++", "g++", "clang++"],
        };
        let numbered =
            (9..=30).rev().flat_map(|number| [format!("{gcc}-{number}"), format!("{clang}-{number}")]);
        [plain, gcc, clang].into_iter().map(str::to_owned).chain(numbered).collect()
    };
    let mut found = Vec::new();
    for language in [Language::C, Language::Cpp] {
        let mut seen = BTreeSet::new();
        for name in names(language) {
            let Some(path) = on_path(OsStr::new(&name)) else { continue };
            if path.canonicalize().is_ok_and(|real| !seen.insert(real)) {
                continue;
            }
            found.push(Candidate { name, language, result: Compiler::examine(&path, language) });
        }
    }
    found
}

/// Whether native programs can be built and run at all.
fn needed(checks: &[Check], compilers: &[Candidate]) -> Result<(), Problem> {
    let broken = |check: &&Check| check.result.is_err() && check.otherwise.is_empty();
    if let Some(check) = checks.iter().find(broken) {
        return Err(Problem::new(
            format!("native programs cannot be run here: {} does not work", check.name),
            "the library front end (`raddle::test`) works everywhere",
        ));
    }
    if compilers.iter().any(|compiler| compiler.result.is_ok()) {
        return Ok(());
    }
    Err(Problem::new(
        "no compiler works that could build a program",
        "install gcc or clang, or name one in RADDLE_CC",
    ))
}

/// Which backend `--backend auto` takes, and why.
fn backend(checks: &[Check]) -> (&'static str, String) {
    let probed = checks.iter().find(|check| check.name == "fsgsbase").map(|check| check.result.clone());
    match probed {
        Some(Ok(found)) => (chosen(Ok(())), found),
        Some(Err(why)) => (chosen(Err(why.clone())), why),
        None => ("nothing", String::from("native programs cannot be run here")),
    }
}

fn chosen(fibers: Result<(), String>) -> &'static str {
    Backend::Auto.choose_if(fibers).map_or("nothing", |chosen| chosen.name())
}

fn text(checks: &[Check], compilers: &[Candidate], fit: &Result<(), Problem>) -> String {
    let mut out = String::from("This machine:\n");
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in checks {
        let (mark, found) = match &check.result {
            Ok(found) => ("✓", found),
            Err(why) => ("✗", why),
        };
        let _ = writeln!(out, "  {mark} {:<width$}  {found}", check.name);
        if check.result.is_err() {
            let instead = if check.otherwise.is_empty() { "needed" } else { check.otherwise };
            let _ = writeln!(out, "    {:<width$}  is for {}; without it: {instead}", "", check.purpose);
        }
    }
    out.push_str("\nCompilers:\n");
    for Candidate { name, result, .. } in compilers {
        let _ = match result {
            Ok(compiler) => writeln!(
                out,
                "  ✓ {name:<width$}  {} {}; its pass shows the read and the write of x++",
                compiler.family.name(),
                compiler.version
            ),
            Err(problem) => writeln!(out, "  ✗ {name:<width$}  {}", problem.what()),
        };
    }
    if compilers.is_empty() {
        out.push_str("  ✗ none was found\n");
    }
    if fit.is_ok() {
        let (backend, why) = backend(checks);
        let _ = writeln!(out, "\nBackend: `auto` chooses {backend}, since {why}");
        out.push_str("\nUnmodified C and C++ programs can be built and run: raddle run prog.c\n");
        let broken = |check: &&Check| check.result.is_err() && check.name != "kernel-threads";
        match checks.iter().find(broken) {
            None => out.push_str("What a run changes can be undone: many runs share a process.\n"),
            Some(check) => {
                let _ =
                    writeln!(out, "Each run has a process of its own, since {} does not work.", check.name);
            }
        }
    }
    out
}

fn json(checks: &[Check], compilers: &[Candidate], fit: &Result<(), Problem>) -> String {
    let (backend, why) = backend(checks);
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let (Ok(detail) | Err(detail)) = &check.result;
            serde_json::json!({
                "name": check.name,
                "works": check.result.is_ok(),
                "detail": detail,
                "purpose": check.purpose,
                "otherwise": check.otherwise,
            })
        })
        .collect();
    let compilers: Vec<_> = compilers
        .iter()
        .map(|Candidate { name, language, result }| match result {
            Ok(compiler) => serde_json::json!({
                "name": name,
                "wrapper": language.wrapper(),
                "path": compiler.path,
                "family": compiler.family.name(),
                "version": compiler.version,
                "works": true,
            }),
            Err(problem) => serde_json::json!({
                "name": name,
                "wrapper": language.wrapper(),
                "works": false,
                "detail": problem.what(),
            }),
        })
        .collect();
    let line = serde_json::json!({
        "schema": "raddle.doctor.v1",
        "backend": backend,
        "backend_why": why,
        "works": fit.is_ok(),
        "exit_code": if fit.is_ok() { 0 } else { EXIT_PROBLEM },
        "checks": checks,
        "compilers": compilers,
    });
    line.to_string()
}
