//! Progress bars for long work, on a terminal only: logs and tools get none.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar of so many steps.
pub(crate) fn bar(steps: u64, what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {msg} ({eta} left)");
    ProgressBar::new(steps)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(what.to_owned())
}
