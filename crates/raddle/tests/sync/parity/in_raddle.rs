//! The items of Raddle.

#![expect(clippy::duplicate_mod, reason = "the same text is compiled against both")]

use raddle::sync;

#[path = "atomics.rs"]
mod atomics;
#[path = "items.rs"]
mod items;

pub(super) use atomics::names as atomic_names;
pub(super) use items::names;
