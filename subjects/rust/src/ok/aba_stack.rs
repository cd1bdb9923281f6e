//! A lock-free stack whose top carries a number that grows with each change: a stale pop fails.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

const NODES: usize = 3;
const NOTHING: u64 = NODES as u64;

/// Nodes 0, 1 and 2, linked by number; at the start 0 is on top.
struct Stack {
    head: AtomicU64,
    next: [AtomicU64; NODES],
    taken: [AtomicBool; NODES],
}

impl Stack {
    fn new() -> Self {
        Stack {
            head: AtomicU64::new(0),
            next: std::array::from_fn(|i| AtomicU64::new(i as u64 + 1)),
            taken: std::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// Replaces the head if it is still what was seen.
    fn swing(&self, seen: u64, node: u64) -> bool {
        let changes = (seen >> 32) + 1;
        self.head.compare_exchange(seen, changes << 32 | node, SeqCst, SeqCst).is_ok()
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let seen = self.head.load(SeqCst);
            let node = node_of(seen);
            if node == NOTHING {
                return None;
            }
            let next = self.next[node as usize].load(SeqCst);
            if self.swing(seen, next) {
                let was_taken = self.taken[node as usize].swap(true, SeqCst);
                assert!(!was_taken, "a node is handed out once");
                return Some(node as usize);
            }
        }
    }

    fn push(&self, node: usize) {
        self.taken[node].store(false, SeqCst);
        loop {
            let seen = self.head.load(SeqCst);
            self.next[node].store(node_of(seen), SeqCst);
            if self.swing(seen, node as u64) {
                return;
            }
        }
    }
}

fn node_of(head: u64) -> u64 {
    head & u64::from(u32::MAX)
}

pub(super) fn body() {
    let stack = Arc::new(Stack::new());
    let other = Arc::clone(&stack);
    let popper = thread::spawn(move || _ = other.pop());
    let other = Arc::clone(&stack);
    let shuffler = thread::spawn(move || {
        let first = other.pop();
        let _kept = other.pop();
        if let Some(first) = first {
            other.push(first);
        }
    });
    join_all(vec![popper, shuffler]);
    while stack.pop().is_some() {}
}
