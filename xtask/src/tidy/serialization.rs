//! Rule: only the formats' own crates serialize.
//!
//! `wire` writes what is read back, `report` and `cli` what others read. A derive anywhere else would
//! make the layout of some inner struct a format by accident.

use super::{File, Finding, tokens};

const FOLDERS: &[&str] = &["crates/wire/", "crates/report/", "crates/cli/"];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    if file.is_in(FOLDERS) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for start in tokens::find(&file.tokens, &["derive", "("]) {
        let derived = file.tokens[start..].iter().take_while(|token| token.text != ")");
        for token in derived.filter(|token| token.text == "Serialize" || token.text == "Deserialize") {
            let message = format!("only {} may derive {}", FOLDERS.join(", "), token.text);
            findings.push(Finding::new(token.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_a_derive_in_another_crate() {
        let text =
            "//! Why.\n#[derive(Clone, serde::Serialize)]\n#[cfg_attr(a, derive(Deserialize))]\nstruct A;\n";
        let findings = File::check(rule, "crates/model/src/a.rs", text);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn accepts_the_formats_and_other_derives() {
        assert_eq!(File::check(rule, "crates/wire/src/a.rs", "#[derive(Serialize)] struct A;\n"), []);
        assert_eq!(File::check(rule, "crates/model/src/a.rs", "#[derive(Clone)] struct Serialize;\n"), []);
    }
}
