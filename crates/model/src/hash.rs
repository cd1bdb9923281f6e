//! Our own hash, so that a fingerprint means the same for ever and on every machine.
//!
//! One mixing step multiplies two 64-bit words to 128 bits and folds the halves together, which
//! spreads every input bit over the whole result for the price of one multiplication.

/// Odd constants with half of their bits set: fractional digits of pi, as ever.
const K: [u64; 6] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6d,
];

/// Multiplies to 128 bits and folds.
#[inline]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Mixes two words into one.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    fold(fold(a ^ K[0], b ^ K[1]) ^ K[2], a.rotate_left(32) ^ b ^ K[3])
}

/// 128 bits as two lanes; addition is lane-wise, so that a sum does not depend on its order.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Wide {
    /// Low lane.
    pub lo: u64,
    /// High lane.
    pub hi: u64,
}

impl Wide {
    /// The empty sum.
    pub const ZERO: Wide = Wide { lo: 0, hi: 0 };

    /// A word spread over both lanes.
    #[inline]
    pub fn from_word(word: u64) -> Wide {
        Wide { lo: fold(word ^ K[4], K[0]), hi: fold(word ^ K[5], K[2]) }
    }

    /// Lane-wise wrapping sum: commutative and associative.
    #[inline]
    #[must_use]
    pub fn plus(self, other: Wide) -> Wide {
        Wide { lo: self.lo.wrapping_add(other.lo), hi: self.hi.wrapping_add(other.hi) }
    }

    /// What stands for no predecessor: like a hash, it is no small number.
    pub const START: Wide = Wide { lo: K[1], hi: K[3] };

    /// Hashes (self, label, other), in this order. Both must be hashes, sums of hashes or
    /// [`Wide::START`]: small numbers would be mixed badly, and zero would swallow everything.
    #[inline(always)]
    #[must_use]
    pub fn chain(self, label: u64, other: Wide) -> Wide {
        let a = fold(self.lo ^ label, other.lo);
        let b = fold(self.hi ^ label.rotate_left(31), other.hi);
        // Each lane takes in the other, so that both depend on everything; the next link of the chain
        // multiplies again. One multiplication deep: the chain is what a run's speed hangs on.
        Wide { lo: a ^ b.rotate_left(32), hi: b.wrapping_add(a.rotate_left(29)) }
    }

    /// Both lanes as one number.
    #[inline]
    pub fn to_u128(self) -> u128 {
        (u128::from(self.hi) << 64) | u128::from(self.lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_means_the_same_for_ever() {
        // Golden values: changing them changes every stored fingerprint, so it needs a new format version.
        assert_eq!(mix(1, 2), mix(1, 2));
        let hash = Wide::from_word(7).chain(3, Wide::START).to_u128();
        assert_eq!(hash, 0x3de1266ff9f747d8d3c819d3d014ad98);
    }

    #[test]
    fn every_input_bit_reaches_both_lanes() {
        let base = Wide::from_word(11);
        let other = Wide::from_word(17);
        let h = base.chain(5, other);
        for bit in 0..64 {
            for changed in [
                Wide { lo: base.lo ^ (1 << bit), ..base }.chain(5, other),
                Wide { hi: base.hi ^ (1 << bit), ..base }.chain(5, other),
                base.chain(5 ^ (1 << bit), other),
                base.chain(5, Wide { lo: other.lo ^ (1 << bit), ..other }),
                base.chain(5, Wide { hi: other.hi ^ (1 << bit), ..other }),
            ] {
                let flips = (changed.to_u128() ^ h.to_u128()).count_ones();
                assert!((20..108).contains(&flips), "bit {bit} flips only {flips} of 128");
            }
        }
    }
}
