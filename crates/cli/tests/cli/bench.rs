//! `raddle bench` in small: the numbers depend on the seed only, and everything that is promised is there.

use crate::support::{run, scratch};

#[test]
fn rapos_gives_the_same_numbers_again() {
    let scratch = scratch();
    let arguments =
        ["bench", "rapos", "--experiments", "2", "--subjects", "philo,Vector", "--format", "json"];
    let measure = || {
        let mut json = run(scratch.path(), &arguments).expect_code(0).json();
        json.as_object_mut().expect("an object").remove("seconds");
        json
    };
    let first = measure();
    assert_eq!(first, measure());
    // Two subjects under two kinds of points and two ways to start threads.
    assert_eq!(first["table1"].as_array().expect("rows").len(), 8);
    // One of them throws; its threads are started in two orders.
    assert_eq!(first["fig7"].as_array().expect("rows").len(), 8);
    assert!(
        first["fig1"].as_array().expect("rows").iter().all(|row| row["within"] == true),
        "{}",
        first["fig1"]
    );
    for file in first["files"].as_array().expect("a list") {
        let svg =
            std::fs::read_to_string(scratch.path().join(file.as_str().expect("text"))).expect("a figure");
        assert!(svg.starts_with("<svg"), "{file}");
    }
}

#[test]
fn speed_measures_every_body() {
    let scratch = scratch();
    let arguments =
        ["bench", "speed", "--slice-ms", "1", "--memory-runs", "1000", "--strategies", "random,pct"];
    let text = run(scratch.path(), &arguments).expect_code(0).out;
    for part in ["mutex 2x5", "atomic 4x250", "atomic 100x25", "atomic 2x50000", "growth from 4 tasks to 100"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn search_measures_every_body() {
    let scratch = scratch();
    let arguments = ["bench", "search", "--slice-ms", "1", "--memory-runs", "300"];
    let text = run(scratch.path(), &arguments).expect_code(0).out;
    for part in ["mutex 2x25", "readers 18", "increments 9", "of 14 bodies", "readers 24"] {
        assert!(text.contains(part), "{text}");
    }
    let json = run(scratch.path(), &[&arguments[..], &["--format", "json"]].concat()).expect_code(0).json();
    assert!(json["memory"].as_array().expect("rows").iter().all(|row| row["runs"] == 300), "{json:#}");
    let ended = run(scratch.path(), &["bench", "search", "--memory-of", "nothing"]).expect_code(2);
    assert!(ended.err.contains("nothing"), "{}", ended.err);
}

#[test]
fn hapset_gives_the_same_numbers_again() {
    let scratch = scratch();
    let arguments =
        ["bench", "hapset", "--ties", "2", "--tables", "2,5", "--subjects", "pbzip2,MysqlLog,TimerThread"];
    let json = [&arguments[..], &["--format", "json"]].concat();
    let measure = || {
        let mut json = run(scratch.path(), &json).expect_code(0).json();
        json.as_object_mut().expect("an object").remove("seconds");
        json
    };
    let first = measure();
    assert_eq!(first, measure());
    let rows = first["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert!(first["figures"].as_array().expect("figures").iter().all(|figure| figure["same"] == true));
    assert_eq!(first["figures"][1]["runs"], 2);
    assert!(rows.iter().all(|row| row["reached"] == true && row["counts"] == true), "{first:#}");
    let text = run(scratch.path(), &arguments).expect_code(0).out;
    assert!(text.contains("3 of 3 rows reached"), "{text}");
    let ended = run(scratch.path(), &["bench", "hapset", "--subjects", "nothing"]).expect_code(2);
    assert!(ended.err.contains("TimerThread"), "{}", ended.err);
}

#[test]
fn native_measures_every_figure() {
    let scratch = scratch();
    let subjects = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let many = ["bug/full_pipe.c", "bug/full_pipe.expect"];
    for file in ["bug/counter.c", "bug/counter.expect", "bug/pair.h", "ok/counter.c"].into_iter().chain(many)
    {
        let to = scratch.path().join(file);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::copy(subjects.join(file), to).expect("a subject");
    }
    let arguments = "bench native --accesses 1000 --atomics 1000 --runs 20 --memory-runs 50 --sections 20 --searched 5 --reset-memory-runs 500 \
                     --megabytes 2 --subjects . --format json";
    let json = run(scratch.path(), &arguments.split(' ').collect::<Vec<_>>()).expect_code(0).json();
    let figures = json["figures"].as_array().expect("figures");
    assert_eq!((&json["schema"], figures.len()), (&"raddle.bench.native.v1".into(), 12), "{json}");
    assert_eq!(json["subjects"].as_array().map(Vec::len), Some(2), "{json}");
    assert_eq!(json["subjects_left_out"][0]["name"], "bug/full_pipe", "{json}");
    assert!(figures.iter().any(|figure| figure["most"].is_number()), "{json}");
    assert!(figures.iter().all(|figure| figure["value"].is_number() && figure["met"].is_boolean()), "{json}");
    for memory in ["memory", "memory_reset"] {
        assert!(!json[memory].as_array().expect("memory").is_empty(), "{json}");
    }
}

#[test]
fn rstest_finds_both_bugs_with_all_kinds_of_points() {
    let scratch = scratch();
    let json = run(scratch.path(), &["bench", "rstest", "--experiments", "2", "--format", "json"])
        .expect_code(0)
        .json();
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10, "{json}");
    // Every access, what is shared, what is shared and unprotected; the baseline: the first and the last of these.
    for rows in rows.chunks(5) {
        assert!(rows.iter().all(|row| row["found"] == 2), "{json}");
        let calls = |row: usize| rows[row]["calls_per_run"].as_f64().expect("a number");
        let saves = calls(0) > calls(1) && calls(0) > calls(2) && calls(3) > calls(4);
        assert!(saves, "classification saves no scheduling calls: {json}");
    }
}
