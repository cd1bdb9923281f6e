//! Building small programs against the runtime, and running the command on them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A directory for this test executable, with the runtime in it.
fn workshop() -> &'static Path {
    static WORKSHOP: OnceLock<PathBuf> = OnceLock::new();
    WORKSHOP.get_or_init(|| {
        let at = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("native-{}", std::process::id()));
        std::fs::create_dir_all(&at).expect("a directory");
        std::fs::write(at.join("rt.o"), raddle_runtime_image::OBJECT).expect("a file");
        std::fs::write(at.join("rt.list"), raddle_runtime_image::DYNAMIC_LIST).expect("a file");
        at
    })
}

/// A file of the programs.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/c").join(name)
}

fn compile(compiler: &str, arguments: &[&OsStr]) {
    let output = Command::new(compiler).args(arguments).output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Builds a program with the pass of gcc and our runtime, once for all tests.
pub(crate) fn build(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name.to_owned()).or_insert_with(|| build_anew(name)).clone()
}

fn build_anew(name: &str) -> PathBuf {
    let compiler = if name.ends_with(".cc") { "g++" } else { "gcc" };
    build_file(compiler, &source(name), &name.replace('/', "-"))
}

/// Builds a program of C that is not among the files; it may include what is.
pub(crate) fn build_source(name: &str, text: &str) -> PathBuf {
    let file = workshop().join(name).with_extension("c");
    std::fs::write(&file, text).expect("a file");
    build_file("gcc", &file, name)
}

fn build_file(compiler: &str, file: &Path, flat: &str) -> PathBuf {
    let [object, program] = ["o", "exe"].map(|extension| workshop().join(flat).with_extension(extension));
    let headers = source("");
    let flags = ["-O0", "-g", "-fsanitize=thread", "-c", "-I"].map(OsStr::new);
    let files =
        [headers.as_os_str(), file.as_os_str(), OsStr::new("-o"), object.as_os_str()].map(OsStr::to_owned);
    compile(compiler, &flags.iter().copied().chain(files.iter().map(|file| &**file)).collect::<Vec<_>>());
    let mut list = std::ffi::OsString::from("-Wl,--dynamic-list=");
    list.push(workshop().join("rt.list"));
    let words = [object.as_os_str(), workshop().join("rt.o").as_os_str(), &list].map(OsStr::to_owned);
    let out = [OsStr::new("-o"), program.as_os_str()];
    compile(compiler, &words.iter().map(|word| &**word).chain(out).collect::<Vec<_>>());
    program
}

/// The compilers that a user may have.
pub(crate) const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

/// Builds a program as a user would.
pub(crate) fn build_with(compiler: &str, source: &Path, at: &Path) -> PathBuf {
    let program = at.join(compiler);
    let mut command = raddle();
    command
        .env("RADDLE_CC", compiler)
        .env("RADDLE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    command.args(["cc", "-O0", "-g", "-pthread", "-w"]).arg(source).arg("-o").arg(&program);
    let built = ended(&command.output().expect("the wrapper starts"));
    assert_eq!(built.code, Some(0), "{compiler}: {}", built.stderr);
    program
}

/// Builds a library that a program may load.
pub(crate) fn build_library(name: &str) -> PathBuf {
    let library = workshop().join(name.replace('/', "-")).with_extension("so");
    let (file, flags) = (source(name), ["-shared", "-fPIC", "-o"].map(OsStr::new));
    compile("gcc", &[&flags[..], &[library.as_os_str(), file.as_os_str()]].concat());
    library
}

/// Builds a program as if there were no raddle.
pub(crate) fn build_plainly(name: &str) -> PathBuf {
    let program = workshop().join(name).with_extension("plain");
    let file = source(name);
    compile("gcc", &[file.as_os_str(), OsStr::new("-o"), program.as_os_str()]);
    program
}

/// What came of a command.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The last line as json.
    pub(crate) fn json(&self) -> serde_json::Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|_| panic!("no json: {}\n{}", self.stdout, self.stderr))
    }

    /// The kinds of what was found, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let json = self.json();
        let failures = json["failures"].as_array().expect("a list of failures").iter();
        failures.map(|failure| failure["kind"].as_str().expect("a kind").to_owned()).collect()
    }
}

/// The command, as somebody with an empty environment would call it.
pub(crate) fn raddle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(std::process::Stdio::null());
    command
}

pub(crate) fn ended(output: &Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `raddle run` on a program, with the answer for tools.
pub(crate) fn run(program: &Path, options: &[&str]) -> (Ended, tempfile::TempDir) {
    run_with(program, options, &[])
}

/// The same for a program with arguments.
pub(crate) fn run_with(program: &Path, options: &[&str], arguments: &[&str]) -> (Ended, tempfile::TempDir) {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.arg("run").args(options).args(["--format", "json", "--time", "60", "--out"]).arg(out.path());
    let output = command.arg(program).args(arguments).output().expect("the command starts");
    (ended(&output), out)
}

/// The files in a directory, sorted by name.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}
