//! Numbers for statements, for front ends that know who called an operation: a search compares numbers, not names.

use raddle_model::{Statement, StatementId};
use std::collections::BTreeMap;

/// All statements that were seen, by number and by name.
#[derive(Clone, Default, Debug)]
pub struct Statements {
    by_number: Vec<Statement>,
    by_name: BTreeMap<Statement, StatementId>,
}

impl Statements {
    /// None yet.
    pub const fn new() -> Statements {
        Statements { by_number: Vec::new(), by_name: BTreeMap::new() }
    }

    /// The number of a statement; a new one if it was not seen before.
    pub fn number(&mut self, statement: Statement) -> StatementId {
        *self.by_name.entry(statement).or_insert_with_key(|statement| {
            self.by_number.push(statement.clone());
            StatementId(self.by_number.len() as u32 - 1)
        })
    }

    /// The statement with a number.
    pub fn name(&self, number: StatementId) -> Option<&Statement> {
        self.by_number.get(number.0 as usize)
    }
}
