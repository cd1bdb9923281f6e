//! The program's heap, watched: every block lies between two red zones, and freed blocks are kept for a while. An
//! access to either, a second free, or a free of what is no block, is a failure.
//!
//! Libc still has the memory; what is kept here is which bytes of it may be touched. As in AddressSanitizer
//! (Serebryany et al. 2012) a byte for each eight says how many of them, from the first on, may be.

use crate::pages::{PAGE, Pages};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use raddle_model::{SiteId, TaskId, World};

/// Bytes before and after a block.
pub const RED_ZONE: usize = 16;

/// Bytes of freed blocks that are kept.
const KEPT_MAX: usize = 64 << 20;

const GRANULE: usize = 8;
const FORBIDDEN: u8 = 0xff;

/// Who did something to a block, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deed {
    /// Who.
    pub task: TaskId,
    /// Where.
    pub site: SiteId,
    /// Who called, where that is wanted: see `Calls::know`.
    pub call: Option<NonZeroU32>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// What libc has given out.
    raw: usize,
    size: usize,
    made: Deed,
    freed: Option<Deed>,
}

/// All blocks that were given out in this run.
#[derive(Debug, Default)]
pub struct Blocks {
    all: BTreeMap<usize, Block>,
    kept: VecDeque<usize>,
    kept_bytes: usize,
    pages: Pages<[u8; PAGE / GRANULE]>,
}

/// What is wrong with an access or a free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// For people; the one who did it comes before it.
    pub message: String,
    /// What was done to the block before, the latest first.
    pub deeds: Vec<Deed>,
}

/// What happens to a block that is given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Freed {
    /// It is kept; these older ones can go back to libc.
    Kept(Vec<usize>),
    /// It was made before the run, or by somebody else: libc's.
    Foreign,
    /// It must not be given back.
    Wrong(Fault),
}

/// Who did something; it may have been in an earlier run of the same process.
fn who(task: TaskId, world: &World) -> String {
    if task.index() < world.tasks().len() { world.path(task) } else { String::from("a thread of old") }
}

/// Whether so many bytes of a granule in this state, from the first on, may be touched.
#[inline(always)]
fn allows(state: u8, upto: usize) -> bool {
    state == 0 || upto <= usize::from(state & 7)
}

impl Blocks {
    /// Makes room for what runs will need, before they begin.
    pub fn reserve(&mut self) {
        self.pages.reserve();
    }

    /// Libc has given out `raw`, and the program gets `start`.
    pub fn give(&mut self, raw: usize, start: usize, size: usize, made: Deed) {
        self.paint(raw, start - raw, FORBIDDEN);
        self.allow(start, size);
        self.all.insert(start, Block { raw, size, made, freed: None });
    }

    /// The first address after a block of this size and its red zone.
    pub fn end(start: usize, size: usize) -> usize {
        start + size.next_multiple_of(GRANULE) + RED_ZONE
    }

    /// Size of a block that the program has.
    pub fn size(&self, start: usize) -> Option<usize> {
        self.all.get(&start).map(|block| block.size)
    }

    /// The program gives a block back.
    pub fn take(&mut self, start: usize, freed: Deed, world: &World) -> Freed {
        let Some(block) = self.all.get_mut(&start) else {
            return match self.around(start) {
                Some((of, block)) if start < of + block.size => Freed::Wrong(Fault {
                    message: format!("frees what is no block, but lies in one of {} bytes", block.size),
                    deeds: vec![block.made],
                }),
                _ => Freed::Foreign,
            };
        };
        if let Some(before) = block.freed {
            let message =
                format!("frees a block of {} bytes that {} has freed", block.size, who(before.task, world));
            return Freed::Wrong(Fault { message, deeds: vec![before, block.made] });
        }
        block.freed = Some(freed);
        let size = block.size;
        self.paint(start, size, FORBIDDEN);
        self.kept.push_back(start);
        self.kept_bytes += size + 2 * RED_ZONE;
        Freed::Kept(self.release())
    }

