//! Channels without room: sender and receiver meet.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::atomic::{AtomicBool, Ordering};
use raddle::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError, sync_channel};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::collections::BTreeSet;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_sender_goes_on_only_when_its_message_is_taken() {
    passes(|| {
        let (sender, receiver) = sync_channel(0);
        let taken = Arc::new(AtomicBool::new(false));
        let seen = taken.clone();
        let task = thread::spawn(move || {
            sender.send(1).unwrap();
            assert!(seen.load(Ordering::SeqCst));
        });
        taken.store(true, Ordering::SeqCst);
        assert_eq!(receiver.recv(), Ok(1));
        task.join().unwrap();
    });
}

#[test]
fn a_message_without_a_receiver_is_a_deadlock() {
    let failure = failure_of(|| {
        let (sender, _receiver) = sync_channel(0);
        sender.send(1).unwrap();
    });
    assert_deadlock(&failure);
    assert!(failure.contains("nobody receives"), "{failure}");
}

#[test]
fn two_senders_and_one_receiver() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(0);
        let tasks = [1, 2].map(|message| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(message).unwrap())
        });
        drop(sender);
        let all: Vec<i32> = receiver.iter().collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        all
    });
    assert_eq!(seen, BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

#[test]
fn a_try_succeeds_only_if_a_receiver_stands_there() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        let task = thread::spawn(move || receiver.recv());
        let tried = sender.try_send(1);
        let sent = sender.send(2);
        let received = task.join().unwrap();
        match tried {
            Ok(()) => assert_eq!((sent, received), (Err(SendError(2)), Ok(1))),
            Err(error) => {
                assert_eq!((error, sent, received), (TrySendError::Full(1), Ok(()), Ok(2)));
            }
        }
        tried.is_ok()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_receiver_that_goes_gives_the_message_back() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(0);
        let task = thread::spawn(move || sender.send(String::from("message")));
        let received = receiver.try_recv();
        drop(receiver);
        let sent = task.join().unwrap();
        assert_eq!(received.is_ok(), sent.is_ok());
        if let Err(SendError(message)) = sent {
            assert_eq!(message, "message");
            assert_eq!(received, Err(TryRecvError::Empty));
        }
        received.is_ok()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_timed_receive_may_end_either_way() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(0);
        let task = thread::spawn(move || sender.send(1));
        let received = receiver.recv_timeout(LONG);
        drop(receiver);
        assert_eq!(task.join().unwrap().is_ok(), received.is_ok());
        assert!(received != Err(RecvTimeoutError::Disconnected));
        received.ok()
    });
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}

#[test]
fn a_run_that_ends_in_the_middle_leaves_no_message() {
    let (sender, receiver) = sync_channel(0);
    let shared = Arc::new((sender, Mutex::new(receiver)));
    let inside = shared.clone();
    assert_deadlock(&failure_of(move || {
        let other = inside.clone();
        let task = thread::spawn(move || other.0.send(1));
        let _ = task.join();
    }));
    let inside = shared.clone();
    passes(move || {
        let other = inside.clone();
        let task = thread::spawn(move || other.0.send(2));
        assert_eq!(inside.1.lock().unwrap().recv(), Ok(2));
        task.join().unwrap().unwrap();
    });
    std::thread::scope(|scope| {
        scope.spawn(|| shared.0.send(3).unwrap());
        assert_eq!(shared.1.lock().unwrap().recv(), Ok(3));
    });
}
