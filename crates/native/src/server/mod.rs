//! The fork server: the program is loaded once, and each run is a copy of the process made before its first
//! instruction. The controller sends plans over a socket; what came of each run goes back.
//!
//! ```text
//! request   kind u32, length of plan u32, first run u64, last run u64, hang_ms u32, flags u32, entry u64, plan
//! reply     kind u32, length u32, status i32, run u64 (as two u32), bytes
//! ```
//! A copy says what came of its run through memory that it shares with the server, which passes it on: a copy
//! that dies without a word is told apart by what the kernel says of it.

mod addresses;
mod copies;
mod late;
mod left;
mod outbox;
mod processor;
mod repeats;
mod resets;
mod search;
mod shared;
mod when;

use crate::site::Modules;
use crate::sys::{self, nr};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicI32, Ordering};
use outbox::Outbox;
use raddle_model::Plan;
use raddle_wire::plan;

pub use addresses::FIXED;
pub(crate) use copies::Marks;
pub(crate) use left::outlives;
pub(crate) use outbox::nanoseconds;
pub use processor::part;
pub(crate) use repeats::next as next_repeat;
pub(crate) use resets::{ALL_FILES, Errand, Mail, first_choice};
pub use search::{GONE, NO_CHECKPOINT};
pub(crate) use search::{Order, decode, had_points, keep_checkpoint};
pub use shared::beat;
pub(crate) use shared::{Gist, Shared, hang_ms, is_due, publish};
pub(crate) use when::When;

/// The variable that tells an instrumented program that it is a server, and where its controller listens.
pub const VARIABLE: &CStr = c"RADDLE_SERVER";

/// Kinds of requests.
pub mod request {
    /// Digests of a range of runs.
    pub const SAMPLE: u32 = 1;
    /// One run in full.
    pub const RECORD: u32 = 2;
    /// Leave out the rest of the range.
    pub const STOP: u32 = 3;
    /// A run of a search. In place of the last run: from which checkpoint it goes on, as the number of scheduling points
    /// that led there plus one, or 0 for from the beginning. The plan's steps up to there are left out. There is one
    /// answer, and no `DONE`.
    pub const SEARCH: u32 = 4;
}

/// Kinds of replies.
pub mod reply {
    /// The server is ready; the bytes are the version of the tool.
    pub const READY: u32 = 1;
    /// A report of a run.
    pub const REPORT: u32 = 2;
    /// A run that died without a report; the status is the kernel's.
    pub const DIED: u32 = 3;
    /// A run that reached no operation for too long; the status is the site where it was last.
    pub const HANGS: u32 = 4;
    /// All runs of a request are done.
    pub const DONE: u32 = 5;
    /// The server cannot work; the bytes say why.
    pub const UNFIT: u32 = 6;
    /// The next report is of a run that was done in a process of its own, though it was not to be; the status is
    /// the number of the system call that could not be undone, or -1 if the run destroyed the process that it
    /// was in. Bytes, if there are any, say why all runs are done in this way from now on.
    pub const ALONE: u32 = 7;
    /// The runs from this one on begin at their first choice, as long as there are no others that begin before main.
    pub const MOVED: u32 = 8;
    /// The checkpoints that there are after the run whose report comes next: for each the number of scheduling points
    /// that led there, four bytes each.
    pub const CHECKPOINTS: u32 = 9;
    /// A run of a search must be asked for again, from the beginning. The status is the number of the system call that could
    /// not be undone, or why else: [`NO_CHECKPOINT`](super::NO_CHECKPOINT), [`GONE`](super::GONE). After anything but the
    /// first the run must have a process of its own.
    pub const LOST: u32 = 10;
}

