//! Exact counts against a plain map, estimates against a bound of six standard deviations, and
//! independence of order and of the number of jobs.

use super::*;
use alloc::collections::BTreeMap;

/// xorshift64*: the tests must see the same numbers for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Small numbers often, large ones rarely, as partial orders come.
    fn skewed(&mut self, range: u64) -> u128 {
        let drawn = self.next() % range;
        u128::from(self.next() % (drawn + 1))
    }
}

fn collect(exact_max: usize, keys: &[u128]) -> Distinct {
    let mut seen = Distinct::with_exact_max(exact_max);
    for &key in keys {
        seen.insert(key);
    }
    seen
}

/// All that can be observed, with the table's contents but not their places.
fn state(seen: &Distinct) -> (u64, Estimate, Estimate, u64, BTreeMap<(u64, u64), u32>) {
    let table = seen.occupied().map(|slot| ((slot.low, slot.high), slot.count)).collect();
    (seen.runs(), seen.distinct(), seen.singletons(), seen.sampled_one_in(), table)
}

fn skewed_keys(seed: u64, runs: usize, range: u64) -> Vec<u128> {
    let mut random = Random(seed);
    (0..runs).map(|_| random.skewed(range)).collect()
}

#[test]
fn agrees_with_a_map_below_the_cap() {
    // Keys in the low half, in the high half, in both, and all of them including zero.
    for shift in [0, 40, 64, 100] {
        let mut seen = Distinct::new();
        let mut map = BTreeMap::<u128, u32>::new();
        for key in skewed_keys(7 + shift, 20_000, 5_000) {
            let key = key << shift;
            let count = map.entry(key).or_default();
            *count += 1;
            assert_eq!(seen.insert(key), *count == 1);
        }
        let mut counts: Vec<u32> = map.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let once = counts.iter().filter(|&&count| count == 1).count() as u64;
        assert_eq!(seen.counts(), counts);
        assert_eq!(seen.distinct(), Estimate { value: map.len() as u64, exact: true });
        assert_eq!(seen.singletons(), Estimate { value: once, exact: true });
        assert_eq!(seen.unseen_probability(), once as f64 / 20_000.0);
    }
}

#[test]
fn is_exact_up_to_the_stated_size_and_not_beyond() {
    let keys: Vec<u128> = (0..1000).collect();
    assert_eq!(collect(1000, &keys).distinct(), Estimate { value: 1000, exact: true });
    assert!(!collect(999, &keys).distinct().exact);
}

#[test]
fn estimates_lie_within_six_standard_deviations() {
    // Of `total` keys each is kept with probability 1/one_in: the number kept is binomial.
    let close = |estimate: Estimate, total: f64, one_in: f64| {
        let deviation = libm::sqrt(total * (one_in - 1.0));
        assert!(!estimate.exact);
        assert!((estimate.value as f64 - total).abs() <= 6.0 * deviation, "{estimate:?} for {total}");
    };
    for (seed, total) in [(1_u64, 3_000_u64), (2, 20_000), (3, 150_000), (4, 999_999)] {
        let mut seen = Distinct::with_exact_max(1024);
        let mut random = Random(seed);
        for _ in 0..total {
            let key = u128::from(random.next()) << 64 | u128::from(random.next());
            // Every second key comes twice, every fourth three times.
            for _ in 0..[1, 2, 1, 3][key as usize & 3] {
                seen.insert(key);
            }
        }
        let one_in = seen.sampled_one_in() as f64;
        assert!(one_in > 1.0);
        close(seen.distinct(), total as f64, one_in);
        // Which keys come once is itself drawn: that adds the variance total/4, below what is allowed.
        close(seen.singletons(), total as f64 / 2.0, one_in + 1.0);
        let unseen = total as f64 / 2.0 / seen.runs() as f64;
        assert!((seen.unseen_probability() / unseen - 1.0).abs() < 0.5);
    }
}

#[test]
fn kept_counts_are_true_counts() {
    let keys = skewed_keys(11, 200_000, 40_000);
    let seen = collect(500, &keys);
    let mut map = BTreeMap::<u128, u32>::new();
    for key in keys {
        *map.entry(key).or_default() += 1;
    }
    assert!(seen.kept > 200, "the sample is large enough to mean something");
    for slot in seen.occupied() {
        assert_eq!(map[&(u128::from(slot.high) << 64 | u128::from(slot.low))], slot.count);
    }
}

#[test]
fn neither_order_nor_the_split_over_jobs_matters() {
    for exact_max in [1, 2, 3, 64, 1000, 100_000] {
        let keys = skewed_keys(5, 30_000, 20_000);
        let whole = collect(exact_max, &keys);
        let reversed: Vec<u128> = keys.iter().rev().copied().collect();
        assert_eq!(state(&collect(exact_max, &reversed)), state(&whole));

        let mut merged = Distinct::with_exact_max(exact_max);
        // Parts of very different sizes, so that their levels differ in both directions.
        for part in [&keys[..20_000], &keys[20_000..20_100], &keys[20_100..]] {
            merged.merge(&collect(exact_max, part));
        }
        assert_eq!(state(&merged), state(&whole));
    }
}

#[test]
fn memory_stays_bounded_and_nothing_is_allocated_once_full() {
    let mut seen = Distinct::with_exact_max(700);
    let mut random = Random(3);
    for _ in 0..2_000 {
        seen.insert(u128::from(random.next()));
    }
    let full = seen.memory_bytes();
    assert_eq!(full, 24 * 1024);
    for _ in 0..300_000 {
        seen.insert(u128::from(random.next()));
    }
    assert_eq!(seen.memory_bytes(), full);
    assert!(seen.kept <= 700);
    seen.clear();
    assert_eq!(seen.memory_bytes(), full);
    assert_eq!(state(&seen), state(&Distinct::new()));
    assert_eq!(Distinct::new().memory_bytes(), 0);
}

/// A removal that closes its gap wrongly would lose fingerprints, most likely where a probe wraps around.
#[test]
fn every_kept_fingerprint_is_found_after_removals() {
    for seed in 1..300 {
        let mut seen = Distinct::with_exact_max(48);
        let mut random = Random(seed);
        for _ in 0..400 {
            seen.insert(u128::from(random.next()));
        }
        assert_eq!(seen.slots.len(), 64);
        for slot in seen.clone().occupied() {
            let key = u128::from(slot.high) << 64 | u128::from(slot.low);
            assert!(!seen.insert(key), "a kept fingerprint is taken for a new one");
        }
    }
}

#[test]
fn counts_saturate() {
    let mut seen = collect(8, &[1, 1, 2]);
    for _ in 0..40 {
        let copy = seen.clone();
        seen.merge(&copy);
    }
    assert_eq!(seen.counts(), [u32::MAX, u32::MAX]);
    assert_eq!(seen.runs(), 3 << 40);
}

#[test]
fn before_the_first_run_everything_is_unseen() {
    let seen = Distinct::new();
    assert_eq!(seen.unseen_probability(), 1.0);
    assert_eq!(seen.distinct(), Estimate { value: 0, exact: true });
    assert!(seen.counts().is_empty());
}
