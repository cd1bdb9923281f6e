//! The directory in which what can be made again is kept: programs built by `raddle run`, what was found out
//! about compilers, the unpacked runtime.

use raddle_model::hash::mix;
use std::io;
use std::path::{Path, PathBuf};

/// Where it is: `RADDLE_CACHE`, or `raddle` in the user's cache.
pub(crate) fn directory() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("RADDLE_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("raddle")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/raddle")))
        .unwrap_or_else(|| std::env::temp_dir().join("raddle-cache"))
}

/// A name for bytes: equal ones have equal names.
pub(crate) fn name(parts: &[&[u8]]) -> String {
    let fold = |start: u64| {
        parts.iter().fold(start, |hash, part| {
            let hash = mix(hash, part.len() as u64);
            part.chunks(8).fold(hash, |hash, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                mix(hash, u64::from_le_bytes(word))
            })
        })
    };
    format!("{:016x}{:016x}", fold(1), fold(2))
}

/// Writes a file as a whole: whoever reads at the same time sees all of it or none.
pub(crate) fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::Write::write_all(&mut file, content)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_contents_apart() {
        assert_eq!(name(&[b"a", b"b"]), name(&[b"a", b"b"]));
        assert_ne!(name(&[b"a", b"b"]), name(&[b"ab"]));
        assert_ne!(name(&[b"a\0"]), name(&[b"a"]));
        assert_ne!(name(&[b"12345678", b""]), name(&[b"", b"12345678"]));
    }

    #[test]
    fn a_file_is_put_with_its_directories() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b");
        put(&path, b"one").unwrap();
        put(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
