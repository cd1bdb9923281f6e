//! The fork server: the program is loaded once, and each run is a copy of the process made before its first
//! instruction. The controller sends plans over a socket; what came of each run goes back.
//!
//! ```text
//! request   kind u32, length of plan u32, first run u64, last run u64, hang_ms u32, flags u32, plan
//! reply     kind u32, length u32, status i32, run u64 (as two u32), bytes
//! ```
//! A copy says what came of its run through memory that it shares with the server, which passes it on: a copy
//! that dies without a word is told apart by what the kernel says of it.

use crate::run::{self, Run};
use crate::site::Modules;
use crate::sys::{self, nr};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use raddle_analysis::LockOrder;
use raddle_model::{Plan, Policy, Recorder, Rng, SiteId, TaskId};
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
}

/// Bytes of a request's head.
pub const REQUEST: usize = 32;
/// Bytes of a reply's head.
pub const REPLY: usize = 20;
/// Request flag: standard output and error are files, to be emptied before each run.
pub const CAPTURED: u32 = 1;

/// What a copy shares with the server.
#[repr(C)]
struct Shared {
    /// Grows with every operation.
    beats: AtomicU64,
    /// Where the program was last.
    site: AtomicU32,
    task: AtomicU32,
    /// Bytes of the report; 0 if there is none yet.
    length: AtomicU64,
}

const HEAD: usize = 4096;
/// Room for reports: a report of a million events has about ten megabytes.
const ROOM: usize = 1 << 28;

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(core::ptr::null_mut());

fn shared() -> Option<&'static Shared> {
    // SAFETY: mapped once and never given back.
    unsafe { SHARED.load(Ordering::Relaxed).as_ref() }
}

/// A sign of life.
#[inline]
pub fn beat(task: TaskId, site: SiteId) {
    if let Some(shared) = shared() {
        // Nobody else writes these, so this need not be one indivisible step.
        shared.beats.store(shared.beats.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        shared.site.store(site.0, Ordering::Relaxed);
        shared.task.store(task.0, Ordering::Relaxed);
    }
}

/// Hands a report to the server.
pub(crate) fn publish(report: &[u8]) {
    let Some(shared) = shared() else { return };
    if report.len() <= ROOM {
        let to = (&raw const *shared).cast::<u8>().cast_mut();
        // SAFETY: the room after the head is this process's alone, and large enough.
        unsafe { core::ptr::copy_nonoverlapping(report.as_ptr(), to.add(HEAD), report.len()) };
        shared.length.store(report.len() as u64, Ordering::Release);
    }
}

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
    SHARED.store(sys::map(HEAD + ROOM, true).cast(), Ordering::Relaxed);
    crate::calls::prepare();
    send(socket, reply::READY, raddle_wire::TOOL_VERSION.as_bytes(), 0, 0);
    Server { socket }.work();
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

fn send(socket: i32, kind: u32, bytes: &[u8], status: i32, run: u64) -> bool {
    let mut message = Vec::with_capacity(REPLY + bytes.len());
    message.extend_from_slice(&kind.to_le_bytes());
    message.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    message.extend_from_slice(&status.to_le_bytes());
    message.extend_from_slice(&run.to_le_bytes());
    message.extend_from_slice(bytes);
    sys::write_all(socket, &message)
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

struct Server {
    socket: i32,
}

/// The order of locks is followed in runs whose number is a power of two, and in every so many.
const CLOSE_EVERY: u64 = 256;

impl Server {
    /// Returns in copies only.
    fn work(&self) {
        let modules = Modules::find();
        loop {
            let Some(request) = self.receive() else { sys::exit(0) };
            let Some(request) = request else { continue };
            for number in request.first..request.last {
                if self.is_stopped() {
                    break;
                }
                if self.one(&request, number, &modules) {
                    return;
                }
            }
            if !send(self.socket, reply::DONE, &[], 0, 0) {
                sys::exit(0);
            }
        }
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
    fn wait(&self, fd: i32, milliseconds: i32) -> bool {
        const READABLE: u64 = 1;
        let mut poll = fd as u32 as u64 | READABLE << 32;
        // SAFETY: one pollfd, which lives until the call returns.
        unsafe { sys::call3(nr::POLL, (&raw mut poll) as usize, 1, milliseconds as usize) > 0 }
    }

    /// One run. True in the copy that is to do it.
    fn one(&self, request: &Request, number: u64, modules: &Modules) -> bool {
        let shared = shared().expect("raddle bug: no shared memory");
        shared.length.store(0, Ordering::Relaxed);
        if request.flags & CAPTURED != 0 {
            for fd in [1usize, 2] {
                // SAFETY: the controller has said that these are files of its own.
                unsafe {
                    sys::call3(nr::FTRUNCATE, fd, 0, 0);
                    sys::call3(nr::LSEEK, fd, 0, 0);
                }
            }
        }
        // SAFETY: standard input is rewound if it is a file, and stays as it is if not.
        unsafe { sys::call3(nr::LSEEK, 0, 0, 0) };
        const CHILD_ENDS: usize = 17;
        // SAFETY: a copy of this process, which has one thread.
        let child = unsafe { sys::call3(nr::CLONE, CHILD_ENDS, 0, 0) };
        if child == 0 {
            begin(request, number, modules.clone());
            return true;
        }
        if child < 0 {
            let why = alloc::format!("the system refuses another process (error {})", -child);
            send(self.socket, reply::UNFIT, why.as_bytes(), 0, 0);
            sys::exit(98);
        }
        let hangs = self.watch(child, request.hang_ms);
        let mut status = 0i32;
        // SAFETY: the status lives until the call returns; the group is that of the copy.
        unsafe {
            while sys::call(nr::WAIT4, [child as usize, (&raw mut status) as usize, 0, 0, 0, 0]) == -4 {}
            // Whatever the program has started and left behind.
            sys::call3(nr::KILL, -child as usize, 9, 0);
            while sys::call(nr::WAIT4, [usize::MAX, 0, 1, 0, 0, 0]) > 0 {}
        }
        self.tell(number, status, hangs);
        false
    }

    /// Passes on what came of a run.
    fn tell(&self, number: u64, status: i32, hangs: bool) {
        let shared = shared().expect("raddle bug: no shared memory");
        let length = shared.length.load(Ordering::Acquire) as usize;
        let told = if length > 0 {
            // SAFETY: the copy that wrote it is gone.
            let bytes =
                unsafe { core::slice::from_raw_parts((&raw const *shared).cast::<u8>().add(HEAD), length) };
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
            if silent >= hang_ms {
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

/// The copy becomes a run.
fn begin(request: &Request, number: u64, modules: Modules) {
    const SETPGID: usize = 109;
    die_with_parent();
    // SAFETY: concerns this process alone.
    unsafe { sys::call3(SETPGID, 0, 0, 0) };
    let record = request.kind == request::RECORD;
    let mut run = Run::new(&request.plan, modules);
    let seed = if record { request.plan.seed } else { Rng::seed_of_run(request.plan.seed, number) };
    run.engine.policy_mut().restart(seed);
    let watch = run.engine.analysis_mut();
    watch.recorder = record.then(Recorder::default);
    let closely = record || number.is_power_of_two() || number.is_multiple_of(CLOSE_EVERY);
    watch.lock_order = closely.then(LockOrder::default);
    run::begin(run, &request.plan, record);
    crate::signals::watch_for_crashes();
}
