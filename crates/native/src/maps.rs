//! The mappings of this process, as the kernel lists them.

use crate::sys::{self, nr};

/// Why there is no list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// The kernel does not give it.
    Unreadable,
    /// It is longer than that.
    TooLong,
}

/// Reads the list. How many bytes it has.
pub(crate) fn read(buffer: &mut [u8]) -> Result<usize, Missing> {
    // SAFETY: a path that ends with a zero; the kernel writes into what is left of the buffer.
    unsafe {
        let fd = sys::call3(nr::OPEN, c"/proc/self/maps".as_ptr() as usize, sys::CLOEXEC, 0);
        if fd < 0 {
            return Err(Missing::Unreadable);
        }
        let mut length = 0;
        let result = loop {
            let rest = &mut buffer[length..];
            match sys::call3(nr::READ, fd as usize, rest.as_mut_ptr() as usize, rest.len()) {
                0 if rest.is_empty() => break Err(Missing::TooLong),
                0 => break Ok(length),
                read @ 1.. => length += read as usize,
                _ => break Err(Missing::Unreadable),
            }
        };
        sys::call3(nr::CLOSE, fd as usize, 0, 0);
        result
    }
}

/// A line of `/proc/self/maps`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Writes are possible, and nobody else sees them.
    pub(crate) writable: bool,
    pub(crate) of_file: bool,
}

impl Mapping {
    pub(crate) fn parse(line: &[u8]) -> Option<Mapping> {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let (range, mode) = (words.next()?, words.next()?);
        let inode = words.nth(2)?;
        let dash = range.iter().position(|&byte| byte == b'-')?;
        let (start, end) = (hexadecimal(&range[..dash])?, hexadecimal(&range[dash + 1..])?);
        let writable = mode.get(1) == Some(&b'w') && mode.get(3) == Some(&b'p');
        Some(Mapping { start, end, writable, of_file: inode != b"0" })
    }
}

fn hexadecimal(text: &[u8]) -> Option<usize> {
    text.iter().try_fold(0, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)? as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read() {
        let line = b"7f0a2c000000-7f0a2c021000 rw-p 00001000 fd:00 12345   /usr/lib/libc.so.6";
        let mapping =
            Mapping { start: 0x7f0a_2c00_0000, end: 0x7f0a_2c02_1000, writable: true, of_file: true };
        assert_eq!(Mapping::parse(line), Some(mapping));
        let shared = b"7f0a2c000000-7f0a2c021000 rw-s 00000000 00:01 7 /dev/zero (deleted)";
        assert!(!Mapping::parse(shared).unwrap().writable);
        let stack = b"7ffc1000-7ffc2000 rw-p 00000000 00:00 0                          [stack]";
        assert!(!Mapping::parse(stack).unwrap().of_file);
        assert_eq!(Mapping::parse(b""), None);
    }
}
