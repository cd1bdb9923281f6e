//! Who runs what when several carriers work on one batch. The runs are dealt out in blocks, one
//! carrier after the other, before any of them begins: so it is known whose word to wait for next,
//! and what came of the runs is told in their order, whoever was faster.

use raddle_explore::target::Digest;
use raddle_explore::told::{Brief, Told};
use std::ops::Range;

/// Most runs in a block: when a batch is stopped, what was run beyond that point was in vain.
const BLOCK_RUNS_MAX: u64 = 64;
/// Blocks that each carrier should get, so that one with long runs does not keep the others waiting.
const BLOCKS_EACH: u64 = 8;

/// How the runs of a batch are dealt out.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    runs: Range<u64>,
    block: u64,
    carriers: u64,
}

impl Deal {
    /// Deals `runs` out to at most `carriers`.
    pub(super) fn new(runs: Range<u64>, carriers: usize) -> Deal {
        let len = runs.end.saturating_sub(runs.start).max(1);
        let carriers = (carriers as u64).clamp(1, len);
        let block =
            if carriers == 1 { len } else { (len / (carriers * BLOCKS_EACH)).clamp(1, BLOCK_RUNS_MAX) };
        Deal { runs, block, carriers }
    }

    /// Number of carriers that have something to do.
    pub(super) fn carriers(&self) -> usize {
        self.carriers as usize
    }

    /// The blocks in the order of their runs, with the carrier that each one is for.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, Range<u64>)> + use<> {
        let Deal { runs, block, carriers } = self.clone();
        let starts = (0..).map_while(move |n| {
            let start = runs.start.checked_add(block.checked_mul(n)?)?;
            (start < runs.end).then_some((n, start))
        });
        starts.map(move |(n, start)| {
            ((n % carriers) as usize, start..start.saturating_add(block).min(runs.end))
        })
    }

    /// The runs of one carrier, as far as they lie in `within`.
    pub(super) fn share(&self, carrier: usize, within: Range<u64>) -> Share {
        Share { deal: self.clone(), carrier, within }
    }
}

/// The runs of one carrier.
#[derive(Clone, Debug)]
pub(super) struct Share {
    deal: Deal,
    carrier: usize,
    within: Range<u64>,
}

impl Share {
    /// Whether other carriers are at work beside this one.
    pub(super) fn is_one_of_several(&self) -> bool {
        self.deal.carriers > 1
    }

    /// Its runs, in blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let Share { deal, carrier, within } = self.clone();
        let mine = deal.blocks().filter(move |(of, _)| *of == carrier);
        mine.map(move |(_, runs)| runs.start.max(within.start)..runs.end.min(within.end))
            .filter(|runs| !runs.is_empty())
    }
}

/// What has come back from one carrier and was not yet told.
#[derive(Debug)]
pub(super) struct Pending {
    chunk: Vec<Told>,
    next: usize,
    /// What a brief is written into.
    digest: Digest,
    /// A run that hung, while what came of the runs before it was lost with the carrier.
    pub(super) hung: Option<Digest>,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending { chunk: Vec::new(), next: 0, digest: Brief::BLANK, hung: None }
    }
}

impl Pending {
    /// The carrier has sent more; the rest of what it sent before has been told.
    pub(super) fn refill(&mut self, chunk: Vec<Told>) {
        debug_assert!(self.next == self.chunk.len());
        self.chunk = chunk;
        self.next = 0;
    }

    /// The next run, if it has come back.
    pub(super) fn next(&mut self) -> Option<&Digest> {
        let told = self.chunk.get(self.next)?;
        self.next += 1;
        Some(told.read(&mut self.digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_dealt_out_once_and_blocks_are_in_order() {
        for (len, carriers) in [(1, 1), (1, 4), (2, 4), (7, 3), (64, 2), (1000, 3), (4096, 8)] {
            let deal = Deal::new(10..10 + len, carriers);
            let all: Vec<u64> = deal.blocks().flat_map(|(_, runs)| runs).collect();
            assert_eq!(all, (10..10 + len).collect::<Vec<_>>());
            let mut dealt: Vec<u64> = (0..deal.carriers())
                .flat_map(|carrier| deal.share(carrier, 10..10 + len).blocks())
                .flatten()
                .collect();
            dealt.sort_unstable();
            assert_eq!(dealt, all);
            for carrier in 0..deal.carriers() {
                let share = deal.share(carrier, 10..10 + len);
                assert!(share.blocks().next().is_some(), "{len} runs, {carriers} carriers");
            }
        }
    }

    #[test]
    fn a_share_can_begin_and_end_anywhere() {
        let deal = Deal::new(0..100, 2);
        let whole: Vec<u64> = deal.share(1, 0..100).blocks().flatten().collect();
        let part: Vec<u64> = deal.share(1, 30..55).blocks().flatten().collect();
        assert_eq!(part, whole.into_iter().filter(|run| (30..55).contains(run)).collect::<Vec<_>>());
        assert!(deal.share(1, 40..40).blocks().next().is_none());
    }
}
