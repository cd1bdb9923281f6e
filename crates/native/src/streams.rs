//! What the streams of libc have not written yet. To have libc write it all (`fflush(NULL)`) is dear where there is nothing to
//! write: it takes locks, and every page that a copy of the process writes to has to be copied.

use core::ffi::c_void;

/// A stream, as glibc has laid it out ever since programs know it.
#[repr(C)]
struct Stream {
    flags: i32,
    reads: [usize; 3],
    write_base: usize,
    write_upto: usize,
    rest: [usize; 7],
    next: *const Stream,
    more: [usize; 10],
    /// Above 0 if it is of wide characters, which lie elsewhere.
    mode: i32,
}

unsafe extern "C" {
    fn fflush(stream: *mut c_void) -> i32;
    static _IO_list_all: *const Stream;
}

/// Writes what is buffered.
///
/// # Safety
/// Nobody else uses streams at the moment.
pub(crate) unsafe fn flush() {
    // SAFETY: libc's list of all streams, which nobody changes; and all of them.
    unsafe {
        let mut stream = _IO_list_all;
        while !stream.is_null() {
            let it = &*stream;
            if it.mode > 0 || it.write_upto > it.write_base {
                fflush(core::ptr::null_mut());
                return;
            }
            stream = it.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
        fn fputs(text: *const c_char, stream: *mut c_void) -> c_int;
        fn fputwc(character: u32, stream: *mut c_void) -> u32;
        fn fclose(stream: *mut c_void) -> c_int;
        fn tmpfile() -> *mut c_void;
        fn fileno(stream: *mut c_void) -> c_int;
        fn lseek(fd: c_int, offset: i64, from: c_int) -> i64;
    }

    /// How long a file is.
    fn size(stream: *mut c_void) -> i64 {
        // SAFETY: an open file.
        unsafe { lseek(fileno(stream), 0, 2) }
    }

    #[test]
    fn what_is_buffered_is_written_wherever_it_is() {
        // SAFETY: files of our own.
        unsafe {
            let (narrow, wide) = (tmpfile(), tmpfile());
            let idle = fopen(c"/dev/null".as_ptr(), c"r".as_ptr());
            assert!(fputs(c"seven b".as_ptr(), narrow) >= 0);
            assert_eq!(size(narrow), 0);
            flush();
            assert_eq!(size(narrow), 7);
            assert_eq!(fputwc(u32::from(b'x'), wide), u32::from(b'x'));
            assert_eq!(size(wide), 0);
            flush();
            assert_eq!(size(wide), 1);
            for stream in [narrow, wide, idle] {
                fclose(stream);
            }
        }
    }
}
