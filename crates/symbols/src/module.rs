//! One file of a program: the executable or a shared library.

use crate::dwarf::{self, Dwarf, Reader};
use crate::lines::{self, Frame};
use crate::variables::{Globals, Variable};
use object::{Object, ObjectSymbol, SymbolKind};
use std::cell::OnceCell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// An executable or shared library whose addresses can be looked up.
pub struct Module {
    context: addr2line::Context<Reader>,
    dwarf: Arc<Dwarf>,
    functions: Vec<Symbol>,
    data: Vec<Symbol>,
    /// Walking all variables takes a while, and few reports need it.
    globals: OnceCell<Globals>,
}

/// An entry of the symbol table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Symbol {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
}

/// Why a file cannot be looked into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleError(pub String);

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModuleError {}

impl Module {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Module, ModuleError> {
        let failed = |why: String| ModuleError(format!("{}: {why}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        Module::parse(&bytes).map_err(|error| failed(error.to_string()))
    }

    fn parse(bytes: &[u8]) -> Result<Module, Box<dyn std::error::Error>> {
        let file = object::File::parse(bytes)?;
        let dwarf = Arc::new(dwarf::load(&file));
        let context = addr2line::Context::from_arc_dwarf(Arc::clone(&dwarf))?;
        let (functions, data) = (
            symbols(&file, |kind| kind == SymbolKind::Text),
            symbols(&file, |kind| kind == SymbolKind::Data),
        );
        Ok(Module { context, dwarf, functions, data, globals: OnceCell::new() })
    }

    /// The function at an offset and those it was inlined into, innermost first. Without debug information
    /// there is at most one frame, named after the symbol table; it is empty if nothing is known.
    pub fn frames(&self, offset: u64) -> Vec<Frame> {
        let frames = lines::frames(&self.context, offset);
        let known = frames.iter().any(|frame| !frame.function.is_empty());
        let Some(symbol) = find(&self.functions, offset).filter(|_| !known) else { return frames };
        let function = lines::demangled(&symbol.name);
        match frames.into_iter().next() {
            Some(frame) => vec![Frame { function, ..frame }],
            None => vec![Frame { function, ..Frame::default() }],
        }
    }

    /// The same for an address to which a call returns: the call stands before it.
    pub fn frames_of_return(&self, offset: u64) -> Vec<Frame> {
        self.frames(offset.saturating_sub(1))
    }

    /// The offset of a function, by the name that the linker knows or the one that people do.
    pub fn function(&self, name: &str) -> Option<u64> {
        let is = |symbol: &&Symbol| symbol.name == name || lines::demangled(&symbol.name) == name;
        self.functions.iter().find(is).map(|symbol| symbol.offset)
    }

    /// The global variable, static or constant that lies at an offset.
    pub fn variable(&self, offset: u64) -> Option<Variable> {
        let globals = self.globals.get_or_init(|| Globals::read(&self.dwarf));
        globals.at(&self.dwarf, offset).or_else(|| {
            let symbol = find(&self.data, offset)?;
            let start = offset - symbol.offset;
            let name = lines::demangled(&symbol.name);
            let path = if start == 0 { name.clone() } else { format!("{name}+{start}") };
            Some(Variable { name, path, file: String::new(), line: 0, start, size: symbol.size })
        })
    }
}

/// The defined symbols of one kind in the order of their offsets; of aliases the first by name stays.
fn symbols(file: &object::File<'_>, wanted: impl Fn(SymbolKind) -> bool) -> Vec<Symbol> {
    let entries = file.symbols().chain(file.dynamic_symbols());
    let entries = entries.filter(|symbol| symbol.is_definition() && wanted(symbol.kind()));
    let mut found: Vec<Symbol> = entries
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some(Symbol { offset: symbol.address(), size: symbol.size(), name: name.to_owned() })
        })
        .collect();
    found.sort();
    found.dedup_by_key(|symbol| symbol.offset);
    found
}

/// The symbol whose extent holds an offset.
fn find(symbols: &[Symbol], offset: u64) -> Option<&Symbol> {
    let after = symbols.partition_point(|symbol| symbol.offset <= offset);
    symbols[..after].last().filter(|symbol| offset < symbol.offset + symbol.size.max(1))
}
