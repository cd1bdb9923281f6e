//! Plans and schedules of version 1.

use super::{Misfit, mirror};
use crate::pack::{self, Reader};
use alloc::sync::Arc;
use alloc::vec::Vec;
use raddle_model::SiteId;
use raddle_model::plan::{self as model, Covered, Step, Steps, Switch, TaskWeight, Weights, Wishes};
use serde::{Deserialize, Serialize};

mirror!(TimeMode of raddle_model::TimeMode { Any, Lazy });

mirror!(SpinMode of raddle_model::SpinMode { Park, Off });

/// The decisions are packed; checks and fingerprint have no small numbers, so they are no varints.
#[derive(Serialize, Deserialize)]
pub(crate) struct Schedule {
    decisions: Vec<u8>,
    checks: Vec<[u8; 4]>,
    fingerprint: [u8; 16],
}

impl From<&raddle_model::Schedule> for Schedule {
    fn from(schedule: &raddle_model::Schedule) -> Schedule {
        let mut decisions = Vec::new();
        pack::put_decisions(&mut decisions, &schedule.decisions);
        Schedule {
            decisions,
            checks: schedule.checks.iter().map(|c| c.to_le_bytes()).collect(),
            fingerprint: schedule.fingerprint.to_le_bytes(),
        }
    }
}

impl TryFrom<Schedule> for raddle_model::Schedule {
    type Error = Misfit;

    fn try_from(schedule: Schedule) -> Result<raddle_model::Schedule, Misfit> {
        let mut reader = Reader { rest: &schedule.decisions };
        let decisions = pack::take_decisions(&mut reader);
        match decisions {
            Ok(decisions) if reader.rest.is_empty() => Ok(raddle_model::Schedule {
                decisions,
                checks: schedule.checks.into_iter().map(u32::from_le_bytes).collect(),
                fingerprint: u128::from_le_bytes(schedule.fingerprint),
            }),
            _ => Err(Misfit("its decisions cannot be read")),
        }
    }
}

/// Who decides after the prefix. New tails go to the end.
#[derive(Serialize, Deserialize)]
enum Tail {
    Random,
    Rapos,
    Pct {
        depth: u32,
        length: u64,
    },
    Pos,
    Walks {
        length: u64,
        /// Name, contended accesses.
        tasks: Vec<([u8; 8], Vec<Contended>)>,
    },
    Coverage {
        sites: Vec<u32>,
        pairs: Vec<(u32, u32)>,
    },
    Stay,
    None,
    Wishes {
        /// Name of the task that ran, number of its events, name of the task to run.
        switches: Vec<([u8; 8], u32, [u8; 8])>,
        choices: Vec<u32>,
    },
    Steps(StepList),
    Noise {
        one_in: u32,
        strength: u32,
    },
    /// Steps, of which one that takes a mutex may give it back, too.
    Sections(StepList),
}

/// The steps of a search.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepList {
    /// Name of the task, choices.
    steps: Vec<([u8; 8], Vec<u32>)>,
    sleep: Vec<[u8; 8]>,
    run_on: bool,
    timeouts_max: u32,
    random: bool,
}

impl From<&Steps> for StepList {
    fn from(steps: &Steps) -> StepList {
        let Steps { steps, sleep, run_on, timeouts_max, random, sections: _ } = steps;
        StepList {
            steps: steps.iter().map(|step| (step.task.to_le_bytes(), step.choices.clone())).collect(),
            sleep: sleep.iter().map(|name| name.to_le_bytes()).collect(),
            run_on: *run_on,
            timeouts_max: *timeouts_max,
            random: *random,
        }
    }
}

impl StepList {
    fn steps(self, sections: bool) -> Steps {
        let StepList { steps, sleep, run_on, timeouts_max, random } = self;
        let step = |(task, choices)| Step { task: u64::from_le_bytes(task), choices };
        Steps {
            steps: Arc::new(steps.into_iter().map(step).collect()),
            sleep: sleep.into_iter().map(u64::from_le_bytes).collect(),
            run_on,
            timeouts_max,
            random,
            sections,
        }
    }
}

/// An access that conflicts with one of another task.
#[derive(Serialize, Deserialize)]
struct Contended {
    index: u32,
    site: u32,
    object: u32,
    write: bool,
}

impl From<&model::Contended> for Contended {
    fn from(access: &model::Contended) -> Contended {
        let model::Contended { index, site, object, write } = *access;
        Contended { index, site: site.0, object, write }
    }
}

impl From<Contended> for model::Contended {
    fn from(access: Contended) -> model::Contended {
        let Contended { index, site, object, write } = access;
        model::Contended { index, site: SiteId(site), object, write }
    }
}

fn numbers(sites: &[SiteId]) -> Vec<u32> {
    sites.iter().map(|site| site.0).collect()
}

fn sites(numbers: Vec<u32>) -> Vec<SiteId> {
    numbers.into_iter().map(SiteId).collect()
}

