//! What the threads of a native program are.

use super::Isolation;
use crate::problem::Problem;
use raddle_native::server::THREADS;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub(crate) enum Backend {
    /// Fibers where they work, else kernel threads
    #[default]
    Auto,
    /// All threads of the program on one kernel thread; a switch is a few instructions
    Fibers,
    /// Kernel threads that take turns: the same runs, many times slower
    Threads,
}

/// What is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chosen {
    threads: bool,
    /// Why fibers are not, if nobody has asked for something else.
    pub(crate) why: Option<String>,
}

impl Backend {
    /// Decides, on this machine.
    pub(crate) fn choose(self) -> Result<Chosen, Problem> {
        self.choose_if(raddle_probe::fibers())
    }

    /// Decides; fibers may not work for a reason.
    pub(crate) fn choose_if(self, fibers: Result<(), String>) -> Result<Chosen, Problem> {
        match (self, fibers) {
            (Backend::Threads, _) => Ok(Chosen { threads: true, why: None }),
            (_, Ok(())) => Ok(Chosen { threads: false, why: None }),
            (Backend::Auto, Err(why)) => Ok(Chosen { threads: true, why: Some(why) }),
            (Backend::Fibers, Err(why)) => Err(Problem::new(
                format!("fibers do not work on this machine: {why}"),
                "leave out `--backend`, or use `--backend threads`: the runs are the same, and take longer",
            )),
        }
    }
}

impl Chosen {
    /// `fibers` or `threads`.
    pub(crate) fn name(&self) -> &'static str {
        if self.threads { "threads" } else { "fibers" }
    }

    /// As part of a request.
    pub(super) fn flags(&self) -> u32 {
        if self.threads { THREADS } else { 0 }
    }

    /// What keeps runs apart if this was asked for; and why it is something else, if it is. A process whose threads are
    /// the kernel's cannot be put back to what it was.
    pub(crate) fn isolation(&self, asked: Isolation) -> Result<(Isolation, Option<String>), Problem> {
        let why = || Some(String::from("kernel threads cannot be undone (--backend threads)"));
        match asked {
            Isolation::Reset if self.threads => Ok((Isolation::Fork, why())),
            Isolation::ResetChecked if self.threads => Ok((Isolation::ForkChecked, why())),
            Isolation::InProcess if self.threads => Err(Problem::new(
                "`--isolation in-process` needs fibers: kernel threads that a run leaves behind stay",
                "use `--isolation fork`, or `--backend fibers` where they work",
            )),
            other => Ok((other, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> Result<(), String> {
        Err(String::from("no such instruction"))
    }

    #[test]
    fn fibers_are_used_where_they_work_and_others_where_they_do_not() {
        let name = |backend: Backend, fibers| backend.choose_if(fibers).map(|chosen| chosen.name());
        assert_eq!(name(Backend::Auto, Ok(())).unwrap(), "fibers");
        assert_eq!(name(Backend::Fibers, Ok(())).unwrap(), "fibers");
        assert_eq!(name(Backend::Threads, Ok(())).unwrap(), "threads");
        assert_eq!(name(Backend::Auto, broken()).unwrap(), "threads");
        assert_eq!(name(Backend::Threads, broken()).unwrap(), "threads");
        let refused = Backend::Fibers.choose_if(broken()).unwrap_err().to_string();
        assert!(refused.contains("no such instruction"), "{refused}");
        assert_eq!(Backend::Auto.choose_if(broken()).unwrap().why.as_deref(), Some("no such instruction"));
        assert_eq!(Backend::Threads.choose_if(broken()).unwrap().why, None);
    }

    #[test]
    fn kernel_threads_are_never_undone() {
        let fibers = Backend::Fibers.choose_if(Ok(())).unwrap();
        let threads = Backend::Threads.choose_if(Ok(())).unwrap();
        for asked in [Isolation::Fork, Isolation::Reset, Isolation::InProcess] {
            assert_eq!(fibers.isolation(asked).unwrap(), (asked, None));
        }
        assert_eq!(threads.isolation(Isolation::Fork).unwrap(), (Isolation::Fork, None));
        let (isolation, why) = threads.isolation(Isolation::Reset).unwrap();
        assert_eq!(isolation, Isolation::Fork);
        assert!(why.is_some());
        assert!(threads.isolation(Isolation::InProcess).is_err());
    }
}
