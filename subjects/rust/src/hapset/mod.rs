//! Subjects of the HaPSet paper (Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing", ICSE 2011):
//! programs written for this project with the threads, locks, shared data and bugs of the paper's, as far as it tells
//! of them. Each comes twice: as it was, and mended.
//!
//! The paper put "arbitrary shared memory accesses and locking statements" into its small programs, to make them
//! nontrivial; ours write to a [`journal`] that has nothing to do with the bug.

pub mod aget;
pub mod create_thread;
pub mod figures;
pub mod file_transport;
pub mod http_connect;
pub mod journal;
pub mod load_script;
pub mod mysql_log;
pub mod node_state;
pub mod open_input_stream;
pub mod pbzip2;
pub mod pfscan;
pub mod read_write_proc;
pub mod seek_to_item;
pub mod thread_manager;
pub mod timer_thread;
pub mod update_timer;

use Runs::{Found, Missed, TimedOut};

/// A row of tables 1 to 5.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name there.
    pub name: &'static str,
    /// The table.
    pub table: u32,
    /// The bug in the paper's words: `deadlk`, `race`, `order`, `atom`.
    pub bug: &'static str,
    /// What a failing run of ours ends with: `deadlock`, `assertion` or `panic`.
    pub kind: &'static str,
    /// Threads as counted there, main included.
    pub threads: usize,
    /// Runs that HaPSet took there.
    pub hapset: u64,
    /// Runs that DPOR took there, if it was measured.
    pub dpor: Option<Runs>,
    /// Runs that PCB took there, by bound.
    pub pcb: &'static [(u32, Runs)],
    /// The program.
    pub subject: fn(),
    /// The same without the bug.
    pub mended: fn(),
}

/// Runs that a search took in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Until it found the bug.
    Found(u64),
    /// Until its time was up, without the bug.
    TimedOut(u64),
    /// Until nothing was left, without the bug.
    Missed(u64),
}

impl Runs {
    /// The number.
    pub const fn number(self) -> u64 {
        match self {
            Found(runs) | TimedOut(runs) | Missed(runs) => runs,
        }
    }
}

