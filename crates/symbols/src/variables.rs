//! From an offset in data to a variable, and to the part of it: `queue.items[3].next`.

use crate::dwarf::{Dwarf, Reader, text};
use crate::lines::{demangled, plain};
use gimli::{AttributeValue, DebuggingInformationEntry, Operation, Unit, UnitOffset};

/// A variable that lives as long as the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name, with namespaces and, for a static of a function, the function.
    pub name: String,
    /// The part of it that was asked for; its name if that is the whole.
    pub path: String,
    /// Where it is declared; empty if unknown.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// How many bytes into the variable the offset is.
    pub start: u64,
    /// Bytes of the whole; 0 if unknown.
    pub size: u64,
}

/// All variables with a fixed address.
pub(crate) struct Globals {
    /// In the order of their addresses.
    known: Vec<Global>,
    units: Vec<Unit<Reader>>,
}

struct Global {
    offset: u64,
    size: u64,
    name: String,
    file: String,
    line: u32,
    /// Its unit and its type there.
    kind: Option<(usize, UnitOffset)>,
}

/// Structs within structs within arrays: deeper than that nobody reads.
const DEPTH_MAX: usize = 16;

impl Globals {
    pub(crate) fn read(dwarf: &Dwarf) -> Globals {
        let mut globals = Globals { known: Vec::new(), units: Vec::new() };
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let index = globals.units.len();
            collect(dwarf, &unit, index, &mut globals.known);
            globals.units.push(unit);
        }
        globals.known.sort_by(|a, b| (a.offset, &a.name).cmp(&(b.offset, &b.name)));
        globals
    }

    pub(crate) fn at(&self, dwarf: &Dwarf, offset: u64) -> Option<Variable> {
        let after = self.known.partition_point(|global| global.offset <= offset);
        let global = self.known[..after].last().filter(|global| offset < global.offset + global.size)?;
        let start = offset - global.offset;
        let mut path = global.name.clone();
        if let Some((unit, kind)) = global.kind {
            describe(dwarf, &self.units[unit], kind, start, &mut path, DEPTH_MAX);
        }
        let Global { name, file, line, size, .. } = global;
        Some(Variable { name: name.clone(), path, file: file.clone(), line: *line, start, size: *size })
    }
}

/// The variables of a unit.
fn collect(dwarf: &Dwarf, unit: &Unit<Reader>, index: usize, known: &mut Vec<Global>) {
    let mut entries = unit.entries();
    // Names of what the current entry stands in, with their depths.
    let mut scopes: Vec<(isize, String)> = Vec::new();
    while let Ok(Some(entry)) = entries.next_dfs() {
        let depth = entry.depth();
        while scopes.last().is_some_and(|(at, _)| *at >= depth) {
            scopes.pop();
        }
        match entry.tag() {
            gimli::DW_TAG_namespace
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_subprogram => {
                if let Some(name) = name(dwarf, unit, entry) {
                    scopes.push((depth, name));
                }
            }
            gimli::DW_TAG_variable => {
                let scopes: Vec<&str> = scopes.iter().map(|(_, name)| name.as_str()).collect();
                known.extend(global(dwarf, unit, index, entry, &scopes));
            }
            _ => {}
        }
    }
}

type Entry = DebuggingInformationEntry<Reader>;

fn global(
    dwarf: &Dwarf,
    unit: &Unit<Reader>,
    index: usize,
    entry: &Entry,
    scopes: &[&str],
) -> Option<Global> {
    let offset = address(dwarf, unit, entry)?;
    // A member or a variable of a namespace is declared in one place and defined in another.
    let declared = reference(entry, gimli::DW_AT_specification).and_then(|at| unit.entry(at).ok());
    let declared = declared.as_ref().unwrap_or(entry);
    let short = name(dwarf, unit, declared)?;
    // C++ says its namespaces and classes in the linker's name; in C a static has only the function it stands in.
    let linker = [entry, declared].into_iter().find_map(|entry| entry.attr_value(gimli::DW_AT_linkage_name));
    let name = match linker.and_then(|value| dwarf.attr_string(unit, value).ok()) {
        Some(linker) => demangled(&text(&linker)),
        None => scopes.iter().copied().chain([short.as_str()]).collect::<Vec<_>>().join("::"),
    };
    let kind = reference(declared, gimli::DW_AT_type).or_else(|| reference(entry, gimli::DW_AT_type));
    let size = kind.and_then(|kind| size(unit, kind, DEPTH_MAX)).unwrap_or(1).max(1);
    let (file, line) = declaration(dwarf, unit, declared);
    Some(Global { offset, size, name, file, line, kind: kind.map(|kind| (index, kind)) })
}

/// Where it always is: not on a stack, not in a register, not once for each thread.
fn address(dwarf: &Dwarf, unit: &Unit<Reader>, entry: &Entry) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else { return None };
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(address)
}

fn name(dwarf: &Dwarf, unit: &Unit<Reader>, entry: &Entry) -> Option<String> {
    let value = entry.attr_value(gimli::DW_AT_name);
    let value = value.or_else(|| {
        let at = reference(entry, gimli::DW_AT_specification)
            .or_else(|| reference(entry, gimli::DW_AT_abstract_origin))?;
        unit.entry(at).ok()?.attr_value(gimli::DW_AT_name)
    })?;
    dwarf.attr_string(unit, value).ok().map(|name| text(&name))
}

