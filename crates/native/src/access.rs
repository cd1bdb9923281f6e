//! Plain accesses to memory. Few of them are scheduling points, and none is announced to anybody else; but all are
//! looked at, and programs do little else: what is nearly always the case comes first here, in a few instructions.

use crate::assignment;
use crate::blocks::{Blocks, Deed, Fault, Freed};
use crate::calls;
use crate::objects::WORD;
use crate::run::{GLANCE, Run, active, arrive, with, with_active};
use crate::shadow::{Access, How};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use raddle_model::objects::State;
use raddle_model::{Failure, FailureKind, Kind, ObjectId, Op, SiteId};

/// Accesses in a row after which one is a scheduling point whatever the plan says: the task may be waiting for a plain
/// variable to change, or for the end of the process while it writes one.
pub(crate) const QUIET_MAX: u32 = 10_000;

/// Of so many bytes of a block that is given back each word is told. A search holds that against every access to memory in any case.
const FREED_MAX: usize = 4096;

/// Of so many bytes that are unmapped it is looked at who has accessed them: a program may reserve much more than it uses.
const UNMAPPED_MAX: usize = 64 << 20;

/// A plain access of a size that is known to the compiler, about to happen.
#[inline(always)]
pub fn access_of<const SIZE: usize, const WRITE: bool>(address: usize, pc: usize) {
    // The return address itself is not kept: that would be two instructions more.
    let offset = GLANCE.offset(pc);
    let Some(site) = GLANCE.site(offset) else { return access_from(address, SIZE, WRITE, offset) };
    if GLANCE.count() {
        return look_from(address, SIZE, WRITE, offset);
    }
    // What the running task has done before is of no interest.
    if !with_active(|run| run.engine.analysis().shadow.has::<SIZE, WRITE>(address, site)) {
        look_from(address, SIZE, WRITE, offset);
    }
}

#[inline(never)]
fn access_from(address: usize, size: usize, write: bool, offset: usize) {
    access(address, size, write, GLANCE.pc(offset));
}

#[inline(never)]
fn look_from(address: usize, size: usize, write: bool, offset: usize) {
    if !with_active(|run| run.just_note(address, size, write, SiteId(offset as u32))) {
        look(address, size, write, GLANCE.pc(offset));
    }
}

/// A plain access to memory, about to happen.
pub fn access(address: usize, size: usize, write: bool, pc: usize) {
    if active() {
        GLANCE.count();
        GLANCE.count_all(size);
        look(address, size, write, pc);
    }
}

/// How much has happened in the run. The same before and after an access: nobody came in between.
pub fn moment() -> u64 {
    if active() { with(|run| run.engine.steps()) } else { 0 }
}

/// What has just been read, if others may come before the call that reads it is over: it goes on with that then. An access
/// happens when it is told, not when libc comes to it.
///
/// # Safety
/// There must be so many bytes to read.
pub unsafe fn kept(address: usize, size: usize, pc: usize) -> Option<Vec<u8>> {
    let others = active()
        && with(|run| {
            let site = run.site(pc);
            run.several && run.is_point(site)
        });
    // SAFETY: the caller says so.
    others.then(|| unsafe { core::slice::from_raw_parts(address as *const u8, size) }.to_vec())
}

/// Where it lies.
pub fn place(kept: &Option<Vec<u8>>, address: usize) -> usize {
    kept.as_ref().map_or(address, |bytes| bytes.as_ptr() as usize)
}

impl Run {
    /// Whether accesses from a site are scheduling points in this plan.
    #[inline]
    fn is_point(&self, site: SiteId) -> bool {
        let points = &self.points;
        points.all_accesses || (!points.accesses.is_empty() && points.accesses.binary_search(&site).is_ok())
    }

    /// Where the hook of the read returns to, if this is the write of an assignment of structures and both are scheduling
    /// points: they are one operation, and what is read is not known yet.
    fn other_half(&mut self, pc: usize) -> Option<usize> {
        let half = assignment::other_half(pc)?;
        let site = self.site(half);
        self.is_point(site).then_some(half)
    }

