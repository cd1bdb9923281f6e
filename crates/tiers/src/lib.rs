//! How large each sweep of the test suites is: one table, two tiers.
//!
//! The tests are the same code in both tiers; only these numbers differ. `cargo xtask test` runs the
//! `ci` column and must stay short; `cargo xtask soak` runs the `soak` column before an issue is closed.
//! A test asks for its number with [`size`], and both commands print the table, so that a log says
//! what was really run.

use std::env;
use std::fmt::Write;

/// The environment variable that says which column is run.
pub const TIER_VARIABLE: &str = "RADDLE_TIER";

/// One sweep: a loop in a test whose length is a matter of patience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// What a test passes to [`size`].
    pub name: &'static str,
    /// The length in `cargo xtask test`.
    pub ci: u64,
    /// The length in `cargo xtask soak`.
    pub soak: u64,
    /// What is counted.
    pub what: &'static str,
}

/// Every sweep of the project.
pub const SWEEPS: &[Sweep] = &[
    sweep("oracle_programs", 300, 3_000, "random small programs compared with their enumeration"),
    sweep("oracle_runs", 50, 500, "sampled runs of each of those programs, per policy"),
    sweep("commutation_programs", 150, 3_000, "random programs whose independent steps are swapped"),
    sweep("std_outcomes", 100, 2_000, "executions on real std threads, per program"),
    sweep("replay_plans", 200, 1_000, "random plans run, then replayed from plan and schedule"),
    sweep("fig1_runs", 100_000, 100_000, "runs of each policy on fig. 1 of the RAPOS paper"),
    sweep("mutant_runs", 100_000, 100_000, "runs within which a broken fingerprint must be caught"),
    sweep("memory_runs", 300_000, 10_000_000, "runs over which memory must stay flat"),
    sweep("sync_programs", 10_000, 200_000, "random programs whose sync order and races are recomputed"),
    sweep("lock_programs", 200, 4_000, "random programs whose lock cycles are compared with deadlocks"),
    sweep("hapset_programs", 2_000, 50_000, "random programs whose HaPSets are recomputed by definition"),
    sweep("hapset_searches", 150, 3_000, "random small programs searched by hapset, against enumeration"),
    sweep(
        "rote_programs",
        40,
        1_500,
        "random programs searched by rote and with every run from its beginning",
    ),
    sweep("ok_runs", 1_000, 10_000, "runs of each correct program, per strategy, without a report"),
    sweep("shadow_runs", 3_000, 100_000, "random sequences of accesses, beside a model that keeps all"),
    sweep("shadow_pages", 300, 20_000, "random sequences of large ranges, page by page and cell by cell"),
    sweep("native_bug_runs", 300, 10_000, "runs of each C and C++ program with a bug, per compiler"),
    sweep("order_runs", 1_500, 20_000, "sampled runs of each small program, beside searches of it"),
    sweep("order_subjects", 16, 1_000, "C and C++ programs that are sampled beside a search of them"),
    sweep("order_search_runs", 2_000, 50_000, "most runs of each of those searches"),
    sweep("order_subject_runs", 1_000, 20_000, "sampled runs of each of them"),
    sweep("blocking_runs", 20, 500, "runs of each call that waits, with a peer and without"),
    sweep(
        "determinism_subjects",
        12,
        1_000,
        "C and C++ programs whose runs are repeated; all there are in soak",
    ),
    sweep("determinism_plans", 20, 200, "plans of each of them"),
    sweep("determinism_repetitions", 5, 20, "campaigns with those plans, over five surroundings"),
    sweep("backend_runs", 5, 300, "runs of each C and C++ program, as fibers and as kernel threads"),
    sweep("reset_runs", 20, 500, "runs of each C and C++ program, reset and in processes of their own"),
    sweep("reset_batch_runs", 60, 2_000, "the same with pages looked at every so many runs only"),
    sweep("reset_fault_runs", 40, 500, "the same for programs that do harm to themselves"),
    sweep("checkpoint_subjects", 16, 1_000, "C and C++ programs searched with checkpoints and without"),
    sweep("checkpoint_runs", 12, 100, "runs of each of those searches"),
    sweep("native_ok_runs", 50, 10_000, "runs of each mended C and C++ program, per compiler"),
    sweep("search_interleavings", 50, 2_000, "random programs whose interleavings dfs and pcb must run"),
    sweep("search_programs", 200, 2_500, "random programs whose partial orders dpor and odpor must run"),
    sweep("search_orders", 1, 6, "orders in which the workers of a search ask and finish, for each program"),
    sweep("count_readers", 10, 13, "most readers whose partial orders odpor must count"),
    sweep("count_lastzero", 8, 15, "longest array of lastzero"),
    sweep("count_indexer", 13, 15, "most tasks of indexer"),
    sweep("count_filesystem", 17, 19, "most tasks of filesystem"),
    sweep("count_increments", 6, 7, "most atomic increments"),
    sweep("journal_readers", 13, 18, "readers of the search that is killed again and again"),
    sweep("journal_kills", 8, 60, "times that it is killed"),
    sweep("native_readers", 6, 13, "the same in C, through the native front end: readers"),
    sweep("native_lastzero", 5, 15, "lastzero in C"),
    sweep("native_indexer", 12, 15, "indexer in C"),
    sweep("native_filesystem", 15, 19, "filesystem in C"),
    sweep("native_increments", 4, 7, "atomic increments in C"),
    sweep(
        "library_sketches",
        150,
        3_000,
        "random programs done with the library, held against their enumeration",
    ),
    sweep("sketch_programs", 40, 500, "random programs written as C, held against their enumeration"),
    sweep("rapos_experiments", 5, 25, "repetitions of each experiment of table 1"),
];

