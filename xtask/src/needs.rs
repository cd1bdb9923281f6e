//! What the test suites need from the machine, and how it is got when it is missing.
//!
//! A later front end that needs another tool adds a row to [`NEEDS`]. As root the missing tools are
//! installed; anybody else is told the exact line to run before any work is started.

use crate::Stop;
use crate::steps::execute;
use std::env;
use std::process::Command;

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// Debian packages, by apt-get.
    Apt(&'static str),
    /// A component of the Rust toolchain, by rustup.
    Rustup(&'static str),
}

/// Each command that must be there, and where it comes from.
const NEEDS: &[(&str, From)] = &[
    // The linker; gcc alone only recommends the C library's start files.
    ("cc", From::Apt("gcc libc6-dev")),
    // What unmodified programs are built with: both families of compilers, and the common build systems.
    ("g++", From::Apt("g++")),
    ("clang++-19", From::Apt("clang-19")),
    ("make", From::Apt("make")),
    ("cmake", From::Apt("cmake")),
    ("cargo-fmt", From::Rustup("rustfmt")),
    ("cargo-clippy", From::Rustup("clippy")),
];

/// Makes sure that everything needed is here.
pub(crate) fn provide() -> Result<(), Stop> {
    let missing = missing(is_here);
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() {
        return Err(Stop::Unfit(advice(&missing)));
    }
    for line in lines(&missing) {
        println!("installing what is missing: {line}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("DEBIAN_FRONTEND", "noninteractive");
        execute(shell)?;
    }
    match self::missing(is_here) {
        still if still.is_empty() => Ok(()),
        still => Err(Stop::Unfit(format!("installed, but still missing: {still:?}"))),
    }
}

type Need = (&'static str, From);

fn missing(present: impl Fn(Need) -> bool) -> Vec<Need> {
    NEEDS.iter().copied().filter(|need| !present(*need)).collect()
}

fn is_here((command, from): Need) -> bool {
    match from {
        From::Apt(_) => on_path(command),
        // rustup puts a proxy of that name on PATH whether or not the component is installed: ask it.
        From::Rustup(_) => answers(command),
    }
}

/// One shell line per source that has something to install.
fn lines(missing: &[Need]) -> Vec<String> {
    let packages: Vec<_> = missing.iter().filter_map(|(_, from)| apt(*from)).collect();
    let components: Vec<_> = missing.iter().filter_map(|(_, from)| rustup(*from)).collect();
    let mut lines = Vec::new();
    if !packages.is_empty() {
        let packages = packages.join(" ");
        lines.push(format!("apt-get update && apt-get install -y --no-install-recommends {packages}"));
    }
    if !components.is_empty() {
        lines.push(format!("rustup component add {}", components.join(" ")));
    }
    lines
}

fn apt(from: From) -> Option<&'static str> {
    if let From::Apt(packages) = from { Some(packages) } else { None }
}

fn rustup(from: From) -> Option<&'static str> {
    if let From::Rustup(component) = from { Some(component) } else { None }
}

fn advice(missing: &[Need]) -> String {
    let commands: Vec<_> = missing.iter().map(|(command, _)| *command).collect();
    let mut text = format!("xtask: missing on this machine: {}; run:\n", commands.join(", "));
    for line in lines(missing) {
        // rustup writes into the user's own folder: as root it would install for the wrong user.
        let line = if line.starts_with("apt-get") { format!("sudo sh -c '{line}'") } else { line };
        text += &format!("  {line}\n");
    }
    text
}

fn on_path(command: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(command).is_file()))
}

fn answers(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_missing_gives_nothing_to_do() {
        assert!(missing(|_| true).is_empty());
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn the_advice_is_the_exact_line_for_each_source() {
        let missing = missing(|(command, _)| !["cc", "cargo-clippy"].contains(&command));
        let text = advice(&missing);
        let apt = "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev'";
        assert!(text.contains("missing on this machine: cc, cargo-clippy; run:"), "{text}");
        assert!(text.lines().any(|line| line.trim() == apt), "{text}");
        assert!(text.lines().any(|line| line.trim() == "rustup component add clippy"), "{text}");
    }

    #[test]
    fn commands_are_looked_up_on_path() {
        assert!(on_path("sh"));
        assert!(!on_path("no-such-command-anywhere"));
    }

    #[test]
    fn a_proxy_without_its_component_is_missing() {
        assert!(answers("cargo"));
        assert!(!answers("false"));
        assert!(!answers("no-such-command-anywhere"));
    }
}
