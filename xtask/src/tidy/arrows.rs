//! Rule: which crate may use which. The arrows are what keeps the engine free of stacks, threads and
//! output, and the native runtime free of everything that explores or reports.
//!
//! Only what is shipped counts: tests may reach for the toy front end or the table of sweeps. Every crate
//! of the workspace has a row; a new one gets its row here before it gets its first dependency.

use crate::{Stop, cargo};

/// Where the table is, for messages.
const TABLE: &str = "xtask/src/tidy/arrows.rs";

/// A crate, and the crates of this workspace that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("raddle-model", &[]),
    ("raddle-engine", &["raddle-model"]),
    ("raddle-policy", &["raddle-model"]),
    ("raddle-analysis", &["raddle-model"]),
    ("raddle-wire", &["raddle-model"]),
    ("raddle-explore", &["raddle-model", "raddle-policy", "raddle-analysis", "raddle-wire"]),
    ("raddle-report", &["raddle-model", "raddle-analysis"]),
    ("raddle-native", NATIVE),
    ("raddle-runtime", &["raddle-model", "raddle-native"]),
    ("raddle-runtime-image", &[]),
    ("raddle-symbols", &[]),
    ("raddle-probe", &[]),
    ("raddle-macros", &[]),
    ("raddle", LIBRARY),
    ("raddle-cli", CLI),
    ("raddle-toy", TOY),
    ("raddle-subjects", &["raddle"]),
    ("raddle-tiers", &[]),
    ("xtask", &["raddle-tiers"]),
];

const NATIVE: &[&str] = &["raddle-model", "raddle-engine", "raddle-policy", "raddle-analysis", "raddle-wire"];

const TOY: &[&str] =
    &["raddle-model", "raddle-engine", "raddle-policy", "raddle-analysis", "raddle-wire", "raddle-explore"];

const LIBRARY: &[&str] = &[
    "raddle-model",
    "raddle-engine",
    "raddle-policy",
    "raddle-analysis",
    "raddle-wire",
    "raddle-explore",
    "raddle-report",
    "raddle-macros",
];

const CLI: &[&str] = &[
    "raddle-model",
    "raddle-engine",
    "raddle-policy",
    "raddle-analysis",
    "raddle-wire",
    "raddle-explore",
    "raddle-native",
    "raddle-runtime-image",
    "raddle-report",
    "raddle-symbols",
    "raddle-probe",
    "raddle",
    "raddle-subjects",
    "raddle-toy",
];

/// What the workspace's own manifests do against the table.
pub(super) fn rule() -> Result<Vec<String>, Stop> {
    Ok(judge(&listing()?))
}

/// One `depth|name version …` a line, depth 0 for the crates of the workspace, 1 for what each uses.
fn listing() -> Result<String, Stop> {
    // All features and targets: an arrow that is off by default is an arrow all the same.
    let arguments = "tree --quiet --workspace --all-features --target all --edges normal,build --depth 1 \
                     --no-dedupe --prefix depth --format |{p}";
    let mut command = cargo::cargo(".", &arguments.split(' ').collect::<Vec<_>>());
    let failed = |why: String| Stop::Failed(format!("tidy: cargo tree: {why}"));
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn judge(listing: &str) -> Vec<String> {
    let rows: Vec<(&str, &str)> = listing.lines().filter_map(row).collect();
    let members: Vec<&str> = rows.iter().filter(|(depth, _)| *depth == "0").map(|(_, name)| *name).collect();
    let gone = ARROWS.iter().map(|(name, _)| *name).filter(|name| !members.contains(name));
    let mut messages: Vec<String> =
        gone.map(|name| format!("{name} is gone: remove its row from {TABLE}")).collect();
    let mut user = "";
    for (depth, name) in rows {
        if depth == "0" {
            user = name;
            if allowed(user).is_none() {
                messages.push(format!("{user} has no row in {TABLE}: say there what it may use"));
            }
        } else if members.contains(&name) && allowed(user).is_some_and(|list| !list.contains(&name)) {
            messages.push(format!("{user} must not use {name}"));
        }
    }
    messages
}

fn row(line: &str) -> Option<(&str, &str)> {
    let (depth, package) = line.split_once('|')?;
    Some((depth, package.split(' ').next()?))
}

fn allowed(user: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(name, _)| *name == user).map(|(_, list)| *list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace that uses every arrow of the table, and something from outside.
    fn good() -> String {
        let mut listing = String::new();
        for (user, list) in ARROWS {
            listing += &format!("\n0|{user} v0.1.0 (a/{user})\n1|hashbrown v0.16.1\n");
            listing.extend(list.iter().map(|used| format!("1|{used} v0.1.0 (a/{used})\n")));
        }
        listing
    }

    #[test]
    fn accepts_the_arrows_of_the_design() {
        assert_eq!(judge(&good()), [] as [String; 0]);
    }

    #[test]
    fn catches_a_forbidden_arrow() {
        let user = "0|raddle-explore v0.1.0 (a/raddle-explore)\n";
        let listing = good().replace(user, &format!("{user}1|raddle-engine v0.1.0 (a/raddle-engine)\n"));
        assert_eq!(judge(&listing), ["raddle-explore must not use raddle-engine"]);
    }

    #[test]
    fn catches_a_crate_without_a_row_and_a_row_without_a_crate() {
        let messages = judge(&good().replace("0|raddle-toy ", "0|raddle-new "));
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("raddle-toy is gone"), "{messages:?}");
        assert!(messages[1].starts_with("raddle-new has no row"), "{messages:?}");
    }

    #[test]
    fn the_real_listing_is_read_as_arrows() {
        let Ok(listing) = listing() else { panic!("cargo tree failed") };
        let rows: Vec<_> = listing.lines().filter_map(row).collect();
        let engine =
            rows.iter().position(|row| *row == ("0", "raddle-engine")).expect("the engine is listed");
        let used = rows[engine + 1..].iter().take_while(|(depth, _)| *depth == "1");
        assert!(used.into_iter().any(|(_, name)| *name == "raddle-model"), "{listing}");
    }
}
