//! A compiler's command line, understood as far as we must: what it is asked for, which of its words are inputs,
//! and which concern compiling or linking only.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What the compiler is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Something about itself, or nothing that it can do: our flags must not change the answer.
    Question,
    /// One stage for each input: preprocess, compile or assemble, no more.
    Stage,
    /// A library that is loaded by an executable.
    Library,
    /// An object file out of object files.
    Relocatable,
    /// An executable.
    Executable,
}

/// One word, or an option with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// A file to be compiled, with its language if `-x` gave one.
    Source(OsString, Option<OsString>),
    /// A file for the linker.
    Object(OsString),
    /// An option that only compiling heeds.
    Compile(Vec<OsString>),
    /// An option that only linking heeds.
    Link(Vec<OsString>),
    /// An option that both heed.
    Both(Vec<OsString>),
    /// What cannot be, and why.
    Dropped(String, &'static str),
}

/// A command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) mode: Mode,
    pub(super) parts: Vec<Part>,
    /// `-o`.
    pub(super) output: Option<OsString>,
    /// Whether something says how much debug information is wanted.
    pub(super) debug: bool,
    /// Whether `-MD` or `-MMD` asks for a list of what was included, and `-MF` says where.
    pub(super) dependencies: Option<bool>,
}

/// Options whose value is the next word, and whom they concern.
const WITH_VALUE: &[(&str, Concern)] = &[
    ("-I", Concern::Compile),
    ("-D", Concern::Compile),
    ("-U", Concern::Compile),
    ("-A", Concern::Compile),
    ("-include", Concern::Compile),
    ("-imacros", Concern::Compile),
    ("-isystem", Concern::Compile),
    ("-iquote", Concern::Compile),
    ("-idirafter", Concern::Compile),
    ("-iprefix", Concern::Compile),
    ("-iwithprefix", Concern::Compile),
    ("-iwithprefixbefore", Concern::Compile),
    ("-imultilib", Concern::Compile),
    ("-MF", Concern::Compile),
    ("-MT", Concern::Compile),
    ("-MQ", Concern::Compile),
    ("-MJ", Concern::Compile),
    ("-Xpreprocessor", Concern::Compile),
    ("-Xassembler", Concern::Compile),
    ("-Xclang", Concern::Compile),
    ("-mllvm", Concern::Compile),
    ("-aux-info", Concern::Compile),
    ("-isysroot", Concern::Both),
    ("--sysroot", Concern::Both),
    ("--param", Concern::Both),
    ("-target", Concern::Both),
    ("-arch", Concern::Both),
    ("-B", Concern::Both),
    ("-wrapper", Concern::Both),
    ("-dumpbase", Concern::Both),
    ("-dumpbase-ext", Concern::Both),
    ("-dumpdir", Concern::Both),
    ("-L", Concern::Link),
    ("-l", Concern::Link),
    ("-Xlinker", Concern::Link),
    ("-u", Concern::Link),
    ("-T", Concern::Link),
    ("-e", Concern::Link),
    ("-z", Concern::Link),
    ("-rpath", Concern::Link),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Concern {
    Compile,
    Link,
    Both,
}

/// Prefixes of single words that concern one side only.
const COMPILE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-i",
    "-M",
    "-std=",
    "-Wp,",
    "-Wa,",
    "-fdebug-prefix-map",
    "-ffile-prefix-map",
    "-ansi",
];
const LINK: &[&str] = &[
    "-l",
    "-L",
    "-Wl,",
    "-static-lib",
    "-nostdlib",
    "-nodefaultlibs",
    "-nostartfiles",
    "-nolibc",
    "-fuse-ld=",
    "--ld-path=",
    "-T",
    "-u",
    "-z",
];
const LINK_WORDS: &[&str] = &["-shared", "-pie", "-no-pie", "-nopie", "-rdynamic", "-s", "-r", "-symbolic"];

/// Options that ask the compiler about itself and make it do nothing else.
const QUESTIONS: &[&str] =
    &["-dump", "-print-", "--print-", "--version", "--help", "--target-help", "-###", "-V"];

