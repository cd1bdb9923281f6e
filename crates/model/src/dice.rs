//! The only source of randomness: integers only, our own, so that a seed means the same for ever.
//!
//! Policies draw through [`Dice`], so that a test can replace the generator by a script and
//! enumerate every sequence of draws with its exact probability.

use crate::hash;

/// A source of uniform draws.
pub trait Dice {
    /// A number below `n`, each with the same probability. `n` must not be 0.
    fn below(&mut self, n: u32) -> u32;

    /// The same if it takes one draw; otherwise nothing was drawn.
    #[inline(always)]
    fn below_at_once(&mut self, n: u32) -> Option<u32> {
        Some(self.below(n))
    }

    /// Begins anew with this seed.
    fn reseed(&mut self, seed: u64);

    /// True with probability one half.
    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
    // The next number, made one draw ahead: who runs next hangs on it, and nothing else should.
    next: u64,
}

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Rng {
        let mut rng = Rng { state: seed, next: 0 };
        rng.next_u64();
        rng
    }

    /// The generator of run `run` of a campaign: independent streams for neighbouring numbers.
    pub fn seed_of_run(campaign: u64, run: u64) -> u64 {
        hash::mix(campaign, run)
    }

    /// Where it is, to go on from there.
    pub fn state(&self) -> [u64; 2] {
        [self.state, self.next]
    }

    /// A generator that goes on from there.
    pub fn from_state([state, next]: [u64; 2]) -> Rng {
        Rng { state, next }
    }

    #[cold]
    fn below_again(&mut self, mut product: u64, n: u32) -> u32 {
        while (product as u32) < n.wrapping_neg() % n {
            product = (self.next_u64() >> 32) * u64::from(n);
        }
        (product >> 32) as u32
    }

    /// The next 64 bits.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        core::mem::replace(&mut self.next, z ^ (z >> 31))
    }
}

impl Dice for Rng {
    fn reseed(&mut self, seed: u64) {
        *self = Rng::new(seed);
    }

    /// Lemire's multiplication with rejection: exactly uniform.
    #[inline(always)]
    fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "raddle bug: a draw among nothing");
        let product = (self.next_u64() >> 32) * u64::from(n);
        // Only the lowest `2^32 mod n` remainders are over-represented.
        if product as u32 >= n { (product >> 32) as u32 } else { self.below_again(product, n) }
    }

    #[inline(always)]
    fn below_at_once(&mut self, n: u32) -> Option<u32> {
        let product = (self.next >> 32) * u64::from(n);
        if (product as u32) < n {
            return None;
        }
        self.next_u64();
        Some((product >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_fixed() {
        let mut rng = Rng::new(1234567);
        let first: [u64; 3] = core::array::from_fn(|_| rng.next_u64());
        // Published test vector of SplitMix64 for seed 1234567.
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn what_is_drawn_at_once_is_what_is_drawn() {
        let (mut one, mut other) = (Rng::new(9), Rng::new(9));
        let mut late = 0;
        for n in (1..40).chain((1..40).map(|n| u32::MAX - n * 50_000_000)).cycle().take(10_000) {
            let before = one.state();
            let drawn = one.below_at_once(n).unwrap_or_else(|| {
                assert_eq!(one.state(), before);
                late += 1;
                one.below(n)
            });
            assert_eq!(drawn, other.below(n));
            assert_eq!(one.state(), other.state());
        }
        assert!((500..5_000).contains(&late), "{late}");
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut rng = Rng::new(5);
        for n in 1..20 {
            let mut seen = 0u32;
            for _ in 0..1000 {
                let x = rng.below(n);
                assert!(x < n);
                seen |= 1 << x;
            }
            assert_eq!(seen, (1 << n) - 1);
        }
    }
}
