//! What people and tools read, on hand-made runs.

mod large;
#[cfg(feature = "json")]
mod other;
mod robust;
mod script;
mod stories;
mod text;