/// What compilers take for sources by the end of the name. Everything else is for the linker.
const SOURCES: &[&str] = &[
    "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "s", "S", "sx", "m", "mi", "mm", "M", "mii",
    "h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc",
];

const WHY_STATIC: &str =
    "a static program does not let the runtime take the place of the C library's functions";
const WHY_LTO: &str = "optimizing at link time would bring in the compiler's own sanitizer runtime";
const WHY_UNDEFINED: &str = "the runtime's functions come from the executable that loads the library";
const WHY_SANITIZER: &str = "it cannot be combined with the pass that Raddle needs";
const WHY_SPLIT: &str = "reports need the lines in the program itself";

impl Line {
    /// Understands a command line, its response files already in place.
    pub(super) fn parse(words: &[OsString]) -> Line {
        let mut reader = Reader::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            reader.word(word, &mut words);
        }
        reader.line()
    }

    /// Whether it names another linker than the compiler would take, or says where parts of a program are to be.
    pub(super) fn directs_linker(&self) -> bool {
        const SAYS: &[&str] = &["-fuse-ld=", "--ld-path=", "-B", "-T", "-Wl,-T", "-Wl,--script"];
        self.parts.iter().any(|part| match part {
            Part::Link(option) | Part::Both(option) => {
                let text = option[0].to_string_lossy();
                SAYS.iter().any(|says| text.starts_with(says))
            }
            _ => false,
        })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = (&OsStr, Option<&OsStr>)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Source(name, language) => Some((name.as_os_str(), language.as_deref())),
            _ => None,
        })
    }
}

/// What has been read of a command line so far.
#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    output: Option<OsString>,
    language: Option<OsString>,
    debug: bool,
    lists: bool,
    list_file: bool,
    stage: bool,
    question: bool,
    shared: bool,
    relocatable: bool,
}

