//! Rule: no blanks at the end of a line, and no carriage returns.

use super::{File, Finding};

pub(super) fn rule(file: &File) -> Vec<Finding> {
    // A golden file is what a program printed, blanks included.
    if file.path.contains("/golden/") {
        return Vec::new();
    }
    let lines = file.text.split('\n').enumerate().filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
    lines.map(|(index, _)| Finding::new(index + 1, "blanks at the end of the line")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_each_kind_of_blank() {
        let findings = File::check(rule, "a.md", "one \ntwo\nthree\t\nfour\r\n\nsix ");
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 3, 4, 6]);
    }

    #[test]
    fn accepts_clean_lines_and_golden_files() {
        assert_eq!(File::check(rule, "a.md", " one\n\n  two\n"), []);
        assert_eq!(File::check(rule, "crates/report/tests/golden/a.txt", "one \n"), []);
    }
}
