//! Which calls may be made, and when: the list that the guard goes by.

use super::{DISPATCH, inherited, is_held, undo, watch};
use crate::reset::outside;
use crate::sys::{self, nr};

/// When a call may be made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// Always: it changes nothing, or nothing that the next run could see.
    Free,
    /// Always: what it makes is a descriptor, and all those are closed.
    Opens,
    /// If its first argument is a descriptor that this run has made: what is changed goes with it.
    Own,
    /// The same, or if that is one whose state is put back.
    Held,
    /// If this says so.
    If(fn(&[usize; 6]) -> bool),
    /// This does it.
    By(fn(&[usize; 6]) -> Option<isize>),
}

use Rule::{By, Free, Held, If, Opens, Own};

/// Number, rule, and why it is safe where the rule alone does not say it.
const RULES: &[(usize, Rule, &str)] = &[
    (0, Free, "read: where a file of ours is read is set anew before each run"),
    (1, If(to_output_or_own), "write: the two outputs are emptied before each run"),
    (2, If(open_reads), "open: to read only"),
    (3, If(may_close), "close: what was there before is opened again"),
    (4, Free, "stat"),
    (5, Free, "fstat"),
    (6, Free, "lstat"),
    (7, Free, "poll"),
    (8, If(seeks_no_output), "lseek: as for read"),
    (9, By(map), "mmap: unmapped again"),
    (10, If(in_map), "mprotect: of what the run has mapped"),
    (11, By(unmap), "munmap: likewise"),
    (12, By(move_heap), "brk: moved back"),
    (13, By(act), "rt_sigaction: put back"),
    (16, If(asks_or_own), "ioctl: questions"),
    (17, Free, "pread64"),
    (19, Free, "readv"),
    (20, If(to_output_or_own), "writev: as for write"),
    (21, Free, "access"),
    (22, Opens, "pipe"),
    (23, Free, "select"),
    (24, Free, "sched_yield"),
    (25, By(remap), "mremap: of what the run has mapped"),
    (28, If(in_map), "madvise: likewise; elsewhere it could drop pages unnoticed"),
    (32, Opens, "dup"),
    (33, If(second_is_free), "dup2: not onto one that was there"),
    (35, Free, "nanosleep"),
    (39, Free, "getpid"),
    (41, Opens, "socket"),
    (42, If(connects_to_itself), "connect: nobody else is spoken to once the run listens itself"),
    (43, Opens, "accept"),
    (44, Held, "sendto"),
    (45, Held, "recvfrom"),
    (46, Held, "sendmsg: what is sent with it goes, too"),
    (47, By(receive), "recvmsg"),
    (48, Own, "shutdown"),
    (49, If(binds_no_file), "bind: the name is free again when the socket is closed, unless it is a file's"),
    (50, By(listen), "listen"),
    (51, Free, "getsockname"),
    (52, Free, "getpeername"),
    (53, Opens, "socketpair"),
    (54, Own, "setsockopt"),
    (55, Free, "getsockopt"),
    (63, Free, "uname"),
    (72, If(controls_own), "fcntl: questions, and what was made"),
    (79, Free, "getcwd"),
    (89, Free, "readlink"),
    (96, Free, "gettimeofday"),
    (97, Free, "getrlimit"),
    (98, Free, "getrusage"),
    (99, Free, "sysinfo"),
    (100, Free, "times"),
    (102, Free, "getuid"),
    (104, Free, "getgid"),
    (107, Free, "geteuid"),
    (108, Free, "getegid"),
    (110, Free, "getppid"),
    (111, Free, "getpgrp"),
    (127, Free, "rt_sigpending"),
    (186, Free, "gettid"),
    (201, Free, "time"),
    (202, Free, "futex: the kernel keeps nothing of it"),
    (204, Free, "sched_getaffinity"),
    (213, Opens, "epoll_create"),
    (217, Own, "getdents64"),
    (221, Free, "fadvise64"),
    (228, Free, "clock_gettime"),
    (229, Free, "clock_getres"),
    (230, Free, "clock_nanosleep"),
    (232, Free, "epoll_wait"),
    (233, Own, "epoll_ctl"),
    (257, If(openat_reads), "openat: to read only"),
    (262, Free, "newfstatat"),
    (267, Free, "readlinkat"),
    (269, Free, "faccessat"),
    (270, Free, "pselect6"),
    (271, Free, "ppoll"),
    (281, Free, "epoll_pwait"),
    (283, Opens, "timerfd_create"),
    (284, Opens, "eventfd"),
    (286, Own, "timerfd_settime"),
    (287, Own, "timerfd_gettime"),
    (288, Opens, "accept4"),
    (290, Opens, "eventfd2"),
    (291, Opens, "epoll_create1"),
    (292, If(second_is_free), "dup3: as for dup2"),
    (293, Opens, "pipe2"),
    (295, Free, "preadv"),
    (302, If(asks_limit), "prlimit64: questions"),
    (309, Free, "getcpu"),
    (318, Free, "getrandom"),
    (319, Opens, "memfd_create"),
    (328, Held, "pwritev2"),
    (332, Free, "statx"),
    (439, Free, "faccessat2"),
];

