//! From an offset in code to functions, files and lines.

use crate::dwarf::{Reader, text};
use addr2line::Context;
use std::borrow::Cow;

/// A function that was running.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Frame {
    /// Its name as in the source; empty if unknown.
    pub function: String,
    /// The file that the debug information names, as an absolute path where it can tell. With `#line` that is
    /// what the directive says, which may be a file that does not exist here. Empty if unknown.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// The file that the compiler was given: with `#line`, includes or generated code it is not `file`.
    pub unit: String,
}

impl Frame {
    /// Whether file and line are known.
    pub fn has_line(&self) -> bool {
        !self.file.is_empty() && self.line > 0
    }
}

/// The frames at an offset, innermost first.
pub(crate) fn frames(context: &Context<Reader>, offset: u64) -> Vec<Frame> {
    // The library adds one to what it looks for.
    if offset == u64::MAX {
        return Vec::new();
    }
    let unit = unit(context, offset);
    let Ok(mut found) = context.find_frames(offset).skip_all_loads() else { return Vec::new() };
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = found.next() {
        let function = frame.function.and_then(|name| name.demangle().map(Cow::into_owned).ok());
        let (file, line, column) = match frame.location {
            Some(at) => (at.file.unwrap_or_default(), at.line.unwrap_or(0), at.column.unwrap_or(0)),
            None => ("", 0, 0),
        };
        let function = function.unwrap_or_default();
        frames.push(Frame { function, file: plain(file), line, column, unit: unit.clone() });
    }
    frames
}

/// What the compiler was given.
fn unit(context: &Context<Reader>, offset: u64) -> String {
    let Some(unit) = context.find_dwarf_and_unit(offset).skip_all_loads() else { return String::new() };
    let name = unit.name.as_ref().map(text).unwrap_or_default();
    let directory = unit.comp_dir.as_ref().map(text).unwrap_or_default();
    if name.is_empty() || name.starts_with('/') || directory.is_empty() {
        return plain(&name);
    }
    plain(&format!("{directory}/{name}"))
}

/// A path without `.`, `..` and doubled slashes, so that equal files have equal names.
pub(crate) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// A linker's name as in the source.
pub(crate) fn demangled(name: &str) -> String {
    // The version of a dynamic symbol is no part of its name.
    let name = name.split('@').next().unwrap_or(name);
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_have_equal_names() {
        let paths = ["/a/b/../c.c", "/a/./c.c", "/a//c.c", "/../a/c.c"].map(plain);
        assert!(paths.iter().all(|path| path == "/a/c.c"), "{paths:?}");
        assert_eq!(["", "a.c", "../a.c", "b/../../a.c"].map(plain), ["", "a.c", "../a.c", "../a.c"]);
    }

    #[test]
    fn names_are_those_of_the_source() {
        let names =
            ["_ZN4bank7depositEi", "main", "memcpy@@GLIBC_2.14", "_ZN4core3ptr4read17h0123456789abcdefE"];
        assert_eq!(names.map(demangled), ["bank::deposit(int)", "main", "memcpy", "core::ptr::read"]);
    }
}
