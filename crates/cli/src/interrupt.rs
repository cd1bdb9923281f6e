//! What ends a campaign from outside, in the middle of a run if need be: the end of its time, Ctrl-C, and the polite
//! request to end. What was found is told. Whoever asks twice does not want to wait for that.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What shells make of a command that was ended by Ctrl-C.
const AT_ONCE: i32 = 130;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static END: OnceLock<Instant> = OnceLock::new();

/// From now on the first request is only noted.
pub(crate) fn listen() {
    let flag = ASKED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        // Looked at before it is set: the second request finds it so. If a signal cannot be caught it ends us as
        // always, and the programs with us.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, AT_ONCE, Arc::clone(flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

/// Whether somebody has asked us to end.
pub(crate) fn is_asked() -> bool {
    ASKED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The campaign has time until then.
pub(crate) fn until(end: Instant) {
    let _ = END.set(end);
}

/// Whether the time is over, or somebody has asked us to end.
pub(crate) fn is_due() -> bool {
    is_asked() || END.get().is_some_and(|&end| Instant::now() >= end)
}
