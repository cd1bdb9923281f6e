//! What is found in each program, and how the command ends.

use crate::support::{build, build_plainly, ended, files, raddle, run};

#[test]
fn a_lost_update_and_its_races() {
    let (ended, _out) = run(&build("counter.c"), &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_eq!(ended.kinds(), ["assertion", "race", "race"]);
}

#[test]
fn a_deadlock_and_its_minimum() {
    let (ended_run, out) = run(&build("deadlock.c"), &[]);
    assert_eq!(ended_run.kinds(), ["deadlock"]);
    let [file] = &files(out.path())[..] else { panic!("one file") };
    let output = raddle().arg("minimize").arg(file).output().expect("the command starts");
    let text = ended(&output).stdout;
    assert!(text.contains("1 preemption now"), "{text}");
}

#[test]
fn one_thread_is_nothing_to_control() {
    let (ended, _out) = run(&build("alone.c"), &["--runs", "10"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
}

#[test]
fn a_program_without_the_runtime_is_named() {
    let (ended, _out) = run(&build_plainly("alone.c"), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("raddle cc"), "{}", ended.stderr);
}

#[test]
fn dormant_programs_run_by_themselves() {
    let output = std::process::Command::new(build("sections.c")).output().expect("the program starts");
    assert!(output.status.success());
}
