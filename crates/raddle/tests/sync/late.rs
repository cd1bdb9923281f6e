//! What destructors may still do when the run is over: nothing that another task's data could suffer
//! from, and nothing that stops the tests.

use crate::common::{assert_deadlock, failure_of, passes};
use raddle::sync::mpsc::{Receiver, SyncSender, sync_channel};
use raddle::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use raddle::thread;
use std::collections::BTreeSet;
use std::time::Duration;

/// Does something when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// What destructors have seen. A panic there would be lost, since their tasks are unwinding.
#[derive(Clone, Default)]
struct Notes(Arc<std::sync::Mutex<BTreeSet<&'static str>>>);

impl Notes {
    fn write(&self, note: &'static str) {
        self.0.lock().unwrap().insert(note);
    }

    fn expect(&self, note: &'static str, right: bool) {
        if !right {
            self.write(note);
        }
    }
}

/// Two tasks: one is stuck for ever in the middle of `hold`, the other runs `destructor` when the
/// deadlock ends the run. Gives what the destructor noted.
fn notes_of<S: Send + Sync + 'static>(
    make: fn() -> S,
    hold: fn(&S, &mut dyn FnMut()),
    destructor: fn(&S, &Notes),
) -> BTreeSet<&'static str> {
    let notes = Notes::default();
    let inside = notes.clone();
    let failure = failure_of(move || {
        let shared = Arc::new(make());
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        let (mine, stuck) = (shared.clone(), gate.clone());
        thread::spawn(move || hold(&mine, &mut || drop(stuck.lock())));
        let (mine, stuck, notes) = (shared, gate.clone(), inside.clone());
        thread::spawn(move || {
            let _at_end = AtEnd(|| {
                notes.write("ran");
                destructor(&mine, &notes);
                notes.write("came to its end");
            });
            drop(stuck.lock());
        });
        // Main waits for itself, which is found at once; yielding gives the others time to get there.
        (0..20).for_each(|_| thread::spawn(|| ()).join().unwrap());
        drop(gate.lock());
        drop(closed);
    });
    assert_deadlock(&failure);
    std::mem::take(&mut *notes.0.lock().unwrap())
}

/// The destructor ran to its end, and noted nothing else.
#[track_caller]
fn assert_done(notes: &BTreeSet<&'static str>) {
    assert_eq!(*notes, BTreeSet::from(["ran", "came to its end"]));
}

/// The destructor waits for something for ever, and noted nothing else.
#[track_caller]
fn assert_given_up(notes: &BTreeSet<&'static str>) {
    assert_eq!(*notes, BTreeSet::from(["ran"]));
}

#[test]
fn a_free_lock_can_still_be_had_and_a_finished_cell_read() {
    assert_done(&notes_of(
        || (Mutex::new(1), RwLock::new(2), OnceLock::from(3), LazyLock::<i32>::new(|| 4)),
        |_, stuck| stuck(),
        |(mutex, rwlock, cell, lazy), notes| {
            *mutex.lock().unwrap() += 1;
            notes.expect("mutex", *mutex.lock().unwrap() == 2);
            *rwlock.write().unwrap() += 1;
            notes.expect("readers", *rwlock.read().unwrap() + *rwlock.read().unwrap() == 6);
            notes.expect("cell", cell.get() == Some(&3) && *cell.wait() == 3);
            notes.expect("lazy", **lazy == 4);
        },
    ));
}

#[test]
fn a_mutex_is_not_had_while_another_holds_it() {
    assert_given_up(&notes_of(
        || Mutex::new(0),
        |mutex, stuck| {
            let mut guard = mutex.lock().unwrap();
            *guard = 1;
            stuck();
            *guard = 0;
        },
        |mutex, notes| {
            notes.expect("had by trying", mutex.try_lock().is_err());
            drop(mutex.lock());
        },
    ));
}

#[test]
fn a_mutex_is_not_had_twice() {
    assert_given_up(&notes_of(
        || Mutex::new(0),
        |_, stuck| stuck(),
        |mutex, notes| {
            let _first = mutex.lock();
            notes.expect("had by trying", mutex.try_lock().is_err());
            let _second = mutex.lock();
        },
    ));
}

