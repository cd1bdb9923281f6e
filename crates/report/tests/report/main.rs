//! What people and tools read, on hand-made runs.

#[cfg(feature = "json")]
mod other;
mod script;
mod stories;
mod text;
