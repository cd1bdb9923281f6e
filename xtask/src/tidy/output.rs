//! Rule: only the command line and the test harness talk to people.
//!
//! A library that prints cannot be used inside the runtime or under `--format json`.

use super::{File, Finding, tokens};

const FOLDERS: &[&str] = &["crates/cli/", "crates/raddle/", "xtask/", "bench/", "subjects/"];

const SPEAKING: &[&[&str]] = &[
    &["print", "!"],
    &["println", "!"],
    &["eprint", "!"],
    &["eprintln", "!"],
    &["io", ":", ":", "stdout"],
    &["io", ":", ":", "stderr"],
];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    // A build script talks to cargo by printing.
    if file.is_in(FOLDERS) || file.path.contains("/tests/") || file.path.ends_with("/build.rs") {
        return Vec::new();
    }
    let lines = SPEAKING.iter().flat_map(|words| tokens::lines(&file.tokens, words));
    lines.map(|line| Finding::new(line, format!("only {} and tests may print", FOLDERS.join(", ")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_each_way_to_print() {
        for call in [
            "print!(\"a\")",
            "println!()",
            "eprint!(\"a\")",
            "eprintln!()",
            "std::io::stdout()",
            "io::stderr()",
        ] {
            let text = format!("//! Why.\nfn f() {{\n    {call};\n}}\n");
            let findings = File::check(rule, "crates/engine/src/a.rs", &text);
            assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3], "{call}");
        }
    }

    #[test]
    fn accepts_speakers_tests_and_build_scripts() {
        let text = "fn f() { println!() }\n";
        for path in ["crates/cli/src/a.rs", "crates/engine/tests/a.rs", "crates/runtime-image/build.rs"] {
            assert_eq!(File::check(rule, path, text), []);
        }
        assert_eq!(File::check(rule, "crates/engine/src/a.rs", "fn f() { command.stdout(x) }\n"), []);
    }
}