const NUMBERS: usize = 512;

/// The rules by number; 0 is none, otherwise the place in the list plus one.
static BY_NUMBER: [u8; NUMBERS] = {
    let mut table = [0; NUMBERS];
    let mut at = 0;
    while at < RULES.len() {
        assert!(table[RULES[at].0] == 0, "two rules for one call");
        at += 1;
        table[RULES[at - 1].0] = at as u8;
    }
    table
};

/// The rule for a call, if there is one.
pub(super) fn rule(number: usize) -> Option<Rule> {
    let place = BY_NUMBER.get(number).copied().unwrap_or(0);
    (place > 0).then(|| RULES[place as usize - 1].1)
}

/// Descriptors may come with a message.
fn receive(args: &[usize; 6]) -> Option<isize> {
    if !opening(is_held(args[0]), ANYWHERE) {
        return None;
    }
    // SAFETY: what the program asks for.
    Some(unsafe { sys::call(RECVMSG, *args) })
}

pub(super) const RECVMSG: usize = 47;

fn may_close(args: &[usize; 6]) -> bool {
    undo().is_some_and(|undo| undo.may_close(args[0]))
}

fn to_output_or_own(args: &[usize; 6]) -> bool {
    matches!(args[0] as u32, 1 | 2) || is_held(args[0])
}

fn seeks_no_output(args: &[usize; 6]) -> bool {
    const HERE: usize = 1;
    // What is kept is only read.
    let asks = args[1] == 0 && args[2] == HERE || undo().is_some_and(|undo| undo.kept.has(args[0]));
    if !asks
        && let Some(outside) = outside()
        && may_be_output(args[0])
    {
        // What was written before a checkpoint may be written over.
        outside.undo.spoiled = true;
    }
    args[0] as u32 == 0 || asks || outside().is_some_and(|outside| outside.late.may_seek())
}

pub(super) fn may_be_output(fd: usize) -> bool {
    const GET_FLAGS: usize = 3;
    const ACCESS: isize = 3;
    // SAFETY: a question.
    fd as u32 != 0 && unsafe { sys::call3(nr::FCNTL, fd, GET_FLAGS, 0) } & ACCESS != 0
}

fn reads(flags: usize) -> bool {
    const OTHERWISE: usize = 3 | 0o100 | 0o1000 | 0o20000000;
    flags & OTHERWISE == 0
}

pub(super) fn opening(may: bool, count: usize) -> bool {
    if let Some(undo) = undo()
        && may
    {
        undo.opens(count);
    }
    watch::opens();
    may
}

/// With a number that the program has a say in.
pub(super) const ANYWHERE: usize = usize::MAX;

fn open_reads(args: &[usize; 6]) -> bool {
    opening(reads(args[1]), 1)
}

fn openat_reads(args: &[usize; 6]) -> bool {
    opening(reads(args[2]), 1)
}

fn second_is_free(args: &[usize; 6]) -> bool {
    opening(!inherited(args[1]), ANYWHERE)
}

fn in_map(args: &[usize; 6]) -> bool {
    outside().is_some_and(|outside| {
        outside.undo.touches(args[0], args[1]);
        outside.undo.is_of_run(args[0], args[1])
    })
}

