//! Sites: where in the program an operation stands. A number that is the same in every process which runs
//! the same files: which of the loaded modules, and how far from its beginning.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use raddle_model::SiteId;

/// Bits of a site that are the offset; the rest is the number of the module. The controller takes a site
/// apart by the same number.
pub const OFFSET_BITS: u32 = 26;

/// Bits of a site that are in use; the highest is free for others to mark it.
const SITE_BITS: u32 = 31;

/// Most modules that can be told apart.
const MODULES_MAX: usize = 1 << (SITE_BITS - OFFSET_BITS);

/// A loaded file.
#[derive(Clone, Debug)]
pub struct Module {
    base: usize,
    start: usize,
    end: usize,
    /// Its path; empty for the executable.
    pub path: String,
}

/// All loaded files, the executable first.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    /// Each run has them, and none changes them.
    all: Rc<[Module]>,
    // Of the executable: where it begins, and up to which offset there are sites.
    base: usize,
    extent: usize,
}

#[repr(C)]
struct Header {
    address: usize,
    name: *const c_char,
    segments: *const Segment,
    count: u16,
}

/// A part of a module, as the file says.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    file_size: u64,
    memory_size: u64,
    align: u64,
}

const LOADED: u32 = 1;
/// What the loader writes once and then protects.
const PROTECTED: u32 = 0x6474_e552;
const EXECUTABLE: u32 = 1;
const WRITABLE: u32 = 2;

impl Segment {
    /// From the module's base on.
    pub(crate) fn start(&self) -> usize {
        self.address as usize
    }

    /// Likewise.
    pub(crate) fn end(&self) -> usize {
        (self.address + self.memory_size) as usize
    }

    /// Where what its file has of it ends.
    pub(crate) fn file_end(&self) -> usize {
        (self.address + self.file_size) as usize
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.kind == LOADED
    }

    pub(crate) fn is_protected(&self) -> bool {
        self.kind == PROTECTED
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.flags & EXECUTABLE != 0
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.flags & WRITABLE != 0
    }
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        each: unsafe extern "C" fn(*const Header, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

unsafe extern "C" fn add(header: *const Header, _: usize, all: *mut c_void) -> c_int {
    // SAFETY: glibc gives a header that is valid during the call; `all` is the vector of `Modules::find`.
    let (header, all) = unsafe { (&*header, &mut *all.cast::<Vec<Module>>()) };
    // SAFETY: `count` segments lie there.
    let segments = unsafe { core::slice::from_raw_parts(header.segments, usize::from(header.count)) };
    let loaded = || segments.iter().filter(|segment| segment.kind == LOADED);
    let start = loaded().map(Segment::start).min().unwrap_or(0);
    let end = loaded().map(Segment::end).max().unwrap_or(0);
    // SAFETY: a name is a C string.
    let path = if header.name.is_null() { c"" } else { unsafe { CStr::from_ptr(header.name) } };
    let base = header.address;
    all.push(Module {
        base,
        start: base + start,
        end: base + end,
        path: path.to_string_lossy().into_owned(),
    });
    0
}

/// Somewhere in libc's code.
pub(crate) fn a_function_of_libc() -> usize {
    dl_iterate_phdr as *const () as usize
}

/// Shows each part of each loaded file that is in memory, with the module's base.
pub(crate) fn each_segment(mut each: impl FnMut(usize, &Segment)) {
    each_module(|base, segments| {
        segments.iter().filter(|segment| segment.is_loaded()).for_each(|segment| each(base, segment));
    });
}

/// Shows what is said of the parts of each loaded file, with the module's base.
pub(crate) fn each_module<F: FnMut(usize, &[Segment])>(mut each: F) {
    unsafe extern "C" fn show<F: FnMut(usize, &[Segment])>(
        header: *const Header,
        _: usize,
        each: *mut c_void,
    ) -> c_int {
        // SAFETY: glibc gives a header that is valid during the call, with `count` segments; `each` is the closure.
        let (header, each) = unsafe { (&*header, &mut *each.cast::<F>()) };
        // SAFETY: as above.
        let segments = unsafe { core::slice::from_raw_parts(header.segments, usize::from(header.count)) };
        each(header.address, segments);
        0
    }
    // SAFETY: `show` is called with the closure, which outlives the call.
    unsafe { dl_iterate_phdr(show::<F>, (&raw mut each).cast()) };
}

impl Modules {
    /// Looks what is loaded.
    pub fn find() -> Modules {
        let mut all: Vec<Module> = Vec::new();
        // SAFETY: `add` is called with the vector, which outlives the call.
        unsafe { dl_iterate_phdr(add, (&raw mut all).cast()) };
        let first = all.first().map_or((0, 0), |first| (first.base, first.end - first.base));
        Modules { all: all.into(), base: first.0, extent: first.1.min(1 << OFFSET_BITS) }
    }

    /// Where the executable's offsets begin.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The same, and how far they go.
    pub(crate) fn executable(&self) -> (usize, usize) {
        (self.base, self.extent)
    }

    /// All of them, in the order of their numbers.
    pub fn all(&self) -> &[Module] {
        &self.all
    }

    /// The site of a return address, if that lies in the executable.
    #[inline(always)]
    fn near_site(&self, address: usize) -> Option<SiteId> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.extent).then_some(SiteId(offset as u32))
    }

    /// The site of a return address. What was loaded later is looked for again.
    #[inline]
    pub fn site(&mut self, address: usize) -> SiteId {
        match self.near_site(address) {
            Some(site) => site,
            None => self.site_elsewhere(address),
        }
    }

    /// The module that an address lies in, and the offset there.
    pub fn locate(&self, address: usize) -> Option<(usize, usize)> {
        let mut modules = self.all.iter().enumerate();
        let found = modules.find(|(_, module)| address >= module.start && address < module.end);
        found.map(|(number, module)| (number, address - module.base))
    }

    /// Whether an address lies in libc.
    pub(crate) fn is_libc(&self, address: usize) -> bool {
        let module = |address| self.locate(address).map(|(number, _)| number);
        module(address).is_some_and(|number| module(a_function_of_libc()) == Some(number))
    }

    #[inline(never)]
    fn site_elsewhere(&mut self, address: usize) -> SiteId {
        if address == 0 {
            return SiteId::UNKNOWN;
        }
        for _ in 0..2 {
            if let Some((number, offset)) = self.locate(address) {
                return site(number, offset);
            }
            *self = Modules::find();
        }
        SiteId::UNKNOWN
    }
}

fn site(module: usize, offset: usize) -> SiteId {
    if module >= MODULES_MAX || offset >= 1 << OFFSET_BITS {
        return SiteId::UNKNOWN;
    }
    SiteId((module as u32) << OFFSET_BITS | offset as u32)
}
