//! Which call on a file an operation is. Only people want to know: it is told in runs that are recorded, as the number of
//! an operation that otherwise has none, and nothing depends on it.

/// The calls, with their numbers in the kernel of 64-bit x86 Linux.
const CALLS: [(usize, &str); 29] = [
    (0, "read"),
    (1, "write"),
    (3, "close"),
    (7, "poll"),
    (16, "ioctl"),
    (19, "readv"),
    (20, "writev"),
    (23, "select"),
    (32, "dup"),
    (33, "dup2"),
    (42, "connect"),
    (44, "send"),
    (45, "receive"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (48, "shutdown"),
    (49, "bind"),
    (50, "listen"),
    (54, "set option"),
    (55, "get option"),
    (72, "fcntl"),
    (73, "flock"),
    (232, "epoll_wait"),
    (233, "epoll_ctl"),
    (270, "pselect"),
    (271, "ppoll"),
    (281, "epoll_pwait"),
    (288, "accept"),
    (292, "dup3"),
];

/// What an operation says that is this call.
pub fn told(number: usize) -> u64 {
    number as u64 + 1
}

/// The name of the call that an operation tells of; none if it tells of none, or of one that is not known.
pub fn name(told: u64) -> Option<&'static str> {
    let number = usize::try_from(told.checked_sub(1)?).ok()?;
    CALLS.iter().find(|(known, _)| *known == number).map(|&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_has_a_name() {
        assert_eq!(
            [0, 1, 288].map(|number| name(told(number))),
            [Some("read"), Some("write"), Some("accept")]
        );
        assert_eq!([name(0), name(told(999)), name(u64::MAX)], [None; 3]);
    }
}
