//! What binary formats have around them: a line that says what it is and which version, a note
//! for people who look with `head`, then length, checksum and content.
//!
//! ```text
//! raddle-failure 1⏎
//! deadlock: …⏎                  any number of lines
//! \0 length(u32) crc32(u32) content
//! ```
//! The checksum covers everything but itself.

use crate::error::{What, WireError};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

fn magic(what: What) -> &'static str {
    match what {
        What::Schedule => "raddle-schedule ",
        What::Plan => "raddle-plan ",
        What::Failure => "raddle-failure ",
        What::Report => "raddle-report ",
        What::Hapset => "raddle-hapset ",
        What::Journal => "raddle-journal ",
    }
}

/// Puts the envelope around `content`.
pub(crate) fn seal(what: What, version: u16, note: &[String], content: &[u8]) -> Vec<u8> {
    let room = |line: &String| line.len() + 1;
    let mut out = Vec::with_capacity(HEAD_MAX + note.iter().map(room).sum::<usize>() + content.len());
    out.extend_from_slice(magic(what).as_bytes());
    decimal(version, &mut out);
    out.push(b'\n');
    for line in note {
        // One line each, and never the byte that ends the note.
        let clean = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        out.extend_from_slice(clean.collect::<String>().as_bytes());
        out.push(b'\n');
    }
    out.push(0);
    let length = u32::try_from(content.len()).expect("raddle bug: a file of more than 4 GB");
    out.extend_from_slice(&length.to_le_bytes());
    let crc = checksum(&out, content);
    out.extend_from_slice(&crc);
    out.extend_from_slice(content);
    out
}

/// Bytes around note and content, at most.
const HEAD_MAX: usize = 32;

/// Formatting would take longer than all the rest of a report.
fn decimal(number: u16, out: &mut Vec<u8>) {
    if number >= 10 {
        decimal(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}

/// Version and content of what is in the envelope. `readable` says whether a version is.
pub(crate) fn open(
    what: What,
    bytes: &[u8],
    readable: impl FnOnce(u16) -> Result<(), WireError>,
) -> Result<(u16, &[u8]), WireError> {
    let (version, content, end) = open_front(what, bytes, readable)?;
    if bytes.len() > end {
        return Err(damaged(what, end, "there is more after it"));
    }
    Ok((version, content))
}

/// The same where more may follow; also, where the envelope ends.
pub(crate) fn open_front(
    what: What,
    bytes: &[u8],
    readable: impl FnOnce(u16) -> Result<(), WireError>,
) -> Result<(u16, &[u8], usize), WireError> {
    let truncated = WireError::Truncated { what };
    let magic = magic(what).as_bytes();
    let Some(rest) = bytes.strip_prefix(magic) else {
        let cut = !bytes.is_empty() && magic.starts_with(bytes);
        return Err(if cut { truncated } else { WireError::NotOurs { what } });
    };
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or(truncated.clone())?;
    let version = core::str::from_utf8(&rest[..end]).ok();
    let version = version.and_then(|digits| digits.parse().ok());
    let version = version.ok_or(WireError::NotOurs { what })?;
    readable(version)?;
    let nul = bytes.iter().position(|&byte| byte == 0);
    let start = nul.ok_or(truncated.clone())? + 1;
    let (length, rest) = bytes[start..].split_first_chunk::<4>().ok_or(truncated.clone())?;
    let (crc, content) = rest.split_first_chunk::<4>().ok_or(truncated.clone())?;
    let length = u32::from_le_bytes(*length) as usize;
    let Some(content) = content.get(..length) else { return Err(truncated) };
    if checksum(&bytes[..start + 4], content) != *crc {
        let why = String::from("its checksum does not fit");
        return Err(WireError::Damaged { what, at: None, why });
    }
    Ok((version, content, start + 8 + length))
}

/// The content as the mirror type of its version. It passed the checksum, so whatever is wrong
/// with it was written that way.
pub(crate) fn parse<'a, T: serde::Deserialize<'a>>(what: What, content: &'a [u8]) -> Result<T, WireError> {
    match postcard::take_from_bytes(content) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(damaged(what, content.len() - rest.len(), "its content ends before it should")),
        Err(error) => {
            Err(WireError::Damaged { what, at: None, why: format!("its content cannot be read ({error})") })
        }
    }
}

pub(crate) fn damaged(what: What, at: usize, why: &str) -> WireError {
    WireError::Damaged { what, at: Some(at), why: String::from(why) }
}

fn checksum(head: &[u8], content: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(content);
    hasher.finalize().to_le_bytes()
}
