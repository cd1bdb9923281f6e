//! Descriptors that a program names by a path. What the kernel says of one that stands for a connection here is not true.

use super::number;
use crate::reset::reach::can_be_read;
use crate::sys::nr;

/// Whether a call is about what has the name of a descriptor, or of what the kernel tells of one.
pub(super) fn names_descriptor(number: usize, args: &[usize; 6]) -> bool {
    let path = match number {
        nr::OPEN | number::STAT | number::LSTAT | number::READLINK => args[0],
        number::OPENAT | nr::NEWFSTATAT | number::READLINKAT | number::STATX => args[1],
        _ => return false,
    };
    let mut name = [0; 32];
    for (at, byte) in name.iter_mut().enumerate() {
        let from = path.wrapping_add(at);
        if !can_be_read(from, 1) {
            break;
        }
        // SAFETY: the program's byte, which can be read.
        *byte = unsafe { *(from as *const u8) };
        if *byte == 0 {
            break;
        }
    }
    is_of_descriptor(&name)
}

/// Whether a name that begins so is one of these.
fn is_of_descriptor(name: &[u8]) -> bool {
    name.starts_with(b"/dev/fd") || name.starts_with(b"/proc/") && name.windows(3).any(|part| part == b"/fd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_descriptors_are_told_from_others() {
        for name in [c"/proc/self/fd/3", c"/proc/4194304/fdinfo/17", c"/dev/fd/3"] {
            assert!(names_descriptor(nr::OPEN, &[name.as_ptr() as usize, 0, 0, 0, 0, 0]), "{name:?}");
            assert!(names_descriptor(nr::NEWFSTATAT, &[0, name.as_ptr() as usize, 0, 0, 0, 0]), "{name:?}");
            assert!(!names_descriptor(nr::CLOSE, &[name.as_ptr() as usize, 0, 0, 0, 0, 0]), "{name:?}");
        }
        for name in [c"/proc/self/maps", c"/tmp/fd", c"", c"fd"] {
            assert!(!names_descriptor(nr::OPEN, &[name.as_ptr() as usize, 0, 0, 0, 0, 0]), "{name:?}");
        }
        assert!(!names_descriptor(nr::OPEN, &[8, 0, 0, 0, 0, 0]));
    }
}
