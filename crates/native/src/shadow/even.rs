//! Pages of which all cells are the same: large memory is filled, copied and read at once, and one cell says it for all
//! 512. What is done to a part of such a page gives it cells of its own.

use super::Page;
use super::cell::{Cell, GRANULE};
use crate::objects::ByAddress;
use crate::pages::{PAGE, Pages};
use core::fmt;

/// The cell of each page that is even, by the page's number.
///
/// invariant: there is nothing for these pages among the others, so the quick look never finds anything there.
#[derive(Default)]
pub(super) struct Even {
    all: ByAddress<Cell>,
}

impl Even {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// What the page at an address has in each of its cells, if that is the same. None if it has cells of its own.
    pub(super) fn get(&self, page: usize, others: &mut Pages<Page>) -> Option<Cell> {
        match self.all.get(&(page / PAGE)) {
            Some(cell) => Some(*cell),
            None => others.get(page).is_none().then_some(Cell::NOTHING),
        }
    }

    /// All cells of a page become this. Only if [`Even::get`] gives one.
    pub(super) fn set(&mut self, page: usize, cell: Cell) {
        self.all.insert(page / PAGE, cell);
    }

    /// A page gets cells of its own, if it has one for all.
    pub(super) fn part(
        &mut self,
        address: usize,
        others: &mut Pages<Page>,
        used: Option<&mut alloc::vec::Vec<*mut Cell>>,
    ) {
        let Some(cell) = self.all.remove(&(address / PAGE)) else { return };
        let page = others.make(address);
        page.0.fill(cell);
        if let Some(used) = used {
            used.extend(page.0.iter_mut().map(|cell| &raw mut *cell));
        }
    }

    /// Nothing is known of pages that lie between two addresses; those of which a part does are for the caller.
    pub(super) fn forget(&mut self, start: usize, end: usize) {
        let numbers = start.div_ceil(PAGE)..end / PAGE;
        if self.all.len() < numbers.len() {
            self.all.retain(|number, _| !numbers.contains(number));
        } else {
            for number in numbers {
                self.all.remove(&number);
            }
        }
    }
}

impl fmt::Debug for Even {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} even pages", self.all.len())
    }
}

/// Cells of a page.
pub(super) const CELLS: usize = PAGE / GRANULE;