fn reference(entry: &Entry, attribute: gimli::DwAt) -> Option<UnitOffset> {
    match entry.attr_value(attribute)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

fn number(entry: &Entry, attribute: gimli::DwAt) -> Option<u64> {
    entry.attr_value(attribute)?.udata_value()
}

fn declaration(dwarf: &Dwarf, unit: &Unit<Reader>, entry: &Entry) -> (String, u32) {
    let file = || {
        let index = number(entry, gimli::DW_AT_decl_file)?;
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let string = |value| dwarf.attr_string(unit, value).ok().map(|found| text(&found));
        let mut path = unit.comp_dir.as_ref().map(text).unwrap_or_default();
        for part in [file.directory(header).and_then(string), string(file.path_name())].into_iter().flatten()
        {
            path = if part.starts_with('/') { part } else { format!("{path}/{part}") };
        }
        Some(plain(&path))
    };
    let line = number(entry, gimli::DW_AT_decl_line).and_then(|line| u32::try_from(line).ok());
    (file().unwrap_or_default(), line.unwrap_or(0))
}

/// The type behind typedefs and qualifiers.
fn resolved(unit: &Unit<Reader>, kind: UnitOffset, depth: usize) -> Option<Entry> {
    let entry = unit.entry(kind).ok()?;
    match entry.tag() {
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_atomic_type
        | gimli::DW_TAG_restrict_type
            if depth > 0 =>
        {
            resolved(unit, reference(&entry, gimli::DW_AT_type)?, depth - 1)
        }
        _ => Some(entry),
    }
}

/// The bytes of a type.
fn size(unit: &Unit<Reader>, kind: UnitOffset, depth: usize) -> Option<u64> {
    let entry = resolved(unit, kind, depth)?;
    if let Some(size) = number(&entry, gimli::DW_AT_byte_size) {
        return Some(size);
    }
    match entry.tag() {
        gimli::DW_TAG_array_type if depth > 0 => {
            let element = size(unit, reference(&entry, gimli::DW_AT_type)?, depth - 1)?;
            Some(dimensions(unit, &entry).iter().product::<u64>() * element)
        }
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
            Some(u64::from(unit.encoding().address_size))
        }
        _ => None,
    }
}

/// The lengths of an array, outermost first.
fn dimensions(unit: &Unit<Reader>, array: &Entry) -> Vec<u64> {
    let length = |entry: &Entry| {
        let count = number(entry, gimli::DW_AT_count);
        count.or_else(|| number(entry, gimli::DW_AT_upper_bound).map(|last| last + 1))
    };
    let mut lengths = Vec::new();
    children(unit, array, |child| {
        if child.tag() == gimli::DW_TAG_subrange_type {
            lengths.push(length(child).unwrap_or(1));
        }
    });
    lengths
}

fn children(unit: &Unit<Reader>, parent: &Entry, mut visit: impl FnMut(&Entry)) {
    let Ok(mut tree) = unit.entries_tree(Some(parent.offset())) else { return };
    let Ok(root) = tree.root() else { return };
    let mut nodes = root.children();
    while let Ok(Some(node)) = nodes.next() {
        visit(node.entry());
    }
}

/// Adds to a path the part of a value of that type that lies so many bytes into it.
fn describe(
    dwarf: &Dwarf,
    unit: &Unit<Reader>,
    kind: UnitOffset,
    start: u64,
    path: &mut String,
    depth: usize,
) {
    let inner = resolved(unit, kind, depth).filter(|_| depth > 0).and_then(|entry| match entry.tag() {
        gimli::DW_TAG_array_type => element(unit, &entry, start),
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            member(dwarf, unit, &entry, start)
        }
        _ => None,
    });
    match inner {
        Some((part, kind, start)) => {
            path.push_str(&part);
            describe(dwarf, unit, kind, start, path, depth - 1);
        }
        None if start > 0 => path.push_str(&format!("+{start}")),
        None => {}
    }
}

/// What to add to the path, the type of the part, and how far into the part the byte lies.
type Part = (String, UnitOffset, u64);

fn element(unit: &Unit<Reader>, array: &Entry, start: u64) -> Option<Part> {
    let kind = reference(array, gimli::DW_AT_type)?;
    let size = size(unit, kind, DEPTH_MAX).filter(|size| *size > 0)?;
    let (mut index, mut brackets) = (start / size, String::new());
    for length in dimensions(unit, array).into_iter().rev() {
        brackets = format!("[{}]{brackets}", index % length.max(1));
        index /= length.max(1);
    }
    Some((brackets, kind, start % size))
}

fn member(dwarf: &Dwarf, unit: &Unit<Reader>, class: &Entry, start: u64) -> Option<Part> {
    let mut found = None;
    children(unit, class, |child| {
        let base = child.tag() == gimli::DW_TAG_inheritance;
        if found.is_some() || !(base || child.tag() == gimli::DW_TAG_member) {
            return;
        }
        // A union's members have no place; a static member is none of the object.
        let at = number(child, gimli::DW_AT_data_member_location).unwrap_or(0);
        let is_static = child.attr_value(gimli::DW_AT_external).is_some();
        let Some(kind) = reference(child, gimli::DW_AT_type).filter(|_| !is_static) else { return };
        let Some(size) = size(unit, kind, DEPTH_MAX) else { return };
        if (at..at + size).contains(&start) {
            let part = match name(dwarf, unit, child) {
                Some(name) if !base => format!(".{name}"),
                _ => String::new(),
            };
            found = Some((part, kind, start - at));
        }
    });
    found
}
