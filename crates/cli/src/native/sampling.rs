//! A range of runs, dealt out to several servers. What came of them is told in the order of their numbers, so the
//! number of servers changes nothing but the time.

use super::checkpoints::Checkpoints;
use super::isolation::Isolation;
use super::server::{Reply, Server};
use crate::interrupt;
use raddle_explore::target::{Flow, TargetError};
use raddle_model::Plan;
use raddle_native::server::reply;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Runs that each of several servers is asked for at a time: enough that asking costs nothing, few enough that nobody waits
/// for long. One alone is asked for all: it tells of its runs in time, and can be told to stop.
const BLOCK: u64 = 64;
/// A server that does a block in less than this is asked for more at a time: asking costs something, too.
const SHORT: Duration = Duration::from_millis(100);
const BLOCK_MAX: u64 = 1 << 14;

/// The next block.
fn next(runs: &mut Range<u64>, size: u64) -> Option<Range<u64>> {
    let start = runs.start;
    runs.start = start.saturating_add(size).min(runs.end);
    (start < runs.end).then_some(start..runs.start)
}

/// Does the runs, and tells of each until somebody has had enough.
pub(super) fn sample(
    servers: &mut [Server],
    plan: &Plan,
    mut runs: Range<u64>,
    how: (Isolation, Checkpoints),
    mut each: impl FnMut(&Reply) -> Result<Flow, TargetError>,
) -> Result<(), TargetError> {
    if interrupt::is_due() {
        // Servers may still be at work for a batch that nobody waits for any more.
        return Ok(());
    }
    let mut size = if servers.len() > 1 { BLOCK } else { u64::MAX };
    // Servers at work and how many runs they do, in the order of their blocks.
    let mut busy = VecDeque::new();
    for (at, server) in servers.iter_mut().enumerate() {
        if let Some(block) = next(&mut runs, size) {
            busy.push_back((at, block.end - block.start));
            server.sample(plan, block, how)?;
        }
    }
    while let Some(&(at, mut left)) = busy.front() {
        let begun = Instant::now();
        while left > 0 {
            // When it is time to end nobody waits for a run that does not: the servers go with us.
            let Some(reply) = servers[at].receive_unless_due()? else { return Ok(()) };
            left -= u64::from(!reply.is_aside());
            if each(&reply)? == Flow::Stop {
                return stop(servers, busy.iter().map(|busy| busy.0));
            }
        }
        let done = servers[at].receive()?;
        assert!(done.kind == reply::DONE, "raddle bug: a block was asked for and there is more");
        busy.pop_front();
        if begun.elapsed() < SHORT && size < BLOCK_MAX {
            size *= 2;
        }
        if let Some(block) = next(&mut runs, size) {
            busy.push_back((at, block.end - block.start));
            servers[at].sample(plan, block, how)?;
        }
    }
    Ok(())
}

/// Leaves out what is left, and waits until all have understood, or it is time to end.
fn stop(servers: &mut [Server], busy: impl Iterator<Item = usize> + Clone) -> Result<(), TargetError> {
    for at in busy.clone() {
        servers[at].stop()?;
    }
    for at in busy {
        while servers[at].receive_unless_due()?.is_some_and(|reply| reply.kind != reply::DONE) {}
    }
    Ok(())
}
