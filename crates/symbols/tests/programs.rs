//! Real programs, compiled here by the system's compilers: what is told about them is what their source says.

use object::{Object, ObjectSymbol};
use raddle_symbols::{Kind, Module, Shape, Symbolizer, Unfit};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in a directory of its own.
struct Built {
    directory: tempfile::TempDir,
    path: PathBuf,
}

fn build(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Built {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join(name), source).unwrap();
    let path = directory.path().join("program");
    let output = Command::new(compiler)
        .arg(name)
        .args(flags)
        .args(["-o", "program"])
        .current_dir(directory.path())
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Built { directory, path }
}

/// Where a symbol is, and how long.
fn symbol(path: &Path, wanted: &str) -> (u64, u64) {
    let bytes = std::fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let found = file.symbols().find(|symbol| symbol.name() == Ok(wanted));
    let found = found.unwrap_or_else(|| panic!("no symbol {wanted}"));
    (found.address(), found.size())
}

const LINES: &str = "\
int twice(int x) {
    return x + x;
}
static inline __attribute__((always_inline)) int inner(volatile int *p) {
    return ++*p;
}
int outer(volatile int *p) {
    return inner(p);
}
#line 40 \"grammar.y\"
int generated(volatile int *p) {
    return *p;
}
int main(void) { volatile int x = 1; return twice(outer(&x)) + generated(&x); }
";

#[test]
fn code_has_its_function_file_and_line() {
    let built = build("cc", "lines.c", LINES, &["-g", "-O0"]);
    let module = Module::open(&built.path).unwrap();
    let (start, size) = symbol(&built.path, "twice");
    let frames = module.frames_of_return(start + size);
    assert_eq!(frames.len(), 1, "{frames:?}");
    assert_eq!((frames[0].function.as_str(), frames[0].line), ("twice", 3));
    let source = built.directory.path().canonicalize().unwrap().join("lines.c");
    assert_eq!(Path::new(&frames[0].file).canonicalize().unwrap(), source);
    assert_eq!(frames[0].unit, frames[0].file);
}

#[test]
fn what_was_inlined_stands_before_what_it_was_inlined_into() {
    let built = build("cc", "lines.c", LINES, &["-g", "-O1"]);
    let module = Module::open(&built.path).unwrap();
    let (start, size) = symbol(&built.path, "outer");
    let all: Vec<Vec<String>> = (start..start + size)
        .map(|offset| module.frames(offset).into_iter().map(|frame| frame.function).collect())
        .collect();
    assert!(all.iter().any(|frames| frames == &["inner", "outer"]), "{all:?}");
}

#[test]
fn a_line_directive_names_its_file_and_the_unit_is_told_too() {
    let built = build("cc", "lines.c", LINES, &["-g", "-O0"]);
    let (start, _) = symbol(&built.path, "generated");
    let frames = Module::open(&built.path).unwrap().frames(start);
    assert!(frames[0].file.ends_with("grammar.y") && frames[0].line == 40, "{frames:?}");
    assert!(frames[0].unit.ends_with("lines.c"), "{frames:?}");
}

#[test]
fn without_debug_information_the_symbol_table_gives_the_function() {
    let built = build("cc", "lines.c", LINES, &["-O0"]);
    let (start, _) = symbol(&built.path, "twice");
    let frames = Module::open(&built.path).unwrap().frames(start + 1);
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].function.as_str(), frames[0].has_line()), ("twice", false));
    assert_eq!(Module::open(&built.path).unwrap().frames(u64::MAX), []);
}

const DATA: &str = "\
struct item { int key; struct { char tag; long value; } body; };
typedef struct { int head, tail; struct item items[4]; } queue_t;
int counter;
volatile queue_t queue;
int grid[3][5];
int main(void) { static long calls; calls++; return counter + queue.head + grid[1][1] + (int)calls; }
";

#[test]
fn data_has_its_variable_and_the_part_of_it() {
    for compiler in ["gcc", "clang-19"] {
        let built = build(compiler, "data.c", DATA, &["-g", "-O0"]);
        let module = Module::open(&built.path).unwrap();
        let part = |name: &str, start: u64| {
            let found = module.variable(symbol(&built.path, name).0 + start).expect("a variable");
            (found.path, found.line, found.start)
        };
        assert_eq!(part("counter", 0), (String::from("counter"), 3, 0));
        assert_eq!(part("counter", 2), (String::from("counter+2"), 3, 2));
        assert_eq!(part("queue", 4), (String::from("queue.tail"), 4, 4));
        // Each item has 24 bytes: key, padding, tag, padding, value.
        assert_eq!(part("queue", 8 + 2 * 24 + 16), (String::from("queue.items[2].body.value"), 4, 72));
        assert_eq!(part("grid", 4 * 7), (String::from("grid[1][2]"), 5, 28));
        let local = (0..2).find_map(|n| {
            let bytes = std::fs::read(&built.path).unwrap();
            let file = object::File::parse(&*bytes).unwrap();
            let name = ["calls.0", "main.calls"][n];
            file.symbols().find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.address())
        });
        let local = module.variable(local.expect("a static")).expect("a variable");
        assert_eq!(local.name, "main::calls", "{compiler}");
    }
}

