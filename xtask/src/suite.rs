//! `cargo xtask test` and `cargo xtask soak`: one suite in two sizes.
//!
//! Both run the same tests; `soak` runs them optimised, with the `soak` column of the table in
//! `raddle-tiers`. Style, format and lints do not depend on the size and belong to `test` alone.

use crate::cargo::cargo;
use crate::steps::Steps;
use crate::{Stop, needs, tidy};
use raddle_tiers::{TIER_VARIABLE, Tier};
use std::process::Command;

/// Runs the suite of a tier, and says how long each step took.
pub(crate) fn run(tier: Tier) -> Result<(), Stop> {
    needs::provide()?;
    println!("{}", tier.table());
    let mut steps = Steps::default();
    if tier == Tier::Ci {
        steps.step("tidy", tidy::run)?;
        steps.command("format", cargo(".", &["fmt", "--all", "--check"]))?;
        steps.command("clippy", clippy("."))?;
    }
    steps.command("tests", tests(tier))?;
    if tier == Tier::Ci {
        steps.command("bench format", cargo("bench", &["fmt", "--check"]))?;
        // The comparison is not run here, but it must build, and each peer must still do what it is asked.
        steps.command("bench clippy", clippy("bench"))?;
        steps.command("bench tests", cargo("bench", &["test"]))?;
    }
    println!("all steps passed, tier `{}`:\n{}", tier.name(), steps.summary());
    Ok(())
}

fn clippy(folder: &str) -> Command {
    cargo(folder, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Unit, integration and doc tests of every crate, told their tier.
fn tests(tier: Tier) -> Command {
    let mut words = vec!["test", "--workspace"];
    if tier == Tier::Soak {
        words.push("--release");
    }
    let mut command = cargo(".", &words);
    command.env(TIER_VARIABLE, tier.name());
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn tier_of(command: &Command) -> Option<&OsStr> {
        command.get_envs().find(|(name, _)| *name == TIER_VARIABLE).and_then(|(_, value)| value)
    }

    #[test]
    fn each_tier_reaches_the_tests_and_only_soak_is_optimised() {
        let (ci, soak) = (tests(Tier::Ci), tests(Tier::Soak));
        assert_eq!(tier_of(&ci), Some(OsStr::new("ci")));
        assert_eq!(tier_of(&soak), Some(OsStr::new("soak")));
        assert!(!ci.get_args().any(|word| word == "--release"));
        assert!(soak.get_args().any(|word| word == "--release"));
    }
}
