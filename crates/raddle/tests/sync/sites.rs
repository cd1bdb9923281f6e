//! A failure names the lines of the program, not ours.

use crate::common::explore_by;
use raddle::Check;
use raddle::sync::mpsc::{channel, sync_channel};
use raddle::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};

/// A body that deadlocks at once does so on a line of this file.
#[track_caller]
fn is_here(body: fn()) {
    let report = explore_by(Check::new(), body);
    let found = report.failures().first().unwrap_or_else(|| panic!("no run failed: {}", report.text()));
    assert_eq!(found.kind(), "deadlock", "{}", found.message());
    let sites = found.sites();
    assert!(!sites.is_empty() && sites.iter().all(|site| site.contains("sites.rs")), "{sites:?}");
}

#[test]
fn waits_are_where_the_program_waits() {
    is_here(|| {
        let mutex = Mutex::new(());
        let _first = mutex.lock();
        drop(mutex.lock());
    });
    is_here(|| {
        let lock = RwLock::new(());
        let _first = lock.write();
        drop(lock.read());
    });
    is_here(|| {
        let lock = RwLock::new(());
        let _first = lock.read();
        drop(lock.write());
    });
    is_here(|| drop(Condvar::new().wait(Mutex::new(0).lock().unwrap())));
    is_here(|| drop(Condvar::new().wait_while(Mutex::new(0).lock().unwrap(), |value| *value == 0)));
    is_here(|| {
        Barrier::new(2).wait();
    });
    is_here(|| Once::new().wait());
    is_here(|| Once::new().wait_force());
    is_here(|| {
        let once = Once::new();
        once.call_once(|| once.call_once_force(|_| ()));
    });
    is_here(|| {
        OnceLock::<i32>::new().wait();
    });
    is_here(|| {
        static LAZY: LazyLock<i32> = LazyLock::new(|| *LAZY);
        let _ = *LAZY;
    });
    is_here(|| {
        let (sender, _receiver) = sync_channel(0);
        let _ = sender.send(1);
    });
    is_here(|| {
        let (_sender, receiver) = channel::<i32>();
        let _ = receiver.recv();
    });
    is_here(|| {
        let (_sender, receiver) = channel::<i32>();
        for _ in &receiver {}
    });
}
