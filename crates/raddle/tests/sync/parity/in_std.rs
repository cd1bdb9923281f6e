//! The items of std.

use std::sync;

#[path = "atomics.rs"]
mod atomics;
#[path = "items.rs"]
mod items;

pub(super) use atomics::names as atomic_names;
pub(super) use items::names;
