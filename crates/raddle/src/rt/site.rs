//! Sites of the library front end. A `&'static Location` lies in the program's image, so its
//! distance from an anchor in the same image is a number that costs nothing to make, fits 32 bits
//! and is the same in every run and every process of the same binary.

use raddle_model::SiteId;
use std::panic::Location;

static ANCHOR: u8 = 0;

/// The site of a caller.
#[inline]
pub(crate) fn site(location: &'static Location<'static>) -> SiteId {
    let distance = (&raw const *location as usize).wrapping_sub(&raw const ANCHOR as usize) as isize;
    match i32::try_from(distance) {
        Ok(distance) => SiteId(distance as u32),
        // A location in another module, too far away to name.
        Err(_) => SiteId::UNKNOWN,
    }
}

/// The site of whoever called a `#[track_caller]` function.
macro_rules! here {
    () => {
        $crate::rt::site::site(::std::panic::Location::caller())
    };
}
pub(crate) use here;

/// Where a site is.
///
/// # Safety
/// The site must come from [`site`] in this process, not from a file.
pub(crate) unsafe fn location(site: SiteId) -> Option<&'static Location<'static>> {
    if site == SiteId::UNKNOWN {
        return None;
    }
    let address = (&raw const ANCHOR as usize).wrapping_add_signed(site.0 as i32 as isize);
    // SAFETY: `site` made this number from a `&'static Location` of this process and the same anchor.
    Some(unsafe { &*(address as *const Location<'static>) })
}