#[test]
fn data_without_debug_information_has_its_symbol() {
    let built = build("cc", "data.c", DATA, &["-O0"]);
    let found = Module::open(&built.path).unwrap().variable(symbol(&built.path, "queue").0 + 4);
    let found = found.expect("a variable");
    assert_eq!((found.path.as_str(), found.start), ("queue+4", 4));
}

#[test]
fn cpp_names_are_those_of_the_source() {
    let source = "namespace bank { int total; struct Account { static int opened; int n; void put(int x); };\n\
                  int Account::opened; void Account::put(int x) { n += x; }\n}\n\
                  int main() { bank::Account a{1}; a.put(2); return bank::total + bank::Account::opened; }\n";
    let built = build("c++", "names.cc", source, &["-g", "-O0"]);
    let module = Module::open(&built.path).unwrap();
    let put = module.frames(symbol(&built.path, "_ZN4bank7Account3putEi").0);
    assert_eq!(put[0].function, "bank::Account::put(int)");
    let total = module.variable(symbol(&built.path, "_ZN4bank5totalE").0).expect("a variable");
    assert_eq!(total.name, "bank::total");
    let opened = module.variable(symbol(&built.path, "_ZN4bank7Account6openedE").0).expect("a variable");
    assert_eq!(opened.name, "bank::Account::opened");
}

#[test]
fn a_symbolizer_reads_a_file_once_and_keeps_what_is_wrong_with_it() {
    let built = build("cc", "lines.c", LINES, &["-g", "-O0"]);
    let mut symbolizer = Symbolizer::new();
    let (start, size) = symbol(&built.path, "twice");
    let first = symbolizer.frames_of_return(&built.path, start + size);
    std::fs::remove_file(&built.path).unwrap();
    assert_eq!(symbolizer.frames_of_return(&built.path, start + size), first);
    assert_eq!(symbolizer.frames_of_return(&built.path, start + 1)[0].function, "twice");
    assert_eq!(symbolizer.frames_of_return(Path::new("no/such/file"), 1), []);
    assert_eq!(symbolizer.errors().count(), 1);
}

const MAIN: &str = "int x; int main(void) { return ++x; }\n";

fn unfit(flags: &[&str]) -> Result<(), Unfit> {
    let built = build("cc", "main.c", MAIN, flags);
    Shape::read(&built.path).and_then(|shape| shape.fit())
}

#[test]
fn what_cannot_be_controlled_is_told_apart() {
    assert_eq!(unfit(&[]), Err(Unfit::NotInstrumented));
    assert_eq!(unfit(&["-no-pie"]), Err(Unfit::NotInstrumented));
    assert_eq!(unfit(&["-s"]), Err(Unfit::NotInstrumented));
    assert_eq!(unfit(&["-static"]), Err(Unfit::Static));
    assert_eq!(unfit(&["-static-pie"]), Err(Unfit::Static));
    assert_eq!(unfit(&["-c"]), Err(Unfit::NotExecutable));
    assert_eq!(unfit(&["-shared", "-fPIC"]), Err(Unfit::NotExecutable));
    assert_eq!(unfit(&["-fsanitize=thread"]), Err(Unfit::Libtsan));
    assert_eq!(unfit(&["-fsanitize=thread", "-s"]), Err(Unfit::Libtsan));
    assert_eq!(unfit(&["-fsanitize=thread", "-static-libtsan"]), Err(Unfit::Libtsan));
    assert_eq!(Shape::parse(b"#!/bin/sh\n"), Err(Unfit::Script));
    assert_eq!(Shape::parse(b"hello"), Err(Unfit::NotElf));
    assert!(matches!(Shape::read(Path::new("no/such/file")), Err(Unfit::Unreadable(_))));
}

#[test]
fn a_program_with_our_runtime_is_fit_even_stripped() {
    let source = "int raddle_runtime_version = 1; int main(void) { return 0; }\n";
    for flags in [&["-rdynamic"][..], &["-rdynamic", "-s"]] {
        let built = build("cc", "fit.c", source, flags);
        let shape = Shape::read(&built.path).unwrap();
        assert_eq!(shape.fit(), Ok(()), "{shape:?}");
        assert_eq!((shape.kind, shape.symbols), (Kind::Executable, flags.len() == 1));
        assert!(!shape.lines);
    }
}

#[test]
fn the_build_id_is_read() {
    let built = build("cc", "main.c", MAIN, &["-Wl,--build-id=0x0123abcd"]);
    assert_eq!(Shape::read(&built.path).unwrap().build_id, [0x01, 0x23, 0xab, 0xcd]);
}
