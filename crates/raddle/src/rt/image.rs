//! The writable parts of the program's image: which addresses are statics, and what lay there when
//! the process began.
//!
//! Known on 64-bit Linux, for the executable and for the image that this code itself is in: both stay
//! where they are. Statics of other shared objects, and of programs elsewhere, are not known.

pub(crate) use os::{around, initial, is_static};

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod os {
    use std::ffi::{CStr, OsStr, c_int, c_void};
    use std::fs::File;
    use std::ops::Range;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileExt;
    use std::path::PathBuf;
    use std::sync::OnceLock;

    /// A writable segment of a loaded image.
    struct Segment {
        start: usize,
        end: usize,
        /// Bytes of it that come from the file; the rest began as zeros.
        file_len: usize,
        file_offset: u64,
        file: PathBuf,
        /// By how much the image lies higher than its file says.
        base: usize,
        relocations: Relocations,
    }

    /// Where the loader has written addresses into an image.
    #[derive(Clone, Copy)]
    enum Relocations {
        Table(&'static [Rela]),
        /// In a form that is not read here.
        Unknown,
    }

    /// An entry of the table, as ELF defines it.
    #[repr(C)]
    struct Rela {
        offset: u64,
        info: u64,
        addend: i64,
    }

    /// The kind of relocation that adds the image's base.
    const RELATIVE: u64 = if cfg!(target_arch = "x86_64") {
        8
    } else if cfg!(target_arch = "aarch64") {
        1027
    } else if cfg!(target_arch = "riscv64") {
        3
    } else {
        u64::MAX
    };

    const DT_RELA: i64 = 7;
    const DT_RELASZ: i64 = 8;
    const DT_REL: i64 = 17;
    const DT_RELR: i64 = 36;

    fn segments() -> &'static [Segment] {
        static SEGMENTS: OnceLock<Vec<Segment>> = OnceLock::new();
        SEGMENTS.get_or_init(|| {
            let mut found = Found::default();
            // SAFETY: `collect` has the signature that is asked for, and gets `found` back.
            unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) };
            // A program may have its heap in a static. Then an address says nothing.
            let heap = Box::new(0_u8);
            let heap = &raw const *heap as usize;
            if found.segments.iter().any(|segment| (segment.start..segment.end).contains(&heap)) {
                found.segments.clear();
            }
            found.segments
        })
    }

    /// What was found so far.
    #[derive(Default)]
    struct Found {
        images: usize,
        segments: Vec<Segment>,
    }

    fn segment(start: usize, len: usize) -> Option<&'static Segment> {
        segments().iter().find(|segment| segment.start <= start && start.saturating_add(len) <= segment.end)
    }

    /// No static lies outside of it.
    pub(crate) fn around() -> Range<usize> {
        let first = segments().iter().map(|segment| segment.start).min();
        let end = segments().iter().map(|segment| segment.end).max();
        first.unwrap_or(0)..end.unwrap_or(0)
    }

    /// Whether these bytes belong to a static.
    #[inline]
    pub(crate) fn is_static(start: usize, len: usize) -> bool {
        segment(start, len).is_some()
    }

    /// What lay in a static when the process began; None if that cannot be found out.
    pub(crate) fn initial(start: usize, len: usize) -> Option<Box<[u8]>> {
        let segment = segment(start, len)?;
        let mut bytes = vec![0; len].into_boxed_slice();
        let offset = start - segment.start;
        let in_file = len.min(segment.file_len.saturating_sub(offset));
        if in_file > 0 {
            let file = File::open(&segment.file).ok()?;
            file.read_exact_at(&mut bytes[..in_file], segment.file_offset + offset as u64).ok()?;
        }
        let Relocations::Table(table) = segment.relocations else { return None };
        for entry in table {
            let at = segment.base.wrapping_add(entry.offset as usize);
            if at + 8 <= start || start + len <= at {
                continue;
            }
            let inside = at >= start && at + 8 <= start + len;
            if !inside || entry.info & 0xffff_ffff != RELATIVE {
                return None;
            }
            let address = segment.base.wrapping_add_signed(entry.addend as isize);
            bytes[at - start..at - start + 8].copy_from_slice(&address.to_ne_bytes());
        }
        Some(bytes)
    }

    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader hands over a valid description and the pointer that `segments` gave it.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
        found.images += 1;
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        let base = info.dlpi_addr as usize;
        // SAFETY: as above; the headers stay mapped as long as the image.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        // The executable comes first.
        let file = if found.images == 1 {
            PathBuf::from("/proc/self/exe")
        } else if info.dlpi_name.is_null() || !contains_this_code(base, headers) {
            return 0;
        } else {
            // SAFETY: a string of the loader's.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) };
            PathBuf::from(OsStr::from_bytes(name.to_bytes()))
        };
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
        let relocations = dynamic.map_or(Relocations::Table(&[]), |header| {
            // SAFETY: the header is one of this image.
            unsafe { relocations(base, base + header.p_vaddr as usize) }
        });
        let writable =
            |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
        found.segments.extend(headers.iter().filter(writable).map(|header| Segment {
            start: base + header.p_vaddr as usize,
            end: base + (header.p_vaddr + header.p_memsz) as usize,
            file_len: header.p_filesz as usize,
            file_offset: header.p_offset,
            file: file.clone(),
            base,
            relocations,
        }));
        0
    }

    fn contains_this_code(base: usize, headers: &[libc::Elf64_Phdr]) -> bool {
        let here = collect as *const () as usize;
        headers.iter().any(|header| {
            let start = base + header.p_vaddr as usize;
            header.p_type == libc::PT_LOAD && (start..start + header.p_memsz as usize).contains(&here)
        })
    }

    /// Finds the table of relocations in an image's dynamic section.
    ///
    /// # Safety
    /// `dynamic` must be the address of the section, and `base` that of its image.
    unsafe fn relocations(base: usize, dynamic: usize) -> Relocations {
        let (mut address, mut len) = (0, 0);
        let mut entry = dynamic as *const [i64; 2];
        loop {
            // SAFETY: the section ends with an entry of kind 0.
            let [kind, value] = unsafe { *entry };
            match kind {
                0 => break,
                DT_RELA => address = value as usize,
                DT_RELASZ => len = value as usize,
                DT_REL | DT_RELR => return Relocations::Unknown,
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
        if address == 0 || len == 0 {
            return Relocations::Table(&[]);
        }
        // Some loaders write the address in memory back into the section, some leave the file's.
        let address = if address < base { address + base } else { address };
        // SAFETY: the loader itself reads the table there; it lies in a segment that stays mapped, as
        // the images that a process begins with do.
        Relocations::Table(unsafe {
            std::slice::from_raw_parts(address as *const Rela, len / size_of::<Rela>())
        })
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
mod os {
    pub(crate) fn around() -> core::ops::Range<usize> {
        0..0
    }

    #[inline]
    pub(crate) fn is_static(_: usize, _: usize) -> bool {
        false
    }

    pub(crate) fn initial(_: usize, _: usize) -> Option<Box<[u8]>> {
        None
    }
}
