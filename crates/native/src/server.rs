//! The fork server: the program is loaded once, and each run is a copy of the process made before its first
//! instruction. The controller sends plans over a socket; what came of each run goes back.
//!
//! ```text
//! request   kind u32, length of plan u32, first run u64, last run u64, hang_ms u32, flags u32, plan
//! reply     kind u32, length u32, status i32, run u64 (as two u32), bytes
//! ```
//! A copy says what came of its run through memory that it shares with the server, which passes it on: a copy
//! that dies without a word is told apart by what the kernel says of it.

use crate::errand::{Errand, STOPPED, UNABLE};
use crate::run::{self, Run};
pub use crate::shared::beat;
pub(crate) use crate::shared::publish;
use crate::shared::{flush, shared};
use crate::site::Modules;
use crate::sys::{self, nr};
use alloc::vec;
use core::cell::Cell;
use core::ffi::{CStr, c_char};
use core::sync::atomic::Ordering;
use raddle_analysis::LockOrder;
use raddle_model::hash::mix;
use raddle_model::{Plan, Policy, Recorder, Rng};
use raddle_wire::plan;

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
}

/// Bytes of a request's head.
pub const REQUEST: usize = 32;
/// Bytes of a reply's head.
pub const REPLY: usize = 20;
/// Request flag: standard output and error are files, to be emptied before each run.
pub const CAPTURED: u32 = 1;
/// Request flag: runs are repeated in one process where that is possible.
pub const RESET: u32 = 2;
/// Request flag: the status of a report is a hash of what the run wrote; and after each run that is to be undone
/// all memory is compared with what it was.
pub const CHECKED: u32 = 4;

/// Takes our variable out of the environment: the program has none of it, nor what it starts.
///
/// # Safety
/// `environment` must be the process's own, ended by null.
unsafe fn take_variable(mut environment: *mut *mut c_char) -> Option<&'static CStr> {
    let name = VARIABLE.to_bytes();
    let mut found = None;
    // SAFETY: the array ends with null, and every entry before is a string that lives for ever.
    unsafe {
        while !(*environment).is_null() {
            let text = CStr::from_ptr(*environment);
            if let Some(value) = text.to_bytes_with_nul().strip_prefix(name)
                && value.first() == Some(&b'=')
            {
                found = CStr::from_bytes_with_nul(&value[1..]).ok();
                let mut at = environment;
                while !(*at).is_null() {
                    *at = *at.add(1);
                    at = at.add(1);
                }
                continue;
            }
            environment = environment.add(1);
        }
    }
    found
}

/// If this process is to be a server, it is one from here on; what returns is a copy that shall run the
/// program under control, or a program that nobody controls.
///
/// # Safety
/// Before the program begins, on its only thread; `environment` as in `take_variable`.
pub unsafe fn serve(environment: *mut *mut c_char) {
    // SAFETY: passed on to the caller.
    let Some(path) = (unsafe { take_variable(environment) }) else { return };
    die_with_parent();
    let socket = connect(path.to_bytes());
    if socket < 0 {
        sys::exit(98);
    }
    let fit = crate::libc::find();
    if let Err(missing) = fit {
        send(socket, reply::UNFIT, missing.to_bytes(), 0, 0);
        sys::exit(98);
    }
    crate::shared::map();
    crate::calls::prepare();
    send(socket, reply::READY, raddle_wire::TOOL_VERSION.as_bytes(), 0, 0);
    Server::new(socket).work();
}

/// Connects to the controller. The descriptor is a high one, which programs do not expect to be free.
fn connect(path: &[u8]) -> i32 {
    const UNIX: u16 = 1;
    const STREAM_CLOEXEC: usize = 1 | 0o2000000;
    const DUPLICATE_CLOEXEC: usize = 1030;
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
        let high = sys::call3(nr::FCNTL, low as usize, DUPLICATE_CLOEXEC, 900);
        if high < 0 {
            return low as i32;
        }
        sys::call3(nr::CLOSE, low as usize, 0, 0);
        high as i32
    }
}

