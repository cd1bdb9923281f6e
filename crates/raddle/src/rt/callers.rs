//! Who called: the stack above each operation, in the runs of a check that asks for HaPSets. Others pay nothing.
//!
//! A statement is the place of an operation and its context, the innermost five callers. During a run only return
//! addresses are taken down. What they stand for is looked up once for each new stack, when the run is over: that
//! takes more room than the stack of a task has. Inlined functions are callers like any other. The standard library's
//! and our own functions are left out, since they say nothing of the program. Of a program without debug information
//! nothing is known of callers: its statements have an empty context.

use super::carrier::place;
use raddle_explore::hapset::Statements;
use raddle_model::hapset::{CONTEXT_MAX, Frame};
use raddle_model::{SiteId, Statement, StatementId, TaskId, Trace};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Return addresses that are taken down, our own included.
const DEPTH_MAX: usize = 32;

/// A stack that a carrier has seen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct StackId(pub(crate) u32);

/// What lies above an operation at a site: return addresses, the innermost first.
type Stack = (SiteId, Vec<usize>);

/// The stacks that one carrier has seen, by number, and where they were seen in its run.
#[derive(Default, Debug)]
pub(crate) struct Callers {
    numbers: HashMap<Stack, StackId>,
    /// By number: the stack, and its statement once that was looked up.
    stacks: Vec<(Stack, Option<StatementId>)>,
    /// What each task has announced last: the site, and the number of the stack.
    announced: Vec<(SiteId, StackId)>,
    /// The numbers of all events.
    happened: Vec<StackId>,
}

impl Callers {
    pub(crate) fn begin(&mut self) {
        self.announced.clear();
        self.happened.clear();
    }

    /// The running task is about to do something at this site.
    pub(crate) fn announce(&mut self, task: TaskId, site: SiteId) {
        let mut addresses = Vec::with_capacity(DEPTH_MAX);
        backtrace::trace(|frame| {
            addresses.push(frame.ip() as usize);
            addresses.len() < DEPTH_MAX
        });
        let number = self.number((site, addresses));
        if self.announced.len() <= task.index() {
            self.announced.resize(task.index() + 1, (SiteId::UNKNOWN, StackId::default()));
        }
        self.announced[task.index()] = (site, number);
    }

    /// What a task has announced comes about. Returns the number of its stack.
    pub(crate) fn happens(&mut self, task: TaskId, site: SiteId) -> StackId {
        let number = self.about(task, site);
        self.happened.push(number);
        number
    }

    /// The number of the stack of what a task is about to do.
    fn about(&mut self, task: TaskId, site: SiteId) -> StackId {
        match self.announced.get(task.index()) {
            Some(&(at, number)) if at == site => number,
            // Nobody has announced it: it has no context.
            _ => self.number((site, Vec::new())),
        }
    }

    fn number(&mut self, stack: Stack) -> StackId {
        if let Some(&number) = self.numbers.get(&stack) {
            return number;
        }
        let number = StackId(self.stacks.len() as u32);
        self.stacks.push((stack.clone(), None));
        self.numbers.insert(stack, number);
        number
    }

    /// The statement that a numbered stack stands for.
    pub(crate) fn statement(&mut self, StackId(number): StackId) -> StatementId {
        let ((site, addresses), found) = &mut self.stacks[number as usize];
        *found.get_or_insert_with(|| numbered(*site, addresses))
    }

    /// Puts numbers of statements into the trace of the run that has ended, in place of sites.
    pub(crate) fn put_statements(&mut self, trace: &mut Trace) {
        let happened = std::mem::take(&mut self.happened);
        assert_eq!(happened.len(), trace.events.len(), "raddle bug: an event passed by unseen");
        for (event, &number) in trace.events.iter_mut().zip(&happened) {
            event.op.site = SiteId(self.statement(number).0);
        }
        for (task, op) in &mut trace.pending {
            let number = self.about(*task, op.site);
            op.site = SiteId(self.statement(number).0);
        }
        self.happened = happened;
    }
}

/// All statements of this process.
static STATEMENTS: Mutex<Statements> = Mutex::new(Statements::new());

/// The statement with a number that a run of this process has given.
pub fn statement(number: StatementId) -> Statement {
    let statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    statements.name(number).cloned().unwrap_or_default()
}

/// The number of what the source says of a stack.
fn numbered(site: SiteId, addresses: &[usize]) -> StatementId {
    let statement = named(Frame::from(&place(site)), addresses);
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).number(statement)
}

fn named(frame: Frame, addresses: &[usize]) -> Statement {
    let mut functions = Vec::new();
    addresses.iter().for_each(|&address| functions_at(address, &mut functions));
    // What lies inside of our own is the unwinder's.
    let unwinder = functions.iter().position(|function| function.file.contains(own_directory())).unwrap_or(0);
    functions.drain(..unwinder);
    functions.retain(|function| !is_foreign(&function.file));
    // The function in which the operation stands; or rather the one that it is said to stand in, if the program has
    // `#[track_caller]` functions of its own.
    let here = |at: &Frame| at.line == frame.line && at.file.ends_with(&frame.file);
    let own = functions.iter().position(here);
    // The compiler names a file from its own directory on, debug information from the root on.
    let root = own.and_then(|own| functions[own].file.strip_suffix(&frame.file)).unwrap_or("").to_owned();
    let callers = functions.into_iter().skip(own.unwrap_or(0) + 1).take(CONTEXT_MAX);
    let relative = |at: Frame| match at.file.strip_prefix(&root) {
        Some(file) => Frame { file: file.to_owned(), ..at },
        None => at,
    };
    Statement { frame, context: callers.map(relative).collect() }
}

/// Adds the functions at a return address, the innermost inlined one first.
fn functions_at(address: usize, functions: &mut Vec<Frame>) {
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
        if let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) {
            let file = file.to_string_lossy().replace('\\', "/");
            functions.push(Frame { file, line, column: symbol.colno().unwrap_or(0) });
        }
    });
}

/// Whether a function is ours or the standard library's. Only their files tell: names of inlined functions may be cut.
fn is_foreign(file: &str) -> bool {
    file.contains(own_directory())
        || file.starts_with("/rustc/")
        || file.contains("/rustlib/src/rust/library/")
}

/// Where our own source lies, as the compiler was told.
fn own_directory() -> &'static str {
    file!().trim_end_matches("rt/callers.rs")
}
