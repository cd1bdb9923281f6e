//! Who called: the stack above each operation, in the runs of a check that asks for HaPSets. Others pay nothing.
//!
//! A statement is the place of an operation and its context, the innermost five callers. During a run only return
//! addresses are taken down. What they stand for is looked up once for each new stack, when the run is over: that
//! takes more room than the stack of a task has. Inlined functions are callers like any other. The standard library's
//! and our own functions are left out, since they say nothing of the program. Of a program without debug information
//! nothing is known of callers: its statements have an empty context.

use super::carrier::place;
use raddle_model::hapset::{CONTEXT_MAX, Frame};
use raddle_model::{SiteId, Statement, TaskId, Trace};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// Return addresses that are taken down, our own included.
const DEPTH_MAX: usize = 32;

/// What lies above an operation at a site: return addresses, the innermost first.
type Stack = (SiteId, Vec<usize>);

/// The stacks that one carrier has seen, by number, and where they were seen in its run.
#[derive(Default, Debug)]
pub(crate) struct Callers {
    numbers: HashMap<Stack, SiteId>,
    /// By number: the stack, and its statement once that was looked up.
    stacks: Vec<(Stack, Option<SiteId>)>,
    /// What each task has announced last: the site, and the number of the stack.
    announced: Vec<(SiteId, SiteId)>,
    /// The numbers of all events.
    happened: Vec<SiteId>,
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
            self.announced.resize(task.index() + 1, (SiteId::UNKNOWN, SiteId::UNKNOWN));
        }
        self.announced[task.index()] = (site, number);
    }

    /// What a task has announced comes about. Returns the number of its stack.
    pub(crate) fn happens(&mut self, task: TaskId, site: SiteId) -> SiteId {
        let number = self.about(task, site);
        self.happened.push(number);
        number
    }

    /// The number of the stack of what a task is about to do.
    fn about(&mut self, task: TaskId, site: SiteId) -> SiteId {
        match self.announced.get(task.index()) {
            Some(&(at, number)) if at == site => number,
            // Nobody has announced it: it has no context.
            _ => self.number((site, Vec::new())),
        }
    }

    fn number(&mut self, stack: Stack) -> SiteId {
        if let Some(&number) = self.numbers.get(&stack) {
            return number;
        }
        let number = SiteId(self.stacks.len() as u32);
        self.stacks.push((stack.clone(), None));
        self.numbers.insert(stack, number);
        number
    }

    /// The statement that a numbered stack stands for, by number.
    pub(crate) fn statement(&mut self, number: SiteId) -> SiteId {
        let ((site, addresses), found) = &mut self.stacks[number.0 as usize];
        *found.get_or_insert_with(|| numbered(named(*site, addresses)))
    }

    /// Puts numbers of statements into the trace of the run that has ended, in place of sites.
    pub(crate) fn put_statements(&mut self, trace: &mut Trace) {
        let happened = std::mem::take(&mut self.happened);
        assert_eq!(happened.len(), trace.events.len(), "raddle bug: an event passed by unseen");
        for (event, &number) in trace.events.iter_mut().zip(&happened) {
            event.op.site = self.statement(number);
        }
        for (task, op) in &mut trace.pending {
            let number = self.about(*task, op.site);
            op.site = self.statement(number);
        }
        self.happened = happened;
    }
}

/// All statements of this process, by number and by name.
static STATEMENTS: Mutex<(Vec<Statement>, BTreeMap<Statement, SiteId>)> =
    Mutex::new((Vec::new(), BTreeMap::new()));

fn numbered(statement: Statement) -> SiteId {
    let mut statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (by_number, by_name) = &mut *statements;
    *by_name.entry(statement).or_insert_with_key(|statement| {
        by_number.push(statement.clone());
        SiteId(by_number.len() as u32 - 1)
    })
}

/// The statement with a number that [`Callers::statement`] has given.
pub(crate) fn statement(number: SiteId) -> Statement {
    let statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    statements.0.get(number.0 as usize).cloned().unwrap_or_default()
}

/// What the source says of a stack.
fn named(site: SiteId, addresses: &[usize]) -> Statement {
    let frame = Frame::from(&place(site));
    let mut callers = Vec::new();
    addresses.iter().for_each(|&address| functions_at(address, &mut callers));
    // The function in which the operation stands. If the name of that place was asked for by one that it calls,
    // such as a `#[track_caller]` function of the program's own, that is none of the callers.
    let here = |at: &Frame| at.line == frame.line && at.file.ends_with(&frame.file);
    let own = callers.iter().position(here);
    // The compiler names a file from its own directory on, debug information from the root on.
    let root = own.map_or("", |own| callers[own].file.strip_suffix(&frame.file).unwrap_or("")).to_owned();
    let context = callers.into_iter().skip(own.unwrap_or(0) + 1).take(CONTEXT_MAX);
    let context = context.map(|at| Frame { file: from(&root, at.file), ..at }).collect();
    Statement { frame, context }
}

fn from(root: &str, file: String) -> String {
    file.strip_prefix(root).map_or_else(|| file.clone(), str::to_owned)
}

/// Adds the functions of the program at a return address, the innermost inlined one first.
fn functions_at(address: usize, functions: &mut Vec<Frame>) {
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
        if let (Some(file), Some(line), false) = (symbol.filename(), symbol.lineno(), is_foreign(&name)) {
            let file = file.to_string_lossy().replace('\\', "/");
            functions.push(Frame { file, line, column: symbol.colno().unwrap_or(0) });
        }
    });
}

/// Whether a function is ours, the unwinder's or the standard library's.
fn is_foreign(name: &str) -> bool {
    let of = name.trim_start_matches(['<', '&', '*', '(', '[']).split("::").next().unwrap_or_default();
    matches!(of, "raddle" | "backtrace" | "std" | "core" | "alloc" | "test") || of.starts_with("__rust")
}
