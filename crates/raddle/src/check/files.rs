//! Failure files: where they go, what they are called, and the lines that people copy.

use super::config::Config;
use raddle_model::Plan;
use raddle_report::Story;
use raddle_wire::{FailureFile, Found, TOOL_VERSION, Target, failure};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a failure into the output directory. The name says what it is; the same failure found
/// again takes the same name.
pub(crate) fn write(config: &Config, story: &Story, plan: &Plan) -> io::Result<PathBuf> {
    std::fs::create_dir_all(&config.out)?;
    let hash = story.trace.schedule.fingerprint as u32;
    let test = if config.test.is_empty() { &config.body } else { &config.test };
    let file = config.out.join(format!("{}-{}-{hash:08x}.raddle", plain(test), story.failure.kind.name()));
    std::fs::write(&file, failure::encode(&content(config, story, plan)))?;
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

/// Lines whose commands work as they stand.
pub(crate) fn lines_to_copy(config: &Config, file: Option<&Path>, schedule: &str) -> Vec<String> {
    match file {
        Some(file) => {
            let file = absolute(file).display().to_string();
            let file = if file.contains(' ') { format!("'{file}'") } else { file };
            vec![
                format!("raddle replay {file}"),
                format!("raddle minimize {file}"),
                format!("raddle show {file}"),
            ]
        }
        None if config.test.is_empty() => vec![format!("RADDLE_REPLAY={schedule}")],
        None => vec![format!("RADDLE_REPLAY={schedule} cargo test {}", config.test)],
    }
}

/// Tests run in their package's directory, people copy lines elsewhere.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

/// The text of a source file. The compiler names files from the workspace's root, and tests run in
/// their package's directory: so every directory above is tried.
pub(crate) fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
}
