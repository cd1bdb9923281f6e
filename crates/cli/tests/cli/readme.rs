//! The README's commands do what it says.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The commands of the README's console blocks, without their comments.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split('#').next().unwrap().trim().to_owned()).collect()
}

#[test]
fn every_command_of_the_readme_is_known_here() {
    // What the third one does is tested where native programs are.
    let native = "raddle cc -O0 -g bank.c -o bank && raddle run ./bank";
    assert_eq!(commands(), ["cargo run --release -- demo", "cargo xtask test", native]);
}

#[test]
fn the_demo_finds_its_bug() {
    // The first command, with the executable that cargo has built for this test.
    let directory = std::env::temp_dir().join(format!("raddle-test-readme-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let command = commands().remove(0);
    let arguments = command.split(" -- ").nth(1).unwrap().split(' ');
    let output =
        Command::new(env!("CARGO_BIN_EXE_raddle")).args(arguments).current_dir(&directory).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("deadlock") && text.contains("replay") && text.contains("minimize"), "{text}");
}

#[test]
fn ci_runs_the_test_command() {
    let script = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(script.contains(&commands()[1]), "{script}");
}
