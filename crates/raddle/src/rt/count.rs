//! std's count of the panics under way, which it keeps for each thread and shows as `std::thread::panicking`. All tasks of a
//! run share one thread, and a task may be left in the middle of an unwinding, at a point in a destructor. So the count is
//! one of the things that belong to a task: who is left while it unwinds takes its count along, and the others find
//! none. Poisoning, guards that ask why they go, and whoever else asks std, then hear of their own task.
//!
//! std has no way to set the count, so its place is found by looking: among the words of the thread's variables it is
//! the one that is 0, 1, 2, 1 and 0 when two panics begin and end. If there is not exactly one (another std than those known, or a
//! system on which we do not know where a thread's variables are) tasks share the count, and a carrier that is left with one
//! retires.
//!
//! To look takes as long as a few short runs, and every check has a thread of its own. The variables of one module lie side by side, in
//! every thread in the same way; so whoever has found the count next to a variable of ours knows how far it is from that in all others.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

/// Where the count of one thread is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanicCount {
    place: NonNull<usize>,
    /// What is not 0 if it may not be: the count itself, where it is known.
    hint: NonNull<usize>,
}

/// What stands for a count that is not known: there are never any panics to be taken along.
static UNKNOWN: AtomicUsize = AtomicUsize::new(0);

/// But there may be some, and std must be asked.
static PERHAPS: AtomicUsize = AtomicUsize::new(1);

/// How many bytes the count lies behind the variable of our own, in any thread. 0 as long as nobody has found out, and for
/// good if they are variables of two modules.
static DISTANCE: AtomicIsize = AtomicIsize::new(0);

impl PanicCount {
    /// That of the calling thread, which must not be panicking.
    pub(super) fn find() -> PanicCount {
        // Without unwinding nobody comes to a point while he panics.
        if cfg!(not(panic = "unwind")) {
            return PanicCount::at(word(&UNKNOWN));
        }
        PanicCount::known().unwrap_or_else(PanicCount::look)
    }

    /// Where it must be by what another thread has found.
    fn known() -> Option<PanicCount> {
        let distance = DISTANCE.load(Ordering::Relaxed);
        let word = NonNull::new(own().as_ptr().wrapping_byte_offset(distance))?;
        (distance != 0).then_some(PanicCount::at(word))
    }

    /// Looks for it among all variables of the thread.
    fn look() -> PanicCount {
        let mut words = words_of_thread();
        keep(&mut words, 0);
        begin_and_end(&mut words, 1);
        keep(&mut words, 0);
        let [word] = words[..] else { return PanicCount::unknown() };
        if are_of_one_module([own(), word]) {
            let distance = word.addr().get().wrapping_sub(own().addr().get());
            DISTANCE.store(distance.cast_signed(), Ordering::Relaxed);
        }
        PanicCount::at(word)
    }

    fn at(place: NonNull<usize>) -> PanicCount {
        PanicCount { place, hint: place }
    }

    fn unknown() -> PanicCount {
        PanicCount { place: word(&UNKNOWN), hint: word(&PERHAPS) }
    }

    /// Whether the running task unwinds, as far as that is known.
    #[inline(always)]
    pub(super) fn is_some(self) -> bool {
        // SAFETY: a variable of this thread, to which no reference is held, or one that is always 0.
        unsafe { self.place.read_volatile() != 0 }
    }

    /// Whether it may.
    #[inline(always)]
    pub(super) fn may_be_some(self) -> bool {
        // SAFETY: as above, or one that is always 1.
        unsafe { self.hint.read_volatile() != 0 }
    }

    /// The calling task is left: what its count was. Nobody panics after this.
    pub(super) fn set_aside(self) -> usize {
        // SAFETY: a variable of this thread, to which no reference is held: if it is not known, it is 0 and nobody asks.
        unsafe { self.place.replace(0) }
    }

    /// It goes on.
    pub(super) fn put_back(self, count: usize) {
        // SAFETY: as above.
        unsafe { self.place.write_volatile(count) };
    }
}

fn word(count: &'static AtomicUsize) -> NonNull<usize> {
    NonNull::new(count.as_ptr()).expect("a static is somewhere")
}

