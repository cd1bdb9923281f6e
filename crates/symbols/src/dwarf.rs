//! The debug information of a file, owned: no lifetime ties a module to a buffer.

use gimli::{EndianArcSlice, RunTimeEndian};
use object::{Object, ObjectSection};
use std::sync::Arc;

/// How all debug information is read.
pub(crate) type Reader = EndianArcSlice<RunTimeEndian>;
pub(crate) type Dwarf = gimli::Dwarf<Reader>;

/// Reads the sections. A file without them gives empty ones, which answer every question with nothing.
pub(crate) fn load(file: &object::File<'_>) -> Dwarf {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| {
        let found = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        let bytes: Arc<[u8]> = found.map_or_else(|| Arc::from(&[][..]), |bytes| Arc::from(bytes.as_ref()));
        Ok::<_, std::convert::Infallible>(EndianArcSlice::new(bytes, endian))
    };
    let mut dwarf = Dwarf::load(section).unwrap_or_else(|never| match never {});
    dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    dwarf
}

/// A string attribute as text.
pub(crate) fn text(reader: &Reader) -> String {
    use gimli::Reader as _;
    reader.to_string_lossy().map(|text| text.into_owned()).unwrap_or_default()
}