pub(crate) fn head(kind: u32, length: usize, status: i32, run: u64) -> [u8; REPLY] {
    let mut head = [0; REPLY];
    head[..4].copy_from_slice(&kind.to_le_bytes());
    head[4..8].copy_from_slice(&(length as u32).to_le_bytes());
    head[8..12].copy_from_slice(&status.to_le_bytes());
    head[12..].copy_from_slice(&run.to_le_bytes());
    head
}

/// Allocates nothing: the heap may be what a run has destroyed.
pub(crate) fn send(socket: i32, kind: u32, bytes: &[u8], status: i32, run: u64) -> bool {
    sys::write_all(socket, &head(kind, bytes.len(), status, run)) && sys::write_all(socket, bytes)
}

/// What is asked for.
struct Request {
    kind: u32,
    first: u64,
    last: u64,
    hang_ms: u32,
    flags: u32,
    plan: Plan,
}

pub(crate) struct Server {
    socket: i32,
    /// Whether runs can be repeated in one process, as far as is known.
    resets: Cell<bool>,
}

/// The order of locks is followed in runs whose number is a power of two, and in every so many.
const CLOSE_EVERY: u64 = 256;

impl Server {
    pub(crate) fn new(socket: i32) -> Server {
        Server { socket, resets: Cell::new(true) }
    }

    /// Returns in copies only.
    fn work(&self) {
        let modules = Modules::find();
        loop {
            let Some(request) = self.receive() else { sys::exit(0) };
            let Some(request) = request else { continue };
            if self.all(&request, &modules) {
                return;
            }
            if !send(self.socket, reply::DONE, &[], 0, 0) {
                sys::exit(0);
            }
        }
    }

    /// All runs of a request. True in the copy that is to do one.
    fn all(&self, request: &Request, modules: &Modules) -> bool {
        let mut number = request.first;
        while number < request.last && !self.is_stopped() {
            if request.flags & RESET != 0 && request.kind == request::SAMPLE && self.resets.get() {
                match self.several(request, number, modules) {
                    Several::Next(next) => number = next,
                    Several::Begun => return true,
                }
            } else if self.one(request, number, modules) {
                return true;
            } else {
                number += 1;
            }
        }
        false
    }

    /// Runs in one copy, as many as it can do.
    fn several(&self, request: &Request, first: u64, modules: &Modules) -> Several {
        let shared = shared().expect("raddle bug: no shared memory");
        shared.run.store(first, Ordering::Relaxed);
        shared.alone.store(0, Ordering::Relaxed);
        shared.length.store(0, Ordering::Relaxed);
        let child = self.copy();
        if child == 0 {
            become_copy();
            crate::signals::watch_for_crashes();
            let number = crate::reset::enter(Errand {
                socket: self.socket,
                flags: request.flags,
                hang_ms: request.hang_ms,
                last: request.last,
                begun: false,
            });
            begin(request, number, modules.clone());
            return Several::Begun;
        }
        let hangs = self.watch(child, request.hang_ms);
        let status = self.bury(child);
        let run = shared.run.load(Ordering::Acquire);
        if !flush(self.socket, shared) {
            sys::exit(0);
        }
        if run >= request.last || status == STOPPED << 8 {
            return Several::Next(run);
        }
        if status == UNABLE << 8 {
            self.resets.set(false);
            return Several::Next(run);
        }
        if hangs && shared.alone.load(Ordering::Relaxed) == 0 {
            shared.length.store(0, Ordering::Relaxed);
            self.tell(run, status, true, request.flags);
        } else {
            // Whatever has become of it: a process of its own will show.
            send(self.socket, reply::ALONE, &[], -1, run);
            if self.one(request, run, modules) {
                return Several::Begun;
            }
        }
        Several::Next(run + 1)
    }