/// Exit code of a server that does not know how much of what was said has come through.
pub const BROKEN_OFF: i32 = 97;
/// Bytes of a request's head.
pub const REQUEST: usize = 40;
/// Bytes of a reply's head.
pub const REPLY: usize = 20;
/// Request flag: standard output and error are files, to be emptied before each run.
pub const CAPTURED: u32 = 1;
/// Request flag: what comes before main, or before the entry that is called in its place, is not controlled.
pub const FROM_MAIN: u32 = 2;
/// Request flag: main is called again and again in one process. Goes with [`FROM_MAIN`].
pub const REPEATED: u32 = 4;
/// Request flag: runs are done in one process that puts back what they have changed.
pub const RESET: u32 = 8;
/// Request flag: the status of a report is a hash of what the run wrote; and after each run that is undone all memory
/// is compared with what it was.
pub const CHECKED: u32 = 16;
/// Request flag: runs find out what is shared, for `--points shared`.
pub const SHARING: u32 = 32;
/// Request flag: a run of a search is done in a process of its own.
pub const ALONE: u32 = 64;
/// Request flag: no checkpoints are taken.
pub const CHECKPOINTS_OFF: u32 = 128;
/// Request flag: checkpoints are taken whatever they cost.
pub const CHECKPOINTS_ALWAYS: u32 = 256;
/// Request flag: each thread of the program is a kernel thread. Goes with none of [`REPEATED`] and [`RESET`].
pub const THREADS: u32 = 512;
/// Request flag: the reports of all runs say what happened and who called, for HaPSets. Goes not with [`REPEATED`].
pub const CALLERS: u32 = 1024;
/// A run that is recorded is told without who called what.
pub const BARE: u32 = 2048;

/// A variable that the loader looks at, and the value by which we know that the controller has set it: all calls are
/// bound to what they call before the program begins, and not again in each run.
pub const BIND_NOW: [&CStr; 2] = [c"LD_BIND_NOW", c"raddle"];

/// Where a variable stands in the environment, and its value. Any value if none is given.
///
/// # Safety
/// `environment` must be the process's own, ended by null.
unsafe fn find_variable(
    mut environment: *mut *mut c_char,
    name: &CStr,
    only: Option<&CStr>,
) -> Option<(*mut *mut c_char, &'static CStr)> {
    // SAFETY: the array ends with null, and every entry before is a string that lives for ever.
    unsafe {
        while !(*environment).is_null() {
            let text = CStr::from_ptr(*environment);
            if let Some(value) = text.to_bytes_with_nul().strip_prefix(name.to_bytes())
                && value.first() == Some(&b'=')
                && let Ok(value) = CStr::from_bytes_with_nul(&value[1..])
                && only.is_none_or(|only| only == value)
            {
                return Some((environment, value));
            }
            environment = environment.add(1);
        }
    }
    None
}

/// Takes a variable of ours out of the environment: the program has none of it, nor what it starts.
///
/// # Safety
/// As for [`find_variable`].
unsafe fn take_variable(
    environment: *mut *mut c_char,
    name: &CStr,
    only: Option<&CStr>,
) -> Option<&'static CStr> {
    let mut found = None;
    // SAFETY: the array ends with null.
    unsafe {
        while let Some((mut at, value)) = find_variable(environment, name, only) {
            found = Some(value);
            while !(*at).is_null() {
                *at = *at.add(1);
                at = at.add(1);
            }
        }
    }
    found
}

/// If this process is to be a server, it is one from here on; what returns is a copy that shall run the
/// program under control, or a program that nobody controls. `prepare` is called once in a server, to do what would
/// have to be done in every copy.
///
/// # Safety
/// Before the program begins, on its only thread; `environment` as in `find_variable`, and so `arguments`.
pub unsafe fn serve(arguments: *mut *mut c_char, environment: *mut *mut c_char, prepare: fn()) {
    // SAFETY: passed on to the caller.
    let (path, placed) = unsafe {
        let asked = [VARIABLE, FIXED].iter().all(|name| find_variable(environment, name, None).is_some());
        let placed = !asked || addresses::fix(arguments, environment);
        let [name, value] = BIND_NOW;
        take_variable(environment, name, Some(value));
        take_variable(environment, FIXED, None);
        let Some(path) = take_variable(environment, VARIABLE, None) else { return };
        (path, placed)
    };
    die_with_parent();
    let socket = connect(path.to_bytes());
    if socket < 0 {
        sys::exit(98);
    }
    if !placed {
        outbox::refuse(
            socket,
            b"the system does not let a program lie where it is told to (`--addresses fixed`)",
        );
    }
    SOCKET.store(socket, Ordering::Relaxed);
    crate::warm::set_up_heap();
    if let Err(missing) = crate::libc::find() {
        outbox::refuse(socket, missing.to_bytes());
    }
    crate::fiber::map_stacks();
    shared::prepare();
    let Some(mut outbox) = Outbox::new(socket) else {
        outbox::refuse(socket, b"there is no memory to share");
    };
    // Whatever is done here need not be done in each run.
    prepare();
    crate::warm::up();
    crate::signals::watch_for_crashes();
    outbox.say(reply::READY, raddle_wire::TOOL_VERSION.as_bytes(), 0, 0, true);
    Server { socket, outbox }.work();
}

