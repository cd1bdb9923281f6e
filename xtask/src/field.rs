//! `cargo xtask field`: programs that nobody here wrote, out of the C sources that packages on crates.io carry. They are
//! fetched by cargo, built with `raddle cc` and run under many schedules; nothing of them is kept in the project.
//!
//! A job (`subjects/field`) exits with a hash of what it has made: if one run makes other bytes, that is a failure, as is
//! anything that the detectors report. What was once reported, and why, is told in `docs/field-notes.md`.

use crate::Stop;
use crate::cargo::{cargo, root};
use crate::steps::execute;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs of each job.
const RUNS: &str = "200";
/// Most minutes that a job may take.
const TIME: &str = "20m";

/// A program.
struct Job {
    /// Name of the job in `subjects/field`.
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// Sources in the package: files, or folders of them.
    sources: &'static [&'static str],
    /// Files of those folders that are left out.
    without: &'static [&'static str],
    includes: &'static [&'static str],
    flags: &'static [&'static str],
}

const JOBS: &[Job] = &[
    Job {
        name: "libuv",
        package: "libuv-sys2",
        version: "1.48.0",
        sources: &[
            "libuv/src",
            "libuv/src/unix/async.c",
            "libuv/src/unix/core.c",
            "libuv/src/unix/dl.c",
            "libuv/src/unix/fs.c",
            "libuv/src/unix/getaddrinfo.c",
            "libuv/src/unix/getnameinfo.c",
            "libuv/src/unix/linux.c",
            "libuv/src/unix/loop-watcher.c",
            "libuv/src/unix/loop.c",
            "libuv/src/unix/pipe.c",
            "libuv/src/unix/poll.c",
            "libuv/src/unix/process.c",
            "libuv/src/unix/procfs-exepath.c",
            "libuv/src/unix/proctitle.c",
            "libuv/src/unix/random-devurandom.c",
            "libuv/src/unix/random-getrandom.c",
            "libuv/src/unix/random-sysctl-linux.c",
            "libuv/src/unix/signal.c",
            "libuv/src/unix/stream.c",
            "libuv/src/unix/tcp.c",
            "libuv/src/unix/thread.c",
            "libuv/src/unix/tty.c",
            "libuv/src/unix/udp.c",
        ],
        without: &[],
        includes: &["libuv/include", "libuv/src"],
        flags: &["-D_GNU_SOURCE", "-ldl"],
    },
    Job {
        name: "xz",
        package: "lzma-sys",
        version: "0.1.20",
        sources: &[
            "xz-5.2/src/liblzma/common",
            "xz-5.2/src/liblzma/lzma",
            "xz-5.2/src/liblzma/lz",
            "xz-5.2/src/liblzma/check",
            "xz-5.2/src/liblzma/delta",
            "xz-5.2/src/liblzma/rangecoder",
            "xz-5.2/src/liblzma/simple",
            "xz-5.2/src/common/tuklib_cpucores.c",
            "xz-5.2/src/common/tuklib_physmem.c",
        ],
        without: &["crc32_small", "crc64_small", "tablegen"],
        includes: &[
            "",
            "xz-5.2/src/common",
            "xz-5.2/src/liblzma/api",
            "xz-5.2/src/liblzma/lzma",
            "xz-5.2/src/liblzma/lz",
            "xz-5.2/src/liblzma/check",
            "xz-5.2/src/liblzma/simple",
            "xz-5.2/src/liblzma/delta",
            "xz-5.2/src/liblzma/common",
            "xz-5.2/src/liblzma/rangecoder",
        ],
        flags: &["-DHAVE_CONFIG_H", "-std=gnu99"],
    },
    Job {
        name: "sqlite",
        package: "libsqlite3-sys",
        version: "0.30.1",
        sources: &["sqlite3/sqlite3.c"],
        without: &[],
        includes: &["sqlite3"],
        flags: &["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-lm"],
    },
    Job {
        name: "zstd",
        package: "zstd-sys",
        version: "2.0.16",
        sources: &["zstd/lib/common", "zstd/lib/compress", "zstd/lib/decompress"],
        without: &[],
        includes: &["zstd/lib"],
        // What is written in assembly is not instrumented, and so not seen.
        flags: &["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM"],
    },
];