/// All rows, in the paper's order.
pub const ROWS: &[Row] = &[
    Row {
        dpor: Some(Found(23)),
        pcb: &[(0, Missed(512)), (1, Found(26)), (2, Found(215)), (3, TimedOut(871))],
        ..row(
            1,
            "thrift-lib-w2-5t",
            "deadlk",
            "deadlock",
            3,
            14,
            thread_manager::bug::<2>,
            thread_manager::ok::<2>,
        )
    },
    Row {
        dpor: Some(TimedOut(733)),
        pcb: &[(0, TimedOut(1301)), (1, Found(399)), (2, TimedOut(876)), (3, TimedOut(742))],
        ..row(
            1,
            "thrift-lib-w3-5t",
            "deadlk",
            "deadlock",
            4,
            18,
            thread_manager::bug::<3>,
            thread_manager::ok::<3>,
        )
    },
    Row {
        dpor: Some(TimedOut(665)),
        pcb: &[(0, TimedOut(1111)), (1, TimedOut(980)), (2, TimedOut(677)), (3, TimedOut(639))],
        ..row(
            1,
            "thrift-lib-w4-5t",
            "deadlk",
            "deadlock",
            5,
            22,
            thread_manager::bug::<4>,
            thread_manager::ok::<4>,
        )
    },
    Row {
        dpor: Some(TimedOut(572)),
        pcb: &[(0, TimedOut(899)), (1, TimedOut(670)), (2, TimedOut(582)), (3, TimedOut(573))],
        ..row(
            1,
            "thrift-lib-w5-5t",
            "deadlk",
            "deadlock",
            6,
            25,
            thread_manager::bug::<5>,
            thread_manager::ok::<5>,
        )
    },
    Row {
        dpor: Some(Found(96)),
        pcb: &[(2, Found(94))],
        ..row(2, "aget", "race", "assertion", 6, 14, aget::bug::<5>, aget::ok::<5>)
    },
    Row {
        dpor: Some(Found(2)),
        pcb: &[(2, Found(2))],
        ..row(2, "pbzip2", "order", "panic", 7, 2, pbzip2::bug, pbzip2::ok)
    },
    Row {
        dpor: Some(TimedOut(608)),
        pcb: &[(2, TimedOut(631))],
        ..row(2, "pbz2-f", "race", "assertion", 7, 8, pbzip2::race, pbzip2::ok)
    },
    Row {
        dpor: Some(TimedOut(1541)),
        pcb: &[(2, TimedOut(2867))],
        ..row(2, "pfscan", "deadlk", "deadlock", 3, 28, pfscan::bug, pfscan::ok)
    },
    Row {
        pcb: &[(0, TimedOut(286)), (1, Found(12)), (2, Found(94)), (3, Found(151)), (4, Found(95))],
        ..row(3, "aget", "race", "assertion", 6, 14, aget::bug::<5>, aget::ok::<5>)
    },
    row(4, "aget, 2 threads", "race", "assertion", 3, 3, aget::bug::<2>, aget::ok::<2>),
    row(4, "aget, 3 threads", "race", "assertion", 4, 7, aget::bug::<3>, aget::ok::<3>),
    row(4, "aget, 4 threads", "race", "assertion", 5, 12, aget::bug::<4>, aget::ok::<4>),
    row(4, "aget, 5 threads", "race", "assertion", 6, 14, aget::bug::<5>, aget::ok::<5>),
    row(4, "aget, 6 threads", "race", "assertion", 7, 16, aget::bug::<6>, aget::ok::<6>),
    row(4, "aget, 7 threads", "race", "assertion", 8, 18, aget::bug::<7>, aget::ok::<7>),
    row(4, "aget, 8 threads", "race", "assertion", 9, 20, aget::bug::<8>, aget::ok::<8>),
    row(4, "aget, 9 threads", "race", "assertion", 10, 22, aget::bug::<9>, aget::ok::<9>),
    row(4, "aget, 10 threads", "race", "assertion", 11, 24, aget::bug::<10>, aget::ok::<10>),
    small("MysqlLog", "atom", "assertion", 5, 22, &[(2, Found(12))], mysql_log::bug, mysql_log::ok),
    small("NodeState", "order", "assertion", 5, 22, &[(2, Found(12))], node_state::bug, node_state::ok),
    small("Loadscript", "atom", "assertion", 5, 79, &[(2, Found(27))], load_script::bug, load_script::ok),
    small("SeekToItem", "atom", "panic", 3, 127, &[(2, Found(22))], seek_to_item::bug, seek_to_item::ok),
    small("UpdateTimer", "atom", "panic", 3, 128, &[(2, Found(10))], update_timer::bug, update_timer::ok),
    small(
        "FileTransport",
        "deadlk",
        "deadlock",
        5,
        22,
        &[(2, Found(12))],
        file_transport::bug,
        file_transport::ok,
    ),
    small("CreateThread", "order", "panic", 5, 22, &[(2, Found(12))], create_thread::bug, create_thread::ok),
    small(
        "ReadWriteProc",
        "order",
        "deadlock",
        5,
        175,
        &[(2, Found(20))],
        read_write_proc::bug,
        read_write_proc::ok,
    ),
    small(
        "OpenInputStr",
        "deadlk",
        "deadlock",
        5,
        1409,
        &[(2, Found(42))],
        open_input_stream::bug,
        open_input_stream::ok,
    ),
    small("HttpConnect", "order", "panic", 5, 37, &[(2, Found(16))], http_connect::bug, http_connect::ok),
    small(
        "TimerThread",
        "deadlk",
        "deadlock",
        3,
        101,
        &[(2, Found(18))],
        timer_thread::bug,
        timer_thread::ok,
    ),
];

#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn row(
    table: u32,
    name: &'static str,
    bug: &'static str,
    kind: &'static str,
    threads: usize,
    hapset: u64,
    subject: fn(),
    mended: fn(),
) -> Row {
    Row { name, table, bug, kind, threads, hapset, dpor: None, pcb: &[], subject, mended }
}

/// A row of table 5: two threads; main is one of them where it makes the other.
#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn small(
    name: &'static str,
    bug: &'static str,
    kind: &'static str,
    hapset: u64,
    dpor: u64,
    pcb: &'static [(u32, Runs)],
    subject: fn(),
    mended: fn(),
) -> Row {
    Row { dpor: Some(Found(dpor)), pcb, ..row(5, name, bug, kind, 2, hapset, subject, mended) }
}
