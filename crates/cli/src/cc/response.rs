//! Response files: `@FILE` on a compiler's command line stands for the words in that file.

use crate::problem::Problem;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Files within files; more than that is a file that names itself.
const DEPTH_MAX: usize = 64;

/// Bytes of arguments beyond which a command gets them in a file: far below what any kernel takes.
const LENGTH_MAX: usize = 96 * 1024;

/// The command line with every response file put in its place. As compilers do, an `@FILE` that cannot be read
/// is left as it is.
pub(super) fn expand(words: Vec<OsString>) -> Result<Vec<OsString>, Problem> {
    let mut out = Vec::new();
    for word in words {
        put(word, &mut out, DEPTH_MAX)?;
    }
    Ok(out)
}

fn put(word: OsString, out: &mut Vec<OsString>, depth: usize) -> Result<(), Problem> {
    let Some(name) = word.as_bytes().strip_prefix(b"@") else {
        out.push(word);
        return Ok(());
    };
    let Ok(content) = std::fs::read(Path::new(OsStr::from_bytes(name))) else {
        out.push(word);
        return Ok(());
    };
    if depth == 0 {
        return Err(Problem::new(
            format!("response files are nested too deep at {}", word.display()),
            "does the file name itself?",
        ));
    }
    split(&content).into_iter().try_for_each(|word| put(word, out, depth - 1))
}

/// The words of a response file: separated by white space, with quotes of both kinds, and a backslash before any
/// character that is to stand for itself.
fn split(content: &[u8]) -> Vec<OsString> {
    let (mut words, mut word) = (Vec::new(), None::<Vec<u8>>);
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(byte),
            b'"' | b'\'' => {
                quote = Some(byte);
                // Two quotes with nothing between them are an empty word.
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Words as a command can take them: as they are, or as a response file in that directory if there are many.
pub(super) fn shortened(
    words: Vec<OsString>,
    directory: &Path,
    name: &str,
) -> std::io::Result<Vec<OsString>> {
    if words.iter().map(|word| word.len() + 1).sum::<usize>() <= LENGTH_MAX {
        return Ok(words);
    }
    let path = directory.join(name);
    std::fs::write(&path, joined(&words))?;
    let mut word = OsString::from("@");
    word.push(path);
    Ok(vec![word])
}

fn joined(words: &[OsString]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words {
        out.push(b'"');
        for byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.extend(b"\"\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn words_are_split_as_compilers_do() {
        let text = b"-c 'a b.c'\n-DX=\\\"y\\\" \"it's\" -I\"in clude\"\t'' last\\ word\n";
        let expected = ["-c", "a b.c", "-DX=\"y\"", "it's", "-Iin clude", "", "last word"];
        assert_eq!(split(text), words(&expected));
    }

    #[test]
    fn what_is_joined_splits_into_the_same_words() {
        let list = words(&["a b", "c\"d", "e\\f", "", "g\nh", "'"]);
        assert_eq!(split(&joined(&list)), list);
    }

    #[test]
    fn files_in_files_are_expanded_and_missing_ones_left() {
        let directory = tempfile::tempdir().unwrap();
        let (inner, outer) = (directory.path().join("inner"), directory.path().join("outer"));
        std::fs::write(&inner, "-g a.c").unwrap();
        std::fs::write(&outer, format!("-c @{}", inner.display())).unwrap();
        let list = words(&["-v", &format!("@{}", outer.display()), "@no/such/file"]);
        assert_eq!(expand(list).unwrap(), words(&["-v", "-c", "-g", "a.c", "@no/such/file"]));
        std::fs::write(&inner, format!("@{}", inner.display())).unwrap();
        assert!(expand(words(&[&format!("@{}", inner.display())])).is_err());
    }

    #[test]
    fn many_words_go_into_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let few = words(&["-c", "a.c"]);
        assert_eq!(shortened(few.clone(), directory.path(), "r").unwrap(), few);
        let many: Vec<OsString> = (0..30_000).map(|n| OsString::from(format!("file {n}.o"))).collect();
        let short = shortened(many.clone(), directory.path(), "r").unwrap();
        assert_eq!(short.len(), 1);
        assert_eq!(expand(short).unwrap(), many);
    }
}