impl Reader {
    fn word<'a>(&mut self, word: &'a OsString, rest: &mut impl Iterator<Item = &'a OsString>) {
        let text = word.to_string_lossy();
        if text == "-" || !text.starts_with('-') {
            self.input(word);
            return;
        }
        if let Some(value) = text.strip_prefix("-o") {
            // `-object…` and the like are options of other systems.
            self.output = if value.is_empty() { rest.next().cloned() } else { Some(after(word, 2)) };
            return;
        }
        if let Some(value) = text.strip_prefix("-x") {
            let language = if value.is_empty() { rest.next().cloned() } else { Some(after(word, 2)) };
            self.language = language.filter(|language| language != "none");
            return;
        }
        if let Some((_, concern)) = WITH_VALUE.iter().find(|(name, _)| *name == text) {
            let value = rest.next().cloned();
            self.option(&text);
            if text == "-z" && value.as_ref().is_some_and(|value| value == "defs") {
                self.parts.push(Part::Dropped(String::from("-z defs"), WHY_UNDEFINED));
                return;
            }
            let words = [word.clone()].into_iter().chain(value).collect();
            self.parts.push(match concern {
                Concern::Compile => Part::Compile(words),
                Concern::Link => Part::Link(words),
                Concern::Both => Part::Both(words),
            });
            return;
        }
        self.option(&text);
        self.flag(word, &text);
    }

    fn input(&mut self, word: &OsString) {
        let known = self.language.is_some() || word == "-" || is_source(word);
        self.parts.push(if known {
            Part::Source(word.clone(), self.language.clone())
        } else {
            Part::Object(word.clone())
        });
    }

    /// Notes what an option says about the whole line.
    fn option(&mut self, text: &str) {
        match text {
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "--precompile" | "-emit-ast" => {
                self.stage = true
            }
            "-MD" | "-MMD" => self.lists = true,
            "-MF" => self.list_file = true,
            "-shared" => self.shared = true,
            "-r" => self.relocatable = true,
            _ if text.starts_with("-MF") => self.list_file = true,
            _ if QUESTIONS.iter().any(|question| text.starts_with(question)) => self.question = true,
            // These are no wishes for debug information; the first is dropped, and what it implies with it.
            _ if text == "-gsplit-dwarf" || text.starts_with("-gcc") => {}
            _ if text.starts_with("-g") => self.debug = true,
            _ => {}
        }
    }

    /// Sorts an option of one word.
    fn flag(&mut self, word: &OsString, text: &str) {
        let words = vec![word.clone()];
        let part = match text {
            "-static" | "--static" | "-static-pie" => Part::Dropped(text.into(), WHY_STATIC),
            _ if text.starts_with("-flto") => Part::Dropped(text.into(), WHY_LTO),
            "-gsplit-dwarf" => Part::Dropped(text.into(), WHY_SPLIT),
            _ if text.starts_with("-fsanitize=") => return self.sanitize(text),
            _ if text.starts_with("-Wl,") => return self.for_linker(text),
            _ if LINK_WORDS.contains(&text) || LINK.iter().any(|prefix| text.starts_with(prefix)) => {
                Part::Link(words)
            }
            _ if COMPILE.iter().any(|prefix| text.starts_with(prefix)) => Part::Compile(words),
            _ => Part::Both(words),
        };
        self.parts.push(part);
    }

    /// Ours is the only thread sanitizer, and most others exclude it.
    fn sanitize(&mut self, text: &str) {
        let mut kept = Vec::new();
        for name in text.trim_start_matches("-fsanitize=").split(',') {
            match name {
                "thread" => {}
                "address" | "hwaddress" | "kernel-address" | "memory" | "leak" => {
                    self.parts.push(Part::Dropped(format!("-fsanitize={name}"), WHY_SANITIZER));
                }
                other => kept.push(other),
            }
        }
        if !kept.is_empty() {
            self.parts.push(Part::Both(vec![OsString::from(format!("-fsanitize={}", kept.join(",")))]));
        }
    }

    /// `-Wl,a,b`, without the demand that a library define everything that it uses.
    fn for_linker(&mut self, text: &str) {
        let words: Vec<&str> = text.trim_start_matches("-Wl,").split(',').collect();
        let (mut kept, mut index) = (Vec::new(), 0);
        while index < words.len() {
            let next = words.get(index + 1).copied();
            match words[index] {
                "--no-undefined" | "-no-undefined" | "-zdefs" => {
                    self.parts.push(Part::Dropped(format!("-Wl,{}", words[index]), WHY_UNDEFINED));
                }
                "-z" if next == Some("defs") => {
                    self.parts.push(Part::Dropped(String::from("-Wl,-z,defs"), WHY_UNDEFINED));
                    index += 1;
                }
                "-static" => self.parts.push(Part::Dropped(String::from("-Wl,-static"), WHY_STATIC)),
                word => kept.push(word),
            }
            index += 1;
        }
        if !kept.is_empty() {
            self.parts.push(Part::Link(vec![OsString::from(format!("-Wl,{}", kept.join(",")))]));
        }
    }

    fn line(self) -> Line {
        let mut sources = self.parts.iter().filter_map(|part| match part {
            Part::Source(name, language) => Some((name, language)),
            _ => None,
        });
        let headers = sources.clone().count() > 0
            && sources.all(|(name, language)| is_header(name, language.as_deref()));
        let links = |part: &Part| match part {
            Part::Object(_) | Part::Source(..) => true,
            Part::Link(words) => words[0].to_string_lossy().starts_with("-l"),
            _ => false,
        };
        let mode = if self.question || !self.parts.iter().any(links) {
            Mode::Question
        } else if self.stage || headers {
            Mode::Stage
        } else if self.shared {
            Mode::Library
        } else if self.relocatable {
            Mode::Relocatable
        } else {
            Mode::Executable
        };
        Line {
            mode,
            parts: self.parts,
            output: self.output,
            debug: self.debug,
            dependencies: self.lists.then_some(self.list_file),
        }
    }
}

/// A word without its first bytes.
fn after(word: &OsStr, count: usize) -> OsString {
    OsStr::from_bytes(&word.as_bytes()[count..]).to_owned()
}

fn extension(name: &OsStr) -> &str {
    std::path::Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default()
}

fn is_source(name: &OsStr) -> bool {
    SOURCES.contains(&extension(name))
}

fn is_header(name: &OsStr, language: Option<&OsStr>) -> bool {
    match language {
        Some(language) => language.to_string_lossy().ends_with("-header"),
        None => extension(name).starts_with(['h', 'H']),
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
