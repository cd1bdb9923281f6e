//! `raddle-cc`: `raddle cc` in one word, for build systems that take no two. It only starts the `raddle` beside it.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let raddle = std::env::current_exe().map(|me| me.with_file_name("raddle"));
    let error = match &raddle {
        Ok(raddle) => Command::new(raddle).arg("cc").args(std::env::args_os().skip(1)).exec(),
        Err(error) => std::io::Error::new(error.kind(), error.to_string()),
    };
    eprintln!("raddle-cc: raddle could not be started: {error}");
    ExitCode::from(2)
}
