//! Checkpoints in process: layers over the snapshot. Each has the pages that were written between the layer below it
//! and itself, with what was in them; so the state at a layer is, page by page, what the uppermost of it and those
//! below has. All of them lie on the way of the last run: whoever goes back to one drops those above.
//!
//! When a layer is put on top all pages are protected again, so that the kernel's list is of what may differ from it:
//! to go back to the uppermost layer costs what the run since has written, not what came before.

use super::pages::{PAGE, Pages};
use super::undo::{Mark, Undo};
use crate::fiber::Fiber;
use core::ops::Range;

/// Most layers. Those that are worth it lie at distances that double, so that these are many.
const LAYERS_MAX: usize = 24;
/// Most pages in all layers: 512 megabytes.
const PAGES_MAX: usize = 1 << 17;

/// A checkpoint.
#[derive(Debug)]
pub(super) struct Layer {
    /// Scheduling points before it.
    pub(super) points: u32,
    /// Where runs go on.
    pub(super) fiber: Fiber,
    /// What there is besides memory.
    pub(super) mark: Mark,
    /// The run listens for connections.
    pub(super) listens: bool,
    /// Where its pages are among those that are kept.
    pages: Range<usize>,
}

/// All of them, the lowest first.
#[derive(Debug)]
pub(super) struct Layers {
    all: [Option<Layer>; LAYERS_MAX],
    count: usize,
}

impl Layers {
    pub(super) fn new() -> Layers {
        Layers { all: [const { None }; LAYERS_MAX], count: 0 }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.all[..self.count].iter().flatten()
    }

    pub(super) fn last(&self) -> Option<&Layer> {
        self.iter().next_back()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many there are up to the one with so many points before it, inclusive. None if there is none such.
    pub(super) fn find(&self, points: u32) -> Option<usize> {
        self.iter().position(|layer| layer.points == points).map(|at| at + 1)
    }

    /// Puts a layer on top: the state of a run that stands still at `fiber`. False if that cannot be.
    pub(super) fn push(
        &mut self,
        points: u32,
        fiber: Fiber,
        listens: bool,
        undo: &mut Undo,
        pages: &mut Pages,
    ) -> bool {
        let Some(mark) = undo.mark() else { return false };
        let before = self.last().map(|layer| &layer.mark);
        let watched = undo.grown(&mark, before).all(|(start, end)| pages.watch(start, end));
        let first = self.last().map_or(pages.count, |layer| layer.pages.end);
        let (room, mut count) = ((pages.count + PAGES_MAX).min(pages.room.pages_max), 0);
        let listed = pages.written(false, |_, _| count += 1);
        if !watched || listed.is_err() || self.count == LAYERS_MAX || first + count > room {
            return false;
        }
        let mut next = first;
        let kept = pages.written(true, |pages, page| {
            assert!(next < room, "raddle bug: pages are written while a checkpoint is taken");
            // SAFETY: a page of the program, which stands still, and room of our own for it.
            unsafe {
                pages.room.addresses.add(next).write(page);
                core::ptr::copy_nonoverlapping(page as *const u8, pages.room.store.add(next * PAGE), PAGE);
            }
            next += 1;
        });
        assert!(kept.is_ok(), "raddle bug: pages can no longer be listed");
        undo.firm_up(Some(&mark));
        self.all[self.count] = Some(Layer { points, fiber, mark, listens, pages: first..next });
        self.count += 1;
        true
    }

    /// Everything is as it was at the `count`th layer, or at the snapshot; those above are dropped.
    pub(super) fn back_to(&mut self, count: usize, undo: &mut Undo, pages: &mut Pages) {
        let above = self.all[count..self.count].iter().flatten();
        let above = above.map(|layer| layer.pages.clone()).reduce(|all, next| all.start..next.end);
        self.count = count;
        let mark = self.last().map(|layer| &layer.mark);
        undo.back_to(mark);
        undo.firm_up(mark);
        undo.begin_again();
        let done = pages.written(false, |pages, page| self.put_back(pages, page));
        assert!(done.is_ok(), "raddle bug: pages can no longer be listed");
        for at in above.into_iter().flatten() {
            // SAFETY: written when the layer was.
            let page = unsafe { pages.room.addresses.add(at).read() };
            // What was mapped since is gone with its pages.
            if pages.exists(page) {
                self.put_back(pages, page);
            }
        }
        self.all[count..].fill_with(|| None);
    }

    /// What a page holds at the uppermost layer; none if there was no such page.
    fn content(&self, pages: &Pages, page: usize) -> Option<*const u8> {
        let layers = self.iter().rev().map(|layer| layer.pages.clone());
        layers.chain(core::iter::once(0..pages.count)).find_map(|range| {
            // SAFETY: so many were written.
            let addresses =
                unsafe { core::slice::from_raw_parts(pages.room.addresses.add(range.start), range.len()) };
            let at = addresses.binary_search(&page).ok()?;
            // SAFETY: as above.
            Some(unsafe { pages.room.store.add((range.start + at) * PAGE).cast_const() })
        })
    }

    fn put_back(&self, pages: &Pages, page: usize) {
        // SAFETY: memory of the program, which stands still.
        unsafe {
            match self.content(pages, page) {
                Some(content) => core::ptr::copy_nonoverlapping(content, page as *mut u8, PAGE),
                None => core::ptr::write_bytes(page as *mut u8, 0, PAGE),
            }
        }
    }

    /// An address whose content is not what the uppermost layer has.
    pub(super) fn difference(&self, pages: &mut Pages, kernels: Range<usize>) -> Option<usize> {
        let mut found = None;
        pages.each_there(|pages, page| {
            let content = self.content(pages, page);
            let word = |at: usize| {
                // SAFETY: whole pages, of the program and of what is kept.
                unsafe { content.map_or(0, |content| content.cast::<u64>().add(at).read()) }
            };
            // SAFETY: as above.
            let now = |at: usize| unsafe { (page as *const u64).add(at).read() };
            let differs = |&at: &usize| now(at) != word(at) && !kernels.contains(&(page + at * 8));
            if let Some(at) = (0..PAGE / 8).find(differs) {
                found.get_or_insert(page + at * 8);
            }
        });
        found
    }
}
