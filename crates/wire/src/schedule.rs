//! The schedule string: everything that a recorded run needs to be repeated, short enough to be
//! printed, mailed and typed. `r1.` and then, in base64url, these bytes:
//!
//! | what | how |
//! |---|---|
//! | flags | a varint, see [`Flags`] |
//! | spurious wake-ups, step bound | varints; left out at their defaults |
//! | racing accesses that are points | count, then 4 bytes for each [`SiteKey`]; left out if none |
//! | decisions | see `pack.rs` |
//! | checks | count, then 4 bytes each |
//! | fingerprint | 16 bytes; left out if nobody recorded it |
//! | CRC-32 of the prefix and all of this | 4 bytes: tells a mistyped string from a run that diverges |

use crate::error::{What, WireError};
use crate::pack::{self, Reader, Unpack, put_varint};
use crate::sites::SiteKey;
use crate::version::ScheduleVersion;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::engine::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use raddle_model::{Plan, PointSet, Schedule, SiteId, SpinMode, Tail, TimeMode};

/// The step bound that is not written. A constant of this format, whatever the model's default is.
const STEPS_MAX_DEFAULT: u64 = 1_000_000;

/// The longest string in which a wrong character is looked for, in characters.
const MEND_MAX: usize = 1_000;

/// The first number. What is set often is below bit 7, so that it mostly takes one byte.
struct Flags;

impl Flags {
    const FINGERPRINT: u64 = 1;
    const ALL_ACCESSES: u64 = 1 << 1;
    const RELEASES: u64 = 1 << 2;
    const ACCESSES: u64 = 1 << 3;
    const LAZY_TIME: u64 = 1 << 4;
    const SPURIOUS: u64 = 1 << 5;
    const STEPS_MAX: u64 = 1 << 6;
    const SPIN_OFF: u64 = 1 << 7;
    const SPAWNS: u64 = 1 << 8;
    const ALL: u64 = (1 << 9) - 1;
}

/// The string of a recorded run: `plan` says under which conditions it ran, and its prefix is the
/// whole schedule. Seed and tail are left out, since nothing is left to be decided by them.
pub fn encode(plan: &Plan, key: impl FnMut(SiteId) -> SiteKey) -> String {
    let prefix = format!("r{}.", ScheduleVersion::CURRENT.0);
    let mut bytes = payload(plan, key);
    let crc = checksum(&prefix, &bytes);
    bytes.extend_from_slice(&crc);
    prefix + &URL_SAFE_NO_PAD.encode(bytes)
}

fn payload(plan: &Plan, key: impl FnMut(SiteId) -> SiteKey) -> Vec<u8> {
    let Plan { prefix, points, time, spin, spurious_max, steps_max, seed: _, tail: _ } = plan;
    let flag = |bit: u64, set: bool| if set { bit } else { 0 };
    let flags = flag(Flags::ALL_ACCESSES, points.all_accesses)
        | flag(Flags::RELEASES, points.releases)
        | flag(Flags::SPAWNS, points.spawns)
        | flag(Flags::LAZY_TIME, *time == TimeMode::Lazy)
        | flag(Flags::SPIN_OFF, *spin == SpinMode::Off)
        | flag(Flags::ACCESSES, !points.accesses.is_empty())
        | flag(Flags::SPURIOUS, *spurious_max != 0)
        | flag(Flags::STEPS_MAX, *steps_max != STEPS_MAX_DEFAULT)
        | flag(Flags::FINGERPRINT, prefix.fingerprint != 0);
    let mut out = Vec::new();
    put_varint(&mut out, flags);
    if *spurious_max != 0 {
        put_varint(&mut out, u64::from(*spurious_max));
    }
    if *steps_max != STEPS_MAX_DEFAULT {
        put_varint(&mut out, *steps_max);
    }
    if !points.accesses.is_empty() {
        // Sorted by key, so that the string does not depend on the numbers of one process.
        let mut keys: Vec<SiteKey> = points.accesses.iter().copied().map(key).collect();
        keys.sort_unstable();
        put_words(&mut out, keys.iter().map(|key| key.0));
    }
    pack::put_decisions(&mut out, &prefix.decisions);
    put_words(&mut out, prefix.checks.iter().copied());
    if prefix.fingerprint != 0 {
        out.extend_from_slice(&prefix.fingerprint.to_le_bytes());
    }
    out
}