    /// The oldest freed blocks, if there are too many.
    fn release(&mut self) -> Vec<usize> {
        let mut released = Vec::new();
        while self.kept_bytes > KEPT_MAX
            && let Some(start) = self.kept.pop_front()
        {
            let Some(block) = self.all.remove(&start) else { continue };
            self.kept_bytes -= block.size + 2 * RED_ZONE;
            self.paint(block.raw, Blocks::end(start, block.size) - block.raw, 0);
            released.push(block.raw);
        }
        released
    }

    /// Looks whether these bytes may be touched.
    #[inline(always)]
    pub fn check(&mut self, address: usize, size: usize) -> bool {
        let upto = address % GRANULE + size;
        if size == 0 || upto > GRANULE {
            return self.check_all(address, size);
        }
        // A page without blocks is nobody's business.
        if self.pages.knows_none(address) {
            return true;
        }
        self.pages.get(address).is_none_or(|page| allows(page[address % PAGE / GRANULE], upto))
    }

    #[inline(never)]
    fn check_all(&mut self, address: usize, size: usize) -> bool {
        let end = address + size;
        let mut at = address;
        while at < end {
            let upto = end.min((at / PAGE + 1) * PAGE);
            if let Some(page) = self.pages.get(at) {
                let (first, last) = (at % PAGE / GRANULE, (upto - 1) % PAGE / GRANULE);
                // Whoever touches what comes after a granule touches all of it.
                let before = page[first..last].iter().fold(0, |all, state| all | state);
                if before != 0 || !allows(page[last], (upto - 1) % GRANULE + 1) {
                    return false;
                }
            }
            at = upto;
        }
        true
    }

    /// What is wrong with an access that [`Blocks::check`] has refused.
    pub fn explain(&self, address: usize, size: usize, verb: &str, world: &World) -> Fault {
        let Some((start, block)) = self.around(address) else {
            return Fault {
                message: format!("{verb} {size} bytes that belong to no block"),
                deeds: Vec::new(),
            };
        };
        let what =
            format!("a block of {} bytes that {} has allocated", block.size, who(block.made.task, world));
        match block.freed {
            Some(freed) if address < start + block.size && address + size > start => Fault {
                message: format!(
                    "{verb} {size} bytes at offset {} of {what} and {} has freed",
                    address - start,
                    who(freed.task, world)
                ),
                deeds: vec![freed, block.made],
            },
            _ if address < start => Fault {
                message: format!("{verb} {size} bytes, {} before {what}", start - address),
                deeds: vec![block.made],
            },
            _ => Fault {
                message: format!("{verb} {size} bytes at offset {}, beyond {what}", address - start),
                deeds: vec![block.made],
            },
        }
    }

    /// What lies at an address of the heap.
    pub fn describe(&self, address: usize, world: &World) -> Option<String> {
        let (start, block) = self.around(address)?;
        let maker = who(block.made.task, world);
        Some(format!(
            "offset {} of a block of {} bytes that {maker} has allocated",
            address - start,
            block.size
        ))
    }

    /// The block at an address, or whose red zone lies there.
    fn around(&self, address: usize) -> Option<(usize, &Block)> {
        let near = |(&start, block): (&usize, &Block)| {
            let inside = address + RED_ZONE >= start && address < start + block.size + 2 * RED_ZONE;
            inside.then_some((start, *block))
        };
        let before = self.all.range(..=address).next_back().filter(|entry| near(*entry).is_some());
        let after = self.all.range(address..).next().filter(|entry| near(*entry).is_some());
        before.or(after).map(|(&start, block)| (start, block))
    }

    fn allow(&mut self, start: usize, size: usize) {
        let whole = size / GRANULE * GRANULE;
        self.paint(start, whole, 0);
        let rest = size - whole;
        if rest > 0 {
            self.paint(start + whole, GRANULE, 0x80 | rest as u8);
        }
        let end = Blocks::end(start, size);
        self.paint(end - RED_ZONE, RED_ZONE, FORBIDDEN);
    }

