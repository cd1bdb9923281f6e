//! Builds the runtime and packs it into one object file whose only global names are those that programs are meant
//! to find. Linking the Rust library itself would clash with what other Rust code in the program defines.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let crates = here.parent().expect("this crate has a directory above it");
    let out = PathBuf::from(variable("OUT_DIR"));
    for name in ["model", "engine", "policy", "analysis", "wire", "native", "runtime"] {
        println!("cargo::rerun-if-changed={}", crates.join(name).join("src").display());
        println!("cargo::rerun-if-changed={}", crates.join(name).join("Cargo.toml").display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    if variable("CARGO_CFG_TARGET_ARCH") != "x86_64" || variable("CARGO_CFG_TARGET_OS") != "linux" {
        // The command works everywhere; it says itself that native programs need x86-64 Linux.
        for file in ["raddle_rt.o", "raddle_rt.so", "raddle_rt.exports", "raddle_rt.list"] {
            fs::write(out.join(file), b"").expect("the output directory is writable");
        }
        return;
    }
    let built = build(&crates.join("runtime"), &out);
    let library = built.join("libraddle_rt.so");
    let named = exports(&library);
    let exports = || named.iter().map(|name| plain(name));
    let write =
        |file: &str, text: String| fs::write(out.join(file), text).expect("the output directory is writable");
    write("raddle_rt.exports", exports().map(|name| format!("{name}\n")).collect());
    let dynamic: String = exports().map(|name| format!("{name};\n")).collect();
    write("raddle_rt.list", format!("{{\n{dynamic}}};\n"));
    pack(&built.join("libraddle_rt.a"), &out.join("raddle_rt.exports"), &named, &out.join("raddle_rt.o"));
    fs::copy(&library, out.join("raddle_rt.so")).expect("the library was built");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}

/// Runs cargo on the runtime, as if nobody had set anything for the build that we are part of.
fn build(runtime: &Path, out: &Path) -> PathBuf {
    let target = out.join("rt");
    let mut command = Command::new(variable("CARGO"));
    command.args(["build", "--locked", "--profile", "runtime", "--quiet", "--manifest-path"]);
    command.arg(runtime.join("Cargo.toml")).arg("--target-dir").arg(&target);
    for name in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTC",
        "CARGO_MAKEFLAGS",
    ] {
        command.env_remove(name);
    }
    run(command);
    target.join("runtime")
}

/// Functions that the runtime itself needs and also interposes: see `crates/runtime/src/strings.rs`.
const OWN: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"];
/// What the names of interposed functions of that kind begin with.
const HOOK: &str = "raddle_hook_";
/// The same for functions that only take note (`crates/runtime/src/common.rs`): a program's own of that name goes first.
const WEAK: &str = "raddle_weak_";

/// What a function is called in the end.
fn plain(name: &str) -> &str {
    name.strip_prefix(HOOK).or_else(|| name.strip_prefix(WEAK)).unwrap_or(name)
}

/// What a shared library exports is what the crate has given a name.
fn exports(library: &Path) -> Vec<String> {
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only"]).arg(library);
    let listing = run(command);
    let names = listing.lines().filter_map(|line| line.rsplit(' ').next());
    let ours = names.filter(|name| *name != "rust_eh_personality" && !name.starts_with("raddle_own_"));
    let mut names: Vec<String> = ours.map(ToOwned::to_owned).collect();
    names.sort_unstable();
    names
}

/// One object file: first everything as it was compiled, then with each function under its right name, then with
/// nothing else in sight.
fn pack(archive: &Path, exports: &Path, named: &[String], object: &Path) {
    let [whole, renamed, joined] = ["whole.o", "renamed.o", "joined.o"].map(|end| object.with_extension(end));
    let mut link = Command::new("ld");
    link.args(["-r", "--force-group-allocation", "--whole-archive"]).arg(archive).arg("-o").arg(&whole);
    run(link);
    let mut rename = Command::new("objcopy");
    for name in OWN {
        rename.arg(format!("--redefine-sym={name}=raddle_own_{name}"));
    }
    for name in named.iter().filter(|name| plain(name) != *name) {
        rename.arg(format!("--redefine-sym={name}={}", plain(name)));
    }
    rename.arg(&whole).arg(&renamed);
    run(rename);
    let mut join = Command::new("ld");
    join.arg("-r").arg(&renamed).arg("-o").arg(&joined);
    run(join);
    let mut hide = Command::new("objcopy");
    hide.arg(format!("--keep-global-symbols={}", exports.display()));
    for name in named.iter().filter_map(|name| name.strip_prefix(WEAK)) {
        hide.arg(format!("--weaken-symbol={name}"));
    }
    hide.arg(&joined).arg(object);
    run(hide);
}

/// Runs a command and gives back what it printed.
fn run(mut command: Command) -> String {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            panic!("{:?} could not be started: {error}; are binutils installed?", command.get_program())
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
