//! The native runtime as bytes, so that the `raddle` command is one file that works alone.

/// One object file, to be linked to programs under test. Empty where native programs are not supported.
pub const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/raddle_rt.o"));

/// The same as a shared library, for programs that cannot be linked anew.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/raddle_rt.so"));

/// The names that the runtime defines, one a line.
pub const EXPORTS: &str = include_str!(concat!(env!("OUT_DIR"), "/raddle_rt.exports"));

/// The same for `-Wl,--dynamic-list`: shared libraries bind to us only if the executable exports these names.
pub const DYNAMIC_LIST: &str = include_str!(concat!(env!("OUT_DIR"), "/raddle_rt.list"));
