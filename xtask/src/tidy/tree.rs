//! The text files of the project, as they lie on disk.

use std::fs;
use std::io;
use std::path::Path;

/// What is built or found, not written.
const SKIPPED: &[&str] = &[".git", "target", "raddle-out"];

/// Every text file below a folder, with its path from there, in the order of the paths.
pub(super) fn read(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort();
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Not `metadata`: a symbolic link is neither followed nor checked.
        let kind = entry.file_type()?;
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(&entry.path(), &format!("{prefix}{name}/"), files)?;
        } else if kind.is_file() {
            // What is not UTF-8 is a picture or a recording, and has no style.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                files.push((format!("{prefix}{name}"), text));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo;

    #[test]
    fn the_project_is_found_without_what_is_built() {
        let paths: Vec<String> = read(&cargo::root()).unwrap().into_iter().map(|(path, _)| path).collect();
        for expected in ["Cargo.toml", ".ci/run", "xtask/src/tidy/tree.rs", "bench/src/main.rs"] {
            assert!(paths.iter().any(|path| path == expected), "{expected} is missing");
        }
        assert!(paths.iter().all(|path| !path.split('/').any(|part| SKIPPED.contains(&part))));
    }
}
