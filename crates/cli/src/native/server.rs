//! The controller's side of a fork server: a program that was started and waits for plans. What the messages look
//! like is said in `crates/native/src/server`.

use super::backend::Chosen;
use super::checkpoints::Checkpoints;
use super::isolation::Isolation;
use crate::interrupt;
use crate::problem::Problem;
use raddle_explore::target::TargetError;
use raddle_model::Plan;
use raddle_native::server::{
    ALONE, BARE, BIND_NOW, BROKEN_OFF, CALLERS, CAPTURED, FIXED, FROM_MAIN, REPLY, REQUEST, RESET, SHARING,
    VARIABLE, reply, request,
};
use raddle_symbols::Module;
use raddle_wire::plan;
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// What is run, and how.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The executable.
    pub(crate) path: PathBuf,
    /// Its arguments, without its own name.
    pub(crate) arguments: Vec<OsString>,
    /// What it reads from standard input.
    pub(crate) stdin: Vec<u8>,
    /// Time without any operation after which a run counts as hanging.
    pub(crate) hang: Duration,
    /// Where control begins.
    pub(crate) beginning: Beginning,
    /// What keeps runs apart. Control does not begin with the process if main is called again in it.
    pub(crate) isolation: Isolation,
    /// What its threads are.
    pub(crate) backend: Chosen,
    /// Where it lies in memory.
    pub(crate) addresses: Addresses,
    /// Whether runs find out what is shared.
    pub(crate) sharing: bool,
    /// Whether runs of a search go on from checkpoints.
    pub(crate) checkpoints: Checkpoints,
}

/// Where a program lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub(crate) enum Addresses {
    /// Anywhere, as the system places it; a program that depends on it is told to
    #[default]
    Random,
    /// At the same place in all runs, for programs that hash addresses or numbers of threads
    Fixed,
}

/// Where control begins.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) enum Beginning {
    /// With the process: constructors are part of each run.
    #[default]
    Process,
    /// With main.
    Main,
    /// With a function that is called in place of main: its name, and its offset in the executable.
    Entry(String, u64),
}

impl Beginning {
    /// At a function; `main` is main.
    pub(crate) fn at(path: &Path, function: &str) -> Result<Beginning, Problem> {
        if function == "main" {
            return Ok(Beginning::Main);
        }
        let module = Module::open(path).map_err(|error| Problem::new(error.to_string(), ""))?;
        match module.function(function) {
            Some(offset) => Ok(Beginning::Entry(function.to_owned(), offset)),
            None => Err(Problem::new(
                format!("{} has no function `{function}`", path.display()),
                "is the name spelled as in the source? A static function that is never called is left out",
            )),
        }
    }

    /// The function, if it is not the process that it begins with.
    pub(crate) fn function(&self) -> Option<&str> {
        match self {
            Beginning::Process => None,
            Beginning::Main => Some("main"),
            Beginning::Entry(name, _) => Some(name),
        }
    }
}

/// How long a program may take to be loaded.
const START: Duration = Duration::from_secs(20);

/// How long a run that is recorded may take even if the campaign is to end: it is about something that was found. All that
/// are begun after that share as much.
const RECORD: Duration = Duration::from_secs(1);

/// How much longer at the most if only the time is over and runs of the program hang: such a one has to be waited for.
const HANG_MAX: Duration = Duration::from_secs(10);

/// How long any other run may take when the time is over: most end by themselves, and machines are busy.
const GRACE: Duration = Duration::from_millis(250);

/// How often we look whether it is time to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a server that says no more may take to end.
const END: Duration = Duration::from_secs(2);

/// How often in a row another server is made before the first word of it.
const RESTARTS_MAX: u32 = 8;

/// A program that waits for plans. It ends when this is dropped.
pub(super) struct Server {
    process: Process,
    program: Program,
    // Flags of all its requests.
    flags: u32,
    asked: Asked,
    // How often it was made anew since it last said something.
    restarts: u32,
    // Whether it is at something that nobody waits for any more.
    given_up: bool,
    // When the last run that is recorded must have ended, if any was begun when it was time to end.
    last: Option<Instant>,
    // Whether one of them was given up: another would be, too.
    spent: bool,
}

/// What was asked for last.
#[derive(Default)]
struct Asked {
    kind: u32,
    plan: Vec<u8>,
    /// Runs that nothing was heard of yet; of a search its number, and where it begins.
    runs: Range<u64>,
    flags: u32,
}

/// What a run has written to standard output and to standard error.
type Written = [Vec<u8>; 2];

