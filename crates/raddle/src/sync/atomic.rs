//! Atomics, as [`std::sync::atomic`]. The value lives in a real atomic; inside a run every access
//! is an operation that the engine orders. Values are sequentially consistent; memory orders
//! affect which accesses count as racing, and nothing else.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt, statics};
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
fn arrive<T>(whole: &T, slot: &Slot, kind: Kind, ordering: Ordering, site: SiteId) -> Option<(Rt, ObjectId)> {
    let rt = rt::current()?;
    let object = slot.id(rt, site, || {
        statics::first_use(whole);
        State::Atomic
    });
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
                arrive(self, &self.slot, Kind::Load, ordering, here!());
                self.value.load(ordering)
            }

            /// Stores a value.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                let at = arrive(self, &self.slot, Kind::Store, ordering, here!());
                if at.is_some() {
                    if self.value.load(Ordering::Relaxed) == value {
                        unchanged(at);
                    }
                    // Inside a run a store needs no fence: one task runs at a time.
                    self.value.store(value, Ordering::Relaxed);
                } else {
                    self.value.store(value, ordering);
                }
            }

            /// Stores a value and gives back the old one.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                let at = arrive(self, &self.slot, Kind::Rmw, ordering, here!());
                let old = self.value.swap(value, ordering);
                if old == value {
                    unchanged(at);
                }
                old
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
                let at = arrive(self, &self.slot, Kind::Rmw, success, here!());
                let result = self.value.compare_exchange(current, new, success, failure);
                if result.is_err() || current == new {
                    unchanged(at);
                }
                result
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

            #[inline]
            #[track_caller]
            #[expect(clippy::allow_attributes, reason = "not every atomic uses it")]
            #[allow(dead_code)]
            fn rmw(
                &self,
                ordering: Ordering,
                real: impl FnOnce(&std::sync::atomic::$name) -> $value,
            ) -> $value {
                let at = arrive(self, &self.slot, Kind::Rmw, ordering, here!());
                let old = real(&self.value);
                if at.is_some() && self.value.load(Ordering::Relaxed) == old {
                    unchanged(at);
                }
                old
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
    ($name:ident, $value:ty: $($method:ident),+) => {
        impl $name {
            $(
                #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "::", stringify!($method), "`].")]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, ordering: Ordering) -> $value {
                    self.rmw(ordering, |real| real.$method(value, ordering))
                }
            )+
        }
    };
}

macro_rules! integer {
    ($($name:ident $value:ty),+ $(,)?) => {
        $(
            basic!($name, $value);
            methods!($name, $value: fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max, fetch_min);
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
methods!(AtomicBool, bool: fetch_and, fetch_nand, fetch_or, fetch_xor);

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