    /// Granules from one address on get a state. Both are multiples of the granule, but for a freed block's end.
    fn paint(&mut self, start: usize, size: usize, state: u8) {
        let state = if state == FORBIDDEN { FORBIDDEN & 0xf8 } else { state };
        let mut at = start;
        let end = start + size;
        while at < end {
            let page = self.pages.make(at);
            let upto = end.min((at / PAGE + 1) * PAGE);
            let first = at % PAGE / GRANULE;
            let last = (upto - at / PAGE * PAGE).div_ceil(GRANULE);
            page[first..last].fill(state);
            at = upto;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Deed = Deed { task: TaskId::MAIN, site: SiteId(1), call: None };

    fn blocks() -> (Blocks, World) {
        let mut world = World::default();
        world.begin(0);
        let mut blocks = Blocks::default();
        blocks.give(0x1000, 0x1000 + RED_ZONE, 13, ME);
        (blocks, world)
    }

    #[test]
    fn every_byte_of_a_block_may_be_touched_and_none_beside_it() {
        let (mut blocks, world) = blocks();
        for offset in 0..13 {
            assert!(blocks.check(0x1010 + offset, 1), "{offset}");
            assert!(blocks.check(0x1010, offset + 1), "{offset}");
        }
        for address in (0x1000..0x1010).chain(0x101d..0x102d) {
            assert!(!blocks.check(address, 1), "{address:x}");
        }
        assert!(!blocks.check(0x1010, 14));
        assert!(blocks.check(0x5000, 4096), "memory that is no block is not our business");
        let fault = blocks.explain(0x101d, 1, "writes", &world);
        assert!(fault.message.contains("offset 13, beyond a block of 13 bytes"), "{}", fault.message);
    }

    /// Granule by granule.
    fn check_plainly(blocks: &mut Blocks, address: usize, size: usize) -> bool {
        (address..address + size).all(|byte| {
            let state = blocks.pages.get(byte).map_or(0, |page| page[byte % PAGE / GRANULE]);
            state == 0 || byte % GRANULE < usize::from(state & 7)
        })
    }

    #[test]
    fn large_ranges_are_looked_at_as_byte_by_byte() {
        use raddle_model::{Dice, Rng};
        let mut rng = Rng::new(1);
        let mut allowed = 0;
        for _ in 0..200 {
            let (mut blocks, _) = blocks();
            let mut at = 0x10_0000;
            for _ in 0..4 {
                let size = 1 + rng.below(9_000) as usize;
                blocks.give(at, at + RED_ZONE, size, ME);
                at = Blocks::end(at + RED_ZONE, size) + 8 * rng.below(600) as usize;
            }
            for _ in 0..20 {
                let address = 0x10_0000 - 64 + rng.below(40_000) as usize;
                let most = [16, 5_000, 20_000][rng.below(3) as usize];
                let size = 1 + rng.below(most) as usize;
                let expected = check_plainly(&mut blocks, address, size);
                assert_eq!(blocks.check(address, size), expected, "{address:x}, {size}");
                allowed += u32::from(expected);
            }
        }
        assert!((500..3_500).contains(&allowed), "{allowed} of 4000");
    }

    #[test]
    fn freed_blocks_are_kept_and_freed_once() {
        let (mut blocks, world) = blocks();
        assert_eq!(blocks.take(0x1010, ME, &world), Freed::Kept(Vec::new()));
        assert!(!blocks.check(0x1014, 4));
        assert!(blocks.explain(0x1014, 4, "reads", &world).message.contains("has freed"));
        assert!(matches!(blocks.take(0x1010, ME, &world), Freed::Wrong(_)));
        assert!(matches!(blocks.take(0x1018, ME, &world), Freed::Wrong(_)));
        assert_eq!(blocks.take(0x9000, ME, &world), Freed::Foreign);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (mut blocks, world) = blocks();
        blocks.give(0x10_0000, 0x10_0000 + RED_ZONE, KEPT_MAX, ME);
        assert_eq!(blocks.take(0x1010, ME, &world), Freed::Kept(Vec::new()));
        assert_eq!(blocks.take(0x10_0010, ME, &world), Freed::Kept(vec![0x1000, 0x10_0000]));
        assert!(blocks.check(0x1010, 13));
    }
}