/// How long a word is waited for.
#[derive(Clone, Copy)]
enum Patience {
    Endless,
    /// Until the campaign is to end, and until this moment in any case.
    UntilDue(Instant),
    /// The same, and this much longer if nobody has asked us to end.
    UntilAsked(Instant, Duration),
}

impl Patience {
    fn is_over(self) -> bool {
        match self {
            Patience::Endless => false,
            Patience::UntilDue(moment) => interrupt::is_due() && Instant::now() >= moment,
            Patience::UntilAsked(moment, _) if interrupt::is_asked() => Instant::now() >= moment,
            Patience::UntilAsked(moment, more) => Patience::UntilDue(moment + more).is_over(),
        }
    }
}

/// The program as it was started.
struct Process {
    child: Child,
    stream: BufReader<UnixStream>,
    stdout: File,
    stderr: File,
    // Holds the socket and what the program reads; removed at the end.
    _directory: tempfile::TempDir,
}

/// What a server says.
pub(super) struct Reply {
    pub(super) kind: u32,
    pub(super) status: i32,
    pub(super) run: u64,
    pub(super) bytes: Vec<u8>,
}

impl Reply {
    /// Whether it says something about the runs around it, and not what came of one.
    pub(super) fn is_aside(&self) -> bool {
        matches!(self.kind, reply::ALONE | reply::MOVED)
    }

    /// Whether it says what came of one.
    fn is_of_run(&self) -> bool {
        matches!(self.kind, reply::REPORT | reply::DIED | reply::HANGS)
    }
}

fn error(message: impl Into<String>) -> TargetError {
    TargetError { message: message.into() }
}

fn io_error(what: &str) -> impl Fn(io::Error) -> TargetError {
    move |cause| error(format!("{what}: {cause}"))
}

impl Process {
    fn start(program: &Program) -> Result<Process, TargetError> {
        let directory = tempfile::Builder::new().prefix("raddle-").tempdir();
        let directory = directory.map_err(io_error("no temporary directory"))?;
        let at = |name: &str| directory.path().join(name);
        let (socket, stdin) = (at("s"), at("in"));
        std::fs::write(&stdin, &program.stdin).map_err(io_error("no temporary file"))?;
        let listener = UnixListener::bind(&socket).map_err(io_error("no socket for the program"))?;
        // In memory: a run that writes is undone by truncating them.
        let memory = |name: &str| -> Result<File, TargetError> {
            let file = memfd_create(name, MemfdFlags::CLOEXEC).map(File::from);
            file.map_err(|cause| io_error("no file in memory")(cause.into()))
        };
        let (stdout, stderr) = (memory("raddle-stdout")?, memory("raddle-stderr")?);
        let given = |file: &File| file.try_clone().map_err(io_error("no file in memory"));
        let text = |text: &'static CStr| text.to_str().expect("ASCII");
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).env(text(VARIABLE), &socket);
        let [name, value] = BIND_NOW.map(text);
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
        if program.addresses == Addresses::Fixed {
            command.env(text(FIXED), "1");
        }
        // Ctrl-C is for us: who asks us to stop wants to know what was found until then.
        command.process_group(0);
        command.stdin(File::open(&stdin).map_err(io_error("no temporary file"))?);
        command.stdout(given(&stdout)?).stderr(given(&stderr)?);
        let child = command
            .spawn()
            .map_err(|cause| error(format!("{} could not be started: {cause}", program.path.display())))?;
        let mut started = Started { child: Some(child) };
        let stream = started.accept(&listener, program)?;
        let child = started.child.take().expect("it has just been started");
        // Reports of quick runs come many at a time.
        let stream = BufReader::with_capacity(1 << 16, stream);
        let mut process = Process { child, stream, stdout, stderr, _directory: directory };
        match process.hear(Patience::Endless) {
            Ok(Some(reply)) if reply.kind == reply::READY => Ok(process),
            Ok(reply) => Err(unfit(&reply.map_or_else(Vec::new, |reply| reply.bytes))),
            Err(_) => {
                let status = process.status();
                Err(process.gone(status))
            }
        }
    }

    fn tell(&mut self, message: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(message)
    }

    /// What it says next; none if it is time to end before it says anything.
    fn hear(&mut self, patience: Patience) -> io::Result<Option<Reply>> {
        let mut head = [0u8; REPLY];
        if !self.fill(&mut head, patience)? {
            return Ok(None);
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let mut bytes = vec![0; word(4) as usize];
        self.fill(&mut bytes, Patience::Endless)?;
        let run = u64::from(word(12)) | u64::from(word(16)) << 32;
        Ok(Some(Reply { kind: word(0), status: word(8) as i32, run, bytes }))
    }

    /// Reads as much as fits. False, and nothing was read, if it is time to end before.
    fn fill(&mut self, buffer: &mut [u8], patience: Patience) -> io::Result<bool> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.stream.read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => filled += more,
                Err(cause) if matches!(cause.kind(), WouldBlock | TimedOut | Interrupted) => {
                    if filled == 0 && patience.is_over() {
                        return Ok(false);
                    }
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok(true)
    }

    /// How it has ended, now that it says no more; none if it has not.
    fn status(&mut self) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < END => std::thread::sleep(Duration::from_millis(1)),
                status => return status.ok().flatten(),
            }
        }
    }

    fn gone(&self, status: Option<ExitStatus>) -> TargetError {
        let how = status.map_or_else(String::new, |status| format!(" ({status})"));
        let said = written(&self.stderr);
        let said = String::from_utf8_lossy(&said);
        error(format!("the program's server has gone{how}. It said: {}", said.trim()))
    }
}

