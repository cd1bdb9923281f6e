//! Thread locals of tasks. (Placeholder for the storage: see `LocalKey`.)

use crate::rt::Rt;

/// Destroys the thread locals of the running task, the youngest first, also those that
/// destructors make.
pub(crate) fn destroy(rt: Rt) {
    loop {
        let local = rt.with(|run| {
            let fiber = &mut run.fibers[run.running.index()];
            fiber.locals.pop()
        });
        match local {
            Some(local) => drop(local),
            None => break,
        }
    }
}
