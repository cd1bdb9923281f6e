//! Raddle: what people and other tools read