/// What has been written to a file. Who writes goes on where it was.
fn written(file: &File) -> Vec<u8> {
    let mut all = vec![0; file.metadata().map_or(0, |about| about.len() as usize)];
    if file.read_exact_at(&mut all, 0).is_err() {
        all.clear();
    }
    all
}

fn unfit(why: &[u8]) -> TargetError {
    let why = String::from_utf8_lossy(why);
    error(format!(
        "the program cannot be controlled here: {why}. `raddle doctor` says what works on this machine"
    ))
}

impl Server {
    /// Starts a program.
    pub(super) fn start(program: &Program) -> Result<Server, TargetError> {
        let process = Process::start(program)?;
        let flags = CAPTURED | program.backend.flags() | if program.sharing { SHARING } else { 0 };
        Ok(Server {
            process,
            program: program.clone(),
            flags,
            asked: Asked::default(),
            restarts: 0,
            given_up: false,
            last: None,
            spent: false,
        })
    }

    /// From now on reports say what happened and who called.
    pub(super) fn tell_callers(&mut self) {
        self.flags |= CALLERS;
    }

    /// A run in full: what it tells, and what it has written. None if it is time to end before that, and it has had some.
    /// Who called what is told if somebody wants to know.
    pub(super) fn record(
        &mut self,
        plan: &Plan,
        hangs: bool,
        callers: bool,
    ) -> Result<Option<(Reply, Written)>, TargetError> {
        let now = Instant::now();
        let more = if hangs { self.program.hang.min(HANG_MAX) } else { Duration::ZERO };
        let moment = if interrupt::is_due() { *self.last.get_or_insert(now + RECORD) } else { now + RECORD };
        let patience = Patience::UntilAsked(moment, more);
        if self.spent && interrupt::is_due() || patience.is_over() {
            return Ok(None);
        }
        let flags = Isolation::Fork.flags() | if callers { 0 } else { BARE };
        self.send(request::RECORD, plan::encode(plan), 0..1, flags)?;
        let Some(reply) = self.hear(patience)? else {
            self.spent = true;
            return Ok(None);
        };
        let output = self.output();
        let done = self.receive()?;
        assert!(done.kind == reply::DONE, "raddle bug: one run was asked for and there is more");
        Ok(Some((reply, output)))
    }

    /// Whether what it was asked for last was given up in the middle.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// Asks for a run of a search, from a checkpoint or from the beginning.
    pub(super) fn search(
        &mut self,
        plan: &Plan,
        number: u64,
        since: Option<u32>,
        how: (Isolation, Checkpoints),
        alone: bool,
    ) -> Result<(), TargetError> {
        let flags = how.0.of_search().flags() | how.1.flags() | if alone { ALONE } else { 0 };
        let since = since.map_or(0, |points| u64::from(points) + 1);
        self.send(request::SEARCH, plan::encode(plan), number..since, flags)
    }

    /// Asks for runs.
    pub(super) fn sample(
        &mut self,
        plan: &Plan,
        runs: Range<u64>,
        how: (Isolation, Checkpoints),
    ) -> Result<(), TargetError> {
        self.send(request::SAMPLE, plan::encode(plan), runs, how.0.flags() | how.1.flags())
    }

    /// Asks to leave out the rest.
    pub(super) fn stop(&mut self) -> Result<(), TargetError> {
        self.asked.runs.start = self.asked.runs.end;
        let stop = Asked { kind: request::STOP, flags: Isolation::Fork.flags(), ..Asked::default() };
        let message = self.message(&stop);
        if self.process.tell(&message).is_err() { self.again() } else { Ok(()) }
    }

