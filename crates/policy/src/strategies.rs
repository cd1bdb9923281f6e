//! The registry: every strategy that a user can name, with its parameters, and how a name is read.

use crate::noise;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use raddle_model::Tail;
use raddle_model::plan::{Covered, Steps, Weights};

/// A strategy with its parameters. What it learns from run to run is not in here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Uniform over enabled tasks.
    Random,
    /// Random partial order sampling.
    Rapos,
    /// Priorities with change points.
    Pct {
        /// Bug depth: one more than the number of change points.
        depth: u32,
        /// Number of scheduling points; learned if not given.
        length: Option<u64>,
    },
    /// Priorities of operations.
    Pos,
    /// A uniform walk for each object.
    Walks,
    /// New switches first.
    Coverage,
    /// Goes on, and holds tasks back now and then.
    Noise {
        /// One in so many points is disturbed.
        one_in: u32,
        /// Most steps for which a task is held back.
        strength: u32,
    },
    /// Every interleaving.
    Dfs,
    /// Every interleaving, in a random order.
    RandomDfs,
    /// Every interleaving with few preemptions.
    Pcb {
        /// Most preemptions; 0, 1, 2, … in turn if not given.
        bound: Option<u32>,
    },
    /// Every partial order, some of them more than once.
    Dpor,
    /// Every partial order once.
    Odpor,
    /// Orders of statements that no run has shown.
    Hapset {
        /// Random runs to learn from first.
        training: u64,
        /// Most preemptions; without it DPOR is guided.
        bound: Option<u32>,
    },
}

/// Depth of `pct` unless another is asked for.
pub const PCT_DEPTH: u32 = 3;

/// Length that `pct` starts from before it has seen a run.
pub const PCT_LENGTH: u64 = 100;

/// What people want to know of a strategy.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// By which it is called.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Name, meaning and default of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The strategy with its defaults.
    pub strategy: Strategy,
}

/// All strategies.
pub fn strategies() -> &'static [Description] {
    &[
        Description {
            name: "random",
            summary: "uniform over the tasks that can run",
            paper: "Sen, ASE 2007, fig. 3; Stoller, RV 2002",
            parameters: &[],
            strategy: Strategy::Random,
        },
        Description {
            name: "rapos",
            summary: "random sets of independent operations; the others sleep until they matter",
            paper: "Sen, ASE 2007, fig. 4 and 5",
            parameters: &[],
            strategy: Strategy::Rapos,
        },
        Description {
            name: "pct",
            summary: "random priorities of tasks that change at a few random steps",
            paper: "Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010",
            parameters: &[
                ("depth", "bug depth, one more than the changes; default 3"),
                ("length", "scheduling points of a run; default: as seen so far"),
            ],
            strategy: Strategy::Pct { depth: PCT_DEPTH, length: None },
        },
        Description {
            name: "pos",
            summary: "random priorities of operations, drawn anew where they conflict",
            paper: "Yuan, Yang and Gu, CAV 2018",
            parameters: &[],
            strategy: Strategy::Pos,
        },
        Description {
            name: "walks",
            summary: "for each object a uniform walk over the orders of its contended accesses",
            paper: "ours; after Zhao, Lyu, Sen et al., ASPLOS 2025, and Yuan, Yang and Gu, CAV 2018",
            parameters: &[],
            strategy: Strategy::Walks,
        },
        Description {
            name: "coverage",
            summary: "prefers switches at sites, or between pairs of sites, where none was before",
            paper: "Stoller, RV 2002; Edelstein et al., IBM Systems Journal 2002",
            parameters: &[],
            strategy: Strategy::Coverage,
        },
        Description {
            name: "noise",
            summary: "the baseline: tasks run on, and are held back now and then for a few steps",
            paper: "Stoller, RV 2002, loop approach; Edelstein et al., IBM Systems Journal 2002",
            parameters: &[
                ("every", "one in so many scheduling points is disturbed; default 10"),
                ("strength", "most steps for which a task is held back; default 20"),
            ],
            strategy: Strategy::Noise { one_in: noise::ONE_IN, strength: noise::STRENGTH },
        },
        Description {
            name: "dfs",
            summary: "systematic: every interleaving, depth first",
            paper: "the baseline of all others",
            parameters: &[],
            strategy: Strategy::Dfs,
        },
        Description {
            name: "random-dfs",
            summary: "systematic: every interleaving once, depth first in a random order, with restarts",
            paper: "Rungta and Mercer, the baseline of guided test",
            parameters: &[],
            strategy: Strategy::RandomDfs,
        },
        Description {
            name: "pcb",
            summary: "systematic: every interleaving with at most so many preemptions",
            paper: "Musuvathi and Qadeer, PLDI 2007; Wang, Said and Gupta, ICSE 2011, 4.2.1",
            parameters: &[(
                "bound",
                "preemptions, from 0; default: 0, 1, 2, and so on until nothing is left",
            )],
            strategy: Strategy::Pcb { bound: None },
        },
        Description {
            name: "dpor",
            summary: "systematic: at least one run of every partial order, with sleep sets",
            paper: "Flanagan and Godefroid, POPL 2005; Godefroid 1996",
            parameters: &[],
            strategy: Strategy::Dpor,
        },
        Description {
            name: "odpor",
            summary: "systematic: exactly one run of every partial order",
            paper: "Abdulla, Aronis, Jonsson and Sagonas, POPL 2014",
            parameters: &[],
            strategy: Strategy::Odpor,
        },
        Description {
            name: "hapset",
            summary: "systematic, not complete: goes back only for orders of statements that no run has shown",
            paper: "Wang, Said and Gupta, ICSE 2011",
            parameters: &[
                ("training", "random runs to learn from first; default: 0"),
                ("bound", "most preemptions, from 0; default: none, and DPOR is guided instead"),
            ],
            strategy: Strategy::Hapset { training: 0, bound: None },
        },
    ]
}

