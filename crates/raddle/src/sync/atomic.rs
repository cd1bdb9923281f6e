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
use crate::sync::claim;
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
    let id = slot.id_or_more(rt.stamp());
    if rt.goes_on_by_rote(kind, id, site) {
        // The same operation may have another order each time.
        if ordering != Ordering::SeqCst {
            rt.had_weak_order();
        }
        return Some((rt, ObjectId(id as u32)));
    }
    let object = claim::object_from(id, whole, slot, rt, site, || State::Atomic);
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

/// Says that a compare-exchange stored nothing: it was a load with its failure ordering.
fn failed_exchange(at: Option<(Rt, ObjectId)>, failure: Ordering) {
    if let Some((rt, _)) = at
        && !rt.ending()
    {
        rt.with(|run| run.engine.analysis_mut().races.failed_exchange(order(failure)));
    }
    unchanged(at);
}

macro_rules! basic {
    ($name:ident $(<$T:ident>)?, $value:ty) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name $(<$T>)? {
            slot: Slot,
            value: std::sync::atomic::$name $(<$T>)?,
        }

        impl $(<$T>)? $name $(<$T>)? {
            /// A new atomic.
            #[inline]
            pub const fn new(value: $value) -> Self {
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
                // std's own store says that these orders are no orders of a store.
                let order_is_wrong = matches!(ordering, Ordering::Acquire | Ordering::AcqRel);
                if at.is_some() && !order_is_wrong {
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
                let at = arrive(self, &self.slot, Kind::Rmw, success, here!());
                // std's own says that these orders are no orders of a load.
                let order_is_wrong = matches!(failure, Ordering::Release | Ordering::AcqRel);
                if at.is_none() || order_is_wrong {
                    return self.value.compare_exchange(current, new, success, failure);
                }
                let old = self.value.load(Ordering::Relaxed);
                if old != current {
                    failed_exchange(at, failure);
                    return Err(old);
                }
                self.put(at, old, new);
                Ok(old)
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

            /// See std's: stores `new` if the value is `current`, and gives back the old value.
            #[track_caller]
            #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak` instead, as in std")]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    other => other,
                };
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|value| value)
            }

            /// Replaces the value by what `f` makes of it: a load, and a compare-exchange for each try.
            ///
            /// # Errors
            /// The value, if `f` gives nothing.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut previous = self.load(fetch_order);
                while let Some(next) = f(previous) {
                    match self.compare_exchange_weak(previous, next, set_order, fetch_order) {
                        Ok(value) => return Ok(value),
                        Err(value) => previous = value,
                    }
                }
                Err(previous)
            }

            /// As `fetch_update`.
            ///
            /// # Errors
            /// The value, if `f` gives nothing.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// As `fetch_update` with an `f` that always gives a value.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                let updated = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
                updated.unwrap_or_else(|value| value)
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
                real: impl FnOnce(&std::sync::atomic::$name $(<$T>)?) -> $value,
            ) -> $value {
                let at = arrive(self, &self.slot, Kind::Rmw, ordering, here!());
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

        impl $(<$T>)? std::fmt::Debug for $name $(<$T>)? {
            /// Reads without an operation: looking must not change the run.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.value, f)
            }
        }

        impl $(<$T>)? From<$value> for $name $(<$T>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
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

basic!(AtomicPtr<T>, *mut T);

macro_rules! pointer_methods {
    ($($method:ident $next:expr),+ $(,)?) => {
        impl<T> AtomicPtr<T> {
            $(
                #[doc = concat!("As [`std::sync::atomic::AtomicPtr::", stringify!($method), "`].")]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: usize, ordering: Ordering) -> *mut T {
                    self.rmw(ordering, |old| $next(old, value), |real| real.$method(value, ordering))
                }
            )+
        }
    };
}

pointer_methods!(
    fetch_ptr_add <*mut T>::wrapping_add,
    fetch_ptr_sub <*mut T>::wrapping_sub,
    fetch_byte_add <*mut T>::wrapping_byte_add,
    fetch_byte_sub <*mut T>::wrapping_byte_sub,
    fetch_or |old: *mut T, value| old.map_addr(|address| address | value),
    fetch_and |old: *mut T, value| old.map_addr(|address| address & value),
    fetch_xor |old: *mut T, value| old.map_addr(|address| address ^ value),
);

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> std::fmt::Pointer for AtomicPtr<T> {
    /// Reads without an operation: looking must not change the run.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Pointer::fmt(&self.value, f)
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

/// As [`std::sync::atomic::spin_loop_hint`].
#[track_caller]
#[deprecated(note = "use `hint::spin_loop` instead, as in std")]
pub fn spin_loop_hint() {
    match rt::current() {
        Some(rt) => {
            rt.arrive(Op::new(Kind::Yield, ObjectId::NONE, here!()));
        }
        None => std::hint::spin_loop(),
    }
}

macro_rules! initial {
    ($($name:ident: $type:ident = $value:expr),+ $(,)?) => {
        $(
            #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
            #[deprecated(note = "the `new` function is now preferred, as in std")]
            #[expect(clippy::declare_interior_mutable_const, reason = "as in std: it is there to initialize with")]
            pub const $name: $type = $type::new($value);
        )+
    };
}

initial!(
    ATOMIC_BOOL_INIT: AtomicBool = false,
    ATOMIC_ISIZE_INIT: AtomicIsize = 0,
    ATOMIC_USIZE_INIT: AtomicUsize = 0,
);