    /// An access that has been counted, from the executable. False, and nothing has happened, if there may be more to it
    /// than that it is noted.
    #[inline(always)]
    fn just_note(&mut self, address: usize, size: usize, write: bool, site: SiteId) -> bool {
        // What is half an assignment is a scheduling point.
        let simple = (self.only_notes || self.may_note(address, site))
            && GLANCE.calm.get() != 0
            && self.blocks.check(address, size);
        if simple {
            let task = self.running;
            self.engine.observe(|watch, world| {
                if !watch.notes_at_once(address, size, write, task, site) {
                    let how = How { write, atomic: false };
                    watch.access(&Access { address, size, how, task, site, point: false }, world);
                }
            });
        }
        simple
    }

    /// Whether an access from a site is only noted, where some are not.
    fn may_note(&self, address: usize, site: SiteId) -> bool {
        self.several
            && !self.calls.wanted
            && self.assigning.is_none()
            && !self.is_point(site)
            && !self.objects.mappings.is_shared(address)
            && self.annotations.conceal_nothing()
    }

    #[inline]
    pub(crate) fn note(&mut self, address: usize, size: usize, how: How, site: SiteId, point: bool) {
        let address = self.objects.mappings.home(address);
        if self.annotations.conceals(self.running, address, size, how.write) {
            return;
        }
        let access = Access { address, size, how, task: self.running, site, point };
        // The analysis needs the world to settle what is pending; both belong to the engine.
        self.engine.observe(|watch, world| watch.access(&access, world));
    }

    /// The objects of one word or two, with the atomic that they are a part of. None if these are three or more.
    fn one_or_two(&mut self, address: usize, last: usize, site: SiteId) -> Option<(ObjectId, ObjectId)> {
        let object = self.word(address, site, State::Cell);
        let [one, another] = {
            let mut around = self.objects.around(self.objects.mappings.home(address) / WORD);
            [around.next(), around.next()]
        };
        match last / WORD == address / WORD {
            true => another.is_none().then_some((object, one.unwrap_or(ObjectId::NONE))),
            false => one.is_none().then(|| (object, self.word(last, site, State::Cell))),
        }
    }

    /// Memory is given out anew: nothing that was there matters.
    pub fn forget(&mut self, start: usize, size: usize) {
        if self.several {
            self.engine.analysis_mut().shadow.forget(start, size);
        }
        self.objects.forget(start, size);
        self.annotations.forget(start, size);
    }
}

/// An access that has been counted and must be looked at.
fn look(address: usize, size: usize, write: bool, pc: usize) {
    if with(|run| run.several) {
        return look_closely(address, size, write, pc);
    }
    // While there is one task only, nothing comes of it unless the memory must not be touched.
    let allowed = with(|run| {
        if GLANCE.calm.get() == 0 {
            crate::server::beat(run.running, SiteId::UNKNOWN);
            GLANCE.rest();
        }
        run.blocks.check(address, size)
    });
    if !allowed {
        check_memory(address, size, write, with(|run| run.site(pc)));
    }
}

#[inline(never)]
fn look_closely(address: usize, size: usize, write: bool, pc: usize) {
    let (site, point, restless) = with(|run| {
        let site = run.site(pc);
        (site, run.is_point(site), GLANCE.calm.get() == 0)
    });
    if with(|run| core::mem::take(&mut run.assigning)) == Some(pc) && point && !write {
        words_follow(address, size, Kind::CellRead, site);
    } else if point || restless {
        let half = if point && write { with(|run| run.other_half(pc)) } else { None };
        arrive_at_memory(address, size, write, site, half.is_some());
        with(|run| run.assigning = half);
    }
    if with(|run| run.calls.wanted) {
        calls::access(site);
    }
    check_memory(address, size, write, site);
    with(|run| run.note(address, size, How { write, atomic: false }, site, point));
}

/// An access to one word or two is one operation. Of a larger one nobody is told beforehand where it will be: its words
/// follow at once, since nobody can come in between.
fn arrive_at_memory(address: usize, size: usize, write: bool, site: SiteId, more: bool) {
    let (kind, wide) =
        if write { (Kind::CellWrite, Kind::WideWrite) } else { (Kind::CellRead, Kind::WideRead) };
    let (first, last) = (address / WORD, (address + size.max(1) - 1) / WORD);
    if last - first <= 1
        && !more
        && let Some((object, other)) = with(|run| run.one_or_two(address, last * WORD, site))
    {
        arrive(Op::new(kind, object, site).second(other));
        return;
    }
    arrive(Op::new(wide, ObjectId::NONE, site));
    words_follow(address, size, kind, site);
}

