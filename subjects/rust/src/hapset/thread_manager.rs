//! Subject `thrift-lib`: a thread manager like that of Thrift's C++ library. Workers take tasks from a queue; whoever
//! adds a task wakes a worker if one is idle, and a worker that comes to work counts itself in and looks for tasks.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | bug | a known deadlock in the layer over mutexes and condition variables; not described | adding takes the queue's lock and then the workers'; coming to work takes them the other way round |
//! | threads | 2 to 5 workers, and main | the same |
//! | tasks | about 5 for each worker | 5 for each worker |
//! | locks | not given | the queue's with a condition variable, the workers', one for the tasks that are done with another |
//! | operations | not given | main adds all tasks and waits until they are done; a worker comes, takes tasks and does them until the manager stops |

use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;
use std::collections::VecDeque;

const TASKS: usize = 5;

#[derive(Default)]
struct Queue {
    tasks: VecDeque<usize>,
    idle: usize,
    stopped: bool,
}

#[derive(Default)]
struct Manager {
    queue: Mutex<Queue>,
    wake: Condvar,
    workers: Mutex<usize>,
    done: Mutex<usize>,
    all_done: Condvar,
    mended: bool,
}

impl Manager {
    fn add(&self, task: usize) {
        if self.mended {
            let _workers = self.workers.lock().unwrap();
            self.queue.lock().unwrap().tasks.push_back(task);
        } else {
            let mut queue = self.queue.lock().unwrap();
            queue.tasks.push_back(task);
            // Is anybody there who could do it?
            let _workers = self.workers.lock().unwrap();
        }
        self.wake.notify_one();
    }

    fn come(&self) {
        let mut workers = self.workers.lock().unwrap();
        *workers += 1;
        self.queue.lock().unwrap().idle += 1;
    }

    fn take(&self) -> Option<usize> {
        let waits = |queue: &mut Queue| queue.tasks.is_empty() && !queue.stopped;
        self.wake.wait_while(self.queue.lock().unwrap(), waits).unwrap().tasks.pop_front()
    }

    fn work(&self, all: usize) {
        self.come();
        while self.take().is_some() {
            let mut done = self.done.lock().unwrap();
            *done += 1;
            if *done == all {
                self.all_done.notify_one();
            }
        }
    }

    fn stop(&self, all: usize) {
        drop(self.all_done.wait_while(self.done.lock().unwrap(), |done| *done < all).unwrap());
        self.queue.lock().unwrap().stopped = true;
        self.wake.notify_all();
    }
}

/// The program with so many workers.
pub fn bug<const WORKERS: usize>() {
    run(WORKERS, false);
}

/// The workers' lock always first.
pub fn ok<const WORKERS: usize>() {
    run(WORKERS, true);
}

fn run(workers: usize, mended: bool) {
    let manager = Arc::new(Manager { mended, ..Manager::default() });
    let all = workers * TASKS;
    let start = |_| {
        let manager = Arc::clone(&manager);
        thread::spawn(move || manager.work(all))
    };
    let tasks = (0..workers).map(start).collect();
    (0..all).for_each(|task| manager.add(task));
    manager.stop(all);
    join_all(tasks);
    assert_eq!(*manager.workers.lock().unwrap(), workers, "a worker did not come");
}
