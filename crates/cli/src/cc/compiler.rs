//! The compiler behind the wrapper: where it is, whose it is, and whether its ThreadSanitizer pass shows what we
//! must see. That is found out by using it, once for each compiler, and kept.

use crate::cache;
use crate::problem::Problem;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Which of the two wrappers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    /// `raddle cc`, `raddle c++`.
    pub(crate) fn wrapper(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cpp => "c++",
        }
    }

    /// The variable that names the compiler.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Language::C => "RADDLE_CC",
            Language::Cpp => "RADDLE_CXX",
        }
    }

    /// What `-x` calls it.
    fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "c++",
        }
    }

    /// What to look for if nobody says.
    fn candidates(self) -> &'static [&'static str] {
        match self {
            Language::C => &["cc", "gcc", "clang"],
            Language::Cpp => &["c++", "g++", "clang++"],
        }
    }
}

/// Whose compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Gcc,
    Clang,
}

impl Family {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Gcc => "gcc",
            Family::Clang => "clang",
        }
    }
}

/// A compiler that was examined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Compiler {
    pub(crate) path: PathBuf,
    pub(crate) family: Family,
    pub(crate) version: String,
    /// Whether what it links with, if nobody says otherwise, is GNU ld: others take other options.
    pub(crate) has_gnu_ld: bool,
}

/// Out of LLVM's passes, the read of `x++` is left out unless this is given: then two tasks that both add and one that
/// only stores look the same.
const READS_TOO: &[&str] = &["-mllvm", "-tsan-instrument-read-before-write=1"];

/// One read and one write of four bytes, whatever the level of optimization.
const CANARY: &str = "void canary(int *x);\nvoid canary(int *x) { ++*x; }\n";

/// How GNU ld says its name.
const GNU_LD: &str = "GNU ld ";

impl Compiler {
    /// The compiler of a wrapper, examined.
    pub(crate) fn find(language: Language) -> Result<Compiler, Problem> {
        let path = locate(language)?;
        Compiler::examined(&path, language)
    }

    /// What is known of a compiler, found out if need be.
    pub(crate) fn examined(path: &Path, language: Language) -> Result<Compiler, Problem> {
        let note = note_path(path, language);
        if let Some(known) = note.as_ref().and_then(|note| Compiler::read(note, path)) {
            return Ok(known);
        }
        let compiler = Compiler::examine(path, language)?;
        if let Some(note) = note {
            // Nothing is lost if it cannot be kept but the time to find it out again.
            let _ = cache::put(&note, compiler.noted().as_bytes());
        }
        Ok(compiler)
    }

    /// Asks the compiler who it is, and looks at what its pass does to the canary.
    pub(crate) fn examine(path: &Path, language: Language) -> Result<Compiler, Problem> {
        let macros = ask(path, language, &["-dM", "-E"], "")?;
        if !macros.status.success() {
            return Err(Problem::new(
                format!("{} is no compiler that works: {}", path.display(), first_line(&macros.stderr)),
                format!("name another one in {}", language.variable()),
            ));
        }
        let macros = String::from_utf8_lossy(&macros.stdout);
        let (family, version) = (family(&macros), version(&macros));
        let mut compiler = Compiler { path: path.to_owned(), family, version, has_gnu_ld: false };
        compiler.canary(language)?;
        let linker = ask(path, language, &["-Wl,--version", "-o", "/dev/null"], "")?;
        compiler.has_gnu_ld =
            String::from_utf8_lossy(&linker.stdout).lines().any(|line| line.starts_with(GNU_LD));
        Ok(compiler)
    }

    fn canary(&self, language: Language) -> Result<(), Problem> {
        let pass = self.pass();
        let mut words: Vec<&str> = pass.iter().map(|word| word.to_str().unwrap_or_default()).collect();
        words.extend(["-O1", "-S", "-o", "-"]);
        let output = ask(&self.path, language, &words, CANARY)?;
        let (family, version, path) = (self.family.name(), &self.version, self.path.display());
        if !output.status.success() {
            return Err(Problem::new(
                format!(
                    "{path} ({family} {version}) has no ThreadSanitizer pass: {}",
                    first_line(&output.stderr)
                ),
                format!(
                    "name another compiler in {}; `raddle doctor` lists those that work",
                    language.variable()
                ),
            ));
        }
        let assembly = String::from_utf8_lossy(&output.stdout);
        for (hook, what) in [("__tsan_read4", "read"), ("__tsan_write4", "write")] {
            if !assembly.contains(hook) {
                return Err(Problem::new(
                    format!(
                        "the ThreadSanitizer pass of {path} ({family} {version}) does not show the {what} of `x++`"
                    ),
                    format!("races would be missed; name another compiler in {}", language.variable()),
                ));
            }
        }
        Ok(())
    }

    /// What makes it run its pass, and show every access.
    pub(crate) fn pass(&self) -> Vec<OsString> {
        let mut words = vec![OsString::from("-fsanitize=thread")];
        match self.family {
            Family::Clang => words.extend(READS_TOO.iter().map(OsString::from)),
            // That the compiler's own runtime knows no fences: ours does.
            Family::Gcc => words.push(OsString::from("-Wno-tsan")),
        }
        words
    }

    /// What is kept of it.
    fn noted(&self) -> String {
        let linker = if self.has_gnu_ld { GNU_LD } else { "another linker" };
        format!("{} {}\n{linker}\n", self.family.name(), self.version)
    }

    fn read(note: &Path, path: &Path) -> Option<Compiler> {
        let text = std::fs::read_to_string(note).ok()?;
        let (compiler, linker) = text.trim_end_matches('\n').split_once('\n')?;
        let (family, version) = compiler.split_once(' ')?;
        let family = [Family::Gcc, Family::Clang].into_iter().find(|known| known.name() == family)?;
        let (path, version, has_gnu_ld) = (path.to_owned(), version.to_owned(), linker == GNU_LD);
        Some(Compiler { path, family, version, has_gnu_ld })
    }
}

