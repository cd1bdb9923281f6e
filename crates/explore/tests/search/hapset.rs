//! `hapset`: the examples of the paper, and what can be said of a search that is not complete.

use crate::common::{Explored, everywhere, for_programs, search};
use raddle_analysis::hapset::of_trace;
use raddle_explore::Exhausted;
use raddle_explore::hapset::{Guided, Known, Under};
use raddle_explore::target::Target;
use raddle_model::{HapSets, Plan, SiteId, SpinMode, Statement, StatementId, Verdict};
use raddle_toy::Instr::{AssertNot, JumpIf, Load, Lock, Store, Unlock, Yield};
use raddle_toy::{How, Object, Program, ToyRun, ToyTarget, Val, site_of};
use std::collections::BTreeSet;

fn guided(program: &Program, plan: &Plan, seed: u64, under: Under) -> (Vec<Explored>, Exhausted) {
    search(program, plan, Guided::new(Known::default(), under, seed), 20_000)
}

fn failed(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Failed(_))
}

/// Figure 1: T1 allocates and frees, T2 looks and uses. The bug needs the free between looking and using.
#[test]
fn figure_1_is_found_at_once() {
    const P: usize = 0;
    let program = Program::flat(
        vec![Object::Atomic(0)],
        vec![
            vec![Store(P, Val::Const(1)), Store(P, Val::Const(0))],
            vec![Load(P, 0), JumpIf(0, 0, 4), Load(P, 0), AssertNot(0, 0)],
        ],
    );
    let (runs, _) = guided(&program, &everywhere(), 0, Under::Dpor);
    let first = runs.iter().position(|run| failed(&run.digest.verdict)).expect("the bug is found");
    assert!(first < 4, "in run {}", first + 1);
}

/// Figure 2 and section 5.2, with `while (!tmp)`: two runs, and after that nothing is worth one.
#[test]
fn figure_2_takes_two_runs() {
    const A: usize = 0;
    const X: usize = 1;
    let waits = vec![Lock(A, How::Block, 7), Load(X, 0), Unlock(A), Yield, JumpIf(0, 0, 0)];
    let sets = vec![Lock(A, How::Block, 7), Store(X, Val::Const(1)), Unlock(A)];
    // T2 is made first, so that the first run is the paper's.
    let program = Program::flat(vec![Object::Mutex, Object::Atomic(0)], vec![sets, waits]);
    let plan = Plan { spin: SpinMode::Off, ..everywhere() };
    let (runs, exhausted) = guided(&program, &plan, 0, Under::Dpor);
    assert_eq!(runs.len(), 2);
    assert_eq!(exhausted, Exhausted::Within(String::from("as far as HaPSets tell them apart")));
    let (f, g, b, c) = (site_of(1, 0), site_of(1, 1), site_of(2, 0), site_of(2, 1));
    let pairs = |run: &Explored| -> Vec<(SiteId, SiteId)> {
        of_trace(&run.trace).iter().map(|pair| (SiteId(pair.of.0), SiteId(pair.before.0))).collect()
    };
    assert_eq!(pairs(&runs[0]), [(b, f), (c, g)], "HaPSet[c] = {{g}}, HaPSet[b] = {{f}}");
    assert_eq!(pairs(&runs[1]), [(f, b), (g, c), (b, f), (c, g)], "and HaPSet[g] = {{c}}, HaPSet[f] = {{b}}");
}

#[test]
fn opposite_locks_deadlock_in_the_second_run() {
    let nested = |a, b| vec![Lock(a, How::Block, 7), Lock(b, How::Block, 7), Unlock(b), Unlock(a)];
    let program = Program::flat(vec![Object::Mutex, Object::Mutex], vec![nested(0, 1), nested(1, 0)]);
    let (runs, _) = guided(&program, &everywhere(), 0, Under::Dpor);
    assert!(!failed(&runs[0].digest.verdict) && failed(&runs[1].digest.verdict));
}

fn good(runs: &[ToyRun]) -> HapSets {
    let good = runs.iter().filter(|run| run.verdict == Verdict::Finished);
    good.flat_map(|run| of_trace(&run.trace).iter().copied().collect::<Vec<_>>()).collect()
}

