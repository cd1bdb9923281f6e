//! The atomics, from whichever `sync` the module above has.

use super::super::{points, shows};
use super::sync::atomic::{self, AtomicBool, AtomicPtr, Ordering};

const ORDER: Ordering = Ordering::SeqCst;

/// The same for each integer.
macro_rules! each_integer {
    (|$Atomic:ident, $value:ident| $body:block) => {{
        each_integer!(@ $Atomic $value $body: AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64);
        each_integer!(@ $Atomic $value $body: AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64);
        each_integer!(@ $Atomic $value $body: AtomicUsize usize, AtomicIsize isize);
    }};
    (@ $Atomic:ident $value:ident $body:block: $($type:ident $integer:ident),+) => {
        $({
            type $Atomic = atomic::$type;
            type $value = $integer;
            $body
        })+
    };
}

/// Compiles each item, and names it.
pub(crate) fn names(item: &mut impl FnMut(&'static str)) {
    integers(item);
    others(item);
}

fn integers(item: &mut impl FnMut(&'static str)) {
    item("atomic::integer::new");
    each_integer!(|Atomic, Value| {
        static STATIC: Atomic = Atomic::new(0);
        let _: Value = STATIC.load(ORDER);
    });
    item("atomic::integer::load");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Ordering) -> Value = Atomic::load;
    });
    item("atomic::integer::store");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Value, Ordering) = Atomic::store;
    });
    item("atomic::integer::compare_exchange");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Value, Value, Ordering, Ordering) -> Result<Value, Value> =
            Atomic::compare_exchange;
    });
    item("atomic::integer::compare_exchange_weak");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Value, Value, Ordering, Ordering) -> Result<Value, Value> =
            Atomic::compare_exchange_weak;
    });
    item("atomic::integer::compare_and_swap");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Value, Value, Ordering) -> Value = Atomic::compare_and_swap;
    });
    item(
        "atomic::integer::swap, fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max, fetch_min",
    );
    each_integer!(|Atomic, Value| {
        let _: [fn(&Atomic, Value, Ordering) -> Value; 9] = [
            Atomic::swap,
            Atomic::fetch_add,
            Atomic::fetch_sub,
            Atomic::fetch_and,
            Atomic::fetch_nand,
            Atomic::fetch_or,
            Atomic::fetch_xor,
            Atomic::fetch_max,
            Atomic::fetch_min,
        ];
    });
    item("atomic::integer::fetch_update");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic, Ordering, Ordering, fn(Value) -> Option<Value>) -> Result<Value, Value> =
            Atomic::fetch_update;
    });
    item("atomic::integer::try_update");
    each_integer!(|Atomic, Value| {
        let _ = |atomic: &Atomic| -> Result<Value, Value> { atomic.try_update(ORDER, ORDER, Some) };
    });
    item("atomic::integer::update");
    each_integer!(|Atomic, Value| {
        let _ = |atomic: &Atomic| -> Value { atomic.update(ORDER, ORDER, |value| value) };
    });
    item("atomic::integer::get_mut");
    each_integer!(|Atomic, Value| {
        let _: fn(&mut Atomic) -> &mut Value = Atomic::get_mut;
    });
    item("atomic::integer::into_inner");
    each_integer!(|Atomic, Value| {
        const CONST: Value = Atomic::new(0).into_inner();
        let _ = CONST;
    });
    item("atomic::integer::as_ptr");
    each_integer!(|Atomic, Value| {
        let _: fn(&Atomic) -> *mut Value = Atomic::as_ptr;
    });
    item("atomic::integer: Debug, Default, From");
    each_integer!(|Atomic, Value| {
        shows::<Atomic>();
        let _: fn() -> Atomic = Default::default;
        let _: fn(Value) -> Atomic = From::from;
    });
}