impl From<&raddle_model::Tail> for Tail {
    fn from(tail: &raddle_model::Tail) -> Tail {
        use raddle_model::Tail as Model;
        match tail {
            Model::Random => Tail::Random,
            Model::Rapos => Tail::Rapos,
            &Model::Pct { depth, length } => Tail::Pct { depth, length },
            Model::Pos => Tail::Pos,
            Model::Walks(Weights { length, tasks }) => Tail::Walks {
                length: *length,
                tasks: tasks
                    .iter()
                    .map(|task| {
                        (task.name.to_le_bytes(), task.accesses.iter().map(Contended::from).collect())
                    })
                    .collect(),
            },
            Model::Coverage(Covered { sites, pairs }) => Tail::Coverage {
                sites: numbers(sites),
                pairs: pairs.iter().map(|&(from, to)| (from.0, to.0)).collect(),
            },
            &Model::Noise { one_in, strength } => Tail::Noise { one_in, strength },
            Model::Stay => Tail::Stay,
            Model::None => Tail::None,
            Model::Wishes(Wishes { switches, choices }) => Tail::Wishes {
                switches: switches
                    .iter()
                    .map(|switch| (switch.from.to_le_bytes(), switch.events, switch.to.to_le_bytes()))
                    .collect(),
                choices: choices.clone(),
            },
            Model::Steps(steps) if steps.sections => Tail::Sections(StepList::from(steps)),
            Model::Steps(steps) => Tail::Steps(StepList::from(steps)),
        }
    }
}

impl From<Tail> for raddle_model::Tail {
    fn from(tail: Tail) -> raddle_model::Tail {
        use raddle_model::Tail as Model;
        match tail {
            Tail::Random => Model::Random,
            Tail::Rapos => Model::Rapos,
            Tail::Pct { depth, length } => Model::Pct { depth, length },
            Tail::Pos => Model::Pos,
            Tail::Walks { length, tasks } => {
                let task = |(name, accesses): ([u8; 8], Vec<Contended>)| TaskWeight {
                    name: u64::from_le_bytes(name),
                    accesses: accesses.into_iter().map(model::Contended::from).collect(),
                };
                Model::Walks(Weights { length, tasks: tasks.into_iter().map(task).collect() })
            }
            Tail::Coverage { sites: seen, pairs } => Model::Coverage(Covered {
                sites: sites(seen),
                pairs: pairs.into_iter().map(|(from, to)| (SiteId(from), SiteId(to))).collect(),
            }),
            Tail::Noise { one_in, strength } => Model::Noise { one_in, strength },
            Tail::Stay => Model::Stay,
            Tail::None => Model::None,
            Tail::Wishes { switches, choices } => {
                let switch = |(from, events, to)| Switch {
                    from: u64::from_le_bytes(from),
                    events,
                    to: u64::from_le_bytes(to),
                };
                Model::Wishes(Wishes { switches: switches.into_iter().map(switch).collect(), choices })
            }
            Tail::Steps(list) => Model::Steps(list.steps(false)),
            Tail::Sections(list) => Model::Steps(list.steps(true)),
        }
    }
}

/// What to run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Plan {
    seed: u64,
    prefix: Schedule,
    tail: Tail,
    all_accesses: bool,
    releases: bool,
    spawns: bool,
    accesses: Vec<u32>,
    time: TimeMode,
    spin: SpinMode,
    spurious_max: u32,
    steps_max: u64,
}

impl From<&raddle_model::Plan> for Plan {
    fn from(plan: &raddle_model::Plan) -> Plan {
        let raddle_model::Plan {
            seed,
            prefix,
            tail,
            points: raddle_model::PointSet { all_accesses, releases, spawns, accesses },
            time,
            spin,
            spurious_max,
            steps_max,
        } = plan;
        Plan {
            seed: *seed,
            prefix: prefix.into(),
            tail: tail.into(),
            all_accesses: *all_accesses,
            releases: *releases,
            spawns: *spawns,
            accesses: numbers(accesses),
            time: (*time).into(),
            spin: (*spin).into(),
            spurious_max: *spurious_max,
            steps_max: *steps_max,
        }
    }
}

impl TryFrom<Plan> for raddle_model::Plan {
    type Error = Misfit;

    fn try_from(plan: Plan) -> Result<raddle_model::Plan, Misfit> {
        Ok(raddle_model::Plan {
            seed: plan.seed,
            prefix: plan.prefix.try_into()?,
            tail: plan.tail.into(),
            points: raddle_model::PointSet {
                all_accesses: plan.all_accesses,
                releases: plan.releases,
                spawns: plan.spawns,
                accesses: sites(plan.accesses),
            },
            time: plan.time.into(),
            spin: plan.spin.into(),
            spurious_max: plan.spurious_max,
            steps_max: plan.steps_max,
        })
    }
}