/// Connects to the controller. The descriptor is a high one, which programs do not expect to be free.
fn connect(path: &[u8]) -> i32 {
    const UNIX: u16 = 1;
    const STREAM_CLOEXEC: usize = 1 | 0o2000000;
    let mut address = [0u8; 110];
    if path.len() >= 108 {
        return -1;
    }
    address[..2].copy_from_slice(&UNIX.to_le_bytes());
    address[2..2 + path.len()].copy_from_slice(path);
    // SAFETY: the address lives until the call returns.
    unsafe {
        let low = sys::call3(nr::SOCKET, usize::from(UNIX), STREAM_CLOEXEC, 0);
        if low < 0 || sys::call3(nr::CONNECT, low as usize, address.as_ptr() as usize, address.len()) < 0 {
            return -1;
        }
        // Where the limit does not allow it, it stays where it is.
        let Some(high) = sys::duplicate_out_of_the_way(low as usize) else { return low as i32 };
        sys::call3(nr::CLOSE, low as usize, 0, 0);
        high as i32
    }
}

/// What is asked for.
struct Request {
    kind: u32,
    first: u64,
    last: u64,
    hang_ms: u32,
    flags: u32,
    /// What is called in place of main, as an offset in the executable; 0 is main.
    entry: u64,
    plan: Plan,
    /// The plan as it came.
    encoded: Vec<u8>,
}

/// A request without its plan.
#[derive(PartialEq, Eq)]
struct Head {
    kind: u32,
    /// Bytes of the plan.
    plan: usize,
    first: u64,
    last: u64,
    hang_ms: u32,
    flags: u32,
    entry: u64,
}

impl Head {
    fn of(bytes: &[u8]) -> Head {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Head {
            kind: word(0),
            plan: word(4) as usize,
            first: long(8),
            last: long(16),
            hang_ms: word(24),
            flags: word(28),
            entry: long(32),
        }
    }
}

struct Server {
    socket: i32,
    outbox: Outbox,
}

static SOCKET: AtomicI32 = AtomicI32::new(-1);

/// Where the controller is.
fn socket() -> i32 {
    SOCKET.load(Ordering::Relaxed)
}

impl Server {
    /// Returns in copies only.
    fn work(&mut self) {
        let modules = Modules::find();
        loop {
            let Some(request) = self.receive() else { sys::exit(0) };
            let Some(mut request) = request else { continue };
            if request.flags & THREADS == 0 && !crate::turns::fibers_suffice() {
                self.outbox.despair(b"fibers need the instruction wrfsbase, which the kernel does not allow");
            }
            if request.kind == request::SEARCH {
                match search::some(request, &modules, &mut self.outbox) {
                    Some(mine) => return at_main(mine, modules),
                    None => continue,
                }
            }
            copies::prepare(&request, modules.clone());
            let mut number = request.first;
            while number < request.last && !self.is_stopped() {
                let next = if request.flags & REPEATED != 0 {
                    repeats::some(&request, number, &mut self.outbox).ok_or(number)
                } else if request.flags & RESET != 0 {
                    resets::some(&mut request, number, &mut self.outbox)
                } else {
                    late::some(&request, number, &mut self.outbox).ok_or(number)
                };
                match next {
                    Ok(next) => number = next,
                    Err(mine) => return at_main(Request { first: mine, ..request }, modules),
                }
            }
            copies::finish();
            if !resets::is_told() {
                self.outbox.say(reply::DONE, &[], 0, 0, true);
            }
        }
    }

