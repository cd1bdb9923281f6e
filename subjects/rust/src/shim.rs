//! The one door through which the subjects reach synchronization: the line below decides who controls them.
//!
//! Subjects write `use crate::shim::{sync, thread}` and nothing else, so that one source runs with the operating
//! system's threads (as here) and under Raddle (`raddle` mirrors std's names and signatures).

pub use std::{hint, sync, thread};

/// A plain field shared by several tasks without synchronization, like a non-volatile field of a Java object.
///
/// A single access is never torn, but two accesses are not ordered: a race on it is a race of the subject. With
/// std's threads it is kept behind a lock of its own, so that the subject's race stays defined behaviour in Rust.
/// Each access is one of the line that calls it, not of this file.
#[derive(Debug, Default)]
pub struct Shared<T>(std::sync::Mutex<T>);

impl<T: Copy> Shared<T> {
    /// A field with this first value.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Shared(std::sync::Mutex::new(value))
    }

    /// Reads the field.
    #[track_caller]
    pub fn get(&self) -> T {
        *self.0.lock().expect("no panic can happen while a field is read or written")
    }

    /// Writes the field.
    #[track_caller]
    pub fn set(&self, value: T) {
        *self.0.lock().expect("no panic can happen while a field is read or written") = value;
    }

    /// Reads the field, then writes it: two accesses, between which others may come.
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(T) -> T) {
        self.set(change(self.get()));
    }
}
