//! `raddle-cxx`: `raddle c++` in one word, for build systems that take no two. Cargo allows no `+` in the name of a
//! program; a link called `raddle-c++` to `raddle` works too.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let raddle = std::env::current_exe().map(|me| me.with_file_name("raddle"));
    let error = match &raddle {
        Ok(raddle) => Command::new(raddle).arg("c++").args(std::env::args_os().skip(1)).exec(),
        Err(error) => std::io::Error::new(error.kind(), error.to_string()),
    };
    eprintln!("raddle-cxx: raddle could not be started: {error}");
    ExitCode::from(2)
}
