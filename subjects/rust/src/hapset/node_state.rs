//! Subject `NodeState`: a node is handed to another thread before its state is set.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | order violation | the other thread may look before the state is there |
//! | threads | not given | 2: main makes the node, the other looks at it |
//! | shared data | not given | the node's state |
//! | locks | inserted ones | the journal's |
//! | operations | not given | a write against a read; then 4 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::Arc;
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 4;
const LOADED: u32 = 2;

#[derive(Default)]
struct Node {
    state: Shared<u32>,
    journal: Journal,
}

/// The program.
pub fn bug() {
    run(false);
}

/// The state is set before the other thread is there.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let node: Arc<Node> = Arc::default();
    if mended {
        node.state.set(LOADED);
    }
    let other = thread::spawn({
        let node = Arc::clone(&node);
        move || {
            let state = node.state.get();
            node.journal.write(LINES);
            assert_eq!(state, LOADED, "a node without a state");
        }
    });
    if !mended {
        node.state.set(LOADED);
    }
    node.journal.write(LINES);
    join_all(vec![other]);
}
