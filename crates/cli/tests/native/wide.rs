//! Accesses to more than a word or two: copies of structures, as gcc and clang have them, race in each of their bytes; and no
//! search passes over what they can show.

use crate::support::{COMPILERS, build_with, ended, raddle};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn run(program: &Path, options: &[&str], arguments: &[&str]) -> serde_json::Value {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.args(["run", "--format", "json", "--time", "100", "--out"]).arg(out.path()).args(options);
    let ended = ended(&command.arg(program).args(arguments).output().expect("the command starts"));
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    ended.json()
}

/// Structures of many sizes. One thread copies each as often as it has bytes; another writes one byte of the original and
/// of the copy, another one each time. Each statement has a line: first the copy, then the two others.
fn copies() -> (String, Vec<usize>) {
    let (mut text, mut lines) = (String::from("#include <pthread.h>\n"), Vec::new());
    let (mut first, mut second, mut line) = (String::new(), String::new(), 1);
    for size in [1, 2, 3, 5, 8, 12, 16, 17, 24, 33, 64] {
        // Neighbours are far apart: eight bytes have a short memory.
        let _ = writeln!(
            text,
            "struct s{size} {{ char c[{size}]; }}; static struct {{ struct s{size} s; char far[128 - {size}]; }} a{size}[{size}], b{size}[{size}];"
        );
        line += 1;
        for byte in 0..size {
            let _ = writeln!(
                text,
                "static void copy{size}_{byte}(void) {{ a{size}[{byte}].s = b{size}[{byte}].s; }}"
            );
            let _ =
                writeln!(text, "static void to{size}_{byte}(void) {{ a{size}[{byte}].s.c[{byte}] = 1; }}");
            let _ =
                writeln!(text, "static void from{size}_{byte}(void) {{ b{size}[{byte}].s.c[{byte}] = 1; }}");
            let _ = write!(first, "copy{size}_{byte}(); ");
            let _ = write!(second, "to{size}_{byte}(); from{size}_{byte}(); ");
            lines.push(line + 1);
            line += 3;
        }
    }
    let _ = writeln!(text, "static void *one(void *unused) {{ {first} return unused; }}");
    let _ = writeln!(text, "static void *two(void *unused) {{ {second} return unused; }}");
    text.push_str("int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }\n");
    (text, lines)
}

#[test]
fn a_copied_structure_races_in_each_of_its_bytes() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = place.path().join("copies.c");
    let (text, lines) = copies();
    std::fs::write(&source, text).expect("a file");
    let wanted: BTreeSet<Vec<u64>> = lines
        .iter()
        .flat_map(|&line| [vec![line as u64, line as u64 + 1], vec![line as u64, line as u64 + 2]])
        .collect();
    for compiler in COMPILERS {
        let found = run(&build_with(compiler, &source, place.path()), &["--runs", "2"], &[]);
        let failures = found["failures"].as_array().expect("a list").iter();
        let races = failures.map(|failure| {
            assert_eq!(failure["kind"], "race", "{compiler}: {failure}");
            let sites = failure["sites"].as_array().expect("a list").iter();
            let mut lines: Vec<u64> = sites.map(|site| site["line"].as_u64().expect("a line")).collect();
            lines.sort_unstable();
            lines
        });
        assert_eq!(races.collect::<BTreeSet<_>>(), wanted, "{compiler}");
    }
}

#[test]
fn a_race_of_a_wide_access_is_for_what_both_have_accessed() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = place.path().join("part.c");
    let text = "#include <pthread.h>
