//! Rule: every Rust file first says what it is for.

use super::{File, Finding};

pub(super) fn rule(file: &File) -> Vec<Finding> {
    let first = file.text.lines().next().unwrap_or_default();
    let says_something = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    if file.is_rust() && !says_something {
        return vec![Finding::new(1, "the first line must be `//!` and say what the file is for")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_a_file_without_a_head() {
        for text in ["", "fn f() {}\n", "// Why.\n", "//!\n//! Late.\n", "\n//! Late.\n"] {
            assert_eq!(File::check(rule, "a.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn accepts_a_head_and_leaves_other_files_alone() {
        assert_eq!(File::check(rule, "a.rs", "//! Why.\nfn f() {}\n"), []);
        assert_eq!(File::check(rule, "a.toml", "a = 1\n"), []);
    }
}
