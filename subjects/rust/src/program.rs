//! What the small programs of [`bug`](crate::bug) and [`ok`](crate::ok) are, as data.

/// A small program with its verdict.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The same for the two programs of a pair.
    pub name: &'static str,
    /// The program.
    pub body: fn(),
    /// What every schedule, or some schedule, comes to.
    pub expect: Expect,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// No schedule fails.
    Ok,
    /// Some schedule fails, with this kind of failure: `assertion`, `panic`, `deadlock`, `race`, `livelock`.
    Kind(&'static str),
}
