//! Every function that libc's headers for threads declare is accounted for: controlled, or harmless as it is. What a new
//! libc adds makes this test fail until somebody has thought about it.

use std::collections::BTreeSet;
use std::process::Command;

/// Functions that are libc's own under control too, and why that is right.
const HARMLESS: &[(&str, &str)] = &[
    // They write into a structure of the program's, which we read when something is made of it.
    ("pthread_attr_", "a description"),
    ("pthread_mutexattr_", "a description"),
    ("pthread_condattr_", "a description"),
    ("pthread_rwlockattr_", "a description"),
    ("pthread_barrierattr_", "a description"),
    ("pthread_getattr_default_np", "a description"),
    ("pthread_setattr_default_np", "a description; stacks are as large as libc's at first"),
    ("pthread_self", "the control block is the thread's own"),
    ("pthread_equal", "compares two numbers"),
    ("thrd_current", "the control block is the thread's own"),
    ("thrd_equal", "compares two numbers"),
    ("pthread_atfork", "called by fork, which is libc's"),
    ("pthread_getconcurrency", "a number that is kept"),
    ("pthread_setconcurrency", "a number that is kept"),
    ("pthread_mutex_getprioceiling", "reads the description"),
    ("pthread_mutex_setprioceiling", "changes the description; the mutex in memory is never taken"),
    ("sem_open", "makes memory in which a semaphore lies, which is then like any other"),
    ("sem_close", "gives that memory back"),
    ("sem_unlink", "takes its name away"),
];

/// Functions that a header declares.
fn declared(header: &str) -> BTreeSet<String> {
    let program = format!("#include <{header}>\n");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("header-{header}.c"));
    std::fs::write(&path, program).expect("a file");
    let mut command = Command::new("gcc");
    let output = command.args(["-E", "-P", "-D_GNU_SOURCE"]).arg(&path).output().expect("a compiler");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).replace('(', " ( ");
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ours = |name: &str| {
        ["pthread_", "sem_", "thrd_", "mtx_", "cnd_", "tss_", "call_once"].iter().any(|p| name.starts_with(p))
    };
    let calls = words.windows(2).filter(|pair| pair[1] == "(" && ours(pair[0]));
    calls.map(|pair| pair[0].to_owned()).collect()
}

#[test]
fn every_function_for_threads_is_accounted_for() {
    let exports: BTreeSet<&str> = raddle_runtime_image::EXPORTS.lines().collect();
    let harmless = |name: &str| {
        HARMLESS
            .iter()
            .any(|(known, _)| if known.ends_with('_') { name.starts_with(known) } else { *known == name })
    };
    let mut seen = 0;
    for header in ["pthread.h", "semaphore.h", "threads.h"] {
        for name in declared(header) {
            seen += 1;
            let controlled = exports.contains(&*name);
            assert!(controlled || harmless(&name), "{header}: nobody has thought about {name}");
            assert!(!(controlled && harmless(&name)), "{name} is controlled, and said to be harmless");
        }
    }
    assert!(seen > 120, "only {seen} functions were found");
}

#[test]
fn every_hook_of_the_compilers_is_there() {
    let exports: BTreeSet<&str> = raddle_runtime_image::EXPORTS.lines().collect();
    for bits in ["8", "16", "32", "64", "128"] {
        for what in [
            "load",
            "store",
            "exchange",
            "fetch_add",
            "fetch_sub",
            "fetch_and",
            "fetch_or",
            "fetch_xor",
            "fetch_nand",
            "compare_exchange_strong",
            "compare_exchange_weak",
            "compare_exchange_val",
        ] {
            let name = format!("__tsan_atomic{bits}_{what}");
            assert!(exports.contains(&*name), "{name}");
        }
    }
    for size in ["1", "2", "4", "8", "16"] {
        for what in ["read", "write", "volatile_read", "volatile_write"] {
            let name = format!("__tsan_{what}{size}");
            assert!(exports.contains(&*name), "{name}");
            let name = format!("__tsan_unaligned_{what}{size}");
            assert!(size == "1" || exports.contains(&*name), "{name}");
        }
    }
}