fn map(args: &[usize; 6]) -> Option<isize> {
    const FIXED: usize = 0x10;
    const SHARED: usize = 1;
    const ANONYMOUS: usize = 0x20;
    let shared_file = args[3] & SHARED != 0 && args[3] & ANONYMOUS == 0;
    if shared_file && inherited(args[4]) || args[3] & FIXED != 0 && !in_map(args) {
        return None;
    }
    outside()?.undo.peculiar |= args[3] & ANONYMOUS == 0;
    // SAFETY: what the program asks for: a new mapping, or one in place of one of its own.
    let address = unsafe { sys::call(nr::MMAP, *args) };
    let failed = (-4095..0).contains(&address);
    outside()?.undo.shared |= args[3] & SHARED != 0;
    (failed || outside()?.undo.mapped(address as usize, args[1])).then_some(address)
}

fn unmap(args: &[usize; 6]) -> Option<isize> {
    if !in_map(args) {
        return None;
    }
    // SAFETY: what the program asks for: a mapping of its own goes.
    let result = unsafe { sys::call(nr::MUNMAP, *args) };
    if result == 0 {
        outside()?.undo.unmapped(args[0], args[1]);
    }
    Some(result)
}

fn remap(args: &[usize; 6]) -> Option<isize> {
    const FIXED: usize = 2;
    if !in_map(args) || args[3] & FIXED != 0 {
        return None;
    }
    // SAFETY: what the program asks for: a mapping of its own grows, shrinks or moves.
    let address = unsafe { sys::call(nr::MREMAP, *args) };
    let failed = (-4095..0).contains(&address);
    if !failed {
        outside()?.undo.unmapped(args[0], args[1]);
    }
    (failed || outside()?.undo.mapped(address as usize, args[2])).then_some(address)
}

fn move_heap(args: &[usize; 6]) -> Option<isize> {
    outside()?.undo.heap_ends(args[0]);
    // SAFETY: what the program asks for.
    Some(unsafe { sys::call(nr::BRK, *args) })
}

fn act(args: &[usize; 6]) -> Option<isize> {
    let signal = args[0];
    if !(1..=64).contains(&signal) || signal == DISPATCH {
        return None;
    }
    if args[1] != 0 {
        outside()?.undo.signals |= 1 << (signal - 1);
    }
    // SAFETY: what the program asks for.
    Some(unsafe { sys::call(nr::SIGACTION, *args) })
}

fn asks_or_own(args: &[usize; 6]) -> bool {
    const TERMINAL: usize = 0x5401;
    const WINDOW: usize = 0x5413;
    const BYTES: usize = 0x541b;
    matches!(args[1], TERMINAL | WINDOW | BYTES) || !inherited(args[0])
}

fn controls_own(args: &[usize; 6]) -> bool {
    const GET_FD: usize = 1;
    const GET_FLAGS: usize = 3;
    match args[1] {
        GET_FD | GET_FLAGS => true,
        command if sys::is_duplicate(command) => opening(true, ANYWHERE),
        _ => !inherited(args[0]),
    }
}

fn listen(args: &[usize; 6]) -> Option<isize> {
    if inherited(args[0]) {
        return None;
    }
    outside()?.listens = true;
    // SAFETY: what the program asks for.
    let result = unsafe { sys::call(50, *args) };
    if result == 0 {
        outside()?.streams.listens(args[0], args[1]);
    }
    Some(result)
}

fn connects_to_itself(args: &[usize; 6]) -> bool {
    !inherited(args[0]) && outside().is_some_and(|outside| outside.listens && !outside.undo.kept.is_deaf())
}

fn binds_no_file(args: &[usize; 6]) -> bool {
    const LOCAL: u16 = 1;
    let (address, length) = (args[1] as *const u8, args[2]);
    // SAFETY: an address of this length, which begins with its family and, if it is local, goes on with a name.
    let names_file = || unsafe { address.cast::<u16>().read_unaligned() == LOCAL && *address.add(2) != 0 };
    let is_file = address.is_null() || (length > 2 && names_file());
    !inherited(args[0]) && !is_file && !undo().is_some_and(|undo| undo.kept.is_deaf())
}

fn asks_limit(args: &[usize; 6]) -> bool {
    args[2] == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_refused() {
        for number in [56, 57, 59, 62, 80, 87, 95, 157, 160, 222] {
            assert_eq!(BY_NUMBER[number], 0, "call {number}");
        }
        for &(number, _, why) in RULES {
            assert!(!why.is_empty() && BY_NUMBER[number] != 0);
        }
    }

    #[test]
    fn files_are_opened_to_be_read_only() {
        assert!(reads(0) && reads(0o2000000));
        for flags in [1, 2, 0o100, 0o1000, 0o1 | 0o2000] {
            assert!(!reads(flags));
        }
    }
}
