//! Chance as a decision: inside a run every value is chosen by the strategy, written into the schedule
//! and found again in a replay.
//!
//! [`choose`] is the one door; everything else is built on it. A choice of arity `n` has `n` outcomes
//! that a systematic search tries one by one, so keep arities small where you want one: `choose(3)`
//! for three cases, not `random::<u64>() % 3`. An arity is at least 1 and at most `u32::MAX`. Wider
//! values are made of several choices: of 65,536 outcomes for each 16 bits ([`random`], [`fill`]).
//!
//! Outside of runs the values are random, from a seed that std draws for each thread.

use crate::rt;
use crate::rt::site::here;
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::ops::{Bound, RangeBounds};

/// A value below `arity`, chosen by the strategy.
///
/// # Panics
/// If `arity` is 0 or more than `u32::MAX`.
#[track_caller]
pub fn choose(arity: usize) -> usize {
    let site = here!();
    assert!(arity > 0, "raddle: a choice needs something to choose from");
    let arity = u32::try_from(arity).expect("raddle: a choice has at most u32::MAX outcomes");
    let value = match rt::current() {
        Some(rt) => rt.choose(arity, site),
        None => (real() % u64::from(arity)) as u32,
    };
    value as usize
}

/// A number from outside of runs: splitmix64 of a seed for each thread.
fn real() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0_u8));
    }
    STATE.with(|state| {
        let next = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// What [`random`] and [`random_range`] can make. For integers, `bool`, `f32` and `f64`.
pub trait Random: Sized + Copy + sealed::Sealed {
    #[doc(hidden)]
    #[track_caller]
    fn random() -> Self;
}

/// Integers, for [`random_range`].
pub trait Integer: Random {
    #[doc(hidden)]
    const SMALLEST: i128;
    #[doc(hidden)]
    const LARGEST: i128;
    #[doc(hidden)]
    fn wide(self) -> i128;
    #[doc(hidden)]
    fn narrow(wide: i128) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

/// A value of which all are possible.
#[track_caller]
pub fn random<T: Random>() -> T {
    T::random()
}

/// A value in a range: one choice if the range has at most `u32::MAX` values.
///
/// # Panics
/// If the range is empty.
#[track_caller]
pub fn random_range<T: Integer>(range: impl RangeBounds<T>) -> T {
    let first = match range.start_bound() {
        Bound::Included(first) => first.wide(),
        Bound::Excluded(before) => before.wide() + 1,
        Bound::Unbounded => T::SMALLEST,
    };
    let last = match range.end_bound() {
        Bound::Included(last) => last.wide(),
        Bound::Excluded(after) => after.wide() - 1,
        Bound::Unbounded => T::LARGEST,
    };
    assert!(first <= last, "raddle: a choice from an empty range");
    let span = (last - first + 1) as u128;
    let offset = match usize::try_from(span) {
        Ok(span) if span <= u32::MAX as usize => choose(span) as u128,
        _ => u128::from(random::<u64>()) % span,
    };
    T::narrow(first + offset as i128)
}

/// True or false. Inside a run both are tried alike, unless `probability` excludes one: rare cases are
/// what a test is for.
///
/// # Panics
/// If `probability` is not between 0 and 1.
#[track_caller]
pub fn random_bool(probability: f64) -> bool {
    assert!((0.0..=1.0).contains(&probability), "raddle: {probability} is no probability");
    if probability <= 0.0 || probability >= 1.0 {
        probability >= 1.0
    } else if rt::current().is_some() {
        choose(2) == 1
    } else {
        random::<f64>() < probability
    }
}

/// Fills a buffer.
#[track_caller]
pub fn fill(buffer: &mut [u8]) {
    for pair in buffer.chunks_mut(2) {
        let bytes = random::<u16>().to_le_bytes();
        pair.copy_from_slice(&bytes[..pair.len()]);
    }
}

/// One of several; None if there is none.
#[track_caller]
pub fn pick<T>(of: &[T]) -> Option<&T> {
    if of.is_empty() { None } else { of.get(choose(of.len())) }
}

/// Puts the values into another order.
#[track_caller]
pub fn shuffle<T>(values: &mut [T]) {
    for last in (1..values.len()).rev() {
        values.swap(last, choose(last + 1));
    }
}

macro_rules! integers {
    ($($t:ty),+) => {
        $(
            impl sealed::Sealed for $t {}
            impl Random for $t {
                #[track_caller]
                fn random() -> $t {
                    if <$t>::BITS <= 16 {
                        choose(1 << <$t>::BITS.min(16)) as $t
                    } else {
                        let mut bytes = [0; size_of::<$t>()];
                        fill(&mut bytes);
                        <$t>::from_le_bytes(bytes)
                    }
                }
            }
            impl Integer for $t {
                const SMALLEST: i128 = <$t>::MIN as i128;
                const LARGEST: i128 = <$t>::MAX as i128;
                fn wide(self) -> i128 {
                    self as i128
                }
                fn narrow(wide: i128) -> $t {
                    wide as $t
                }
            }
        )+
    };
}

integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl sealed::Sealed for bool {}
impl Random for bool {
    #[track_caller]
    fn random() -> bool {
        choose(2) == 1
    }
}

impl sealed::Sealed for f64 {}
impl Random for f64 {
    /// At least 0 and less than 1.
    #[track_caller]
    fn random() -> f64 {
        (random::<u64>() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl sealed::Sealed for f32 {}
impl Random for f32 {
    /// At least 0 and less than 1.
    #[track_caller]
    fn random() -> f32 {
        (random::<u32>() >> 8) as f32 / (1_u32 << 24) as f32
    }
}
