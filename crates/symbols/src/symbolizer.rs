//! Many modules and many questions: each file is read once, and only when somebody asks about it.

use crate::lines::Frame;
use crate::module::{Module, ModuleError};
use crate::variables::Variable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Looks addresses up in whatever files they belong to. A file that cannot be read answers nothing; what was
/// wrong with it is kept, so that a report can say why it has no lines.
#[derive(Default)]
pub struct Symbolizer {
    modules: BTreeMap<PathBuf, Result<Module, ModuleError>>,
    frames: BTreeMap<(PathBuf, u64), Vec<Frame>>,
    variables: BTreeMap<(PathBuf, u64), Option<Variable>>,
}

impl Symbolizer {
    /// With no file read yet.
    pub fn new() -> Symbolizer {
        Symbolizer::default()
    }

    /// The functions at the address before one to which a call returns, innermost first.
    pub fn frames_of_return(&mut self, module: &Path, offset: u64) -> Vec<Frame> {
        let key = (module.to_owned(), offset);
        if let Some(known) = self.frames.get(&key) {
            return known.clone();
        }
        let found = self.module(module).map_or_else(Vec::new, |module| module.frames_of_return(offset));
        self.frames.entry(key).or_insert(found).clone()
    }

    /// The variable at an address.
    pub fn variable(&mut self, module: &Path, offset: u64) -> Option<Variable> {
        let key = (module.to_owned(), offset);
        if let Some(known) = self.variables.get(&key) {
            return known.clone();
        }
        let found = self.module(module).and_then(|module| module.variable(offset));
        self.variables.entry(key).or_insert(found).clone()
    }

    /// What could not be read so far.
    pub fn errors(&self) -> impl Iterator<Item = &ModuleError> {
        self.modules.values().filter_map(|module| module.as_ref().err())
    }

    fn module(&mut self, path: &Path) -> Option<&Module> {
        if !self.modules.contains_key(path) {
            self.modules.insert(path.to_owned(), Module::open(path));
        }
        self.modules.get(path)?.as_ref().ok()
    }
}