#include <string.h>
#include <stdlib.h>
static struct { int a, b, c, d, e, f; } all;
static long *block;
static void *whole(void *unused) { memset(&all, 0, sizeof all); memset(block, 0, 32); return unused; }
static void *part(void *unused) { return (void *)(all.e + block[2]); }
int main(void) {
    block = calloc(4, sizeof *block);
    pthread_t a, b;
    pthread_create(&a, 0, whole, 0), pthread_create(&b, 0, part, 0);
    pthread_join(a, 0), pthread_join(b, 0);
}
";
    std::fs::write(&source, text).expect("a file");
    for compiler in COMPILERS {
        let found = run(&build_with(compiler, &source, place.path()), &["--runs", "20"], &[]);
        let failures = found["failures"].as_array().expect("a list");
        let told: Vec<&str> =
            failures.iter().map(|failure| failure["message"].as_str().expect("a text")).collect();
        for part in ["`all.e`", "offset 16 of a block of 32 bytes"] {
            assert!(told.iter().any(|message| message.contains(part)), "{compiler}, {part}: {told:#?}");
        }
        assert!(told.iter().all(|message| !message.contains("offset 0 ")), "{compiler}: {told:#?}");
    }
}

/// Whether an outcome is found, which all searches must agree on.
fn agree(program: &Path, arguments: &[&str], certain: bool) {
    let [possible, found @ ..] = ["dfs", "odpor", "dpor"].map(|strategy| {
        let options = ["--strategy", strategy, "--runs", "50000", "--races", "off"];
        let json = run(program, &options, arguments);
        let fails = json["failures"].as_array().is_some_and(|list| !list.is_empty());
        assert!(fails || json["exhausted"] == true, "{program:?} {arguments:?}, {strategy}: {json}");
        fails
    });
    assert!(possible || !certain, "{program:?} {arguments:?}");
    assert_eq!(found, [possible; 2], "{program:?} {arguments:?}");
}

#[test]
fn no_search_passes_over_what_a_wide_access_shows() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/c/wide.c");
    for compiler in COMPILERS {
        let program = build_with(compiler, &source, place.path());
        for size in ["3", "8", "12", "64"] {
            // Every interleaving shows what is possible: the copy before both looks, between them with the old value or the
            // new one, after them; and, if others can come between its read and its write, more.
            for outcome in ["111", "11", "22", "2", "1", "12", "112"] {
                let certain = ["111", "11", "22", "2"].contains(&outcome);
                agree(&program, &[size, outcome], certain);
            }
            for outcome in ["1", "2", "101", "202", "102", "201"] {
                agree(&program, &[size, "apart", outcome], ["1", "2", "101", "202"].contains(&outcome));
            }
        }
    }
}

/// What `docs/limits.md` says of structures that are handed over by value: no hook, no race.
#[test]
fn structures_by_value_are_told_as_far_as_compilers_do() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/c/by_value.c");
    let text = std::fs::read_to_string(&source).expect("a source");
    let told: [&[&str]; 2] = [&[], &["large result", "small argument", "small result"]];
    for (compiler, told) in COMPILERS.into_iter().zip(told) {
        let found = run(&build_with(compiler, &source, place.path()), &["--runs", "5"], &[]);
        let failures = found["failures"].as_array().expect("a list").iter();
        let sites = failures.flat_map(|failure| failure["sites"].as_array().expect("a list"));
        let lines = sites.map(|site| site["line"].as_u64().expect("a line") as usize - 1);
        let marks = lines.filter_map(|line| Some(text.lines().nth(line)?.split_once("// ")?.1));
        assert_eq!(
            marks.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
            told,
            "{compiler}: {found}"
        );
    }
}

/// gcc tells of the write and then of the read, and does both after that.
#[test]
fn an_assignment_of_gcc_is_one_step() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/c/wide.c");
    let program = build_with(COMPILERS[0], &source, place.path());
    for size in ["3", "8", "12", "64"] {
        let options = ["--strategy", "dfs", "--runs", "1000", "--races", "off"];
        let found = run(&program, &options, &[size, "999"]);
        assert_eq!(found["exhausted"], true, "{found}");
        // Before, between and after what the other thread does: four; and one from before the races were known.
        assert_eq!(found["distinct_partial_orders"], 5, "{size} bytes: {found}");
    }
}
