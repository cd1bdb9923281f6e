//! Sites that leave their process. A [`SiteId`] is a number that one process gave out; what is
//! written down names a site by what the source says, and the process that reads it gives out
//! numbers of its own.

use raddle_model::hash::mix;
use raddle_model::{Plan, SiteId, Tail};

/// A site in a schedule string: 32 bits of file, line and column. Two sites of one program with
/// the same key are as unlikely as one in a million for a thousand sites and a few keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteKey(pub u32);

impl SiteKey {
    /// The key of a place. Both kinds of slashes count as one, so that it is the same everywhere.
    pub fn of(file: &str, line: u32, column: u32) -> SiteKey {
        let path = file.bytes().fold(0, |hash, byte| {
            let byte = if byte == b'\\' { b'/' } else { byte };
            mix(hash, u64::from(byte))
        });
        SiteKey(mix(path, u64::from(line) << 32 | u64::from(column)) as u32)
    }
}

/// The same plan with other numbers for its sites, in order again.
#[must_use]
pub fn renumber(plan: &Plan, mut site: impl FnMut(SiteId) -> SiteId) -> Plan {
    let mut plan = plan.clone();
    plan.points.accesses.iter_mut().for_each(|s| *s = site(*s));
    sort(&mut plan.points.accesses);
    match &mut plan.tail {
        Tail::Walks(weights) => {
            let accesses = weights.tasks.iter_mut().flat_map(|task| &mut task.accesses);
            accesses.for_each(|access| access.site = site(access.site));
        }
        Tail::Coverage(covered) => {
            covered.sites.iter_mut().for_each(|s| *s = site(*s));
            sort(&mut covered.sites);
            for (from, to) in &mut covered.pairs {
                (*from, *to) = (site(*from), site(*to));
            }
            sort(&mut covered.pairs);
        }
        Tail::Random
        | Tail::Rapos
        | Tail::Pct { .. }
        | Tail::Pos
        | Tail::Noise { .. }
        | Tail::Stay
        | Tail::None
        | Tail::Wishes(_)
        | Tail::Steps(_) => {}
    }
    plan
}

fn sort<T: Ord>(sites: &mut alloc::vec::Vec<T>) {
    sites.sort_unstable();
    sites.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_means_the_same_for_ever() {
        // Golden: the keys are part of every schedule string that was ever printed.
        assert_eq!(SiteKey::of("src/lib.rs", 12, 5), SiteKey(2_474_105_633));
        assert_eq!(SiteKey::of("src\\lib.rs", 12, 5), SiteKey::of("src/lib.rs", 12, 5));
        assert_ne!(SiteKey::of("src/lib.rs", 12, 5), SiteKey::of("src/lib.rs", 12, 6));
    }

    #[test]
    fn renumbered_sites_are_sorted() {
        let mut plan = Plan::new(0, Tail::Random);
        plan.points.accesses = alloc::vec![SiteId(1), SiteId(2), SiteId(3)];
        let other = renumber(&plan, |site| SiteId(10 - site.0));
        assert_eq!(other.points.accesses, [SiteId(7), SiteId(8), SiteId(9)]);
    }
}
