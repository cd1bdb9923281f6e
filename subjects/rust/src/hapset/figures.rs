//! The examples of figures 1 and 2.
//!
//! | | paper | here |
//! |---|---|---|
//! | figure 1 | T1: `p = &a`, later `p = 0`; T2: `if (p != 0) *p = 10` | the same; what T2 does to `a` nobody shares |
//! | figure 2 | T1: `do { lock(A); tmp = x; unlock(A); } while (tmp)`; T2: `lock(A); x = 1; unlock(A)` | `while (!tmp)`, which the text means, with a yield; T2 is made first, as in the paper's first run |
//!
//! The comments in the code are the paper's names for the statements; [`statements`] reads them.

use crate::shim::sync::{Arc, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

/// Figure 1. Fails if T1 frees between T2's look and its use.
pub fn figure_1() {
    let p = Arc::new(Shared::new(0));
    let other = Arc::clone(&p);
    let t1 = thread::spawn(move || {
        p.set(1); // e1
        p.set(0); // e4
    });
    let t2 = thread::spawn(move || {
        let there = other.get() != 0; // e2
        if there {
            let used = other.get(); // e3
            assert!(used != 0, "a null pointer is used");
        }
    });
    join_all(vec![t1, t2]);
}

/// Figure 2.
pub fn figure_2() {
    let shared = Arc::new((Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let t2 = thread::spawn(move || {
        let guard = shared.0.lock(); // f
        shared.1.set(1); // g
        drop(guard);
    });
    let t1 = thread::spawn(move || {
        loop {
            let guard = other.0.lock(); // b
            let tmp = other.1.get(); // c
            drop(guard);
            if tmp != 0 {
                break;
            }
            thread::yield_now();
        }
    });
    join_all(vec![t2, t1]);
}

/// The lines of statements by the paper's names.
pub fn statements(names: &[&'static str]) -> Vec<(&'static str, u32)> {
    let source = include_str!("figures.rs");
    let line = |name: &str| {
        let end = format!("; // {name}");
        let lines = source.lines().zip(1..);
        lines.filter(|(line, _)| line.ends_with(&end)).map(|(_, number)| number).next()
    };
    names.iter().filter_map(|&name| line(name).map(|line| (name, line))).collect()
}