    /// The next request; nothing in it if it came too late to matter. None when the controller has gone.
    fn receive(&mut self) -> Option<Option<Request>> {
        let mut head = [0u8; REQUEST];
        if !sys::read_all(self.socket, &mut head) {
            return None;
        }
        let Head { kind, plan, first, last, hang_ms, flags, entry } = Head::of(&head);
        let mut bytes = vec![0u8; plan];
        if !sys::read_all(self.socket, &mut bytes) {
            return None;
        }
        if kind == request::STOP {
            return Some(None);
        }
        let plan = match plan::decode(&bytes) {
            Ok(plan) => plan,
            Err(error) => self.outbox.despair(alloc::format!("{error}").as_bytes()),
        };
        Some(Some(Request { kind, first, last, hang_ms, flags, entry, plan, encoded: bytes }))
    }

    /// Whether the controller wants no more of this request.
    fn is_stopped(&mut self) -> bool {
        if !has_mail(self.socket) {
            return false;
        }
        match self.receive() {
            Some(None) => true,
            Some(Some(_)) => panic!("raddle bug: a request before the last one is done"),
            None => sys::exit(0),
        }
    }
}

/// Whether the controller has said something.
fn has_mail(socket: i32) -> bool {
    sys::to_read(socket as usize) != 0
}

/// What this copy does when it comes to main, if control begins there.
static AT_MAIN: Slot = Slot(UnsafeCell::new(None));

struct AtMain {
    request: Request,
    base: usize,
}

struct Slot(UnsafeCell<Option<AtMain>>);

// SAFETY: written and read on the process's one thread, before its program makes others.
unsafe impl Sync for Slot {}

fn at_main(request: Request, modules: Modules) {
    if request.flags & FROM_MAIN != 0 {
        // SAFETY: see `Slot`.
        unsafe { *AT_MAIN.0.get() = Some(AtMain { request, base: modules.base() }) };
    }
}

/// Whether control begins when main does, by [`main`].
pub fn begins_at_main() -> bool {
    // SAFETY: see `Slot`.
    unsafe { (*AT_MAIN.0.get()).is_some() }
}

/// Control begins: calls what is to be called, once or again and again. `prepare` is called before each time.
///
/// # Safety
/// In place of main, if control begins there; `main` and its arguments as the startup code has them.
pub unsafe fn main(main: Main, prepare: fn()) -> i32 {
    // SAFETY: see `Slot`.
    let Some(AtMain { request, base }) = (unsafe { (*AT_MAIN.0.get()).take() }) else {
        panic!("raddle bug: main is nobody's");
    };
    let main = match request.entry {
        0 => main,
        entry => Main { function: base + entry as usize, ..main },
    };
    if request.flags & REPEATED != 0 {
        repeats::repeat(&request, request.first, main, prepare);
    }
    prepare();
    copies::start(&request, request.first);
    // SAFETY: passed on to the caller.
    unsafe { main.call() }
}

/// The program's main, and what it is called with.
#[derive(Clone, Copy, Debug)]
pub struct Main {
    /// Its address.
    pub function: usize,
    /// Number of arguments.
    pub argc: i32,
    /// The arguments.
    pub argv: usize,
    /// The environment.
    pub envp: usize,
}

impl Main {
    /// # Safety
    /// It must be a main, or a function without arguments.
    unsafe fn call(self) -> i32 {
        // SAFETY: passed on to the caller.
        unsafe {
            let function: extern "C" fn(i32, usize, usize) -> i32 = core::mem::transmute(self.function);
            function(self.argc, self.argv, self.envp)
        }
    }
}

/// Nobody is left behind when the controller or the server is killed.
fn die_with_parent() {
    const SET_DEATH_SIGNAL: usize = 1;
    // SAFETY: concerns this process alone.
    unsafe { sys::call3(nr::PRCTL, SET_DEATH_SIGNAL, 9, 0) };
}
