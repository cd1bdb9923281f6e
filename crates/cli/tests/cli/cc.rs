//! The compiler wrappers: by hand, under make, CMake and a configure script, with gcc and clang. The runtime here is
//! one whose hooks only return: what is tested is what gets compiled and linked.

use crate::support::{Ended, path_with_raddle, scratch, shell_with};
use raddle_symbols::{Shape, Unfit};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang-19", "clang++-19")];

const PROGRAM: &str = "#include <stdio.h>\nint x;\nint main(void) { x++; printf(\"%d\\n\", x); return 0; }\n";

/// A directory with an empty runtime and a cache of its own.
struct Place {
    directory: tempfile::TempDir,
    compiler: (&'static str, &'static str),
}

impl Place {
    fn new(compiler: (&'static str, &'static str)) -> Place {
        let directory = scratch();
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/native/empty_runtime.c");
        let object = directory.path().join("empty.o");
        let built = Command::new("cc").args(["-c", "-fPIC", "-O1", "-o"]).arg(&object).arg(runtime).status();
        assert!(built.expect("a compiler").success());
        std::fs::write(object.with_extension("exports"), "{ __tsan_*; raddle_runtime_version; };\n").unwrap();
        Place { directory, compiler }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn sh(&self, line: &str) -> Ended {
        let here = |name: &str| self.path().join(name).into_os_string();
        let variables = [
            ("RADDLE_CC", self.compiler.0.into()),
            ("RADDLE_CXX", self.compiler.1.into()),
            ("RADDLE_RUNTIME", here("empty.o")),
            ("RADDLE_CACHE", here("cache")),
            ("TMPDIR", here("tmp")),
        ];
        std::fs::create_dir_all(self.path().join("tmp")).unwrap();
        shell_with(line, self.path(), &variables)
    }

    /// A program that has our runtime and hooks of its own, and no other sanitizer.
    fn expect_controlled(&self, name: &str) {
        let shape = Shape::read(&self.path().join(name)).unwrap_or_else(|unfit| panic!("{name}: {unfit:?}"));
        assert_eq!(shape.fit(), Ok(()), "{name}: {shape:?}");
        assert!(shape.hooks && shape.lines, "{name}: {shape:?}");
    }

    /// The hooks that an object file calls.
    fn hooks(&self, name: &str) -> Vec<String> {
        let listing = self.sh(&format!("nm {name}")).expect_code(0).out;
        let names = listing.lines().filter_map(|line| line.trim().strip_prefix("U __tsan_"));
        names.map(str::to_owned).collect()
    }
}

fn everywhere(check: impl Fn(&Place)) {
    for compiler in COMPILERS {
        check(&Place::new(compiler));
    }
}

#[test]
fn a_source_becomes_a_controlled_program_in_one_step_or_two() {
    everywhere(|place| {
        place.write("a.c", PROGRAM);
        assert_eq!(place.sh("raddle cc a.c -o one && ./one").expect_code(0).out, "1\n");
        place.expect_controlled("one");
        place.sh("raddle cc -O2 -c a.c && raddle cc a.o -o two && ./two").expect_code(0);
        place.expect_controlled("two");
        place.sh("raddle cc a.c && ./a.out").expect_code(0);
        place.expect_controlled("a.out");
        // Nothing of ours stays behind.
        assert_eq!(std::fs::read_dir(place.path().join("tmp")).unwrap().count(), 0);
    });
}

#[test]
fn an_increment_gives_a_read_and_a_write_hook_at_any_level() {
    everywhere(|place| {
        place.write("x.c", "int x;\nvoid f(void) { x++; }\n");
        for level in ["-O0", "-O1", "-O2", "-Os"] {
            place.sh(&format!("raddle cc {level} -c x.c")).expect_code(0);
            let hooks = place.hooks("x.o");
            assert!(hooks.iter().any(|hook| hook == "read4"), "{level}: {hooks:?}");
            assert!(hooks.iter().any(|hook| hook == "write4"), "{level}: {hooks:?}");
        }
    });
}

#[test]
fn each_stage_gives_what_the_compiler_gives() {
    everywhere(|place| {
        place.write("a.c", PROGRAM);
        assert!(place.sh("raddle cc -E a.c").expect_code(0).out.contains("int x;"));
        assert!(place.sh("raddle cc -S a.c -o -").expect_code(0).out.contains("__tsan_write4"));
        assert!(place.sh("raddle cc -M a.c").expect_code(0).out.contains("stdio.h"));
        place.sh("raddle cc -MMD -MF deps/a.d -c a.c").expect_code(1);
        place.sh("mkdir deps && raddle cc -MMD -MF deps/a.d -c a.c && test -s deps/a.d").expect_code(0);
        place.sh("raddle cc -fsyntax-only a.c").expect_code(0);
        place
            .sh("raddle cc -x c a.c -x none -o b && raddle cc -x c - -o c < a.c && ./b && ./c")
            .expect_code(0);
        place.expect_controlled("c");
        place.write("words", "-DNAME='\"a b\"' -o \"out dir/d\"\n a.c");
        place.sh("mkdir 'out dir' && raddle cc @words && './out dir/d'").expect_code(0);
        place.expect_controlled("out dir/d");
        let version = place.sh("raddle cc --version").expect_code(0);
        assert_eq!(version.out, place.sh(&format!("{} --version", place.compiler.0)).out);
    });
}

#[test]
fn libraries_are_instrumented_and_find_the_runtime_in_the_program() {
    everywhere(|place| {
        place.write("lib.c", "int shared;\nint next(void) { return ++shared; }\n");
        place.write("main.c", "int next(void);\nint main(void) { next(); return next() - 2; }\n");
        let line = "raddle cc -fPIC -shared -Wl,-z,defs -Wl,--no-undefined lib.c -o libnext.so";
        let ended = place.sh(line).expect_code(0);
        assert_eq!(ended.err.matches("note:").count(), 2, "{}", ended.err);
        assert!(place.hooks("-D libnext.so").iter().any(|hook| hook == "write4"));
        place.sh("raddle cc main.c -L. -lnext -Wl,-rpath,'$ORIGIN' -o main && ./main").expect_code(0);
        place.expect_controlled("main");
        place.sh("raddle cc -r main.c lib.c -o both.o && raddle cc both.o -o both && ./both").expect_code(0);
        place
            .sh("raddle cc -c lib.c && ar rcs libold.a lib.o && raddle cc main.c libold.a -o old && ./old")
            .expect_code(0);
    });
}

#[test]
fn cpp_with_exceptions_and_the_standard_library_links() {
    everywhere(|place| {
        let source = "#include <iostream>\n#include <thread>\n#include <stdexcept>\nint main() {\n\
                      try { throw std::runtime_error(\"caught\"); } catch (std::exception &e) { std::cout << e.what(); }\n\
                      std::thread t([] { std::cout << std::endl; }); t.join(); }\n";
        place.write("a.cpp", source);
        assert_eq!(
            place.sh("raddle c++ -std=c++20 -pthread a.cpp -o a && ./a").expect_code(0).out,
            "caught\n"
        );
        place.expect_controlled("a");
        place.sh("raddle-cxx a.cpp -o b && ./b").expect_code(0);
        place.expect_controlled("b");
    });
}

#[test]
fn what_cannot_be_is_left_out_with_a_note_and_errors_are_the_compilers() {
    everywhere(|place| {
        place.write("a.c", PROGRAM);
        let ended = place.sh("raddle cc -flto -static -fsanitize=address a.c -o a && ./a").expect_code(0);
        for what in ["-flto", "-static", "-fsanitize=address"] {
            assert_eq!(ended.err.matches(&format!("note: {what} is left out")).count(), 1, "{}", ended.err);
        }
        place.expect_controlled("a");
        place.sh("raddle cc -fsanitize=thread a.c -o t && ./t").expect_code(0);
        place.expect_controlled("t");
        place.write("bad.c", "int main(void) { return nothing; }\n");
        let ended = place.sh("raddle cc bad.c -o bad").expect_code(1);
        assert!(ended.err.contains("bad.c:1") && ended.err.contains("nothing"), "{}", ended.err);
        assert!(!place.path().join("bad").exists());
    });
}

#[test]
fn a_project_built_by_make_runs_its_own_generator() {
    everywhere(|place| {
        place.write(
            "gen.c",
            "#include <stdio.h>\nint n;\nint main(void) { n++; printf(\"#define N %d\\n\", n); return 0; }\n",
        );
        place.write("main.c", "#include \"n.h\"\nint x;\nint main(void) { x += N; return x - 1; }\n");
        let rules = "all: main\nn.h: gen\n\t./gen > n.h\ngen: gen.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n\
                     main: main.c n.h\n\t$(CC) $(CFLAGS) -o $@ main.c\n";
        place.write("Makefile", rules);
        place.sh("CC='raddle cc' CFLAGS=-O1 make -j2 && ./main").expect_code(0);
        place.expect_controlled("main");
        place.expect_controlled("gen");
    });
}

#[test]
fn cmake_takes_the_single_words() {
    everywhere(|place| {
        place.write("src/a.c", "int total;\nint add(int n) { total += n; return total; }\n");
        place.write(
            "src/main.cpp",
            "#include <thread>\nextern \"C\" int add(int);\nint main() {\n\
                     std::thread t([] { add(1); }); t.join(); return add(0) - 1; }\n",
        );
        place.write(
            "src/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
             find_package(Threads REQUIRED)\nadd_library(a SHARED a.c)\nadd_executable(main main.cpp)\n\
             target_link_libraries(main a Threads::Threads)\n",
        );
        let line = "CC=raddle-cc CXX=raddle-cxx cmake -S src -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build -j2";
        place.sh(line).expect_code(0);
        place.sh("build/main").expect_code(0);
        place.expect_controlled("build/main");
    });
}

#[test]
fn a_configure_script_finds_what_is_there_and_not_what_is_not() {
    everywhere(|place| {
        // What autoconf's tests come to: programs that must compile, link and run, and some that must not.
        let script = "#!/bin/sh\nset -e\nCC=${CC:-cc}\ntry() { printf '%s\\n' \"$1\" > conftest.c; shift; \
                      $CC conftest.c -o conftest \"$@\" 2>conftest.err && ./conftest; }\n\
                      try 'int main(void) { return 0; }'\ntest ! -s conftest.err\n\
                      try '#include <math.h>\nint main(int n, char **v) { return (int)floor(n / 2.0 - .5); }' -lm\n\
                      if try 'int no_such_function(void); int main(void) { return no_such_function(); }'; then exit 1; fi\n\
                      if try '#include <no/such/header.h>\nint main(void) { return 0; }'; then exit 1; fi\n\
                      $CC -E conftest.c >/dev/null 2>&1 && exit 1\n$CC -dumpmachine\n";
        place.write("configure", script);
        let ended = place.sh("CC='raddle cc' sh configure").expect_code(0);
        assert_eq!(ended.out, place.sh(&format!("{} -dumpmachine", place.compiler.0)).out);
    });
}

#[test]
fn a_missing_compiler_or_runtime_is_said() {
    let place = Place::new(COMPILERS[0]);
    place.write("a.c", PROGRAM);
    let ended = place.sh("RADDLE_CC=no-such-cc raddle cc a.c").expect_code(2);
    assert!(ended.err.contains("no-such-cc") && ended.err.contains("RADDLE_CC"), "{}", ended.err);
    let raddle = path_with_raddle();
    let directory = std::env::split_paths(&raddle).next().unwrap();
    let line = format!("unset RADDLE_CC; PATH={} raddle cc a.c", directory.display());
    let ended = place.sh(&line).expect_code(2);
    assert!(ended.err.contains("no compiler was found"), "{}", ended.err);
    let ended = place.sh("RADDLE_CC=true raddle cc a.c").expect_code(2);
    assert!(ended.err.contains("/true"), "{}", ended.err);
    let ended = place.sh("RADDLE_RUNTIME=no/such.o raddle cc a.c").expect_code(2);
    assert!(ended.err.contains("no/such.o"), "{}", ended.err);
}

#[test]
fn what_was_not_built_by_the_wrapper_is_told_apart() {
    let place = Place::new(COMPILERS[0]);
    place.write("a.c", PROGRAM);
    for (line, unfit) in [
        ("gcc a.c -o plain", Unfit::NotInstrumented),
        ("clang-19 -fsanitize=thread a.c -o plain", Unfit::Libtsan),
        (
            "clang-19 -fsanitize=thread -shared-libsan a.c -o plain || gcc -fsanitize=thread a.c -o plain",
            Unfit::Libtsan,
        ),
    ] {
        let ended = place.sh(line);
        // clang's runtime is a package of its own.
        if ended.code != 0 && ended.err.contains("libclang_rt") {
            continue;
        }
        ended.expect_code(0);
        assert_eq!(Shape::read(&place.path().join("plain")).unwrap().fit(), Err(unfit), "{line}");
    }
}