/// Where what is known of a compiler is kept: under a name that changes when the compiler does.
fn note_path(path: &Path, language: Language) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let data = real.metadata().ok()?;
    let age = format!("{} {} {}", data.len(), data.mtime(), data.mtime_nsec());
    let key = cache::name(&[
        env!("CARGO_PKG_VERSION").as_bytes(),
        path.as_os_str().as_encoded_bytes(),
        real.as_os_str().as_encoded_bytes(),
        age.as_bytes(),
        language.name().as_bytes(),
    ]);
    Some(cache::directory().join("compilers").join(key))
}

fn locate(language: Language) -> Result<PathBuf, Problem> {
    let variable = language.variable();
    if let Some(wanted) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return on_path(&wanted).ok_or_else(|| {
            Problem::new(
                format!("there is no compiler {} ({variable})", wanted.display()),
                format!("{variable} takes a name on PATH or a path, without flags"),
            )
        });
    }
    let found = language.candidates().iter().find_map(|name| on_path(OsStr::new(name)));
    found.ok_or_else(|| {
        Problem::new(
            format!("no compiler was found: neither of {}", language.candidates().join(", ")),
            format!("install gcc or clang, or name one in {variable}"),
        )
    })
}

/// The executable that a shell would start, but never ourselves: `cc` may well be a link to us.
pub(crate) fn on_path(name: &OsStr) -> Option<PathBuf> {
    let me = std::env::current_exe().and_then(|me| me.canonicalize()).ok();
    let wrapper = |name: &OsStr| ["raddle-cc", "raddle-cxx"].iter().any(|ours| name == *ours);
    let ours = |path: &Path| {
        let real = path.canonicalize().ok();
        real.is_some_and(|path| Some(&path) == me.as_ref() || path.file_name().is_some_and(wrapper))
    };
    let is_program =
        |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0);
    let fits = |path: &PathBuf| is_program(path) && !ours(path);
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(fits);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(fits)
}

/// Runs the compiler on a text.
fn ask(path: &Path, language: Language, words: &[&str], source: &str) -> Result<Output, Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(
            format!("{} could not be started: {error}", path.display()),
            format!("name another compiler in {}", language.variable()),
        )
    };
    let mut command = Command::new(path);
    command.args(words).args(["-x", language.name(), "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is told apart by what it answers.
        let _ = stdin.write_all(source.as_bytes());
    }
    child.wait_with_output().map_err(failed)
}

fn family(macros: &str) -> Family {
    if macros.contains("#define __clang__ ") { Family::Clang } else { Family::Gcc }
}

fn version(macros: &str) -> String {
    let value = |name: &str| {
        let mut lines = macros.lines().filter_map(|line| line.strip_prefix("#define "));
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(|value| value.trim_matches('"'))
    };
    let number = |names: [&str; 3]| Some(names.map(|name| value(name).unwrap_or("0")).join("."));
    match family(macros) {
        Family::Clang => number(["__clang_major__", "__clang_minor__", "__clang_patchlevel__"]),
        Family::Gcc => number(["__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"]),
    }
    .unwrap_or_default()
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compiler that answers like clang, and whose pass leaves out what is said.
    fn fake(directory: &Path, assembly: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = directory.join("fake-cc");
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *-dM*) echo '#define __clang__ 1'; echo '#define __clang_major__ 99';;\n\
             *) printf '{assembly}';; esac\n"
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_pass_that_hides_the_read_of_an_increment_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let good = fake(directory.path(), "call __tsan_read4\\ncall __tsan_write4\\n");
        let compiler = Compiler::examine(&good, Language::C).unwrap();
        assert_eq!((compiler.family, compiler.version.as_str()), (Family::Clang, "99.0.0"));
        assert!(!compiler.has_gnu_ld);
        let bad = fake(directory.path(), "call __tsan_write4\\n");
        let problem = Compiler::examine(&bad, Language::C).unwrap_err().to_string();
        assert!(problem.contains("does not show the read of `x++`"), "{problem}");
    }

    #[test]
    fn the_compilers_of_this_machine_pass_with_our_flags() {
        for (name, language, family) in [
            ("gcc", Language::C, Family::Gcc),
            ("g++", Language::Cpp, Family::Gcc),
            ("clang-19", Language::C, Family::Clang),
            ("clang++-19", Language::Cpp, Family::Clang),
        ] {
            let path = on_path(OsStr::new(name)).unwrap_or_else(|| panic!("{name} is missing"));
            let compiler = Compiler::examine(&path, language).unwrap();
            assert_eq!(compiler.family, family, "{name}");
            let note = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(note.path(), compiler.noted()).unwrap();
            assert_eq!(Compiler::read(note.path(), &path), Some(compiler));
        }
    }

    #[test]
    fn without_its_flag_llvm_hides_the_read() {
        // If this fails, the flag is no longer needed.
        let path = on_path(OsStr::new("clang-19")).expect("clang");
        let words = ["-fsanitize=thread", "-O1", "-S", "-o", "-"];
        let output = ask(&path, Language::C, &words, CANARY).unwrap();
        let assembly = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(assembly.contains("__tsan_write4") && !assembly.contains("__tsan_read4"), "{assembly}");
    }

    #[test]
    fn what_is_no_compiler_is_said_to_be_none() {
        for name in ["true", "false"] {
            let path = on_path(OsStr::new(name)).unwrap();
            assert!(Compiler::examine(&path, Language::C).is_err(), "{name}");
        }
    }
}
