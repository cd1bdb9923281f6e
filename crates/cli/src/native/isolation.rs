//! What keeps the runs of a native program apart, and what came of it.

use super::server::Reply;
use raddle_native::reset::SPEECHLESS;
use raddle_native::server::{CHECKED, REPEATED, RESET, reply};
use std::collections::BTreeMap;

/// What keeps runs apart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub(crate) enum Isolation {
    /// Each run is a process of its own
    Fork,
    /// Main is called again in the same process, and nothing is put back: for programs that begin anew by themselves. The
    /// first runs and every 1,000th are done in processes of their own, too, and compared
    InProcess,
    /// What a run has changed is undone; a run with something that cannot be undone gets a process of its own
    #[default]
    Reset,
    /// As `fork`, with what runs write made part of `runs_digest`
    #[value(hide = true)]
    ForkChecked,
    /// As `reset`, likewise; and all memory is compared after each run
    #[value(hide = true)]
    ResetChecked,
}

impl Isolation {
    /// As part of a request.
    pub(super) fn flags(self) -> u32 {
        match self {
            Isolation::Fork => 0,
            Isolation::InProcess => REPEATED,
            Isolation::Reset => RESET,
            Isolation::ForkChecked => CHECKED,
            Isolation::ResetChecked => RESET | CHECKED,
        }
    }

    /// Whether the status of a report is a hash of what the run wrote.
    pub(super) fn is_checked(self) -> bool {
        self.flags() & CHECKED != 0
    }

    fn name(self) -> &'static str {
        match self {
            Isolation::Fork | Isolation::ForkChecked => "fork",
            Isolation::InProcess => "in-process",
            Isolation::Reset | Isolation::ResetChecked => "reset",
        }
    }
}

/// Runs that got a process of their own though they were not to.
#[derive(Clone, Default, Debug)]
pub(super) struct Alone {
    /// By the number of the system call that was the reason; -1 for runs that destroyed the process that they were in.
    calls: BTreeMap<i32, u64>,
    /// Why all runs had one.
    why: Option<String>,
    /// How often the start was moved to the first choice.
    moved: u64,
}

impl Alone {
    /// All runs have one.
    pub(super) fn because(why: Option<String>) -> Alone {
        Alone { why, ..Alone::default() }
    }

    /// Takes note of one.
    pub(super) fn note(&mut self, reply: &Reply) {
        if reply.kind == reply::MOVED {
            self.moved += 1;
        } else if reply.bytes.is_empty() {
            *self.calls.entry(reply.status).or_default() += 1;
        } else {
            self.why = Some(String::from_utf8_lossy(&reply.bytes).into_owned());
        }
    }

    /// For the summary.
    pub(super) fn told(&self, isolation: Isolation) -> raddle_report::Isolation {
        raddle_report::Isolation {
            name: isolation.name().to_owned(),
            alone: self.calls.iter().map(|(&call, &runs)| (name(call), runs)).collect(),
            why: self.why.clone(),
            moved: self.moved,
        }
    }
}

/// The name of a system call that programs make and that is not undone.
fn name(call: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (1, "write"),
        (2, "open"),
        (3, "close"),
        (9, "mmap"),
        (10, "mprotect"),
        (11, "munmap"),
        (13, "rt_sigaction"),
        (14, "rt_sigprocmask"),
        (16, "ioctl"),
        (18, "pwrite64"),
        (20, "writev"),
        (25, "mremap"),
        (26, "msync"),
        (28, "madvise"),
        (29, "shmget"),
        (30, "shmat"),
        (33, "dup2"),
        (34, "pause"),
        (37, "alarm"),
        (38, "setitimer"),
        (40, "sendfile"),
        (42, "connect"),
        (44, "sendto"),
        (49, "bind"),
        (56, "clone"),
        (57, "fork"),
        (58, "vfork"),
        (59, "execve"),
        (60, "exit"),
        (61, "wait4"),
        (62, "kill"),
        (64, "semget"),
        (72, "fcntl"),
        (73, "flock"),
        (74, "fsync"),
        (75, "fdatasync"),
        (76, "truncate"),
        (77, "ftruncate"),
        (80, "chdir"),
        (81, "fchdir"),
        (82, "rename"),
        (83, "mkdir"),
        (84, "rmdir"),
        (85, "creat"),
        (86, "link"),
        (87, "unlink"),
        (88, "symlink"),
        (90, "chmod"),
        (95, "umask"),
        (109, "setpgid"),
        (112, "setsid"),
        (128, "rt_sigtimedwait"),
        (130, "rt_sigsuspend"),
        (131, "sigaltstack"),
        (141, "setpriority"),
        (149, "mlock"),
        (157, "prctl"),
        (158, "arch_prctl"),
        (160, "setrlimit"),
        (200, "tkill"),
        (203, "sched_setaffinity"),
        (222, "timer_create"),
        (231, "exit_group"),
        (234, "tgkill"),
        (247, "waitid"),
        (257, "openat"),
        (258, "mkdirat"),
        (263, "unlinkat"),
        (275, "splice"),
        (285, "fallocate"),
        (289, "signalfd4"),
        (292, "dup3"),
        (294, "inotify_init1"),
        (302, "prlimit64"),
        (316, "renameat2"),
        (324, "membarrier"),
        (425, "io_uring_setup"),
        (435, "clone3"),
        (436, "close_range"),
    ];
    match NAMES.binary_search_by_key(&call, |(number, _)| *number) {
        Ok(at) => NAMES[at].1.to_owned(),
        Err(_) if call == -1 => String::from("a crash of the whole process"),
        Err(_) if call as u32 == SPEECHLESS => String::from("a failure while the report was made"),
        Err(_) => format!("system call {call}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_names() {
        assert_eq!(name(56), "clone");
        assert_eq!(name(436), "close_range");
        assert_eq!(name(500), "system call 500");
    }
}