impl Strategy {
    /// `random`, `rapos`, …
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Random => "random",
            Strategy::Rapos => "rapos",
            Strategy::Pct { .. } => "pct",
            Strategy::Pos => "pos",
            Strategy::Walks => "walks",
            Strategy::Coverage => "coverage",
            Strategy::Noise { .. } => "noise",
            Strategy::Dfs => "dfs",
            Strategy::RandomDfs => "random-dfs",
            Strategy::Pcb { .. } => "pcb",
            Strategy::Dpor => "dpor",
            Strategy::Odpor => "odpor",
            Strategy::Hapset { .. } => "hapset",
        }
    }

    /// Whether each run is drawn by itself; otherwise runs follow from each other until none is left.
    pub fn samples(&self) -> bool {
        !matches!(self.tail(), Tail::Steps(_))
    }

    /// The tail of the first plan, in which nothing is learned yet.
    pub fn tail(&self) -> Tail {
        match *self {
            Strategy::Random => Tail::Random,
            Strategy::Rapos => Tail::Rapos,
            Strategy::Pct { depth, length } => Tail::Pct { depth, length: length.unwrap_or(PCT_LENGTH) },
            Strategy::Pos => Tail::Pos,
            Strategy::Walks => Tail::Walks(Weights::default()),
            Strategy::Coverage => Tail::Coverage(Covered::default()),
            Strategy::Noise { one_in, strength } => Tail::Noise { one_in, strength },
            Strategy::Dfs
            | Strategy::RandomDfs
            | Strategy::Pcb { .. }
            | Strategy::Dpor
            | Strategy::Odpor
            | Strategy::Hapset { .. } => Tail::Steps(Steps::default()),
        }
    }
}

/// As it is read by [`parse`]: parameters that differ from the default are named.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Strategy::Pct { depth, length } => {
                write!(f, "pct:depth={depth}")?;
                length.map_or(Ok(()), |length| write!(f, ",length={length}"))
            }
            Strategy::Noise { one_in, strength } => write!(f, "noise:every={one_in},strength={strength}"),
            Strategy::Pcb { bound: Some(bound) } => write!(f, "pcb:bound={bound}"),
            Strategy::Hapset { training, bound } if training > 0 || bound.is_some() => {
                write!(f, "hapset:training={training}")?;
                bound.map_or(Ok(()), |bound| write!(f, ",bound={bound}"))
            }
            other => f.write_str(other.name()),
        }
    }
}

/// A name that is no strategy, or a parameter that a strategy does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownStrategy {
    /// What was asked for.
    pub asked: String,
    /// What is wrong with it, and what there is.
    pub message: String,
}

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for UnknownStrategy {}

