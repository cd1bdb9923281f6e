//! Rule: nothing unfinished, nothing left from debugging, no test switched off, no lint silenced for good.

use super::{File, Finding, tokens};

/// What must not occur, and what to do instead.
const WORDS: &[(&[&str], &str)] = &[
    (&["todo", "!"], "`todo!`: finish it"),
    (&["unimplemented", "!"], "`unimplemented!`: finish it, or make it an error that names the way out"),
    (&["dbg", "!"], "`dbg!`: left from debugging"),
    (&["#", "[", "ignore"], "`#[ignore]`: a test that does not run proves nothing"),
    (&["#", "[", "allow", "("], "`#[allow]`: use `#[expect]`, which tells when it is no longer needed"),
    (
        &["#", "!", "[", "allow", "("],
        "`#![allow]`: use `#![expect]`, which tells when it is no longer needed",
    ),
];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (words, message) in WORDS {
        findings.extend(tokens::lines(&file.tokens, words).map(|line| Finding::new(line, *message)));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_each_word() {
        for code in [
            "fn f() { todo!() }",
            "fn f() { unimplemented!(\"later\") }",
            "fn f() { g(dbg!(1)) }",
            "#[test]\n#[ignore]\nfn f() {}",
            "#[ignore = \"slow\"]\nfn f() {}",
            "#[allow(dead_code)]\nfn f() {}",
            "#![allow(dead_code)]",
        ] {
            assert_eq!(File::check(rule, "a.rs", code).len(), 1, "{code}");
        }
    }

    #[test]
    fn accepts_expectations_and_words_about_them() {
        let text = "//! No todo!() here.\n#[expect(dead_code)]\nfn allow() { ignore(\"dbg!\") }\n";
        assert_eq!(File::check(rule, "a.rs", text), []);
    }
}
