//! Rule: no path of somebody's machine.

use super::{File, Finding};

/// Folders in which people keep their work; split, so that this file does not break its own rule.
const HOMES: &[&str] = &[concat!("/", "home"), concat!("/", "root"), concat!("/", "work")];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for home in HOMES.iter().filter(|home| names(line, home)) {
            findings.push(Finding::new(index + 1, format!("`{home}` is a path of one machine")));
        }
    }
    findings
}

/// Whether a line holds the folder as the start of an absolute path: `a/home` and `/homes` are none.
fn names(line: &str, home: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || "_-".contains(c);
    line.match_indices(home).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + home.len()..].chars().next();
        !before.is_some_and(|c| in_word(c) || "./})*~$".contains(c)) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_an_absolute_path_wherever_it_stands() {
        for home in HOMES {
            for text in
                [home.to_string(), format!("cd {home}/a"), format!("(\"{home}/a\")"), format!("P={home}")]
            {
                assert_eq!(File::check(rule, "a.md", &text).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn accepts_relative_paths_addresses_and_longer_names() {
        for home in HOMES {
            for text in [
                format!("src{home}/a"),
                format!("https://a.org{home}"),
                format!("{home}s"),
                format!("..{home}"),
            ] {
                assert_eq!(File::check(rule, "a.md", &text), [], "{text}");
            }
        }
    }
}
