//! What `raddle run` is given: a program, or a source file that is built first. Either way it is looked at before it
//! is started, so that what cannot be controlled is said at once, and why.

use super::compiler::{Compiler, Language};
use super::{image, place, work};
use crate::cache;
use crate::problem::Problem;
use raddle_symbols::{Shape, Unfit};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that can be controlled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fit {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What its file says.
    pub(crate) shape: Shape,
}

/// Builds the program if it is a source file, and looks at it.
pub(crate) fn fit(path: &Path) -> Result<Fit, Problem> {
    let built = match language(path) {
        Some(language) => build(path, language)?,
        None => path.to_owned(),
    };
    let shape = Shape::read(&built).and_then(|shape| shape.fit().map(|()| shape));
    let shape = shape.map_err(|unfit| problem(path, &unfit))?;
    Ok(Fit { path: built, shape })
}

impl Fit {
    /// What a report will lack.
    pub(crate) fn warning(&self) -> Option<String> {
        let name = self.path.display();
        match (self.shape.symbols, self.shape.lines) {
            (_, true) => None,
            (true, false) => {
                Some(format!("{name} has no debug information: reports name functions, but no lines (-g)"))
            }
            (false, false) => {
                Some(format!("{name} is stripped: reports have addresses only (leave out -s and strip)"))
            }
        }
    }
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Language::Cpp),
        _ => None,
    }
}

/// Flags as a shell would split them, without its quotes: what make does with them too.
fn flags(variable: &str) -> Vec<OsString> {
    let value = std::env::var(variable).unwrap_or_default();
    value.split_ascii_whitespace().map(OsString::from).collect()
}

/// Builds a source file, or finds what was built of it before: the same text after preprocessing, the same flags,
/// compiler and runtime give the same program.
fn build(source: &Path, language: Language) -> Result<PathBuf, Problem> {
    if !source.is_file() {
        return Err(Problem::new(
            format!("there is no {}", source.display()),
            "name a program or a source file",
        ));
    }
    let compiler = Compiler::find(language)?;
    let mut words: Vec<OsString> = ["-O0", "-g", "-pthread"].map(OsString::from).to_vec();
    words.extend(flags(if language == Language::C { "CFLAGS" } else { "CXXFLAGS" }));
    words.push(source.as_os_str().to_owned());
    words.extend(flags("LDFLAGS"));
    let directory = cache::directory().join("programs").join(key(&compiler, source, &words)?);
    let program = directory.join(source.file_stem().unwrap_or(OsStr::new("program")));
    if program.is_file() {
        return Ok(program);
    }
    let cannot = |error: std::io::Error| {
        Problem::new(
            format!("{} cannot be written: {error}", directory.display()),
            "name another directory in RADDLE_CACHE",
        )
    };
    std::fs::create_dir_all(&directory).map_err(cannot)?;
    // Built beside its place and moved there: whoever else builds it at the same time sees all of it or none.
    let scratch = tempfile::tempdir_in(&directory).map_err(cannot)?;
    let fresh = scratch.path().join("program");
    words.extend([OsString::from("-o"), fresh.clone().into_os_string()]);
    match work(language, words)? {
        0 => std::fs::rename(&fresh, &program).map(|()| program).map_err(cannot),
        _ => Err(Problem::new(
            format!("{} does not compile", source.display()),
            "what the compiler said stands above",
        )),
    }
}

/// A name for all that a program is made of.
fn key(compiler: &Compiler, source: &Path, words: &[OsString]) -> Result<String, Problem> {
    let mut command = Command::new(&compiler.path);
    command.args(words).args(["-E", "-w"]).stdin(Stdio::null());
    let output = command.output().map_err(place)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Problem::new(format!("{} does not compile", source.display()), said.trim_end()));
    }
    let runtime = std::fs::read(image::image()?.object).map_err(place)?;
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let here = std::env::current_dir().unwrap_or_default();
    Ok(cache::name(&[
        &output.stdout,
        &words.join(&0),
        compiler.path.as_os_str().as_bytes(),
        compiler.version.as_bytes(),
        // The debug information names files from here.
        here.as_os_str().as_bytes(),
        &runtime,
    ]))
}

/// What is wrong with a program, and what to do.
fn problem(path: &Path, unfit: &Unfit) -> Problem {
    let name = path.display();
    let rebuild = "build it again: CC=\"raddle cc\" CXX=\"raddle c++\" make, or raddle cc prog.c -o prog";
    let (what, help) = match unfit {
        Unfit::Unreadable(why) => {
            (format!("{name} cannot be read: {why}"), "name a program or a source file")
        }
        Unfit::Script => {
            (format!("{name} is a script"), "name the program that it starts, with its arguments")
        }
        Unfit::NotElf => {
            (format!("{name} is no program for this system"), "name a program or a C or C++ source file")
        }
        Unfit::NotExecutable => (
            format!("{name} cannot be started: it is a library or an object file"),
            "name the program that uses it",
        ),
        Unfit::OtherMachine => (format!("{name} is for another processor"), "build it for x86-64"),
        Unfit::Libtsan => (
            format!(
                "{name} is linked to the compiler's own ThreadSanitizer, which leaves no room for Raddle"
            ),
            "build it again with CC=\"raddle cc\" CXX=\"raddle c++\"; -fsanitize=thread is not needed then",
        ),
        Unfit::Static => (
            format!("{name} is linked statically: Raddle cannot take the place of the C library's functions"),
            "link it without -static; `raddle cc` leaves that out by itself",
        ),
        Unfit::NotInstrumented => {
            (format!("{name} was not built by `raddle cc`: nothing in it can be controlled"), rebuild)
        }
    };
    Problem::new(what, help)
}