/// The plan that repeats the run of a schedule string. White space around and within it is left
/// out, since terminals and mail wrap lines. `site` gives the process's own number for a site.
pub fn decode(text: &str, site: impl FnMut(SiteKey) -> SiteId) -> Result<Plan, WireError> {
    const WHAT: What = What::Schedule;
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (version, body) = split(&text).ok_or(WireError::NotOurs { what: WHAT })?;
    version.check_readable_by(ScheduleVersion::CURRENT)?;
    let prefix = &text[..text.len() - body.len()];
    if let Some(at) = body.bytes().position(|byte| !is_symbol(byte)) {
        let odd = body[at..].chars().next().unwrap_or('?');
        return Err(WireError::Damaged {
            what: WHAT,
            at: Some(prefix.len() + at + 1),
            why: format!("`{odd}` is no character of a schedule"),
        });
    }
    let truncated = WireError::Truncated { what: WHAT };
    let bytes = match URL_SAFE_NO_PAD.decode(body) {
        Ok(bytes) if bytes.len() > 4 => bytes,
        Ok(_) => return Err(truncated),
        Err(_) => return Err(mended(prefix, body).unwrap_or(truncated)),
    };
    let (payload, crc) = bytes.split_at(bytes.len() - 4);
    if checksum(prefix, payload) == crc {
        return parse(payload, site).map_err(|why| WireError::Damaged {
            what: WHAT,
            at: None,
            why: String::from(match why {
                Unpack::End => "it ends too early",
                Unpack::Nonsense(why) => why,
            }),
        });
    }
    if let Some(error) = mended(prefix, body) {
        return Err(error);
    }
    // The sum does not fit. If its own lengths ask for more than is there, the end is missing.
    Err(match parse(payload, |_| SiteId::UNKNOWN) {
        Err(Unpack::End) => truncated,
        _ => WireError::Damaged {
            what: WHAT,
            at: None,
            why: String::from("its checksum does not fit: copy it again, all of it"),
        },
    })
}

/// Whether a text is meant to be a schedule string rather than the name of a file.
pub fn looks_like(text: &str) -> bool {
    let text = text.trim();
    !text.ends_with(".raddle") && split(text).is_some()
}

/// Version and body.
fn split(text: &str) -> Option<(ScheduleVersion, &str)> {
    let (version, body) = text.strip_prefix('r')?.split_once('.')?;
    let plain = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let version = plain.then(|| version.parse().unwrap_or(u16::MAX))?;
    Some((ScheduleVersion(version), body))
}

fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn checksum(prefix: &str, payload: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(prefix.as_bytes());
    hasher.update(payload);
    hasher.finalize().to_le_bytes()
}

/// If changing one character makes the checksum fit, that one was mistyped: says which.
fn mended(prefix: &str, body: &str) -> Option<WireError> {
    if body.len() > MEND_MAX {
        return None;
    }
    let mut attempt = Vec::from(body.as_bytes());
    for at in 0..attempt.len() {
        let original = attempt[at];
        for byte in (b'-'..=b'z').filter(|&byte| is_symbol(byte) && byte != original) {
            attempt[at] = byte;
            if let Ok(bytes) = URL_SAFE_NO_PAD.decode(&attempt)
                && let Some((payload, crc)) = bytes.split_last_chunk::<4>()
                && checksum(prefix, payload) == *crc
            {
                return Some(WireError::Damaged {
                    what: What::Schedule,
                    at: Some(prefix.len() + at + 1),
                    why: format!("`{}` should probably be `{}`", char::from(original), char::from(byte)),
                });
            }
        }
        attempt[at] = original;
    }
    None
}

fn parse(payload: &[u8], site: impl FnMut(SiteKey) -> SiteId) -> Result<Plan, Unpack> {
    let mut reader = Reader { rest: payload };
    let flags = reader.varint()?;
    if flags & !Flags::ALL != 0 {
        return Err(Unpack::Nonsense("it has flags that do not exist"));
    }
    let has = |bit: u64| flags & bit != 0;
    let spurious_max = if has(Flags::SPURIOUS) { reader.varint_u32()? } else { 0 };
    let steps_max = if has(Flags::STEPS_MAX) { reader.varint()? } else { STEPS_MAX_DEFAULT };
    let mut accesses: Vec<SiteId> = if has(Flags::ACCESSES) {
        let keys = take_words(&mut reader)?;
        keys.into_iter().map(SiteKey).map(site).collect()
    } else {
        Vec::new()
    };
    accesses.sort_unstable();
    let decisions = pack::take_decisions(&mut reader)?;
    let checks = take_words(&mut reader)?;
    let fingerprint = if has(Flags::FINGERPRINT) { u128::from_le_bytes(reader.bytes()?) } else { 0 };
    if !reader.rest.is_empty() {
        return Err(Unpack::Nonsense("there is more than there should be"));
    }
    let prefix = Schedule { decisions, checks, fingerprint };
    let points = PointSet {
        all_accesses: has(Flags::ALL_ACCESSES),
        releases: has(Flags::RELEASES),
        spawns: has(Flags::SPAWNS),
        accesses,
    };
    let time = if has(Flags::LAZY_TIME) { TimeMode::Lazy } else { TimeMode::Any };
    let spin = if has(Flags::SPIN_OFF) { SpinMode::Off } else { SpinMode::Park };
    Ok(Plan { seed: 0, prefix, tail: Tail::None, points, time, spin, spurious_max, steps_max })
}

fn put_words(out: &mut Vec<u8>, words: impl ExactSizeIterator<Item = u32>) {
    put_varint(out, words.len() as u64);
    words.for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

fn take_words(reader: &mut Reader<'_>) -> Result<Vec<u32>, Unpack> {
    let count = reader.varint()?;
    // A count that lies runs out of bytes before it runs out of memory.
    (0..count).map(|_| reader.bytes().map(u32::from_le_bytes)).collect()
}
