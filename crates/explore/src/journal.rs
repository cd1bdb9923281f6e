//! The journal of a search in a file: an entry after every run, so that a search that was interrupted, by
//! `kill -9` if need be, goes on where it was and has lost at most the run in flight. What is handed to the
//! kernel outlives the process; only a machine that fails could take it away, so nothing is synced.
//!
//! The file grows by what each run changes. When it is several times as long as the state that it
//! describes, a new one takes its place; and so it does after the first run of a search that goes on, whatever version the
//! old one has.

use raddle_model::hash;
use raddle_wire::journal::{self, Entry, JournalHeader, State};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file below this length is never replaced, and one above it only at so many times the length it began with.
const LENGTH_MIN: u64 = 1 << 20;
const GROWTH_MAX: u64 = 8;

/// Why a journal is of no use. In words, with what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalError(pub String);

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    header: JournalHeader,
    path: PathBuf,
    file: File,
    length: u64,
    // Length of the file when it was last written as a whole; none if a new one is to take its place.
    whole: Option<u64>,
    entry: Entry,
    out: Vec<u8>,
    // Said once; the search goes on without.
    broken: Option<String>,
}

impl Journal {
    /// Opens the journal of a search, or begins one if there is none. The state that it was left in, if it has one.
    ///
    /// # Errors
    /// If the file is no journal, or one of another program, strategy or setting.
    pub fn open(path: &Path, header: JournalHeader) -> Result<(Journal, Option<State>), JournalError> {
        let name = path.display();
        let unwritable = |error: std::io::Error| {
            JournalError(format!("the journal {name} cannot be written: {error}. Name another file"))
        };
        let (state, length) = match fs::read(path) {
            Ok(bytes) => {
                let read = journal::decode(&bytes);
                let (found, state, length) = read.map_err(|error| {
                    JournalError(format!("the journal {name}: {error}. Delete it to begin anew"))
                })?;
                check(&found, &header).map_err(|what| {
                    JournalError(format!("the journal {name} {what}. Delete it to begin anew"))
                })?;
                // Where nothing is to be kept the file begins anew, in the version that is written now.
                let length = if state.is_some() { length as u64 } else { 0 };
                (state, length)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (None, 0),
            Err(error) => {
                return Err(JournalError(format!("the journal {name} cannot be read: {error}")));
            }
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(unwritable)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let mut file = file.map_err(unwritable)?;
        let mut length = length;
        if length == 0 {
            let head = journal::encode_header(&header);
            file.write_all(&head).map_err(unwritable)?;
            length = head.len() as u64;
        }
        // What was cut off is written over.
        file.set_len(length).map_err(unwritable)?;
        file.seek(SeekFrom::Start(length)).map_err(unwritable)?;
        let journal = Journal {
            header,
            path: path.to_owned(),
            file,
            length,
            whole: state.is_none().then_some(length),
            entry: Entry::default(),
            out: Vec::new(),
            broken: None,
        };
        Ok((journal, state))
    }

    /// Writes an entry. `save` puts in what has changed, or everything if it is told so, and says how many parts
    /// there are.
    pub(crate) fn keep(&mut self, save: impl FnOnce(&mut Entry, bool) -> usize) {
        if self.broken.is_some() {
            return;
        }
        let long = |whole: u64| self.length > LENGTH_MIN && self.length > GROWTH_MAX * whole;
        let whole = self.whole.is_none_or(long);
        self.entry.clear();
        self.out.clear();
        let parts = save(&mut self.entry, whole);
        let written = if whole {
            self.replace(parts)
        } else {
            self.entry.write(parts, &mut self.out);
            self.length += self.out.len() as u64;
            self.file.write_all(&self.out)
        };
        if let Err(error) = written {
            self.broken = Some(format!("the journal {} is not kept any more: {error}", self.path.display()));
        }
    }

    /// Puts a file with nothing but this entry in its place.
    fn replace(&mut self, parts: usize) -> std::io::Result<()> {
        self.out.extend_from_slice(&journal::encode_header(&self.header));
        self.entry.write(parts, &mut self.out);
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let mut file = File::create(&beside)?;
        file.write_all(&self.out)?;
        fs::rename(&beside, &self.path)?;
        self.file = file;
        self.length = self.out.len() as u64;
        self.whole = Some(self.length);
        Ok(())
    }

    /// The search is over: there is nothing to go on with.
    pub(crate) fn remove(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            self.broken = Some(format!("the journal {} cannot be removed: {error}", self.path.display()));
        }
    }

    /// What went wrong with it, if anything did.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}

/// A number of a program's bytes, for [`JournalHeader::identity`].
pub fn identity<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    parts.into_iter().fold(0, |number, bytes| {
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        words.fold(hash::mix(number, bytes.len() as u64), hash::mix)
    })
}

/// Whether a journal is one of what is asked for now; if not, what differs.
fn check(found: &JournalHeader, wanted: &JournalHeader) -> Result<(), String> {
    if found.program != wanted.program {
        return Err(format!("is one of {}, not of {}", found.program, wanted.program));
    }
    if found.identity != wanted.identity {
        return Err(String::from(
            "was written by a search through another build of this program: what it knows need not be true of this one",
        ));
    }
    if found.strategy != wanted.strategy {
        return Err(format!("is one of the strategy {}, not of {}", found.strategy, wanted.strategy));
    }
    if found.plan != wanted.plan {
        return Err(String::from(
            "is one of a search under other settings (seed, points, time-outs or bounds)",
        ));
    }
    Ok(())
}
