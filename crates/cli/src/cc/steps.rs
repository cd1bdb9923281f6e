//! What to run for a command line: the compiler once for each source with the pass, and once more for the linker
//! with the runtime. Doing both in one go would link the compiler's own sanitizer.

use super::line::{Line, Mode, Part};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What is added to a command line.
#[derive(Clone, Default, Debug)]
pub(super) struct Added {
    /// Where something is compiled.
    pub(super) compile: Vec<OsString>,
    /// Where anything is linked.
    pub(super) link: Vec<OsString>,
    /// Where an executable is linked, after everything else.
    pub(super) runtime: Vec<OsString>,
}

/// Command lines of the compiler, in the order in which they are run. The first that fails ends the work.
pub(super) fn steps(line: &Line, added: &Added, scratch: &Path) -> Vec<Vec<OsString>> {
    match line.mode {
        Mode::Question => Vec::new(),
        Mode::Stage => vec![stage(line, added)],
        Mode::Library | Mode::Relocatable | Mode::Executable => {
            let objects: Vec<PathBuf> =
                line.sources().enumerate().map(|(index, (name, _))| object(scratch, index, name)).collect();
            let sources = line.sources().zip(&objects);
            let mut steps: Vec<_> =
                sources.map(|(source, object)| compile(line, added, source, object)).collect();
            steps.push(link(line, added, &objects));
            steps
        }
    }
}

/// Debug information costs the program nothing, and without it a report has no lines.
fn debug(line: &Line) -> Option<OsString> {
    (!line.debug).then(|| OsString::from("-g"))
}

fn stage(line: &Line, added: &Added) -> Vec<OsString> {
    let mut words = added.compile.clone();
    words.extend(debug(line));
    for part in &line.parts {
        match part {
            Part::Source(name, language) => words.extend(source(name, language.as_deref())),
            Part::Object(name) => words.push(name.clone()),
            Part::Compile(option) | Part::Link(option) | Part::Both(option) => {
                words.extend(option.iter().cloned())
            }
            Part::Dropped(..) => {}
        }
    }
    words.extend(output(line.output.as_deref()));
    words
}

fn compile(
    line: &Line,
    added: &Added,
    (name, language): (&OsStr, Option<&OsStr>),
    object: &Path,
) -> Vec<OsString> {
    let mut words = added.compile.clone();
    words.extend(debug(line));
    let mut names_target = false;
    for part in &line.parts {
        if let Part::Compile(option) | Part::Both(option) = part {
            let text = option[0].to_string_lossy();
            names_target |= text.starts_with("-MT") || text.starts_with("-MQ");
            words.extend(option.iter().cloned());
        }
    }
    if let Some(has_file) = line.dependencies {
        // The compiler would name both after an object file that nobody ever sees.
        let target = line.output.clone().unwrap_or_else(|| OsString::from("a.out"));
        if !has_file {
            words.extend([OsString::from("-MF"), list_name(&target, name)]);
        }
        if !names_target {
            words.extend([OsString::from("-MT"), target]);
        }
    }
    words.extend(source(name, language));
    words.push(OsString::from("-c"));
    words.extend(output(Some(object.as_os_str())));
    words
}

fn link(line: &Line, added: &Added, objects: &[PathBuf]) -> Vec<OsString> {
    let mut words = added.link.clone();
    let mut objects = objects.iter();
    for part in &line.parts {
        match part {
            Part::Source(..) => words.extend(objects.next().map(|object| object.clone().into_os_string())),
            Part::Object(name) => words.push(name.clone()),
            Part::Link(option) | Part::Both(option) => words.extend(option.iter().cloned()),
            Part::Compile(_) | Part::Dropped(..) => {}
        }
    }
    words.extend(output(line.output.as_deref()));
    if line.mode == Mode::Executable {
        words.extend(added.runtime.iter().cloned());
    }
    words
}

fn source(name: &OsStr, language: Option<&OsStr>) -> Vec<OsString> {
    let word = |text: &str| OsString::from(text);
    match language {
        Some(language) => vec![word("-x"), language.to_owned(), name.to_owned(), word("-x"), word("none")],
        None => vec![name.to_owned()],
    }
}

fn output(path: Option<&OsStr>) -> Vec<OsString> {
    path.map_or_else(Vec::new, |path| vec![OsString::from("-o"), path.to_owned()])
}

/// Named after its source, for those who look at the linker's messages.
fn object(scratch: &Path, index: usize, source: &OsStr) -> PathBuf {
    let stem = Path::new(source).file_stem().unwrap_or(OsStr::new("source")).to_string_lossy();
    let stem = if stem == "-" { "stdin".into() } else { stem };
    scratch.join(format!("{index}-{stem}.o"))
}

/// `prog-a.d`, as gcc does.
fn list_name(target: &OsStr, source: &OsStr) -> OsString {
    let stem = Path::new(source).file_stem().unwrap_or(source);
    let mut name = target.to_owned();
    name.push("-");
    name.push(stem);
    name.push(".d");
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Vec<String> {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        let word = |text: &str| vec![OsString::from(text)];
        let added = Added { compile: word("+pass"), link: word("+link"), runtime: word("+runtime") };
        let join = |words: Vec<OsString>| {
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        steps(&Line::parse(&words), &added, Path::new("T")).into_iter().map(join).collect()
    }

    #[test]
    fn one_stage_stays_one_command() {
        assert_eq!(run("-O2 -c a.c -o a.o"), ["+pass -g -O2 -c a.c -o a.o"]);
        assert_eq!(run("-g1 -E -x c -"), ["+pass -g1 -E -x c - -x none"]);
        assert_eq!(run("-c a.c b.c"), ["+pass -g -c a.c b.c"]);
        assert_eq!(run("-static -c a.c"), ["+pass -g -c a.c"]);
    }

    #[test]
    fn sources_are_compiled_one_by_one_and_linked_in_their_places() {
        let expected = [
            "+pass -g -O2 -Iinc a.c -c -o T/0-a.o",
            "+pass -g -O2 -Iinc -x c++ b.txt -x none -c -o T/1-b.o",
            "+link -O2 T/0-a.o x.o T/1-b.o -lm -o prog +runtime",
        ];
        assert_eq!(run("-O2 -Iinc a.c x.o -x c++ b.txt -lm -o prog"), expected);
    }

    #[test]
    fn libraries_and_relocatable_objects_get_no_runtime() {
        assert_eq!(run("-shared a.o -o a.so"), ["+link -shared a.o -o a.so"]);
        assert_eq!(run("-r a.o b.o -o c.o"), ["+link -r a.o b.o -o c.o"]);
        assert_eq!(run("a.o -o a"), ["+link a.o -o a +runtime"]);
    }

    #[test]
    fn lists_of_includes_are_named_after_the_program() {
        let steps = run("-g -MD a.c -o prog");
        assert_eq!(steps[0], "+pass -g -MD -MF prog-a.d -MT prog a.c -c -o T/0-a.o");
        assert_eq!(steps[1], "+link -g T/0-a.o -o prog +runtime");
        let given = run("-g -MMD -MF x.d -MT y a.c -o prog");
        assert_eq!(given[0], "+pass -g -MMD -MF x.d -MT y a.c -c -o T/0-a.o");
    }

    #[test]
    fn a_question_is_left_alone() {
        assert_eq!(run("--version"), [] as [&str; 0]);
    }
}
