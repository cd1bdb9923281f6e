//! A range of runs, dealt out to several servers. What came of them is told in the order of their numbers, so the
//! number of servers changes nothing but the time.

use super::server::{Reply, Server};
use crate::interrupt;
use raddle_explore::target::{Flow, TargetError};
use raddle_model::Plan;
use raddle_native::server::reply;
use std::ops::Range;

/// Runs that are asked for at a time: enough that asking costs nothing, few enough that nobody waits for long.
const BLOCK: u64 = 64;
/// The same where all of them are done in one process, and that is what costs.
const REPEATED_BLOCK: u64 = 4096;

/// Which runs a server has still to do.
struct Dealt {
    runs: Range<u64>,
    block: u64,
    servers: u64,
}

impl Dealt {
    /// The next block, and where the one after it begins.
    fn next(&mut self, end: u64) -> Option<Range<u64>> {
        let start = self.runs.start;
        self.runs.start += self.block * self.servers;
        (start < end).then(|| start..(start + self.block).min(end))
    }
}

/// Does the runs, and tells of each until somebody has had enough.
pub(super) fn sample(
    servers: &mut [Server],
    plan: &Plan,
    runs: Range<u64>,
    repeated: bool,
    mut each: impl FnMut(&Reply) -> Result<Flow, TargetError>,
) -> Result<(), TargetError> {
    if interrupt::is_asked() {
        // Servers may still be at work for a batch that nobody waits for any more.
        return Ok(());
    }
    let count = servers.len() as u64;
    let block = if repeated { REPEATED_BLOCK } else { BLOCK };
    let share = |server: u64| Dealt { runs: runs.start + server * block..runs.end, block, servers: count };
    let mut shares: Vec<Dealt> = (0..count).map(share).collect();
    // Whether a server is at work.
    let mut busy = vec![false; servers.len()];
    for (at, server) in servers.iter_mut().enumerate() {
        if let Some(block) = shares[at].next(runs.end) {
            server.sample(plan, block, repeated)?;
            busy[at] = true;
        }
    }
    let mut at = 0;
    while busy[at] {
        loop {
            // Who asks us to end does not wait for a run that hangs: the servers go with us.
            let Some(reply) = servers[at].receive_unless_asked()? else { return Ok(()) };
            if reply.kind == reply::DONE {
                break;
            }
            if each(&reply)? == Flow::Stop {
                return stop(servers, &busy);
            }
        }
        busy[at] = false;
        if let Some(block) = shares[at].next(runs.end) {
            servers[at].sample(plan, block, repeated)?;
            busy[at] = true;
        }
        at = (at + 1) % servers.len();
    }
    Ok(())
}

/// Leaves out what is left, and waits until all have understood.
fn stop(servers: &mut [Server], busy: &[bool]) -> Result<(), TargetError> {
    for (server, _) in servers.iter_mut().zip(busy).filter(|(_, busy)| **busy) {
        server.stop()?;
    }
    for (server, _) in servers.iter_mut().zip(busy).filter(|(_, busy)| **busy) {
        while server.receive()?.kind != reply::DONE {}
    }
    Ok(())
}
