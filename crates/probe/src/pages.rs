//! Which pages were written: userfaultfd's asynchronous write protection, and the scan that collects its marks.

use crate::failed;
use core::ffi::c_void;
use core::mem::size_of;

const PAGE: usize = 4096;
const PAGES: usize = 4;

const UFFD_USER_MODE_ONLY: i32 = 1;
const UFFD_API: u64 = 0xaa;
/// Write protection that gives way by itself (Linux 6.7), also of pages that were never touched.
const FEATURES: u64 = 1 << 15 | 1 << 13;
const MODE_WRITE_PROTECT: u64 = 2;

const PAGE_IS_WRITTEN: u64 = 1 << 1;
const PM_SCAN_WP_MATCHING: u64 = 1 << 0;
const PM_SCAN_CHECK_WPASYNC: u64 = 1 << 1;

/// `_IOWR`: an ioctl that reads and writes its argument.
const fn iowr<T>(kind: u64, number: u64) -> u64 {
    3 << 30 | (size_of::<T>() as u64) << 16 | kind << 8 | number
}

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// Some pages whose writes are noted.
struct Watched {
    start: *mut u8,
}

impl Watched {
    fn new() -> Result<Watched, String> {
        // SAFETY: fresh memory, and descriptors that nobody else has; the structures are as the kernel lays them out.
        unsafe {
            let start = libc::mmap(
                core::ptr::null_mut(),
                PAGES * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if start == libc::MAP_FAILED {
                return Err(failed("mmap"));
            }
            let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | UFFD_USER_MODE_ONLY;
            let fd = libc::syscall(libc::SYS_userfaultfd, flags) as i32;
            if fd < 0 {
                return Err(failed("userfaultfd"));
            }
            let mut api = [UFFD_API, FEATURES, 0];
            if libc::ioctl(fd, iowr::<[u64; 3]>(UFFD_API, 0x3f), api.as_mut_ptr()) != 0 {
                return Err(failed("userfaultfd without asynchronous write protection (needs Linux 6.7)"));
            }
            let mut register = [start as u64, (PAGES * PAGE) as u64, MODE_WRITE_PROTECT, 0];
            if libc::ioctl(fd, iowr::<[u64; 4]>(UFFD_API, 0), register.as_mut_ptr()) != 0 {
                return Err(failed("userfaultfd: memory cannot be registered"));
            }
            let mut protect = [start as u64, (PAGES * PAGE) as u64, 1];
            if libc::ioctl(fd, iowr::<[u64; 3]>(UFFD_API, 6), protect.as_mut_ptr()) != 0 {
                return Err(failed("userfaultfd: memory cannot be write-protected"));
            }
            Ok(Watched { start: start.cast() })
        }
    }

    fn write(&self, page: usize) {
        // SAFETY: within the pages. The protection gives way.
        unsafe { self.start.add(page * PAGE).write_volatile(1) };
    }
}

pub(crate) fn userfaultfd() -> Result<String, String> {
    let watched = Watched::new()?;
    watched.write(1);
    Ok(String::from("a write to protected memory went through"))
}

pub(crate) fn pagemap_scan() -> Result<String, String> {
    let watched = Watched::new()?;
    watched.write(1);
    watched.write(2);
    // SAFETY: a path that ends with a null.
    let fd = unsafe { libc::open(c"/proc/self/pagemap".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(failed("/proc/self/pagemap"));
    }
    let mut regions = [Region::default(); PAGES];
    let start = watched.start as u64;
    let mut scan = Scan {
        size: size_of::<Scan>() as u64,
        flags: PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
        start,
        end: start + (PAGES * PAGE) as u64,
        regions: regions.as_mut_ptr() as u64,
        regions_len: PAGES as u64,
        category_mask: PAGE_IS_WRITTEN,
        return_mask: PAGE_IS_WRITTEN,
        ..Scan::default()
    };
    // SAFETY: the structure is as the kernel lays it out, and the regions are there.
    let count =
        unsafe { libc::ioctl(fd, iowr::<Scan>(u64::from(b'f'), 16), (&raw mut scan).cast::<c_void>()) };
    if count < 0 {
        return Err(failed("PAGEMAP_SCAN (needs Linux 6.7)"));
    }
    let page = |number: u64| start + number * PAGE as u64;
    if count != 1 || (regions[0].start, regions[0].end) != (page(1), page(3)) {
        return Err(format!("two pages were written, and the scan gives {count} regions"));
    }
    Ok(String::from("the two pages that were written were found"))
}