const fn sweep(name: &'static str, ci: u64, soak: u64, what: &'static str) -> Sweep {
    Sweep { name, ci, soak, what }
}

/// Which column of the table is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// `cargo xtask test`, and a plain `cargo test`.
    Ci,
    /// `cargo xtask soak`.
    Soak,
}

impl Tier {
    /// The value of [`TIER_VARIABLE`] that selects this tier.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Ci => "ci",
            Tier::Soak => "soak",
        }
    }

    /// Reads a value of [`TIER_VARIABLE`]; an unset variable is [`Tier::Ci`].
    ///
    /// # Panics
    /// On any other value: a misspelt `soak` must not pass as a short run.
    pub fn parse(value: Option<&str>) -> Tier {
        match value {
            None | Some("ci") => Tier::Ci,
            Some("soak") => Tier::Soak,
            Some(other) => panic!("{TIER_VARIABLE}={other}: unknown tier; use `ci` or `soak`"),
        }
    }

    /// The tier of this process.
    ///
    /// # Panics
    /// As [`Tier::parse`], and on a value that is not Unicode.
    pub fn current() -> Tier {
        match env::var(TIER_VARIABLE) {
            Ok(value) => Tier::parse(Some(&value)),
            Err(env::VarError::NotPresent) => Tier::parse(None),
            Err(env::VarError::NotUnicode(value)) => panic!("{TIER_VARIABLE} is not Unicode: {value:?}"),
        }
    }

    /// The length of a sweep in this tier.
    ///
    /// # Panics
    /// If no sweep has that name.
    pub fn size(self, name: &str) -> u64 {
        let Some(sweep) = SWEEPS.iter().find(|sweep| sweep.name == name) else {
            let known: Vec<_> = SWEEPS.iter().map(|sweep| sweep.name).collect();
            panic!("no sweep is called `{name}`; the table in raddle-tiers has: {}", known.join(", "));
        };
        match self {
            Tier::Ci => sweep.ci,
            Tier::Soak => sweep.soak,
        }
    }

    /// The table for a log, one line per sweep.
    pub fn table(self) -> String {
        let mut text = format!("sweep sizes of tier `{}`:\n", self.name());
        for Sweep { name, what, .. } in SWEEPS {
            writeln!(text, "  {name:<22}{:>12}  {what}", self.size(name)).expect("writing to a string");
        }
        text
    }
}

/// The length of a sweep in the tier of this process.
///
/// # Panics
/// If the tier or the sweep is unknown.
pub fn size(name: &str) -> u64 {
    Tier::current().size(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_told_apart() {
        assert_eq!(Tier::parse(None), Tier::Ci);
        assert_eq!(Tier::parse(Some("ci")), Tier::Ci);
        assert_eq!(Tier::parse(Some("soak")), Tier::Soak);
        assert_eq!(Tier::Ci.size("replay_plans"), 200);
        assert_eq!(Tier::Soak.size("replay_plans"), 1_000);
    }

    #[test]
    #[should_panic(expected = "RADDLE_TIER=soka: unknown tier")]
    fn a_misspelt_tier_is_refused() {
        Tier::parse(Some("soka"));
    }

    #[test]
    #[should_panic(
        expected = "no sweep is called `replay_plan`; the table in raddle-tiers has: oracle_programs"
    )]
    fn a_misspelt_sweep_is_refused() {
        Tier::Ci.size("replay_plan");
    }

    #[test]
    fn every_sweep_is_named_once_and_soak_is_no_shorter() {
        for (index, sweep) in SWEEPS.iter().enumerate() {
            assert!(SWEEPS[..index].iter().all(|other| other.name != sweep.name), "{sweep:?}");
            assert!(0 < sweep.ci && sweep.ci <= sweep.soak, "{sweep:?}");
        }
    }

    #[test]
    fn the_printed_table_shows_the_column_that_is_run() {
        let table = Tier::Soak.table();
        assert!(table.contains("tier `soak`"), "{table}");
        assert!(table.contains("10000000"), "{table}");
        assert!(!table.contains(" 300000 "), "{table}");
    }
}
