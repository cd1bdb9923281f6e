//! How people call this command, for the lines they copy.

use std::path::Path;

/// What to type for `raddle` so that it works: the name if the shell finds it, `cargo run` if cargo has started
/// us, and the whole path otherwise.
pub(crate) fn command() -> String {
    let Ok(me) = std::env::current_exe() else { return String::from("raddle") };
    if found_by_name(&me) {
        String::from("raddle")
    } else if std::env::var("CARGO_PKG_NAME").is_ok_and(|name| name == env!("CARGO_PKG_NAME")) {
        String::from("cargo run -q --")
    } else {
        raddle::tool::quoted(&me.display().to_string())
    }
}

fn found_by_name(me: &Path) -> bool {
    let name = format!("raddle{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The first one is the one that the shell takes.
    let first = std::env::split_paths(&path).map(|at| at.join(&name)).find(|file| file.is_file());
    first.and_then(|file| file.canonicalize().ok()) == me.canonicalize().ok()
}
