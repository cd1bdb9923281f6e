//! Raddle: what people and other tools read

#[cfg(feature = "plot")]
pub mod plot;
