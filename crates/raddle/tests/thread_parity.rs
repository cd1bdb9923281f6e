//! The stable items of `std::thread`, `std::cell`, `std::hint`, `std::time` and `std::future`, by name
//! and with their signatures, from std and from Raddle; and that `docs/parity.md` names them.

#![expect(deprecated, reason = "std still has them")]

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};

const PAGE: &str = include_str!("../../../docs/parity.md");

fn is_send_and_sync<T: Send + Sync>() {}
fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
fn is_unpin<T: Unpin>() {}
fn shows<T: Debug>() {}
fn is_error<T: std::error::Error + Display>() {}
fn is_value<T: Copy + Eq + Hash + Debug>() {}
fn is_moment<T: Copy + Ord + Hash + Debug>() {}

/// Each item once, from the crate called `$of`.
macro_rules! items {
    ($of:ident, $name:ident) => {
        fn $name(item: &mut dyn FnMut(&'static str)) {
            use $of::thread::{self, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId};
            use $of::time::{self, Instant, SystemTime};
            use std::cell::{Cell, RefCell};
            use std::io;
            use std::time::{Duration, SystemTimeError};
            macro_rules! is {
                ($path:expr, $t:ty, $text:literal) => {
                    let _: $t = $path;
                    item($text);
                };
            }
            type F = fn() -> u8;
            is!(thread::spawn::<F, u8>, fn(F) -> JoinHandle<u8>, "spawn");
            is!(thread::current, fn() -> Thread, "current");
            is!(thread::park, fn(), "park");
            is!(thread::park_timeout, fn(Duration), "park_timeout");
            is!(thread::park_timeout_ms, fn(u32), "park_timeout_ms");
            is!(thread::yield_now, fn(), "yield_now");
            is!(thread::sleep, fn(Duration), "sleep");
            is!(thread::sleep_ms, fn(u32), "sleep_ms");
            is!(thread::panicking, fn() -> bool, "panicking");
            type Number = io::Result<std::num::NonZero<usize>>;
            is!(thread::available_parallelism, fn() -> Number, "available_parallelism");
            type Body = fn(&Scope<'_, '_>) -> u8;
            let _ = |body: Body| thread::scope(|scope| body(scope));
            item("scope");
            is!(Builder::new, fn() -> Builder, "Builder::new");
            is!(Builder::name, fn(Builder, String) -> Builder, "Builder::name");
            is!(Builder::stack_size, fn(Builder, usize) -> Builder, "Builder::stack_size");
            is!(Builder::spawn::<F, u8>, fn(Builder, F) -> io::Result<JoinHandle<u8>>, "Builder::spawn");
            is!(
                Builder::spawn_unchecked::<F, u8>,
                unsafe fn(Builder, F) -> io::Result<JoinHandle<u8>>,
                "Builder::spawn_unchecked"
            );
            fn scoped<'scope>(scope: &'scope Scope<'scope, '_>) -> io::Result<ScopedJoinHandle<'scope, u8>> {
                let _: ScopedJoinHandle<'scope, u8> = scope.spawn(|| 1);
                Builder::new().spawn_scoped(scope, || 1)
            }
            let _ = || thread::scope(|scope| scoped(scope).map(|_| ()));
            item("Builder::spawn_scoped");
            item("Scope::spawn");
            is!(JoinHandle::join, fn(JoinHandle<u8>) -> thread::Result<u8>, "JoinHandle::join");
            is!(JoinHandle::is_finished, fn(&JoinHandle<u8>) -> bool, "JoinHandle::is_finished");
            is!(JoinHandle::thread, fn(&JoinHandle<u8>) -> &Thread, "JoinHandle::thread");
            type Scoped = ScopedJoinHandle<'static, u8>;
            is!(ScopedJoinHandle::join, fn(Scoped) -> thread::Result<u8>, "ScopedJoinHandle::join");
            is!(ScopedJoinHandle::is_finished, fn(&Scoped) -> bool, "ScopedJoinHandle::is_finished");
            is!(ScopedJoinHandle::thread, fn(&Scoped) -> &Thread, "ScopedJoinHandle::thread");
            is!(Thread::id, fn(&Thread) -> ThreadId, "Thread::id");
            is!(Thread::name, fn(&Thread) -> Option<&str>, "Thread::name");
            is!(Thread::unpark, fn(&Thread), "Thread::unpark");
            is_value::<ThreadId>();
            item("ThreadId");
            shows::<(Thread, Builder, JoinHandle<u8>, Scoped, Scope<'_, '_>)>();
            is_send_and_sync::<(Thread, ThreadId, Builder, JoinHandle<u8>, Scoped, LocalKey<Cell<u8>>)>();
            is_send_and_sync::<(JoinHandle<Cell<u8>>, Scope<'_, '_>)>();
            is_unpin::<(Thread, JoinHandle<u8>, Scoped, Scope<'_, '_>)>();
            is_unwind_safe::<(Thread, Builder, ThreadId, LocalKey<Cell<u8>>)>();

            type Of<T> = &'static LocalKey<T>;
            is!(LocalKey::with, fn(Of<u8>, fn(&u8) -> u8) -> u8, "LocalKey::with");
            let _: fn(Of<u8>, fn(&u8) -> u8) -> Result<u8, thread::AccessError> = LocalKey::try_with;
            item("LocalKey::try_with");
            is_error::<thread::AccessError>();
            is!(LocalKey::<Cell<u8>>::set, fn(Of<Cell<u8>>, u8), "LocalKey<Cell>::set");
            is!(LocalKey::<Cell<u8>>::get, fn(Of<Cell<u8>>) -> u8, "LocalKey<Cell>::get");
            is!(LocalKey::<Cell<u8>>::take, fn(Of<Cell<u8>>) -> u8, "LocalKey<Cell>::take");
            is!(LocalKey::<Cell<u8>>::replace, fn(Of<Cell<u8>>, u8) -> u8, "LocalKey<Cell>::replace");
            type Ref = Of<RefCell<u8>>;
            is!(LocalKey::<RefCell<u8>>::set, fn(Ref, u8), "LocalKey<RefCell>::set");
            is!(LocalKey::<RefCell<u8>>::take, fn(Ref) -> u8, "LocalKey<RefCell>::take");
            is!(LocalKey::<RefCell<u8>>::replace, fn(Ref, u8) -> u8, "LocalKey<RefCell>::replace");
            is!(LocalKey::with_borrow, fn(Ref, fn(&u8) -> u8) -> u8, "LocalKey<RefCell>::with_borrow");
            let _: fn(Ref, fn(&mut u8) -> u8) -> u8 = LocalKey::with_borrow_mut;
            item("LocalKey<RefCell>::with_borrow_mut");
            $of::thread_local!(static KEY: u8 = 1);
            KEY.with(|value| assert_eq!(*value, 1));
            item("thread_local!");

            is!(Instant::now, fn() -> Instant, "Instant::now");
            is!(Instant::elapsed, fn(&Instant) -> Duration, "Instant::elapsed");
            type Since = fn(&Instant, Instant) -> Duration;
            is!(Instant::duration_since, Since, "Instant::duration_since");
            is!(Instant::saturating_duration_since, Since, "Instant::saturating_duration_since");
            let _: fn(&Instant, Instant) -> Option<Duration> = Instant::checked_duration_since;
            item("Instant::checked_duration_since");
            type Move = fn(&Instant, Duration) -> Option<Instant>;
            is!(Instant::checked_add, Move, "Instant::checked_add");
            is!(Instant::checked_sub, Move, "Instant::checked_sub");
            is_moment::<(Instant, SystemTime)>();
            is_send_and_sync::<(Instant, SystemTime)>();
            is_unwind_safe::<(Instant, SystemTime)>();
            let _ = |mut now: Instant, mut time: SystemTime, by: Duration| {
                now += by;
                now -= by;
                time += by;
                time -= by;
                (now + by, now - by, now - now, time + by, time - by)
            };
            item("Instant: Add, Sub, AddAssign, SubAssign, Copy, Ord, Hash, Debug");
            item("SystemTime: Add, Sub, AddAssign, SubAssign, Copy, Ord, Hash, Debug");
            is!(SystemTime::now, fn() -> SystemTime, "SystemTime::now");
            type Elapsed = Result<Duration, SystemTimeError>;
            is!(SystemTime::elapsed, fn(&SystemTime) -> Elapsed, "SystemTime::elapsed");
            let _: fn(&SystemTime, SystemTime) -> Elapsed = SystemTime::duration_since;
            item("SystemTime::duration_since");
            type MoveTime = fn(&SystemTime, Duration) -> Option<SystemTime>;
            is!(SystemTime::checked_add, MoveTime, "SystemTime::checked_add");
            is!(SystemTime::checked_sub, MoveTime, "SystemTime::checked_sub");
            assert_eq!(time::UNIX_EPOCH, SystemTime::UNIX_EPOCH);
            item("UNIX_EPOCH");
            let _: (time::Duration, Option<(time::SystemTimeError, time::TryFromFloatSecsError)>) =
                (Duration::ZERO, None);
            item("Duration, SystemTimeError, TryFromFloatSecsError");

            is!($of::hint::spin_loop, fn(), "spin_loop");
            is!($of::hint::black_box::<u8>, fn(u8) -> u8, "black_box");
            let _ = ($of::hint::cold_path, $of::hint::select_unpredictable::<u8>);
            let _ = ($of::hint::assert_unchecked, $of::hint::unreachable_unchecked);
            item("assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked");

            use $of::cell;
            shows::<(cell::Cell<u8>, cell::RefCell<u8>, cell::OnceCell<u8>, cell::LazyCell<u8>)>();
            shows::<(cell::Ref<'_, u8>, cell::RefMut<'_, u8>, cell::BorrowError, cell::BorrowMutError)>();
            item("Cell, RefCell, OnceCell, LazyCell, Ref, RefMut, BorrowError, BorrowMutError");
            is!(cell::UnsafeCell::new, fn(u8) -> cell::UnsafeCell<u8>, "UnsafeCell::new");
            is!(cell::UnsafeCell::get, fn(&cell::UnsafeCell<[u8]>) -> *mut [u8], "UnsafeCell::get");
            is!(cell::UnsafeCell::get_mut, fn(&mut cell::UnsafeCell<[u8]>) -> &mut [u8], "UnsafeCell::get_mut");
            is!(cell::UnsafeCell::into_inner, fn(cell::UnsafeCell<u8>) -> u8, "UnsafeCell::into_inner");
            is!(cell::UnsafeCell::raw_get, fn(*const cell::UnsafeCell<u8>) -> *mut u8, "UnsafeCell::raw_get");
            let _: cell::UnsafeCell<u8> = Default::default();
            let _ = cell::UnsafeCell::from(1);
            item("UnsafeCell: Default, From, Debug");

            use $of::future::{self, Future, IntoFuture};
            fn polls<T: Future<Output = u8> + IntoFuture>(_: T) {}
            polls(future::ready(1_u8));
            polls(future::pending::<u8>());
            polls(future::poll_fn(|_| std::task::Poll::Ready(1_u8)));
            let _: (Option<future::Ready<u8>>, Option<future::Pending<u8>>, Option<future::PollFn<u8>>) =
                (None, None, None);
            item("Future, IntoFuture, Pending, PollFn, Ready, pending, poll_fn, ready");
        }
    };
}

items!(std, in_std);
items!(raddle, in_raddle);

#[test]
fn the_page_names_each_item() {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    in_std(&mut |item| theirs.push(item));
    in_raddle(&mut |item| ours.push(item));
    assert_eq!(theirs, ours);
    for item in ours {
        assert!(PAGE.contains(&format!("\n| `{item}` | ")), "{item} is not on the page");
    }
}