/// Whatever it runs is real and the search ends; and most of what there is to learn is learned, most of what can
/// fail fails. A broken guide would not come near.
#[test]
fn random_programs_are_covered() {
    let (mut pairs, mut learned) = (0, 0);
    let (mut failing, mut found) = (0, 0);
    let (mut classes, mut runs_taken) = (0, 0);
    for_programs(41, raddle_tiers::size("hapset_searches"), |program, plan, all| {
        let real: BTreeSet<u128> = all.iter().map(|run| run.fingerprint).collect();
        let (runs, _) = guided(program, plan, 0, Under::Dpor);
        if let Some(run) = runs.iter().find(|run| !real.contains(&run.digest.fingerprint)) {
            return Err(format!("a run that enumeration does not know: {:?}", run.digest.verdict));
        }
        let sets = |run: &Explored| of_trace(&run.trace).iter().copied().collect::<Vec<_>>();
        let finished = runs.iter().filter(|run| run.digest.verdict == Verdict::Finished);
        let seen: HapSets = finished.flat_map(sets).collect();
        let there = good(all);
        if let Some(pair) = seen.iter().find(|pair| !there.contains(pair)) {
            return Err(format!("a pair that no run has: {pair:?}"));
        }
        pairs += there.len();
        learned += seen.len();
        if all.iter().any(|run| failed(&run.verdict)) {
            failing += 1;
            found += usize::from(runs.iter().any(|run| failed(&run.digest.verdict)));
        }
        classes += real.len();
        runs_taken += runs.len();
        Ok(())
    });
    println!(
        "{learned} of {pairs} pairs, {found} of {failing} failing programs, {runs_taken} runs for {classes} classes"
    );
    assert!(learned * 100 >= pairs * 90, "{learned} of {pairs} pairs learned");
    assert!(found * 100 >= failing * 95, "{found} of {failing} failing programs found to fail");
    assert!(runs_taken < classes, "{runs_taken} runs for {classes} partial orders");
}

#[test]
fn the_seed_decides_everything() {
    for_programs(42, 20, |program, plan, _| {
        for seed in 0..3 {
            let plan = Plan { seed, ..plan.clone() };
            let once = || -> Vec<u128> {
                let runs = guided(program, &plan, seed, Under::Dpor).0;
                runs.iter().map(|run| run.digest.fingerprint).collect()
            };
            if once() != once() {
                return Err(format!("seed {seed} gives two different searches"));
            }
        }
        Ok(())
    });
}

#[test]
fn under_a_bound_no_run_has_more_preemptions() {
    for_programs(43, 100, |program, plan, all| {
        let real: BTreeSet<u128> = all.iter().map(|run| run.fingerprint).collect();
        for bound in 0..3 {
            let (runs, _) = guided(program, plan, 0, Under::Pcb { bound });
            for run in &runs {
                let preemptions = crate::bounded::preemptions(program, plan, &run.trace);
                if preemptions > bound || !real.contains(&run.digest.fingerprint) {
                    return Err(format!("{preemptions} preemptions with a bound of {bound}"));
                }
            }
        }
        Ok(())
    });
}

/// Two tasks that each take a lock once: one run for each order, or one run if both orders were saved.
#[test]
fn saved_sets_are_not_tried_again() {
    let once = || vec![Lock(0, How::Block, 7), Unlock(0)];
    let program = Program::flat(vec![Object::Mutex], vec![once(), once()]);
    let (runs, _) = guided(&program, &everywhere(), 0, Under::Dpor);
    assert_eq!(runs.len(), 2);
    let target = ToyTarget::new(program.clone());
    let name = move |number: StatementId| Statement::at(&target.place(SiteId(number.0)), &[]);
    let saved: HapSets<Statement> = runs
        .iter()
        .flat_map(|run| of_trace(&run.trace).iter().map(|pair| pair.map(&name)).collect::<Vec<_>>())
        .collect();
    let again = |saved: &HapSets<Statement>| {
        let known = Known::saved(saved, name.clone());
        search(&program, &everywhere(), Guided::new(known, Under::Dpor, 0), 10).0.len()
    };
    assert_eq!(again(&saved), 1);
    // One of the two orders is what the first run does anyway.
    let lengths: Vec<usize> = saved.iter().map(|pair| again(&[pair.clone()].into_iter().collect())).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 3, "{lengths:?}");
}
