//! Subject `HttpConnect`: Mozilla asks a socket for its events before it has stored the connection that they are for.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | order violation | an event may come before the connection is stored |
//! | threads | not given | 2: main connects, the other is the socket's |
//! | shared data | not given | the connection, and the state of the transport |
//! | locks | inserted ones | the socket's queue with a condition variable; the journal's |
//! | operations | not given | asks under a lock, stores; waits, reads; then 5 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 5;

#[derive(Default)]
struct Socket {
    asked: Mutex<bool>,
    change: Condvar,
    connection: Shared<Option<u32>>,
    journal: Journal,
}

impl Socket {
    fn ask(&self) {
        *self.asked.lock().unwrap() = true;
        self.change.notify_one();
    }

    fn events(&self) {
        drop(self.change.wait_while(self.asked.lock().unwrap(), |asked| !*asked).unwrap());
        let connection = self.connection.get();
        self.journal.write(LINES);
        connection.expect("an event for no connection");
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// The connection is stored first.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let socket: Arc<Socket> = Arc::default();
    let other = thread::spawn({
        let socket = Arc::clone(&socket);
        move || socket.events()
    });
    if mended {
        socket.connection.set(Some(80));
        socket.ask();
    } else {
        socket.ask();
        socket.connection.set(Some(80));
    }
    socket.journal.write(LINES);
    join_all(vec![other]);
}