#[test]
fn a_rwlock_is_not_had_while_another_holds_it() {
    let write = |lock: &RwLock<i32>, stuck: &mut dyn FnMut()| {
        let _guard = lock.write().unwrap();
        stuck();
    };
    let read = |lock: &RwLock<i32>, stuck: &mut dyn FnMut()| {
        let _guard = lock.read().unwrap();
        stuck();
    };
    assert_given_up(&notes_of(
        || RwLock::new(0),
        write,
        |lock, notes| {
            notes.expect("had by trying", lock.try_read().is_err() && lock.try_write().is_err());
            drop(lock.read());
        },
    ));
    assert_given_up(&notes_of(
        || RwLock::new(0),
        read,
        |lock, notes| {
            notes.expect("not read", lock.try_read().is_ok() && lock.read().is_ok());
            notes.expect("had by trying", lock.try_write().is_err());
            drop(lock.write());
        },
    ));
}

#[test]
fn waits_that_nobody_ends_do_not_end() {
    assert_given_up(&notes_of(
        || (Mutex::new(0), Condvar::new()),
        |_, stuck| stuck(),
        |(mutex, condvar), notes| {
            let guard = mutex.lock().unwrap();
            let (guard, result) = condvar.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            notes.expect("in time", result.timed_out());
            condvar.notify_all();
            let _guard = condvar.wait(guard);
        },
    ));
    assert_given_up(&notes_of(
        || Barrier::new(2),
        |_, stuck| stuck(),
        |barrier, _| {
            barrier.wait();
        },
    ));
    assert_given_up(&notes_of(Once::new, |_, stuck| stuck(), |once, _| once.wait()));
}

#[test]
fn a_cell_that_another_fills_stays_empty() {
    assert_given_up(&notes_of(
        OnceLock::new,
        |cell, stuck| {
            cell.get_or_init(|| {
                stuck();
                1
            });
        },
        |cell, notes| {
            notes.expect("a value", cell.get().is_none());
            cell.get_or_init(|| 2);
        },
    ));
    assert_given_up(&notes_of(
        Once::new,
        |once, stuck| once.call_once(stuck),
        |once, notes| {
            notes.expect("complete", !once.is_completed());
            once.call_once(|| ());
        },
    ));
}

#[test]
fn a_cell_that_nobody_fills_can_be_filled() {
    assert_done(&notes_of(
        || (OnceLock::new(), Once::new()),
        |_, stuck| stuck(),
        |(cell, once), notes| {
            notes.expect("set", cell.set(1).is_ok() && cell.set(2) == Err(2));
            notes.expect("a value", cell.get() == Some(&1));
            once.call_once(|| ());
            notes.expect("complete", once.is_completed());
            once.wait();
        },
    ));
}

fn with_receiver(bound: usize) -> (SyncSender<i32>, Mutex<Receiver<i32>>) {
    let (sender, receiver) = sync_channel(bound);
    (sender, Mutex::new(receiver))
}

#[test]
fn a_channel_neither_loses_nor_invents() {
    assert_given_up(&notes_of(
        || with_receiver(1),
        |_, stuck| stuck(),
        |(sender, _), notes| {
            notes.expect("no room", sender.clone().try_send(1).is_ok());
            notes.expect("room", sender.try_send(1).is_err());
            let _ = sender.send(2);
        },
    ));
    assert_given_up(&notes_of(
        || with_receiver(1),
        |_, stuck| stuck(),
        |(_, receiver), notes| {
            let receiver = receiver.lock().unwrap();
            notes.expect("a message", receiver.try_recv().is_err());
            notes.expect("in time", receiver.recv_timeout(Duration::from_secs(1)).is_err());
            let _ = receiver.recv();
        },
    ));
    assert_given_up(&notes_of(
        || with_receiver(0),
        |_, stuck| stuck(),
        |(sender, _), notes| {
            notes.expect("somebody", sender.try_send(1).is_err());
            let _ = sender.send(2);
        },
    ));
}

#[test]
fn a_guard_that_outlives_its_run_gives_nothing_back() {
    // Kept by the thread on which the runs happen, and dropped in a later one.
    use raddle::sync::MutexGuard;
    use std::cell::RefCell;
    static KEPT: Mutex<i32> = Mutex::new(0);
    thread_local! {
        static GUARD: RefCell<Option<MutexGuard<'static, i32>>> = const { RefCell::new(None) };
    }
    passes(|| {
        let guard = KEPT.lock().unwrap();
        let before = GUARD.with_borrow_mut(|kept| kept.replace(guard));
        drop(before);
        assert!(KEPT.try_lock().is_err());
    });
}
