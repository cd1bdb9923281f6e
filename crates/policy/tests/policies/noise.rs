//! `noise` disturbs as often and as long as it is told, and nothing else is random in it.

use raddle_model::{Plan, Rng, Tail};
use raddle_toy::Instr::Store;
use raddle_toy::{Object, Program, Val, run};

const STEPS: usize = 200;

/// Two tasks that write all the time.
fn program() -> Program {
    Program::flat(vec![Object::Atomic(0)], vec![vec![Store(0, Val::Const(1)); STEPS]; 2])
}

/// Switches between tasks in a run.
fn switches(one_in: u32, strength: u32, seed: u64) -> usize {
    let plan = Plan::new(Rng::seed_of_run(3, seed), Tail::Noise { one_in, strength });
    let events = run(&program(), &plan).trace.events;
    events.windows(2).filter(|pair| pair[0].task != pair[1].task).count()
}

#[test]
fn without_noise_nobody_is_preempted() {
    // One disturbance in four thousand million points.
    let quiet: Vec<usize> = (0..20).map(|seed| switches(u32::MAX, 20, seed)).collect();
    assert!(quiet.iter().all(|&count| count == quiet[0] && count < 10), "{quiet:?}");
}

#[test]
fn more_noise_is_more_switches() {
    let mean = |one_in, strength| (0..50).map(|seed| switches(one_in, strength, seed)).sum::<usize>() / 50;
    let (rare, often) = (mean(40, 20), mean(10, 20));
    assert!((2..30).contains(&rare) && rare < often, "{rare} and {often}");
    // Whoever sleeps for one step comes back at once; about one point in ten is the beginning of a sleep.
    let brief = mean(10, 1);
    assert!((30..90).contains(&brief) && brief > often, "{brief} and {often}");
}