fn others(item: &mut impl FnMut(&'static str)) {
    item("atomic::AtomicBool::new");
    {
        static STATIC: AtomicBool = AtomicBool::new(false);
        let _ = &STATIC;
    }
    item("atomic::AtomicBool::load");
    let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::load;
    item("atomic::AtomicBool::store");
    let _: fn(&AtomicBool, bool, Ordering) = AtomicBool::store;
    item("atomic::AtomicBool::compare_exchange, compare_exchange_weak");
    let _: [fn(&AtomicBool, bool, bool, Ordering, Ordering) -> Result<bool, bool>; 2] =
        [AtomicBool::compare_exchange, AtomicBool::compare_exchange_weak];
    item("atomic::AtomicBool::compare_and_swap");
    let _: fn(&AtomicBool, bool, bool, Ordering) -> bool = AtomicBool::compare_and_swap;
    item("atomic::AtomicBool::swap, fetch_and, fetch_nand, fetch_or, fetch_xor");
    let _: [fn(&AtomicBool, bool, Ordering) -> bool; 5] = [
        AtomicBool::swap,
        AtomicBool::fetch_and,
        AtomicBool::fetch_nand,
        AtomicBool::fetch_or,
        AtomicBool::fetch_xor,
    ];
    item("atomic::AtomicBool::fetch_not");
    let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::fetch_not;
    item("atomic::AtomicBool::fetch_update, try_update, update");
    let _: fn(&AtomicBool, Ordering, Ordering, fn(bool) -> Option<bool>) -> Result<bool, bool> =
        AtomicBool::fetch_update;
    let _ = |atomic: &AtomicBool| {
        (atomic.try_update(ORDER, ORDER, Some), atomic.update(ORDER, ORDER, |value| !value))
    };
    item("atomic::AtomicBool::get_mut, into_inner, as_ptr");
    {
        let _: fn(&mut AtomicBool) -> &mut bool = AtomicBool::get_mut;
        const CONST: bool = AtomicBool::new(false).into_inner();
        let _ = CONST;
        let _: fn(&AtomicBool) -> *mut bool = AtomicBool::as_ptr;
    }
    item("atomic::AtomicBool: Debug, Default, From");
    shows::<AtomicBool>();
    let _: fn() -> AtomicBool = Default::default;
    let _: fn(bool) -> AtomicBool = From::from;
    item("atomic::AtomicPtr::new");
    {
        static STATIC: AtomicPtr<i32> = AtomicPtr::new(std::ptr::null_mut());
        let _ = &STATIC;
    }
    item("atomic::AtomicPtr::load");
    let _: fn(&AtomicPtr<i32>, Ordering) -> *mut i32 = AtomicPtr::load;
    item("atomic::AtomicPtr::store");
    let _: fn(&AtomicPtr<i32>, *mut i32, Ordering) = AtomicPtr::store;
    item("atomic::AtomicPtr::swap");
    let _: fn(&AtomicPtr<i32>, *mut i32, Ordering) -> *mut i32 = AtomicPtr::swap;
    item("atomic::AtomicPtr::compare_exchange, compare_exchange_weak");
    let _: [fn(&AtomicPtr<i32>, *mut i32, *mut i32, Ordering, Ordering) -> Result<*mut i32, *mut i32>; 2] =
        [AtomicPtr::compare_exchange, AtomicPtr::compare_exchange_weak];
    item("atomic::AtomicPtr::compare_and_swap");
    let _: fn(&AtomicPtr<i32>, *mut i32, *mut i32, Ordering) -> *mut i32 = AtomicPtr::compare_and_swap;
    item("atomic::AtomicPtr::fetch_update, try_update, update");
    let _: fn(
        &AtomicPtr<i32>,
        Ordering,
        Ordering,
        fn(*mut i32) -> Option<*mut i32>,
    ) -> Result<*mut i32, *mut i32> = AtomicPtr::fetch_update;
    let _ = |atomic: &AtomicPtr<i32>| {
        (atomic.try_update(ORDER, ORDER, Some), atomic.update(ORDER, ORDER, |value| value))
    };
    item(
        "atomic::AtomicPtr::fetch_ptr_add, fetch_ptr_sub, fetch_byte_add, fetch_byte_sub, fetch_or, fetch_and, fetch_xor",
    );
    let _: [fn(&AtomicPtr<i32>, usize, Ordering) -> *mut i32; 7] = [
        AtomicPtr::fetch_ptr_add,
        AtomicPtr::fetch_ptr_sub,
        AtomicPtr::fetch_byte_add,
        AtomicPtr::fetch_byte_sub,
        AtomicPtr::fetch_or,
        AtomicPtr::fetch_and,
        AtomicPtr::fetch_xor,
    ];
    item("atomic::AtomicPtr::get_mut, into_inner, as_ptr");
    let _: fn(&mut AtomicPtr<i32>) -> &mut *mut i32 = AtomicPtr::get_mut;
    let _: fn(AtomicPtr<i32>) -> *mut i32 = AtomicPtr::into_inner;
    let _: fn(&AtomicPtr<i32>) -> *mut *mut i32 = AtomicPtr::as_ptr;
    item("atomic::AtomicPtr: Debug, Pointer, Default, From");
    shows::<AtomicPtr<i32>>();
    points::<AtomicPtr<i32>>();
    let _: fn() -> AtomicPtr<i32> = Default::default;
    let _: fn(*mut i32) -> AtomicPtr<i32> = From::from;
    item("atomic::Ordering");
    let _: [Ordering; 5] =
        [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
    item("atomic::fence");
    let _: fn(Ordering) = atomic::fence;
    item("atomic::compiler_fence");
    let _: fn(Ordering) = atomic::compiler_fence;
    item("atomic::spin_loop_hint");
    let _: fn() = atomic::spin_loop_hint;
    item("atomic::ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT");
    let _ = (atomic::ATOMIC_BOOL_INIT, atomic::ATOMIC_ISIZE_INIT, atomic::ATOMIC_USIZE_INIT);
}
