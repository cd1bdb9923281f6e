//! A search whose runs go on in several servers at a time, one worker for each.

use super::server::Server;
use super::target::NativeTarget;
use crate::interrupt;
use raddle_explore::target::{Ask, SearchRun, Searched, Searcher, TargetError};
use raddle_model::Plan;
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
                    let number = numbers.start;
                    target.ask(&mut servers[worker], worker, &plan, number)?;
                    numbers.start += 1;
                    busy.push_back(UnderWay { worker, plan, number });
                }
                Ask::Wait => waiting.push(worker),
                Ask::Over => (over, stop) = (true, true),
            }
        }
        idle.append(&mut waiting);
        let Some(UnderWay { worker, plan, number }) = busy.pop_front() else { break };
        // When it is time to end nobody waits for a run that does not: the servers go with us.
        let Some(digest) = target.hear(&mut servers[worker], worker, &plan, number)? else { break };
        let learning = Instant::now();
        search.learn(worker, &plan, &digest, target.trace(worker));
        spent += learning.elapsed();
        let run = SearchRun::new(&plan, &digest, target.trace(worker));
        stop |= run.again.is_some() || begun.elapsed() > TELL || interrupt::is_due();
        runs.push(run);
        idle.push(worker);
    }
    runs.sort_by_key(|run: &SearchRun| run.told.run());
    Ok(Searched { search, runs, over, spent })
}
