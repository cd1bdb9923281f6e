//! `cargo xtask tidy`: style as a test.
//!
//! Each rule is one small file with its own tests: a function from a file of the project to what is
//! wrong in it. Rules about code look at tokens, never at text, so a word in a string or in a comment
//! breaks none of them. The arrows between crates are the one rule about the project as a whole.

mod arrows;
mod head;
mod length;
mod no_std;
mod output;
mod paths;
mod serialization;
mod tokens;
mod tree;
mod unsafety;
mod whitespace;
mod words;

use crate::{Stop, cargo};
use tokens::Token;

/// One file of the project.
struct File {
    /// From the project's root, with `/` between its parts.
    path: String,
    text: String,
    /// Empty unless it is Rust.
    tokens: Vec<Token>,
}

impl File {
    fn new(path: &str, text: &str) -> Result<File, Finding> {
        let tokens = if path.ends_with(".rs") { tokens::lex(text)? } else { Vec::new() };
        Ok(File { path: path.into(), text: text.into(), tokens })
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether it lies in one of these folders, each given with its final `/`.
    fn is_in(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// What a rule says about a file with this text.
    #[cfg(test)]
    fn check(rule: Rule, path: &str, text: &str) -> Vec<Finding> {
        rule(&File::new(path, text).unwrap_or_else(|finding| panic!("{finding:?}")))
    }
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    line: usize,
    message: String,
}

impl Finding {
    fn new(line: usize, message: impl Into<String>) -> Finding {
        Finding { line, message: message.into() }
    }
}

type Rule = fn(&File) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("head", head::rule),
    ("length", length::rule),
    ("no_std", no_std::rule),
    ("output", output::rule),
    ("paths", paths::rule),
    ("serialization", serialization::rule),
    ("unsafety", unsafety::rule),
    ("whitespace", whitespace::rule),
    ("words", words::rule),
];

/// Checks the whole project and prints every violation.
pub(crate) fn run() -> Result<(), Stop> {
    let (files, mut violations) = read()?;
    for file in &files {
        for (name, rule) in RULES {
            violations.extend(rule(file).iter().map(|finding| violation(&file.path, name, finding)));
        }
    }
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    violations
        .extend(length::stale_rows(&paths).iter().map(|finding| violation(length::LIST, "length", finding)));
    violations.extend(arrows::rule()?.iter().map(|message| format!("arrows: {message}")));
    if violations.is_empty() {
        println!("tidy: {} files, {} rules", files.len(), RULES.len() + 1);
        return Ok(());
    }
    for violation in &violations {
        eprintln!("{violation}");
    }
    Err(Stop::Failed(format!("tidy: {} violations", violations.len())))
}

/// All files, and what is wrong with those that are not even Rust.
fn read() -> Result<(Vec<File>, Vec<String>), Stop> {
    let sources = tree::read(&cargo::root()).map_err(|error| Stop::Failed(format!("tidy: {error}")))?;
    let (mut files, mut violations) = (Vec::new(), Vec::new());
    for (path, text) in sources {
        match File::new(&path, &text) {
            Ok(file) => files.push(file),
            Err(finding) => violations.push(violation(&path, "tokens", &finding)),
        }
    }
    Ok((files, violations))
}

fn violation(path: &str, rule: &str, Finding { line, message }: &Finding) -> String {
    format!("{path}:{line}: {rule}: {message}")
}