/// Panics, and looks at the count from a destructor meanwhile.
fn begin_and_end(words: &mut Vec<NonNull<usize>>, depth: usize) {
    struct Looks<'a>(&'a mut Vec<NonNull<usize>>, usize);
    impl Drop for Looks<'_> {
        fn drop(&mut self) {
            let Looks(words, depth) = self;
            keep(words, *depth);
            if *depth == 1 {
                begin_and_end(words, 2);
                keep(words, 1);
            }
        }
    }
    let panics = AssertUnwindSafe(|| {
        let _looks = Looks(words, depth);
        // No hook is called.
        resume_unwind(Box::new(()))
    });
    let ended: std::thread::Result<()> = catch_unwind(panics);
    drop(ended);
}

/// Those that have this value.
fn keep(words: &mut Vec<NonNull<usize>>, value: usize) {
    // SAFETY: they are words of this thread's variables, which are there as long as the thread is.
    words.retain(|word| unsafe { word.read_volatile() } == value);
}

/// A variable of our own of the calling thread.
fn own() -> NonNull<usize> {
    super::CURRENT.with(|current| NonNull::from(current).cast())
}

/// The words of all variables of the calling thread that are there from its beginning.
fn words_of_thread() -> Vec<NonNull<usize>> {
    let mut words = Vec::new();
    for_each_module(&mut |first, count| {
        words.extend((0..count).filter_map(|number| NonNull::new(first.wrapping_add(number))));
    });
    words
}

/// Whether one module has both variables.
fn are_of_one_module(variables: [NonNull<usize>; 2]) -> bool {
    let mut found = false;
    for_each_module(&mut |first, count| {
        let words = first..first.wrapping_add(count);
        found |= variables.iter().all(|variable| words.contains(&variable.as_ptr()));
    });
    found
}

/// The first word of the calling thread's variables, and their number, for each module that has some.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn for_each_module(mut see: &mut dyn FnMut(*mut usize, usize)) {
    use std::ffi::{c_int, c_void};

    extern "C" fn module(info: *mut libc::dl_phdr_info, _: usize, see: *mut c_void) -> c_int {
        // SAFETY: what `dl_iterate_phdr` passes is valid during the call, and `see` is what was given to it.
        let (info, see) = unsafe { (&*info, &mut *see.cast::<&mut dyn FnMut(*mut usize, usize)>()) };
        // SAFETY: the module has so many headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let bytes = headers.iter().find(|header| header.p_type == libc::PT_TLS).map(|header| header.p_memsz);
        if let Some(bytes) = bytes
            && !info.dlpi_tls_data.is_null()
        {
            let from = info.dlpi_tls_data.cast::<u8>();
            let skipped = from.align_offset(align_of::<usize>());
            let count = (bytes as usize).saturating_sub(skipped) / size_of::<usize>();
            see(from.wrapping_add(skipped).cast::<usize>(), count);
        }
        0
    }

    // SAFETY: the function is one that `dl_iterate_phdr` can call, and so are its data.
    unsafe { libc::dl_iterate_phdr(Some(module), (&raw mut see).cast()) };
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn for_each_module(_: &mut dyn FnMut(*mut usize, usize)) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_and_is_what_std_goes_by() {
        let found = || {
            let count = PanicCount::find();
            assert!(
                count.place.as_ptr() != UNKNOWN.as_ptr(),
                "std keeps its count elsewhere: tasks share it now"
            );
            assert!(!std::thread::panicking() && !count.may_be_some());
            struct Asks(PanicCount);
            impl Drop for Asks {
                fn drop(&mut self) {
                    assert!(std::thread::panicking() && self.0.may_be_some());
                    let mine = self.0.set_aside();
                    assert_eq!((mine, std::thread::panicking()), (1, false));
                    self.0.put_back(mine);
                    assert!(std::thread::panicking());
                }
            }
            let asks = AssertUnwindSafe(|| {
                let _asks = Asks(count);
                resume_unwind(Box::new(()))
            });
            let ended: std::thread::Result<()> = catch_unwind(asks);
            assert!(ended.is_err() && !std::thread::panicking());
        };
        // Each thread has its own. The first one looks for it, if no other test has.
        std::thread::spawn(found).join().unwrap();
        assert!(PanicCount::known().is_some(), "std is another module now: every check looks for the count");
        found();
    }
}
