//! Subjects `pbzip2` and `pbz2-f`: main puts blocks into a queue, consumers compress them, a writer writes them in order.
//!
//! | | paper (table 2) | here |
//! |---|---|---|
//! | bug of `pbzip2` | order violation: main deletes the queue while consumers may still use it | the same: main waits for the writer only |
//! | bug of `pbz2-f`, in which that is mended | race on `OutputBuff[i].buf` and `.bufSize`: corrupt output | the same: the writer may see the one and not yet the other |
//! | | the first program has both | each program has one |
//! | threads | 7 | main, 5 consumers, the writer |
//! | shared data | queue, output buffers | the same, for 3 blocks |
//! | locks | not given | the queue's with a condition variable, one for the number of blocks done with another, the journal's |
//! | operations | not given | a consumer takes blocks until there are none, and then writes 2 lines of the journal |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;
use std::collections::VecDeque;

const CONSUMERS: usize = 5;
const BLOCKS: usize = 3;
const LINES: usize = 2;
/// Bytes of a compressed block.
const SIZE: usize = 10;

#[derive(Default)]
struct Queue {
    blocks: VecDeque<usize>,
    all_done: bool,
}

#[derive(Default)]
struct Output {
    buf: Shared<Option<usize>>,
    size: Shared<usize>,
}

struct Program {
    /// The pointer to the queue: null when it is deleted.
    fifo: Shared<Option<()>>,
    queue: Mutex<Queue>,
    not_empty: Condvar,
    outputs: [Output; BLOCKS],
    done: Mutex<usize>,
    more: Condvar,
    journal: Journal,
    /// Whether buffer and size are seen together.
    together: bool,
}

impl Program {
    fn produce(&self) {
        for block in 0..BLOCKS {
            self.queue.lock().unwrap().blocks.push_back(block);
            self.not_empty.notify_one();
        }
        self.queue.lock().unwrap().all_done = true;
        self.not_empty.notify_all();
    }

    fn take(&self) -> Option<usize> {
        self.fifo.get().expect("a queue that was deleted is used");
        let waits = |queue: &mut Queue| queue.blocks.is_empty() && !queue.all_done;
        self.not_empty.wait_while(self.queue.lock().unwrap(), waits).unwrap().blocks.pop_front()
    }

    fn consume(&self) {
        while let Some(block) = self.take() {
            let together = self.together.then(|| self.done.lock().unwrap());
            self.outputs[block].buf.set(Some(block));
            self.outputs[block].size.set(SIZE);
            drop(together);
            *self.done.lock().unwrap() += 1;
            self.more.notify_one();
        }
        self.journal.write(LINES);
    }

    /// Whether a block is there, and how large it is.
    fn look(&self, block: usize) -> Option<usize> {
        let _together = self.together.then(|| self.done.lock().unwrap());
        self.outputs[block].buf.get().map(|_| self.outputs[block].size.get())
    }

    fn write(&self) {
        let (mut bytes, mut seen) = (0, 0);
        for block in 0..BLOCKS {
            bytes += loop {
                if let Some(size) = self.look(block) {
                    break size;
                }
                // Some block is done that was not when it last looked: perhaps this one.
                seen = *self.more.wait_while(self.done.lock().unwrap(), |done| *done == seen).unwrap();
            };
        }
        assert_eq!(bytes, BLOCKS * SIZE, "the output is corrupt");
    }
}

/// `pbzip2`.
pub fn bug() {
    run(false, true);
}

/// `pbz2-f`.
pub fn race() {
    run(true, false);
}

/// Main waits for the consumers before it deletes the queue, and buffer and size are written and read under a lock.
pub fn ok() {
    run(true, true);
}

fn run(waits: bool, together: bool) {
    let program = Arc::new(Program {
        fifo: Shared::new(Some(())),
        queue: Mutex::default(),
        not_empty: Condvar::new(),
        outputs: Default::default(),
        done: Mutex::new(0),
        more: Condvar::new(),
        journal: Journal::default(),
        together,
    });
    let start = |part: fn(&Program)| {
        let program = Arc::clone(&program);
        thread::spawn(move || part(&program))
    };
    let mut consumers: Vec<_> = (0..CONSUMERS).map(|_| start(Program::consume)).collect();
    let writer = start(Program::write);
    program.produce();
    join_all(vec![writer]);
    if waits {
        join_all(std::mem::take(&mut consumers));
    }
    program.fifo.set(None);
    join_all(consumers);
}