/// Reads `rapos`, `pct`, `pct:depth=2`, `pct:depth=2,length=500`.
pub fn parse(text: &str) -> Result<Strategy, UnknownStrategy> {
    let wrong = |message| UnknownStrategy { asked: text.to_string(), message };
    let (name, parameters) = match text.split_once(':') {
        Some((name, parameters)) => (name.trim(), parameters),
        None => (text.trim(), ""),
    };
    let Some(found) = strategies().iter().find(|s| s.name == name) else {
        return Err(wrong(unknown(name)));
    };
    let mut strategy = found.strategy;
    for parameter in parameters.split(',').filter(|p| !p.trim().is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let (key, value) = (key.trim(), value.trim());
        if !found.parameters.iter().any(|(known, _)| *known == key) {
            let known: Vec<&str> = found.parameters.iter().map(|(known, _)| *known).collect();
            let known = if known.is_empty() {
                String::from("it has none")
            } else {
                format!("it has {}", known.join(", "))
            };
            return Err(wrong(format!("{name} has no parameter {key:?}: {known}")));
        }
        let least = u64::from(!matches!(key, "bound" | "training"));
        let number = value.parse::<u64>().ok().filter(|&number| number >= least);
        let Some(number) = number else {
            return Err(wrong(format!("{name}: {key} takes a whole number from {least}, not {value:?}")));
        };
        set(&mut strategy, key, number);
    }
    Ok(strategy)
}

fn set(strategy: &mut Strategy, key: &str, number: u64) {
    let small = u32::try_from(number).unwrap_or(u32::MAX);
    match strategy {
        Strategy::Pct { depth, .. } if key == "depth" => *depth = small.min(1_000),
        Strategy::Pct { length, .. } => *length = Some(number),
        Strategy::Noise { one_in, .. } if key == "every" => *one_in = small,
        Strategy::Noise { strength, .. } => *strength = small,
        Strategy::Hapset { training, .. } if key == "training" => *training = number,
        Strategy::Pcb { bound } | Strategy::Hapset { bound, .. } => *bound = Some(small),
        _ => {}
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = strategies().iter().map(|s| s.name).collect();
    let nearest = names.iter().min_by_key(|known| distance(name, known)).expect("raddle bug: no strategies");
    let hint = if distance(name, nearest) <= nearest.len().div_ceil(2) {
        format!(" Did you mean {nearest:?}?")
    } else {
        String::new()
    };
    format!("there is no strategy {name:?}.{hint} Known: {}.", names.join(", "))
}

/// Levenshtein's distance between two names, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_by_its_own_name() {
        for known in strategies() {
            assert_eq!(parse(known.name), Ok(known.strategy));
            assert_eq!(known.strategy.name(), known.name);
            assert_eq!(parse(&known.strategy.to_string()), Ok(known.strategy));
            if known.strategy.samples() {
                assert_eq!(known.strategy.tail().name(), known.name);
            }
        }
        let strategy = parse("pct:depth=7,length=50").unwrap();
        assert_eq!(parse("hapset:bound=2,training=9").unwrap().to_string(), "hapset:training=9,bound=2");
        assert_eq!(strategy, Strategy::Pct { depth: 7, length: Some(50) });
        assert_eq!(parse(&strategy.to_string()), Ok(strategy));
        let noise = Strategy::Noise { one_in: 3, strength: noise::STRENGTH };
        assert_eq!(parse("noise:every=3"), Ok(noise));
        assert_eq!(noise.to_string(), "noise:every=3,strength=20");
        assert_eq!(parse("pcb:bound=0"), Ok(Strategy::Pcb { bound: Some(0) }));
        assert_eq!(parse("pcb:bound=2").unwrap().to_string(), "pcb:bound=2");
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_and_the_list() {
        let message = parse("rapso").unwrap_err().message;
        assert!(message.contains("\"rapos\""), "{message}");
        for known in strategies() {
            assert!(message.contains(known.name), "{message}");
        }
        assert!(!parse("zzzzzzzz").unwrap_err().message.contains("Did you mean"));
        assert!(parse("").is_err());
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        for (text, part) in [
            ("random:depth=3", "it has none"),
            ("pct:dept=3", "depth, length"),
            ("pct:depth=0", "whole number"),
            ("pct:depth", "whole number"),
            ("pct:depth=x", "\"x\""),
            ("pcb:bound=-1", "from 0"),
            ("odpor:bound=1", "it has none"),
        ] {
            let message = parse(text).unwrap_err().message;
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