fn words_follow(address: usize, size: usize, kind: Kind, site: SiteId) {
    for at in address / WORD..=(address + size.max(1) - 1) / WORD {
        with(|run| {
            let object = run.word(at * WORD, site, State::Cell);
            run.engine.perform(run.running, Op::new(kind, object, site));
        });
    }
}

/// Libc has given out `raw`, of which the program gets `size` bytes from `start` on.
pub fn allocated(raw: usize, start: usize, size: usize, pc: usize) {
    let made = deed(with(|run| run.site(pc)));
    with(|run| {
        // The red zones, too: nothing may be known of what must not be touched.
        run.forget(raw, Blocks::end(start, size) - raw);
        run.blocks.give(raw, start, size, made);
    });
}

/// The program gives memory back: for others that is a write, of the whole block and of the locks in it. Gives back what libc may have again.
pub fn freed(start: usize, pc: usize) -> Vec<usize> {
    let site = with(|run| run.site(pc));
    // Libc's own blocks are nobody else's, and it may hold a lock of its own.
    let point = with(|run| run.several && run.is_point(site) && !run.modules.is_libc(pc));
    if let Some(size) = with(|run| run.blocks.size(start)).filter(|_| point) {
        arrive_at_end(start, size, site);
    }
    let deed = deed(site);
    let freed = with(|run| {
        let size = run.blocks.size(start).unwrap_or(0);
        let freed = run.blocks.take(start, deed, run.engine.world());
        if run.several && matches!(freed, Freed::Kept(_)) {
            run.note(start, size, How { write: true, atomic: false }, deed.site, point);
            // From now on nobody may touch it, and nobody may have touched it before: see `Shadow::has`.
            run.engine.analysis_mut().shadow.forget(start, size);
        }
        freed
    });
    match freed {
        Freed::Kept(released) => released,
        Freed::Foreign => vec![start],
        Freed::Wrong(fault) => misused_memory(fault, deed),
    }
}

/// All of it and the locks in it are written.
fn arrive_at_end(start: usize, size: usize, site: SiteId) {
    arrive(Op::new(Kind::Free, ObjectId::NONE, site));
    words_follow(start, size.min(FREED_MAX), Kind::CellWrite, site);
    with(|run| {
        for lock in run.objects.sync_in(start, size) {
            run.engine.perform(run.running, Op::new(Kind::Free, lock, site));
        }
    });
}

/// The program is about to unmap memory: that is to give it back. What is shared lies elsewhere, too, and stays.
pub fn unmapping(start: usize, size: usize, pc: usize) {
    let (site, concerns) = with(|run| {
        let site = run.site(pc);
        (site, run.several && !run.modules.is_libc(pc) && !run.objects.mappings.meets(start, start + size))
    });
    if !concerns {
        return;
    }
    let point = with(|run| run.is_point(site));
    if point {
        arrive_at_end(start, size, site);
    }
    if with(|run| run.calls.wanted) {
        calls::access(site);
    }
    let write = How { write: true, atomic: false };
    with(|run| run.note(start, size.min(UNMAPPED_MAX), write, site, point));
}

/// What the running task does to a block, from here.
fn deed(site: SiteId) -> Deed {
    Deed { task: with(|run| run.running), site, call: calls::deed(site) }
}

/// Looks whether the running task may touch these bytes. Ends the run if not.
#[inline(always)]
pub fn check_memory(address: usize, size: usize, write: bool, site: SiteId) {
    if !with(|run| run.blocks.check(address, size)) {
        touched_wrongly(address, size, write, site, || ());
    }
}

// By itself: whoever looks is part of every access.
#[cold]
#[inline(never)]
pub(crate) fn touched_wrongly(
    address: usize,
    size: usize,
    write: bool,
    site: SiteId,
    before: impl FnOnce(),
) -> ! {
    let verb = if write { "writes" } else { "reads" };
    let fault = with(|run| run.blocks.explain(address, size, verb, run.engine.world()));
    before();
    misused_memory(fault, deed(site))
}

#[cold]
fn misused_memory(fault: Fault, deed: Deed) -> ! {
    with(|run| {
        let message = format!("{} {}", run.engine.world().path(run.running), fault.message);
        let deeds: Vec<Deed> = [deed].into_iter().chain(fault.deeds).collect();
        run.calls.know(&deeds);
        let sites = deeds.iter().map(|deed| deed.site).collect();
        run.engine.fail(Failure { kind: FailureKind::Memory, message, tasks: vec![run.running], sites });
    });
    crate::failing::stop()
}
