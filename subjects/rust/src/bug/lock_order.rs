//! Two transfers in opposite directions lock the giver first, then the taker: each can hold what the other needs.

use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let accounts = Arc::new([Mutex::new(10), Mutex::new(10)]);
    let transfer = |from: usize, to: usize| {
        let accounts = Arc::clone(&accounts);
        thread::spawn(move || {
            let mut giver = accounts[from].lock().unwrap();
            let mut taker = accounts[to].lock().unwrap();
            *giver -= 1;
            *taker += 1;
        })
    };
    join_all(vec![transfer(0, 1), transfer(1, 0)]);
    let sum = *accounts[0].lock().unwrap() + *accounts[1].lock().unwrap();
    assert_eq!(sum, 20, "money neither appears nor disappears");
}
