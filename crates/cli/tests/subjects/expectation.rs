//! What is expected of a subject: its expectation file says which kinds of failures, the marks in its source where.
//!
//! ```text
//! find KIND      must be found
//! may KIND       may be found besides
//! flags FLAG…    for the compiler
//! args ARG…      for the program
//! options OPT…   for `raddle run`
//! later WHY      not run yet
//! ```
//! A failure's sites must stand on lines marked with `!KIND` in a comment, in the subject or in a header beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A program under test.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) source: PathBuf,
    pub(crate) find: BTreeSet<String>,
    pub(crate) may: BTreeSet<String>,
    pub(crate) flags: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) options: Vec<String>,
    /// Why it is not run yet.
    pub(crate) later: Option<String>,
    /// Kind, file name and line.
    marks: BTreeSet<(String, String, u32)>,
}

/// The folder of all subjects.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects").canonicalize().expect("the subjects")
}

/// All programs with a bug, by name.
pub(crate) fn bugs() -> Vec<Subject> {
    let mut names: Vec<String> = entries(&folder().join("bug"))
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "expect"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names.iter().map(|name| subject("bug", name)).collect()
}

/// The same programs, mended: nothing may be found.
pub(crate) fn mended() -> Vec<Subject> {
    bugs()
        .into_iter()
        .map(|bug| Subject { find: BTreeSet::new(), may: BTreeSet::new(), ..subject("ok", &bug.name) })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

fn subject(verdict: &str, name: &str) -> Subject {
    let sources = ["c", "cc"].map(|extension| folder().join(verdict).join(format!("{name}.{extension}")));
    let source = sources.into_iter().find(|path| path.is_file());
    let source = source.unwrap_or_else(|| panic!("subjects/{verdict} has no {name}"));
    let text =
        std::fs::read_to_string(folder().join(format!("bug/{name}.expect"))).expect("an expectation file");
    let mut keys: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap_or_else(|| panic!("{name}.expect: `{line}`"));
        assert!(
            ["find", "may", "flags", "args", "options", "later"].contains(&key),
            "{name}.expect: `{line}`"
        );
        keys.entry(key).or_default().push(value);
    }
    let set = |key: &str| keys.get(key).into_iter().flatten().map(|&kind| kind.to_owned()).collect();
    let text = |key: &str| keys.get(key).map(|values| values.join(" ")).unwrap_or_default();
    let words = |key: &str| text(key).split_ascii_whitespace().map(str::to_owned).collect();
    Subject {
        name: name.to_owned(),
        marks: marks(&source),
        source,
        find: set("find"),
        may: set("may"),
        flags: text("flags"),
        arguments: words("args"),
        options: words("options"),
        later: keys.contains_key("later").then(|| text("later")),
    }
}

/// The marks in a source and in the headers beside it.
fn marks(source: &Path) -> BTreeSet<(String, String, u32)> {
    let beside = entries(source.parent().unwrap());
    let headers =
        beside.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "h"));
    let mut marks = BTreeSet::new();
    for file in headers.chain([source.to_owned()]) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        for (line, number) in std::fs::read_to_string(&file).unwrap().lines().zip(1..) {
            let Some((_, comment)) = line.split_once("//") else { continue };
            let kinds = comment.split_ascii_whitespace().filter_map(|word| word.strip_prefix('!'));
            marks.extend(kinds.map(|kind| (kind.to_owned(), name.clone(), number)));
        }
    }
    marks
}

impl Subject {
    /// Whether a failure of a kind may have a site: `path/file.c:12` or `path/file.c:12:5`.
    pub(crate) fn is_marked(&self, kind: &str, site: &str) -> bool {
        let mut parts = site.rsplit('/').next().unwrap_or(site).split(':');
        let (Some(file), Some(line)) = (parts.next(), parts.next().and_then(|line| line.parse().ok())) else {
            return false;
        };
        self.marks.contains(&(kind.to_owned(), file.to_owned(), line))
    }

    /// Whether any line is marked for a kind.
    pub(crate) fn has_mark(&self, kind: &str) -> bool {
        self.marks.iter().any(|(marked, _, _)| marked == kind)
    }
}
