//! A consumer leaves after the first item, and the producer takes for granted that it can send a second.

use crate::shim::sync::mpsc::channel;
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let (sender, receiver) = channel();
    let producer = thread::spawn(move || {
        for item in 0..2 {
            sender.send(item).expect("the consumer is still there");
        }
    });
    let consumer = thread::spawn(move || {
        assert_eq!(receiver.recv(), Ok(0), "the first item is enough");
    });
    join_all(vec![producer, consumer]);
}
