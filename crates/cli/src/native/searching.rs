//! A search whose runs go on in several servers at a time, one worker for each. Each of them is recorded, as all runs of
//! a search are.

use super::server::Server;
use super::target::NativeTarget;
use crate::interrupt;
use raddle_explore::target::{Ask, SearchRun, Searched, Searcher, TargetError};
use raddle_model::{Plan, Trace};
use raddle_native::server::reply;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time after which what came of the runs is told.
const TELL: Duration = Duration::from_millis(200);

/// A run that a server is at.
struct UnderWay {
    worker: usize,
    plan: Arc<Plan>,
    number: u64,
}

/// Lets servers work on a search until there is something to look at, or some time has passed.
pub(super) fn search(
    target: &mut NativeTarget,
    servers: &mut [Server],
    mut search: Box<dyn Searcher>,
    mut numbers: Range<u64>,
) -> Result<Searched, TargetError> {
    let begun = Instant::now();
    let (mut runs, mut spent, mut over, mut stop) = (Vec::new(), Duration::ZERO, false, false);
    let mut idle: Vec<usize> = (0..servers.len()).rev().collect();
    // The one that has been at it for the longest first.
    let mut busy: VecDeque<UnderWay> = VecDeque::new();
    loop {
        let mut waiting = Vec::new();
        while !stop && !numbers.is_empty() {
            let Some(worker) = idle.pop() else { break };
            let asked = Instant::now();
            let ask = search.next(worker);
            spent += asked.elapsed();
            match ask {
                Ask::Run(plan) => {
                    servers[worker].record(&plan)?;
                    let number = numbers.start;
                    numbers.start += 1;
                    busy.push_back(UnderWay { worker, plan, number });
                }
                Ask::Wait => waiting.push(worker),
                Ask::Over => (over, stop) = (true, true),
            }
        }
        idle.append(&mut waiting);
        let Some(UnderWay { worker, plan, number }) = busy.pop_front() else { break };
        // Who asks us to end does not wait for a run that hangs: the servers go with us.
        let Some(reply) = servers[worker].receive_unless_asked()? else { break };
        let (digest, recorded) = target.digest(&reply, number, plan.seed)?;
        let done = servers[worker].receive()?;
        assert!(done.kind == reply::DONE, "raddle bug: one run was asked for and there is more");
        let trace = recorded.map_or_else(Trace::default, |recorded| {
            target.know(&recorded.modules);
            recorded.trace
        });
        let learning = Instant::now();
        search.learn(worker, &plan, &digest, &trace);
        spent += learning.elapsed();
        let run = SearchRun::new(&plan, digest, &trace);
        stop |= run.again.is_some() || begun.elapsed() > TELL || interrupt::is_asked();
        runs.push(run);
        idle.push(worker);
    }
    runs.sort_by_key(|run: &SearchRun| run.digest.run);
    Ok(Searched { search, runs, over, spent })
}
