//! Two transfers in opposite directions lock the account with the lower number first.

use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let accounts = Arc::new([Mutex::new(10), Mutex::new(10)]);
    let transfer = |from: usize, to: usize| {
        let accounts = Arc::clone(&accounts);
        thread::spawn(move || {
            let mut first = accounts[from.min(to)].lock().unwrap();
            let mut second = accounts[from.max(to)].lock().unwrap();
            let (giver, taker) =
                if from < to { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
            *giver -= 1;
            *taker += 1;
        })
    };
    join_all(vec![transfer(0, 1), transfer(1, 0)]);
    let sum = *accounts[0].lock().unwrap() + *accounts[1].lock().unwrap();
    assert_eq!(sum, 20, "money neither appears nor disappears");
}
