//! Rule: unsafe code lives where a front end touches stacks, and where the machine is tried out, and nowhere else.

use super::{File, Finding, tokens};

const FOLDERS: &[&str] = &["crates/raddle/", "crates/native/", "crates/runtime/", "crates/probe/"];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    if file.is_in(FOLDERS) {
        return Vec::new();
    }
    let lines = tokens::lines(&file.tokens, &["unsafe"]);
    lines.map(|line| Finding::new(line, format!("`unsafe` is for {} only", FOLDERS.join(", ")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_blocks_functions_impls_and_attributes() {
        for code in [
            "fn f() { unsafe { g() } }",
            "unsafe fn f() {}",
            "unsafe impl A for B {}",
            "#[unsafe(no_mangle)]",
        ] {
            assert_eq!(File::check(rule, "crates/model/src/a.rs", code).len(), 1, "{code}");
        }
    }

    #[test]
    fn accepts_the_front_ends_and_words_about_it() {
        assert_eq!(File::check(rule, "crates/raddle/src/a.rs", "unsafe fn f() {}"), []);
        assert_eq!(File::check(rule, "crates/model/src/a.rs", "//! No unsafe.\n#![forbid(unsafe_code)]"), []);
        // A crate whose name only begins like one of the list is not in it.
        assert_eq!(File::check(rule, "crates/raddle-macros/src/a.rs", "unsafe fn f() {}").len(), 1);
    }
}