/// Fetches, builds and runs all of them.
pub(crate) fn run() -> Result<(), Stop> {
    let mut build = cargo("", &["build", "--release", "-p", "raddle-cli"]);
    build.arg("--quiet");
    execute(build)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let raddle = target.join("release/raddle");
    let field = target.join("field");
    fetch(&field)?;
    let mut failed = Vec::new();
    for job in JOBS {
        println!("== {}: {} {}", job.name, job.package, job.version);
        let program = field.join(job.name);
        execute(job.build(&raddle, &field, &program)?)?;
        let mut run = Command::new(&raddle);
        run.args(["run", "--runs", RUNS, "--time", TIME, "--stop-after", "0", "--hang-ms", "60000", "--out"]);
        run.arg(field.join("found")).arg(&program).stdin(std::process::Stdio::null());
        if execute(run).is_err() {
            failed.push(job.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Stop::Failed(format!("field: see {}", failed.join(", ")))) }
}

/// Lets cargo bring the packages.
fn fetch(field: &Path) -> Result<(), Stop> {
    let wrong =
        |error: std::io::Error| Stop::Failed(format!("{} cannot be written: {error}", field.display()));
    std::fs::create_dir_all(field.join("src")).map_err(wrong)?;
    std::fs::write(field.join("src/lib.rs"), "").map_err(wrong)?;
    let mut manifest = String::from(
        "[package]\nname = \"field\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n",
    );
    for Job { package, version, .. } in JOBS {
        manifest.push_str(&format!("{package} = \"={version}\"\n"));
    }
    std::fs::write(field.join("Cargo.toml"), manifest).map_err(wrong)?;
    let mut vendor = cargo("", &["vendor", "--quiet", "--versioned-dirs", "vendor"]);
    // What it prints is for a configuration that we do not need.
    vendor.current_dir(field).stdout(std::process::Stdio::null());
    execute(vendor)
}

impl Job {
    /// The folder of the package; the version may have more to it than we asked for.
    fn folder(&self, field: &Path) -> Result<PathBuf, Stop> {
        let prefix = format!("{}-{}", self.package, self.version);
        let missing = || Stop::Failed(format!("cargo has not brought {prefix}"));
        let folders = std::fs::read_dir(field.join("vendor")).map_err(|_| missing())?;
        let mut folders = folders.filter_map(|entry| Some(entry.ok()?.path()));
        let fits = |path: &PathBuf| {
            let name =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(&prefix));
            name.is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
        };
        folders.find(fits).ok_or_else(missing)
    }

    fn build(&self, raddle: &Path, field: &Path, program: &Path) -> Result<Command, Stop> {
        let folder = self.folder(field)?;
        let own = root().join("subjects/field");
        let mut command = Command::new(raddle);
        command.args(["cc", "-O1", "-g", "-w", "-pthread"]).arg("-I").arg(&own);
        self.includes.iter().for_each(|include| {
            command.arg("-I").arg(folder.join(include));
        });
        command.arg(own.join(self.name).with_extension("c"));
        for source in self.sources {
            let source = folder.join(source);
            if !source.is_dir() {
                command.arg(source);
                continue;
            }
            let missing = |_| Stop::Failed(format!("there is no {}", source.display()));
            let files = std::fs::read_dir(&source).map_err(missing)?;
            let mut files: Vec<PathBuf> = files.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.retain(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.ends_with(".c") && !self.without.iter().any(|part| name.contains(part))
            });
            files.sort();
            command.args(files);
        }
        command.args(self.flags).arg("-o").arg(program);
        Ok(command)
    }
}
