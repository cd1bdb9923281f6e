//! What this machine can do, found out by doing it: each probe uses what it asks for, so that a kernel that knows
//! an interface and a container that forbids it are told apart from one where it works.
//!
//! A probe may crash or change its process for good (it moves the thread pointer, catches system calls): call
//! each in a process of its own.

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod dispatch;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod fork;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod fsgsbase;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod glibc;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod pages;
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod turns;

/// Something to find out.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// In one word.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// What is done without it; empty if nothing works then.
    pub otherwise: &'static str,
    /// What was found, or why it does not work.
    pub ask: fn() -> Result<String, String>,
}

/// All of them.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
pub const PROBES: &[Probe] = &[
    Probe {
        name: "fsgsbase",
        purpose: "switching between threads of the program without the kernel",
        otherwise: "kernel threads that take turns (--backend threads): the same runs, many times slower, each in a process of its own",
        ask: fsgsbase::ask,
    },
    Probe {
        name: "glibc",
        purpose: "threads of the program that have no kernel thread of their own",
        otherwise: "",
        ask: glibc::ask,
    },
    Probe {
        name: "kernel-threads",
        purpose: "threads of the program as kernel threads that take turns (--backend threads)",
        otherwise: "fibers only",
        ask: turns::ask,
    },
    Probe {
        name: "fork",
        purpose: "a fresh copy of the program for each run",
        otherwise: "",
        ask: fork::ask,
    },
    Probe {
        name: "userfaultfd",
        purpose: "telling which memory a run has written, so that it is put back (--isolation reset)",
        otherwise: "a copy of the program for each run; Linux 6.7 has it, and a container must allow it in its seccomp profile",
        ask: pages::userfaultfd,
    },
    Probe {
        name: "pagemap-scan",
        purpose: "collecting what a run has written (--isolation reset)",
        otherwise: "a copy of the program for each run; Linux 6.7 has it, and /proc must be mounted",
        ask: pages::pagemap_scan,
    },
    Probe {
        name: "syscall-user-dispatch",
        purpose: "refusing system calls that cannot be undone before they are made (--isolation reset)",
        otherwise: "a copy of the program for each run; Linux 5.11 has it, and a container must allow prctl",
        ask: dispatch::ask,
    },
];

/// Native programs are controlled on Linux with glibc on x86-64 only.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
pub const PROBES: &[Probe] = &[Probe {
    name: "platform",
    purpose: "controlling unmodified native programs",
    otherwise: "",
    ask: || Err(String::from("native programs are controlled on Linux with glibc on x86-64 only")),
}];

/// Whether threads of a program can be fibers; if not, why. Asked in this process: it changes nothing.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
pub fn fibers() -> Result<(), String> {
    fsgsbase::is_allowed()
}

/// Native programs are not controlled here at all.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
pub fn fibers() -> Result<(), String> {
    (PROBES[0].ask)().map(|_| ())
}

/// What the last system call says went wrong.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
fn failed(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_a_name_of_its_own_and_says_what_it_is_for() {
        for (index, probe) in PROBES.iter().enumerate() {
            assert!(PROBES[..index].iter().all(|other| other.name != probe.name), "{probe:?}");
            assert!(!probe.purpose.is_empty(), "{probe:?}");
        }
    }
}