    /// The next request; nothing in it if it came too late to matter. None when the controller has gone.
    fn receive(&self) -> Option<Option<Request>> {
        let mut head = [0u8; REQUEST];
        if !sys::read_all(self.socket, &mut head) {
            return None;
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let mut bytes = vec![0u8; word(4) as usize];
        if !sys::read_all(self.socket, &mut bytes) {
            return None;
        }
        if word(0) == request::STOP {
            return Some(None);
        }
        let plan = match plan::decode(&bytes) {
            Ok(plan) => plan,
            Err(error) => {
                let why = alloc::format!("{error}");
                send(self.socket, reply::UNFIT, why.as_bytes(), 0, 0);
                sys::exit(98);
            }
        };
        Some(Some(Request {
            kind: word(0),
            first: long(8),
            last: long(16),
            hang_ms: word(24),
            flags: word(28),
            plan,
        }))
    }

    /// Whether the controller wants no more of this request.
    fn is_stopped(&self) -> bool {
        if !self.wait(self.socket, 0) {
            return false;
        }
        match self.receive() {
            Some(None) => true,
            Some(Some(_)) => panic!("raddle bug: a request before the last one is done"),
            None => sys::exit(0),
        }
    }

    /// Whether there is something to read within so many milliseconds.
    pub(crate) fn wait(&self, fd: i32, milliseconds: i32) -> bool {
        const READABLE: u64 = 1;
        let mut poll = fd as u32 as u64 | READABLE << 32;
        // SAFETY: one pollfd, which lives until the call returns.
        unsafe { sys::call3(nr::POLL, (&raw mut poll) as usize, 1, milliseconds as usize) > 0 }
    }

    /// One run. True in the copy that is to do it.
    fn one(&self, request: &Request, number: u64, modules: &Modules) -> bool {
        let copy = self.alone(number, request.flags, request.hang_ms);
        if copy {
            crate::signals::watch_for_crashes();
            begin(request, number, modules.clone());
        }
        copy
    }

    /// One run in a process of its own. True in that.
    pub(crate) fn alone(&self, number: u64, flags: u32, hang_ms: u32) -> bool {
        prepare(flags);
        let child = self.copy();
        if child == 0 {
            become_copy();
            return true;
        }
        let hangs = self.watch(child, hang_ms);
        let status = self.bury(child);
        self.tell(number, status, hangs, flags);
        false
    }

    /// A copy of this process: 0 there.
    fn copy(&self) -> isize {
        const CHILD_ENDS: usize = 17;
        // SAFETY: a copy of this process, which has one thread.
        let child = unsafe { sys::call3(nr::CLONE, CHILD_ENDS, 0, 0) };
        if child < 0 {
            send(self.socket, reply::UNFIT, b"the system refuses another process", 0, 0);
            sys::exit(98);
        }
        child
    }

    /// Waits for a copy that ends, and ends what it has left behind.
    fn bury(&self, child: isize) -> i32 {
        let mut status = 0i32;
        // SAFETY: the status lives until the call returns; the group is that of the copy.
        unsafe {
            while sys::call(nr::WAIT4, [child as usize, (&raw mut status) as usize, 0, 0, 0, 0]) == -4 {}
            // Whatever the program has started and left behind.
            sys::call3(nr::KILL, -child as usize, 9, 0);
            while sys::call(nr::WAIT4, [usize::MAX, 0, 1, 0, 0, 0]) > 0 {}
        }
        status
    }

    /// Passes on what came of a run.
    pub(crate) fn tell(&self, number: u64, status: i32, hangs: bool, flags: u32) {
        let shared = shared().expect("raddle bug: no shared memory");
        let bytes = shared.report();
        let told = if !bytes.is_empty() {
            let status = if flags & CHECKED != 0 { output_hash() } else { status };
            send(self.socket, reply::REPORT, bytes, status, number)
        } else if hangs {
            let task = shared.task.load(Ordering::Relaxed);
            let site = shared.site.load(Ordering::Relaxed);
            send(self.socket, reply::HANGS, &task.to_le_bytes(), site as i32, number)
        } else {
            send(self.socket, reply::DIED, &[], status, number)
        };
        if !told {
            sys::exit(0);
        }
    }

    /// Waits for a copy to end, and ends it if it shows no sign of life for too long.
    fn watch(&self, child: isize, hang_ms: u32) -> bool {
        const SLICE: u32 = 100;
        let shared = shared().expect("raddle bug: no shared memory");
        // SAFETY: the descriptor of a child of ours.
        let fd = unsafe { sys::call3(nr::PIDFD_OPEN, child as usize, 0, 0) };
        if fd < 0 {
            return false;
        }
        let (mut beats, mut silent, mut hangs) = (u64::MAX, 0, false);
        while !self.wait(fd as i32, SLICE as i32) {
            let now = shared.beats.load(Ordering::Relaxed);
            silent = if now == beats { silent + SLICE } else { 0 };
            beats = now;
            // A run with a process of its own is watched by the one who made that.
            let patience =
                if shared.alone.load(Ordering::Relaxed) == 0 { hang_ms } else { hang_ms * 2 + 1000 };
            if silent >= patience {
                hangs = true;
                // SAFETY: the copy, and whatever is in its group.
                unsafe {
                    sys::call3(nr::KILL, child as usize, 9, 0);
                    sys::call3(nr::KILL, -child as usize, 9, 0);
                }
                break;
            }
        }
        // SAFETY: our own descriptor.
        unsafe { sys::call3(nr::CLOSE, fd as usize, 0, 0) };
        hangs
    }
}

/// Nobody is left behind when the controller or the server is killed.
fn die_with_parent() {
    const SET_DEATH_SIGNAL: usize = 1;
    // SAFETY: concerns this process alone.
    unsafe { sys::call3(nr::PRCTL, SET_DEATH_SIGNAL, 9, 0) };
}

/// What has come of a copy that repeats runs.
enum Several {
    /// All runs before this one are done.
    Next(u64),
    /// This is a copy that is to do one.
    Begun,
}

/// Outputs and input are as at the beginning.
pub(crate) fn prepare(flags: u32) {
    let Some(shared) = shared() else { return };
    shared.length.store(0, Ordering::Relaxed);
    const CURRENT: usize = 1;
    // SAFETY: the controller has said that these are files of its own. Standard input is rewound if it is a file,
    // and stays as it is if not.
    unsafe {
        for fd in [1usize, 2] {
            if flags & CAPTURED != 0 && sys::call3(nr::LSEEK, fd, 0, CURRENT) != 0 {
                sys::call3(nr::FTRUNCATE, fd, 0, 0);
                sys::call3(nr::LSEEK, fd, 0, 0);
            }
        }
        sys::call3(nr::LSEEK, 0, 0, 0);
    }
}

/// A hash of what is in the files that are standard output and error.
pub(crate) fn output_hash() -> i32 {
    const PREAD: usize = 17;
    let mut buffer = [0u8; 512];
    let mut hash = 0u64;
    for fd in [1, 2] {
        let mut at = 0;
        loop {
            // SAFETY: the kernel writes into a buffer that is alive.
            let read =
                unsafe { sys::call(PREAD, [fd, buffer.as_mut_ptr() as usize, buffer.len(), at, 0, 0]) };
            if read <= 0 {
                break;
            }
            hash = buffer[..read as usize].iter().fold(hash, |hash, &byte| mix(hash, u64::from(byte)));
            at += read as usize;
        }
        hash = mix(hash, fd as u64);
    }
    hash as i32
}

/// What a copy has and the server has not.
fn become_copy() {
    const SETPGID: usize = 109;
    die_with_parent();
    // SAFETY: concerns this process alone.
    unsafe { sys::call3(SETPGID, 0, 0, 0) };
}

/// A run begins.
fn begin(request: &Request, number: u64, modules: Modules) {
    let record = request.kind == request::RECORD;
    let mut run = Run::new(&request.plan, modules);
    let seed = if record { request.plan.seed } else { Rng::seed_of_run(request.plan.seed, number) };
    run.engine.policy_mut().restart(seed);
    let watch = run.engine.analysis_mut();
    watch.recorder = record.then(Recorder::default);
    let closely = record || number.is_power_of_two() || number.is_multiple_of(CLOSE_EVERY);
    watch.lock_order = closely.then(LockOrder::default);
    run::begin(run, &request.plan, record);
}
