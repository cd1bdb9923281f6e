//! Main parks once for each of two unparks: if both come before the first park, they leave one token only.

use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let main = thread::current();
    let waker = thread::spawn(move || {
        main.unpark();
        main.unpark();
    });
    thread::park();
    thread::park();
    join_all(vec![waker]);
}
