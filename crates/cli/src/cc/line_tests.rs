//! Command lines as build systems write them.

use super::*;

fn line(text: &str) -> Line {
    Line::parse(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
}

fn dropped(line: &Line) -> Vec<&str> {
    line.parts
        .iter()
        .filter_map(|part| match part {
            Part::Dropped(what, _) => Some(what.as_str()),
            _ => None,
        })
        .collect()
}

fn words(line: &Line, wanted: impl Fn(&Part) -> Option<&Vec<OsString>>) -> String {
    let words = line.parts.iter().filter_map(wanted).flatten();
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_mode_is_what_is_asked_for() {
    for (text, mode) in [
        ("--version", Mode::Question),
        ("-v", Mode::Question),
        ("-dumpmachine", Mode::Question),
        ("-print-prog-name=ld", Mode::Question),
        ("-O2 -Wall", Mode::Question),
        ("-### a.c", Mode::Question),
        ("-c a.c", Mode::Stage),
        ("-E a.c", Mode::Stage),
        ("-S a.c -o -", Mode::Stage),
        ("-M a.c", Mode::Stage),
        ("-MM a.c", Mode::Stage),
        ("-fsyntax-only a.c", Mode::Stage),
        ("a.h", Mode::Stage),
        ("-x c-header a -o a.gch", Mode::Stage),
        ("-MD -c a.c -o a.o", Mode::Stage),
        ("a.c", Mode::Executable),
        ("-v a.o", Mode::Executable),
        ("-x c - -o a", Mode::Executable),
        ("-MD a.c -o a", Mode::Executable),
        ("a.o b.a -o a", Mode::Executable),
        ("-lall -o a", Mode::Executable),
        ("-shared a.o -o a.so", Mode::Library),
        ("-r a.o b.o -o c.o", Mode::Relocatable),
    ] {
        assert_eq!(line(text).mode, mode, "{text}");
    }
}

#[test]
fn sources_are_known_by_their_ending_or_by_the_language_given() {
    let line = line("a.c b.o -x c++ odd -x none c.cc libd.a d.so.1 -");
    let sources: Vec<_> =
        line.sources().map(|(name, language)| (name.to_str().unwrap(), language.is_some())).collect();
    assert_eq!(sources, [("a.c", false), ("odd", true), ("c.cc", false), ("-", false)]);
}

#[test]
fn values_are_not_taken_for_inputs() {
    let line = line(
        "-o out.c -I inc.c -include pre.h -D NAME.c -MF dep.c -L lib.c -l m.c -Xlinker map.c -T script.c a.o",
    );
    assert_eq!(line.sources().count(), 0);
    assert_eq!(line.output.as_deref(), Some(OsStr::new("out.c")));
    assert_eq!(line.parts.iter().filter(|part| matches!(part, Part::Object(_))).count(), 1);
    assert_eq!(super::tests::line("-oout a.o").output.as_deref(), Some(OsStr::new("out")));
}

#[test]
fn options_go_to_the_side_that_heeds_them() {
    let line = line("-O2 -Iinc -DX=1 -std=c11 -pthread -fPIC -Wl,-rpath,/x -lm -L/y -rdynamic -Wall a.c");
    let compile = words(&line, |part| if let Part::Compile(words) = part { Some(words) } else { None });
    let link = words(&line, |part| if let Part::Link(words) = part { Some(words) } else { None });
    let both = words(&line, |part| if let Part::Both(words) = part { Some(words) } else { None });
    assert_eq!(compile, "-Iinc -DX=1 -std=c11");
    assert_eq!(link, "-Wl,-rpath,/x -lm -L/y -rdynamic");
    assert_eq!(both, "-O2 -pthread -fPIC -Wall");
}

#[test]
fn what_cannot_be_is_dropped_and_the_rest_of_the_word_kept() {
    let line = line(
        "-flto=auto -static -Wl,-O1,-z,defs,--as-needed -Wl,--no-undefined -z defs -fsanitize=address,undefined a.c",
    );
    let expected =
        ["-flto=auto", "-static", "-Wl,-z,defs", "-Wl,--no-undefined", "-z defs", "-fsanitize=address"];
    assert_eq!(dropped(&line), expected);
    let link = words(&line, |part| if let Part::Link(words) = part { Some(words) } else { None });
    assert_eq!(link, "-Wl,-O1,--as-needed");
    let both = words(&line, |part| if let Part::Both(words) = part { Some(words) } else { None });
    assert_eq!(both, "-fsanitize=undefined");
    assert_eq!(dropped(&super::tests::line("-fsanitize=thread a.c")), [] as [&str; 0]);
    assert_eq!(dropped(&super::tests::line("-z now -Wl,-z,relro -static-libgcc a.c")), [] as [&str; 0]);
}

#[test]
fn debug_information_and_lists_of_includes_are_noticed() {
    assert!(line("-g a.c").debug && line("-ggdb3 a.c").debug && line("-g0 a.c").debug);
    assert!(!line("-O2 a.c").debug);
    assert_eq!(line("-c a.c").dependencies, None);
    assert_eq!(line("-MD -c a.c").dependencies, Some(false));
    assert_eq!(line("-MMD -MF a.d -c a.c").dependencies, Some(true));
}

#[test]
fn who_directs_the_linker_is_not_interfered_with() {
    for text in ["-fuse-ld=gold a.c", "a.c -B/opt/mold", "-Wl,-T,own.ld a.o", "-T own.ld a.o"] {
        assert!(line(text).directs_linker(), "{text}");
    }
    assert!(!line("-O2 -pthread -Wl,-rpath,/x -Wl,-z,now -lm a.c").directs_linker());
}
