//! A test with a bug, as a user writes it. It is started by the other tests, and its failure is what they look at;
//! run with all others it passes, since it is expected to fail.
//!
//! Variables change it, as an edit between two builds would.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What the command line of libtest calls it.
pub(crate) const NAME: &str = "fixture::an_update_is_lost";

fn changed(how: &str) -> bool {
    std::env::var("FIXTURE").is_ok_and(|value| value == how)
}

#[test]
#[should_panic(expected = "an update was lost")]
fn an_update_is_lost() {
    let check = raddle::Check::new().out(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixture"));
    check.run(|| {
        let sum = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let sum = Arc::clone(&sum);
                raddle::thread::spawn(move || {
                    let old = sum.load(SeqCst);
                    if changed("longer") {
                        sum.load(SeqCst);
                    }
                    sum.store(old + 1, SeqCst);
                })
            })
            .collect();
        for task in tasks {
            task.join().unwrap();
        }
        let total = sum.load(SeqCst);
        assert!(changed("harmless") || total == 2, "assertion: an update was lost");
    });
}
