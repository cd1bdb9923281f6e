//! Code in large pages. The runtime's code is about a hundred pages that every run comes to, and the kernel copies an entry for
//! each of them when it makes a copy of the process; in pages of two megabytes it is one. So code that begins where
//! such a page can begin, and with `raddle cc` that of the executable does, is laid there once more.
//!
//! It is then memory of this process, no longer of the file. Nobody may write to it again: that would tear the page.

use crate::code::{Code, Stretch};
use crate::sys::{self, nr};
use core::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const LARGE: usize = 2 << 20;

/// Less code is not worth it, and more would take more memory than it saves time.
const SIZES: core::ops::Range<usize> = 32 << 12..16 * LARGE;

/// Where the code begins that is in large pages; 0 if there is none.
static BEGIN: AtomicUsize = AtomicUsize::new(0);

/// Whether code that begins there is in large pages.
pub(crate) fn is_begin(address: usize) -> bool {
    BEGIN.load(Ordering::Relaxed) == address
}

/// In the server, on its only thread, while nobody else has its memory.
pub(crate) fn lay() {
    Code::find().each(|_, stretch| {
        if stretch.is_executable() && BEGIN.load(Ordering::Relaxed) == 0 && lay_again(stretch) {
            BEGIN.store(stretch.range().start, Ordering::Relaxed);
        }
    });
}

/// Whether it is in large pages now. If not, nothing has changed.
fn lay_again(stretch: &Stretch) -> bool {
    let code = stretch.range();
    let size = code.len().next_multiple_of(LARGE);
    if !code.start.is_multiple_of(LARGE) || !SIZES.contains(&code.len()) {
        return false;
    }
    let rest = code.end..code.start + size;
    if !rest.is_empty() && !sys::reserve(rest.start, rest.len()) {
        return false;
    }
    let done = copied(code.start, code.len(), size);
    if !done && !rest.is_empty() {
        // SAFETY: it was reserved just now.
        unsafe { sys::unmap(rest.start as *mut u8, rest.len()) };
    }
    done
}

/// Makes large pages with the same code, and puts them in the place of the old ones.
fn copied(code: usize, length: usize, size: usize) -> bool {
    const COLLAPSE: usize = 25;
    const READ_EXECUTE: usize = 5;
    const MOVE_THERE: usize = 3;
    let room = sys::map(size + LARGE, false) as usize;
    if room == 0 {
        return false;
    }
    let copy = room.next_multiple_of(LARGE);
    // SAFETY: the room is ours. What is moved there is what was there, at one stroke: we may be running in it.
    unsafe {
        core::ptr::copy_nonoverlapping(code as *const u8, copy as *mut u8, length);
        let moved = sys::call3(nr::MADVISE, copy, size, COLLAPSE) == 0
            && sys::call3(nr::MPROTECT, copy, size, READ_EXECUTE) == 0
            && sys::call(nr::MREMAP, [copy, size, size, MOVE_THERE, code, 0]) as usize == code;
        // What is moved away is no more where it was, and whoever maps something next may get it.
        if copy > room {
            sys::unmap(room as *mut u8, copy - room);
        }
        let behind = if moved { copy + size } else { copy };
        sys::unmap(behind as *mut u8, room + size + LARGE - behind);
        moved
    }
}
