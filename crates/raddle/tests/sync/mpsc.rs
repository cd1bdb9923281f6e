//! Channels with room, inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::mpsc::{
    Receiver, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::collections::BTreeSet;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn messages_come_in_the_order_of_each_sender() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        let tasks = [10, 20].map(|base| {
            let sender = sender.clone();
            thread::spawn(move || (1..=2).for_each(|i| sender.send(base + i).unwrap()))
        });
        drop(sender);
        let all: Vec<i32> = receiver.iter().collect();
        let of = |base| all.iter().copied().filter(|m| m / 10 * 10 == base).collect::<Vec<_>>();
        assert_eq!((of(10), of(20)), (vec![11, 12], vec![21, 22]));
        tasks.into_iter().for_each(|task| task.join().unwrap());
        all
    });
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_bounded_channel_makes_senders_wait() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(1);
        let task = thread::spawn(move || {
            sender.send(1).unwrap();
            let tried = sender.try_send(2);
            sender.send(3).unwrap();
            tried
        });
        let first = receiver.recv().unwrap();
        let rest: Vec<i32> = receiver.into_iter().collect();
        assert_eq!(first, 1);
        let tried = task.join().unwrap();
        assert_eq!(rest, if tried.is_ok() { vec![2, 3] } else { vec![3] });
        tried.is_ok()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_full_channel_that_nobody_empties_is_a_deadlock() {
    let failure = failure_of(|| {
        let (sender, _receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_deadlock(&failure);
    assert_deadlock(&failure_of(|| {
        let (_sender, receiver) = channel::<i32>();
        let _ = receiver.recv();
    }));
}

#[test]
fn a_channel_whose_other_end_is_gone_says_so() {
    passes(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        drop(receiver);
        assert_eq!(sender.send(2), Err(SendError(2)));
        let (sender, receiver) = sync_channel(2);
        drop(receiver);
        assert_eq!(sender.send(2), Err(SendError(2)));
        assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let second = sender.clone();
        drop(sender);
        second.send(1).unwrap();
        drop(second);
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    });
}

#[test]
fn the_end_of_a_receiver_wakes_a_waiting_sender() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(1);
        let task = thread::spawn(move || (sender.send(1), sender.send(2)));
        let received = receiver.try_recv();
        drop(receiver);
        let (first, second) = task.join().unwrap();
        assert!(first.is_ok() || second == Err(SendError(2)));
        (received.is_ok(), first.is_ok(), second.is_ok())
    });
    let all = [(true, true, true), (true, true, false), (false, true, false), (false, false, false)];
    assert_eq!(seen, BTreeSet::from(all));
}

#[test]
fn a_timed_receive_may_end_either_way() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        let task = thread::spawn(move || sender.send(1).unwrap());
        let received = receiver.recv_timeout(LONG);
        task.join().unwrap();
        received.ok()
    });
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}

#[test]
fn try_iter_takes_what_is_there() {
    passes(|| {
        let (sender, receiver) = channel();
        (1..=3).for_each(|i| sender.send(i).unwrap());
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((0..0).zip(&receiver).count(), 0);
        assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    });
}

#[test]
fn messages_that_nobody_takes_are_dropped_with_the_receiver() {
    struct Counts(Arc<Mutex<usize>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    passes(|| {
        let dropped = Arc::new(Mutex::new(0));
        let (sender, receiver) = channel();
        let other = dropped.clone();
        let task =
            thread::spawn(move || (0..3).filter(|_| sender.send(Counts(other.clone())).is_ok()).count());
        drop(receiver);
        task.join().unwrap();
        assert_eq!(*dropped.lock().unwrap(), 3);
    });
}

#[test]
fn works_outside_a_run() {
    let (sender, receiver) = channel();
    let (bounded, bounded_receiver) = sync_channel(2);
    std::thread::scope(|scope| {
        for base in 0..4 {
            let (sender, bounded) = (sender.clone(), bounded.clone());
            scope.spawn(move || (0..100).for_each(|i| sender.send(base * 100 + i).unwrap()));
            scope.spawn(move || (0..100).for_each(|i| bounded.send(base * 100 + i).unwrap()));
        }
        drop((sender, bounded));
        let sum = |receiver: Receiver<i32>| receiver.into_iter().sum::<i32>();
        assert_eq!(sum(receiver), (0..400).sum::<i32>());
        assert_eq!(sum(bounded_receiver), (0..400).sum::<i32>());
    });
    let (sender, receiver) = sync_channel(1);
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    sender.try_send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.try_recv(), Ok(1));
}

#[test]
fn a_channel_made_outside_has_its_messages_inside_and_the_other_way_round() {
    let (sender, receiver) = sync_channel(3);
    let (sender, receiver) = (Arc::new(sender), Arc::new(Mutex::new(receiver)));
    let second = (*sender).clone();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    let (shared, shared_receiver) = (sender.clone(), receiver.clone());
    passes(move || {
        let receiver = shared_receiver.lock().unwrap();
        shared.send(3).unwrap();
        assert_eq!(shared.try_send(4), Err(TrySendError::Full(4)));
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(3), Err(TryRecvError::Empty)));
        shared.send(1).unwrap();
        shared.send(2).unwrap();
    });
    let receiver = receiver.lock().unwrap();
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(second);
    // The thread of the runs may still be about to drop the closure, and its sender with it.
    assert_eq!(receiver.recv(), Err(RecvError));
}
