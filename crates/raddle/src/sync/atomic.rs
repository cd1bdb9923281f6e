//! Atomics, as [`std::sync::atomic`]. The value lives in a real atomic; inside a run every access
//! is an operation that the engine orders. Values are sequentially consistent; memory orders
//! affect which accesses count as racing, and nothing else.
//!
//! Inside a run one task runs at a time, and no thread outside may use the same object (see
//! `rt::slot`). So a read-modify-write is a relaxed load and a relaxed store there: an indivisible
//! instruction would take longer than all the rest of a step.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt};
use raddle_model::objects::State;
use raddle_model::{Kind, ObjectId, Op, Order, SiteId};
pub use std::sync::atomic::{Ordering, compiler_fence};

/// The model's name for an ordering.
#[inline]
fn order(ordering: Ordering) -> Order {
    match ordering {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcqRel => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

#[inline]
fn arrive(slot: &Slot, kind: Kind, ordering: Ordering, site: SiteId) -> Option<(Rt, ObjectId)> {
    let rt = rt::current()?;
    let object = slot.id(rt, site, || State::Atomic);
    rt.arrive(Op::new(kind, object, site).order(order(ordering)));
    Some((rt, object))
}

/// Says that a store or read-modify-write left the value as it was.
#[inline]
fn unchanged(at: Option<(Rt, ObjectId)>) {
    if let Some((rt, object)) = at
        && !rt.ending()
    {
        rt.with(|run| run.engine.unchanged(object));
    }
}

macro_rules! basic {
    ($name:ident, $value:ty) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name {
            slot: Slot,
            value: std::sync::atomic::$name,
        }

        impl $name {
            /// A new atomic.
            #[inline]
            pub const fn new(value: $value) -> $name {
                $name { slot: Slot::new(), value: std::sync::atomic::$name::new(value) }
            }

            /// Loads the value.
            #[inline]
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $value {
                arrive(&self.slot, Kind::Load, ordering, here!());
                self.value.load(ordering)
            }

            /// Stores a value.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                let at = arrive(&self.slot, Kind::Store, ordering, here!());
                if at.is_some() {
                    self.put(at, self.value.load(Ordering::Relaxed), value);
                } else {
                    self.value.store(value, ordering);
                }
            }

            /// Stores a value and gives back the old one.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                self.rmw(ordering, |_| value, |real| real.swap(value, ordering))
            }

            /// Stores `new` if the value is `current`.
            ///
            /// # Errors
            /// The value, if it was another.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let at = arrive(&self.slot, Kind::Rmw, success, here!());
                if at.is_none() {
                    return self.value.compare_exchange(current, new, success, failure);
                }
                let old = self.value.load(Ordering::Relaxed);
                let next = if old == current { new } else { old };
                self.put(at, old, next);
                if old == current { Ok(old) } else { Err(old) }
            }

            /// As `compare_exchange`: it does not fail spuriously here.
            ///
            /// # Errors
            /// The value, if it was another.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value by what `f` makes of it, as one operation after a load.
            ///
            /// # Errors
            /// The value, if `f` gives nothing.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut previous = self.load(fetch_order);
                while let Some(next) = f(previous) {
                    match self.compare_exchange_weak(previous, next, set_order, fetch_order) {
                        Ok(value) => return Ok(value),
                        Err(value) => previous = value,
                    }
                }
                Err(previous)
            }

            /// The value, with exclusive access.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.value.get_mut()
            }

            /// The value.
            #[inline]
            pub const fn into_inner(self) -> $value {
                self.value.into_inner()
            }

            /// A pointer to the value. What is done through it is not seen.
            #[inline]
            pub const fn as_ptr(&self) -> *mut $value {
                self.value.as_ptr()
            }

            /// A read-modify-write: what becomes of the old value inside a run, and the real thing.
            #[inline]
            #[track_caller]
            fn rmw(
                &self,
                ordering: Ordering,
                next: impl FnOnce($value) -> $value,
                real: impl FnOnce(&std::sync::atomic::$name) -> $value,
            ) -> $value {
                let at = arrive(&self.slot, Kind::Rmw, ordering, here!());
                if at.is_none() {
                    return real(&self.value);
                }
                let old = self.value.load(Ordering::Relaxed);
                self.put(at, old, next(old));
                old
            }

            /// The new value, inside a run.
            #[inline]
            fn put(&self, at: Option<(Rt, ObjectId)>, old: $value, new: $value) {
                if old == new {
                    unchanged(at);
                }
                self.value.store(new, Ordering::Relaxed);
            }
        }

        impl std::fmt::Debug for $name {
            /// Reads without an operation: looking must not change the run.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.value, f)
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> $name {
                $name::new(value)
            }
        }
    };
}

macro_rules! methods {
    ($name:ident, $value:ty: $($method:ident $next:expr),+ $(,)?) => {
        impl $name {
            $(
                #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "::", stringify!($method), "`].")]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, ordering: Ordering) -> $value {
                    self.rmw(ordering, |old| $next(old, value), |real| real.$method(value, ordering))
                }
            )+
        }
    };
}

macro_rules! integer {
    ($($name:ident $value:ty),+ $(,)?) => {
        $(
            basic!($name, $value);
            methods!($name, $value:
                fetch_add <$value>::wrapping_add,
                fetch_sub <$value>::wrapping_sub,
                fetch_and |old, value| old & value,
                fetch_nand |old: $value, value: $value| !(old & value),
                fetch_or |old, value| old | value,
                fetch_xor |old, value| old ^ value,
                fetch_max Ord::max,
                fetch_min Ord::min,
            );
            impl Default for $name {
                fn default() -> $name {
                    $name::new(0)
                }
            }
        )+
    };
}

integer!(
    AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize,
    AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize,
);

basic!(AtomicBool, bool);
methods!(AtomicBool, bool:
    fetch_and |old, value| old & value,
    fetch_nand |old: bool, value: bool| !(old & value),
    fetch_or |old, value| old | value,
    fetch_xor |old, value| old ^ value,
);

impl AtomicBool {
    /// As [`std::sync::atomic::AtomicBool::fetch_not`].
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.fetch_xor(true, ordering)
    }
}

impl Default for AtomicBool {
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

/// As [`std::sync::atomic::fence`]: affects sync order only.
#[track_caller]
pub fn fence(ordering: Ordering) {
    if let Some(rt) = rt::current() {
        rt.arrive(Op::new(Kind::Fence, ObjectId::NONE, here!()).order(order(ordering)));
    }
    std::sync::atomic::fence(ordering);
}