    fn send(&mut self, kind: u32, plan: Vec<u8>, runs: Range<u64>, flags: u32) -> Result<(), TargetError> {
        self.asked = Asked { kind, plan, runs, flags };
        if self.given_up {
            // The old one ends with whatever it is at.
            self.process = Process::start(&self.program)?;
            self.given_up = false;
        }
        if self.write_asked().is_err() { self.again() } else { Ok(()) }
    }

    fn write_asked(&mut self) -> io::Result<()> {
        let message = self.message(&self.asked);
        self.process.tell(&message)
    }

    fn message(&self, asked: &Asked) -> Vec<u8> {
        let (from_main, entry) = match self.program.beginning {
            Beginning::Process => (0, 0),
            Beginning::Main => (FROM_MAIN, 0),
            Beginning::Entry(_, offset) => (FROM_MAIN, offset),
        };
        let Asked { kind, plan, runs, flags } = asked;
        let flags = self.flags | from_main | flags;
        let hang_ms = u32::try_from(self.program.hang.as_millis()).unwrap_or(u32::MAX);
        let mut message = Vec::with_capacity(REQUEST + plan.len());
        message.extend(kind.to_le_bytes());
        message.extend((plan.len() as u32).to_le_bytes());
        message.extend(runs.start.to_le_bytes());
        message.extend(runs.end.to_le_bytes());
        message.extend(hang_ms.to_le_bytes());
        message.extend(flags.to_le_bytes());
        message.extend(entry.to_le_bytes());
        message.extend(plan);
        message
    }

    /// Makes another server in the place of one that says no more, if that had to break off, and asks again for what
    /// nothing was heard of.
    fn again(&mut self) -> Result<(), TargetError> {
        loop {
            let status = self.process.status();
            let broken_off = status.and_then(|status| status.code()) == Some(BROKEN_OFF);
            if !broken_off || self.restarts == RESTARTS_MAX {
                return Err(self.process.gone(status));
            }
            self.restarts += 1;
            self.process = Process::start(&self.program)?;
            // Whoever cannot tell of a run again and again is not to do it in one process with others.
            if self.restarts > 1 {
                self.asked.flags &= !RESET;
            }
            if self.write_asked().is_ok() {
                return Ok(());
            }
        }
    }

    /// What the server says next.
    pub(super) fn receive(&mut self) -> Result<Reply, TargetError> {
        loop {
            if let Some(reply) = self.hear(Patience::Endless)? {
                return Ok(reply);
            }
        }
    }

    /// The same; none if it is time to end before it says anything. What it is at is given up then.
    pub(super) fn receive_unless_due(&mut self) -> Result<Option<Reply>, TargetError> {
        self.hear(Patience::UntilDue(Instant::now() + GRACE))
    }

    fn hear(&mut self, patience: Patience) -> Result<Option<Reply>, TargetError> {
        loop {
            let Ok(reply) = self.process.hear(patience) else {
                self.again()?;
                continue;
            };
            if let Some(reply) = &reply {
                self.restarts = 0;
                if reply.kind == reply::UNFIT {
                    return Err(unfit(&reply.bytes));
                }
                if self.asked.kind != request::SEARCH && reply.is_of_run() {
                    self.asked.runs.start = reply.run + 1;
                }
            }
            self.given_up |= reply.is_none();
            return Ok(reply);
        }
    }

    /// What the last run wrote to standard output and to standard error.
    pub(super) fn output(&self) -> Written {
        [&self.process.stdout, &self.process.stderr].map(written)
    }
}

/// A program that has been started and has not answered yet.
struct Started {
    child: Option<Child>,
}

impl Started {
    fn accept(&mut self, listener: &UnixListener, program: &Program) -> Result<UnixStream, TargetError> {
        listener.set_nonblocking(true).map_err(io_error("no socket for the program"))?;
        let begun = Instant::now();
        let child = self.child.as_mut().expect("it has just been started");
        loop {
            if let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(false).map_err(io_error("no socket for the program"))?;
                stream.set_read_timeout(Some(LOOK)).map_err(io_error("no socket for the program"))?;
                return Ok(stream);
            }
            let name = program.path.display();
            if let Ok(Some(status)) = child.try_wait() {
                return Err(error(format!(
                    "{name} ended ({status}) before it could be controlled: it is not linked to raddle's runtime. \
                     Build it with `raddle cc` or `raddle c++`"
                )));
            }
            if begun.elapsed() > START {
                return Err(error(format!("{name} did not start within {} s", START.as_secs())));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Started {
    fn drop(&mut self) {
        self.child.iter_mut().for_each(end);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
