//! Rule: a file fits in a reader's head. Exceptions are listed, and the list is a ratchet.

use super::{File, Finding};

/// The longest a Rust file may be.
const LINES_MAX: usize = 600;

/// Where the exceptions are listed.
pub(super) const LIST: &str = "xtask/long-files.txt";

const ROWS: &str = include_str!("../../long-files.txt");

pub(super) fn rule(file: &File) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let listed = rows(ROWS).find(|(_, path, _)| *path == file.path).map(|(_, _, lines)| lines);
    judge(file.text.lines().count(), listed).into_iter().collect()
}

/// Rows of the list whose file is gone.
pub(super) fn stale_rows(paths: &[&str]) -> Vec<Finding> {
    let stale = rows(ROWS).filter(|(_, path, _)| !paths.contains(path));
    stale.map(|(line, path, _)| Finding::new(line, format!("{path} is gone: remove its row"))).collect()
}

fn judge(lines: usize, listed: Option<usize>) -> Option<Finding> {
    let message = match listed {
        None if lines > LINES_MAX => format!("{lines} lines; the limit is {LINES_MAX}: split it by subject"),
        Some(most) if lines > most => {
            format!("{lines} lines; {LIST} allows it {most}, and that only goes down")
        }
        Some(_) if lines <= LINES_MAX => {
            format!("{lines} lines is within the limit: remove its row from {LIST}")
        }
        Some(most) if lines < most => format!("only {lines} lines by now: lower its {most} in {LIST}"),
        _ => return None,
    };
    Some(Finding::new(lines, message))
}

/// The line in the list, the path and the number of lines allowed.
fn rows(list: &str) -> impl Iterator<Item = (usize, &str, usize)> {
    let numbered = list.lines().enumerate().filter(|(_, row)| !row.starts_with('#') && !row.is_empty());
    numbered.map(|(index, row)| {
        let (path, lines) =
            row.split_once(' ').unwrap_or_else(|| panic!("{LIST}: `{row}` is not `path lines`"));
        let lines = lines.parse().unwrap_or_else(|error| panic!("{LIST}: `{row}`: {error}"));
        (index + 1, path, lines)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_a_long_file() {
        let text = "//! Why.\n".repeat(LINES_MAX + 1);
        assert_eq!(File::check(rule, "a.rs", &text).len(), 1);
        assert_eq!(File::check(rule, "a.md", &text), []);
        assert_eq!(File::check(rule, "a.rs", &text[9..]), []);
    }

    #[test]
    fn a_listed_file_may_shrink_but_not_grow_and_the_row_follows() {
        assert_eq!(judge(700, Some(700)), None);
        for (lines, word) in [(701, "only goes down"), (699, "lower"), (LINES_MAX, "remove")] {
            let finding = judge(lines, Some(700)).expect("a finding");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[test]
    fn the_list_is_read_without_its_comments() {
        let list = "# why\ncrates/a/src/b.rs 700\n";
        assert_eq!(rows(list).collect::<Vec<_>>(), [(2, "crates/a/src/b.rs", 700)]);
    }
}
