//! Failure files: where they go, what they are called, and the lines that people copy.

use super::config::Config;
use raddle_model::{FailureKind, Plan, Tail};
use raddle_report::Story;
use raddle_wire::{FailureFile, Found, TOOL_VERSION, Target, failure};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a failure into the output directory. The name says what it is; the same failure found
/// again takes the same name.
pub(crate) fn write(config: &Config, content: &FailureFile) -> io::Result<PathBuf> {
    std::fs::create_dir_all(&config.out)?;
    let hash = content.trace.schedule.fingerprint as u32;
    let test = if config.test.is_empty() { &config.body } else { &config.test };
    let file = config.out.join(format!("{}-{}-{hash:08x}.raddle", plain(test), content.failure.kind.name()));
    std::fs::write(&file, failure::encode(content))?;
    Ok(file)
}

/// Letters, digits and dashes only.
fn plain(text: &str) -> String {
    let text = text.rsplit(['/', '\\']).next().unwrap_or(text);
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect::<String>()
        .replace("--", "-")
}

/// The file's content.
pub(crate) fn content(config: &Config, story: &Story, plan: &Plan) -> FailureFile {
    let executable = std::env::current_exe().unwrap_or_default();
    FailureFile {
        tool: TOOL_VERSION.to_owned(),
        target: Target::Library {
            package: std::env::var("CARGO_PKG_NAME").unwrap_or_default(),
            test: config.test.clone(),
            executable: executable.display().to_string(),
            body: config.body.clone(),
            directory: std::env::current_dir().unwrap_or_default().display().to_string(),
        },
        plan: plan.clone(),
        failure: story.failure.clone(),
        trace: story.trace.clone(),
        tasks: story.tasks.clone(),
        objects: story.objects.clone(),
        places: story.places.clone(),
        found: Found { strategy: story.strategy.clone(), seed: story.seed, run: story.run },
        memory_model: String::from("sc"),
    }
}

/// The name of a minimized failure: it stands beside the original and does not replace it.
pub fn minimized(directory: &Path, original: &Path) -> PathBuf {
    let stem = original.file_stem().unwrap_or_default().to_string_lossy();
    directory.join(format!("{}-min.raddle", stem.trim_end_matches("-min")))
}

/// Lines for a failure file, with `command` for `raddle`. What a command could not do is left out.
pub fn lines(command: &str, file: &Path, failure: &FailureFile) -> Vec<String> {
    let repeats = repeats(failure);
    let shrinks = repeats && failure.failure.kind != FailureKind::Hang;
    let file = quoted(&absolute(file).display().to_string());
    [("replay", repeats), ("minimize", shrinks), ("show", true)]
        .into_iter()
        .filter(|(_, works)| *works)
        .map(|(name, _)| format!("{command} {name} {file}"))
        .collect()
}

/// A failure that could not be repeated has the plan of its first run, which promises nothing.
fn repeats(failure: &FailureFile) -> bool {
    failure.plan.tail == Tail::None || failure.failure.kind == FailureKind::Hang
}

/// Lines whose commands work as they stand, in this process's environment.
pub(crate) fn lines_to_copy(
    config: &Config,
    failure: &FailureFile,
    file: Option<&Path>,
    schedule: &str,
) -> Vec<String> {
    match file {
        Some(file) if has_command() => lines("raddle", file, failure),
        // Without a test there is no command that would run the program again in the same way.
        _ if config.test.is_empty() || !repeats(failure) => Vec::new(),
        _ => {
            let package =
                std::env::var("CARGO_PKG_NAME").map(|name| format!(" -p {name}")).unwrap_or_default();
            let body = quoted(&config.body);
            let test = &config.test;
            let line = |variable: &str, value: &str| {
                format!(
                    "{variable}={value} RADDLE_BODY={body} cargo test{package} {test} -- --exact --nocapture"
                )
            };
            match file.map(|file| quoted(&absolute(file).display().to_string())) {
                Some(file) => vec![line("RADDLE_REPLAY", &file), line("RADDLE_MINIMIZE", &file)],
                None => vec![line("RADDLE_REPLAY", schedule)],
            }
        }
    }
}

/// Whether the `raddle` command can be called by its name.
fn has_command() -> bool {
    let name = format!("raddle{}", std::env::consts::EXE_SUFFIX);
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|at| at.join(&name).is_file()))
}

/// As one word of a shell's.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Tests run in their package's directory, people copy lines elsewhere.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

/// The text of a source file. The compiler names files from the workspace's root, and tests run in
/// their package's directory: so every directory above is tried.
pub fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
}
