//! Thread locals, as [`std::thread_local!`]. Inside a run they belong to a task and end with it, so
//! each run begins with none; outside of runs they are std's own.

use crate::rt::{self, Rt, panics};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem;

/// The thread locals of a task, in the order of their first use.
#[derive(Default)]
pub(crate) struct Locals(Vec<Local>);

struct Local {
    /// The address of the key, which is a static.
    key: usize,
    /// None from the moment in which its destructor begins.
    value: Option<Box<dyn Any>>,
    /// Whether there is anything to destroy; what has no destructor stays, as with std.
    drops: bool,
}

enum Found<T> {
    Nothing,
    Value(*const T),
    Destroyed,
}

impl Locals {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find<T: 'static>(&self, key: usize) -> Found<T> {
        match self.0.iter().find(|local| local.key == key) {
            None => Found::Nothing,
            Some(Local { value: None, .. }) => Found::Destroyed,
            Some(Local { value: Some(value), .. }) => {
                Found::Value(value.downcast_ref::<T>().expect("raddle bug: a key of another type"))
            }
        }
    }

    /// The youngest value with a destructor. Its key counts as destroyed from now on.
    fn take_youngest(&mut self) -> Option<Box<dyn Any>> {
        self.0.iter_mut().rev().find(|local| local.drops && local.value.is_some())?.value.take()
    }
}

/// Destroys the thread locals of the running task on its own stack, the youngest first, also those
/// that destructors make.
#[inline]
pub(crate) fn destroy(rt: Rt) {
    if rt.with(|run| !run.fibers[run.running.index()].locals.is_empty()) {
        destroy_all(rt);
    }
}

#[cold]
fn destroy_all(rt: Rt) {
    while let Some(value) = rt.with(|run| run.fibers[run.running.index()].locals.take_youngest()) {
        if panics::catch(move || drop(value)).is_err() {
            panics::abort_run(rt, "thread local panicked on drop");
        }
    }
    // What is left has no destructor.
    rt.with(|run| run.fibers[run.running.index()].locals.0.clear());
}

/// Forgets what a task has left that was given up: its stack is gone, and with it the place where
/// destructors could run.
pub(crate) fn forget(rt: Rt) {
    let left = rt.with(|run| mem::take(&mut run.fibers[run.running.index()].locals.0));
    if !left.is_empty() {
        mem::forget(left);
    }
}

/// A thread local, as [`std::thread::LocalKey`]. Made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    outside: fn() -> &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value is being destroyed or was, as [`std::thread::AccessError`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

#[cold]
#[track_caller]
fn no_access() -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: AccessError")
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(outside: fn() -> &'static std::thread::LocalKey<T>, init: fn() -> T) -> LocalKey<T> {
        LocalKey { outside, init }
    }

    /// See [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    /// If the value has been destroyed.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(AccessError) => no_access(),
        }
    }

    /// See [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    /// If the value has been destroyed.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match rt::current() {
            None => (self.outside)().try_with(f).map_err(|_| AccessError),
            Some(rt) => self.inside(rt, &mut None, f),
        }
    }

    /// `f` with the running task's value, which is made of `given`, or by the key's own expression,
    /// if there is none yet.
    fn inside<R>(
        &'static self,
        rt: Rt,
        given: &mut Option<T>,
        f: impl FnOnce(&T) -> R,
    ) -> Result<R, AccessError> {
        let key = &raw const *self as usize;
        let find = || rt.with(|run| run.fibers[run.running.index()].locals.find::<T>(key));
        let value = match find() {
            Found::Value(value) => value,
            Found::Destroyed => return Err(AccessError),
            Found::Nothing => {
                let value = given.take().unwrap_or_else(self.init);
                // What was there is dropped only after the run has been let go.
                let _old = self.put(rt, key, value);
                match find() {
                    Found::Value(value) => value,
                    _ => return Err(AccessError),
                }
            }
        };
        // SAFETY: the box stays where it is until this task's locals are destroyed, which happens on
        // this task's own stack when its body has been left; `put` replaces a value only if the
        // expression that makes it used its own key, and then nobody holds a reference.
        Ok(f(unsafe { &*value }))
    }

    /// Keeps a new value. As with std, one that the expression itself has made by using its own key
    /// is replaced.
    fn put(&'static self, rt: Rt, key: usize, value: T) -> Option<Box<dyn Any>> {
        let value: Box<dyn Any> = Box::new(value);
        rt.with(|run| {
            let locals = &mut run.fibers[run.running.index()].locals.0;
            match locals.iter_mut().find(|local| local.key == key) {
                Some(local) => local.value.replace(value),
                None => {
                    locals.push(Local { key, value: Some(value), drops: mem::needs_drop::<T>() });
                    None
                }
            }
        })
    }

    /// `f` with the value, which is `given` if there was none yet; else `f` gets `given` too.
    #[track_caller]
    fn with_given<R>(&'static self, rt: Rt, given: T, f: impl FnOnce(Option<T>, &T) -> R) -> R {
        let mut given = Some(given);
        let mut value = None;
        let result = self.inside(rt, &mut given, |current| value = Some(&raw const *current));
        match (result, value) {
            // SAFETY: as in `inside`; nothing has happened since.
            (Ok(()), Some(value)) => f(given, unsafe { &*value }),
            _ => no_access(),
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// See [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match rt::current() {
            None => (self.outside)().set(value),
            Some(rt) => self.with_given(rt, Cell::new(value), |given, cell| {
                if let Some(given) = given {
                    cell.set(given.into_inner());
                }
            }),
        }
    }

    /// See [`std::thread::LocalKey::get`].
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// See [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// See [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// See [`std::thread::LocalKey::with_borrow`].
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// See [`std::thread::LocalKey::with_borrow_mut`].
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// See [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match rt::current() {
            None => (self.outside)().set(value),
            Some(rt) => self.with_given(rt, RefCell::new(value), |given, cell| {
                if let Some(given) = given {
                    *cell.borrow_mut() = given.into_inner();
                }
            }),
        }
    }

    /// See [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// See [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Declares thread locals, as [`std::thread_local!`]: each a [`LocalKey`](crate::thread::LocalKey).
///
/// ```
/// use std::cell::{Cell, RefCell};
/// raddle::thread_local! {
///     static NAMES: RefCell<Vec<String>> = RefCell::new(Vec::new());
///     pub static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
/// COUNT.set(COUNT.get() + 1);
/// NAMES.with_borrow_mut(|names| names.push(String::from("a")));
/// assert_eq!((COUNT.get(), NAMES.with_borrow(Vec::len)), (1, 1));
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block; $($rest:tt)*) => {
        $crate::__raddle_local!($(#[$attr])* $vis $name, $t, [const $init] const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block) => {
        $crate::__raddle_local!($(#[$attr])* $vis $name, $t, [const $init] const $init);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::__raddle_local!($(#[$attr])* $vis $name, $t, [__raddle_init()] $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => {
        $crate::__raddle_local!($(#[$attr])* $vis $name, $t, [__raddle_init()] $init);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __raddle_local {
    ($(#[$attr:meta])* $vis:vis $name:ident, $t:ty, [$($outside:tt)+] $($init:tt)+) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn __raddle_init() -> $t { $($init)+ }
            ::std::thread_local! { static __RADDLE_OUTSIDE: $t = $($outside)+; }
            fn __raddle_outside() -> &'static ::std::thread::LocalKey<$t> { &__RADDLE_OUTSIDE }
            $crate::thread::LocalKey::new(__raddle_outside, __raddle_init)
        };
    };
}
