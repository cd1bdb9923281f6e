//! What kind of file a program is, and whether it can be controlled: told from its ELF headers and symbols,
//! before anything is run.

use object::elf::{self, FileHeader64};
use object::read::elf::{DynamicTable, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object, ObjectSymbol};
use std::path::Path;

/// What our runtime defines and nothing else does. It is exported, so stripping leaves it.
pub const RUNTIME_MARK: &str = "raddle_runtime_version";

/// What a file can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Can be started.
    Executable,
    /// A shared library.
    Library,
    /// An object file, a core dump, …
    Other,
}

/// What the headers and symbols of an ELF file say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// What it is.
    pub kind: Kind,
    /// Whether it is for x86-64.
    pub x86_64: bool,
    /// Whether it is linked without a dynamic loader, so that nothing in it can be interposed.
    pub is_static: bool,
    /// Whether Raddle's runtime is linked in.
    pub runtime: bool,
    /// Whether a compiler's own ThreadSanitizer runtime is linked in or asked for.
    pub libtsan: bool,
    /// Whether it has hooks of the ThreadSanitizer pass. A stripped file may have them without showing it.
    pub hooks: bool,
    /// Whether it has a symbol table.
    pub symbols: bool,
    /// Whether it has line numbers.
    pub lines: bool,
    /// The linker's hash of it; empty if there is none.
    pub build_id: Vec<u8>,
}

/// Why a file cannot be run under control. In the order in which it is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// It cannot be read: why.
    Unreadable(String),
    /// It begins with `#!`.
    Script,
    /// No ELF file of 64 bits.
    NotElf,
    /// A library, an object file or the like.
    NotExecutable,
    /// For another processor.
    OtherMachine,
    /// A compiler's own ThreadSanitizer runtime is in it.
    Libtsan,
    /// Linked statically.
    Static,
    /// Not built by `raddle cc`.
    NotInstrumented,
}

impl Shape {
    /// Looks at a file.
    pub fn read(path: &Path) -> Result<Shape, Unfit> {
        let bytes = std::fs::read(path).map_err(|error| Unfit::Unreadable(error.to_string()))?;
        Shape::parse(&bytes)
    }

    /// Looks at the bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Shape, Unfit> {
        if bytes.starts_with(b"#!") {
            return Err(Unfit::Script);
        }
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|_| Unfit::NotElf)?;
        let (header, endian) = (file.elf_header(), file.endian());
        let segment = |kind| file.elf_program_headers().iter().any(|segment| segment.p_type(endian) == kind);
        let interpreter = segment(elf::PT_INTERP);
        let kind = match header.e_type(endian) {
            elf::ET_EXEC => Kind::Executable,
            // Executables at any address are shared objects that name their loader; static ones have none, but
            // say so in their flags.
            elf::ET_DYN if interpreter || is_pie(&file) => Kind::Executable,
            elf::ET_DYN => Kind::Library,
            _ => Kind::Other,
        };
        let (mut runtime, mut hooks, mut sanitizer) = (false, false, false);
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let name = symbol.name().unwrap_or_default();
            runtime |= name == RUNTIME_MARK && symbol.is_definition();
            hooks |= name.starts_with("__tsan_");
            // Part of every sanitizer runtime of the compilers, linked in by clang.
            sanitizer |= name == "__sanitizer_report_error_summary" && symbol.is_definition();
        }
        Ok(Shape {
            kind,
            x86_64: header.e_machine(endian) == elf::EM_X86_64,
            is_static: kind == Kind::Executable && !interpreter,
            runtime,
            libtsan: needs_libtsan(&file) || (hooks && sanitizer && !runtime),
            hooks,
            symbols: file.section_by_name(".symtab").is_some(),
            lines: file.section_by_name(".debug_line").is_some(),
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
        })
    }

    /// Whether it can be run under control.
    pub fn fit(&self) -> Result<(), Unfit> {
        if !self.x86_64 {
            return Err(Unfit::OtherMachine);
        }
        if self.kind != Kind::Executable {
            return Err(Unfit::NotExecutable);
        }
        if self.libtsan {
            return Err(Unfit::Libtsan);
        }
        if self.is_static {
            return Err(Unfit::Static);
        }
        if self.runtime { Ok(()) } else { Err(Unfit::NotInstrumented) }
    }
}

/// A static executable at any address looks like a library, except for this flag.
fn is_pie(file: &ElfFile64<'_, Endianness>) -> bool {
    dynamic(file).iter().any(|entry| entry.tag == elf::DT_FLAGS_1 && entry.val & DF_1_PIE != 0)
}

/// `elf.h` has had it since glibc 2.26.
const DF_1_PIE: u64 = 0x0800_0000;

fn needs_libtsan(file: &ElfFile64<'_, Endianness>) -> bool {
    // gcc's, and clang's where it is shared.
    const NAMES: [&[u8]; 2] = [b"libtsan.so", b"libclang_rt.tsan"];
    let table = dynamic(file);
    let mut needed = table.iter().filter(|entry| entry.tag == elf::DT_NEEDED);
    needed.any(|entry| table.string(entry).is_ok_and(|name| NAMES.iter().any(|of| name.starts_with(of))))
}

fn dynamic<'data>(file: &ElfFile64<'data, Endianness>) -> DynamicTable<'data, FileHeader64<Endianness>> {
    file.elf_section_table().dynamic_table(file.endian(), file.data()).unwrap_or_default()
}
