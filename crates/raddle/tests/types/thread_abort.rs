//! A panic where std aborts the process: the run fails, and the process lives on and can end.

use crate::verdict::{failure_of, passes};
use raddle::thread;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("second");
    }
}

// One test: the hook belongs to the whole process.
#[test]
fn a_panic_in_a_destructor_during_a_panic() {
    for _ in 0..3 {
        let (kind, message) = failure_of(|| {
            let handle = thread::spawn(|| {
                let _bomb = Bomb;
                panic!("first");
            });
            let _ = handle.join();
        });
        assert_eq!(kind, "panic");
        assert_eq!(message, "panic while unwinding from another panic, which aborts the process: second");
    }
    // Waits for ever if the task was left inside of the hook.
    let hook = std::panic::take_hook();
    std::panic::set_hook(hook);
    passes(|| assert!(thread::spawn(|| panic!("only one")).join().is_err()));
}
