//! The failure file of version 1.

use super::plan::Plan;
use super::trace::Trace;
use super::{Misfit, mirror};
use crate::failure::{self as current, FailureFile};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{ObjectId, SiteId, TaskId};
use serde::{Deserialize, Serialize};

mirror!(FailureKind of raddle_model::FailureKind {
    Assertion, Panic, Deadlock, Race, Livelock, Hang, Steps, Misuse, Nondeterminism, Crash, Exception, Exit, Memory,
    Leak,
});

#[derive(Serialize, Deserialize)]
enum Target {
    Library {
        package: String,
        test: String,
        executable: String,
        body: String,
        directory: String,
    },
    Native {
        path: Vec<u8>,
        build_id: Vec<u8>,
        argv: Vec<Vec<u8>>,
        env: Vec<(Vec<u8>, Vec<u8>)>,
        stdin: Vec<u8>,
    },
}

impl From<&current::Target> for Target {
    fn from(target: &current::Target) -> Target {
        match target.clone() {
            current::Target::Library { package, test, executable, body, directory } => {
                Target::Library { package, test, executable, body, directory }
            }
            current::Target::Native { path, build_id, argv, env, stdin } => {
                Target::Native { path, build_id, argv, env, stdin }
            }
        }
    }
}

impl From<Target> for current::Target {
    fn from(target: Target) -> current::Target {
        match target {
            Target::Library { package, test, executable, body, directory } => {
                current::Target::Library { package, test, executable, body, directory }
            }
            Target::Native { path, build_id, argv, env, stdin } => {
                current::Target::Native { path, build_id, argv, env, stdin }
            }
        }
    }
}

/// Number of the site; files and functions by their place in `texts`.
#[derive(Serialize, Deserialize)]
struct Place {
    site: u32,
    file: u32,
    line: u32,
    column: u32,
    function: u32,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Failure {
    tool: String,
    target: Target,
    plan: Plan,
    kind: FailureKind,
    message: String,
    tasks_involved: Vec<u32>,
    sites_involved: Vec<u32>,
    trace: Trace,
    tasks: Vec<String>,
    /// Number, noun by its place in `texts`, site.
    objects: Vec<(u32, u32, u32)>,
    places: Vec<Place>,
    texts: Vec<String>,
    strategy: String,
    seed: u64,
    run: u64,
    memory_model: String,
}

/// Names that repeat, written once each.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(String::from(text));
        self.numbers.insert(String::from(text), number);
        number
    }
}

impl From<&FailureFile> for Failure {
    fn from(file: &FailureFile) -> Failure {
        let mut texts = Texts::default();
        let objects = file.objects.iter();
        let objects = objects.map(|o| (o.id.0, texts.number(&o.noun), o.site.0));
        let objects = objects.collect();
        let places = file.places.iter().map(|(site, place)| Place {
            site: site.0,
            file: texts.number(&place.file),
            line: place.line,
            column: place.column,
            function: texts.number(&place.function),
        });
        let places = places.collect();
        Failure {
            tool: file.tool.clone(),
            target: (&file.target).into(),
            plan: (&file.plan).into(),
            kind: file.failure.kind.into(),
            message: file.failure.message.clone(),
            tasks_involved: file.failure.tasks.iter().map(|task| task.0).collect(),
            sites_involved: file.failure.sites.iter().map(|site| site.0).collect(),
            trace: Trace::new(&file.trace, &file.plan.prefix),
            tasks: file.tasks.clone(),
            objects,
            places,
            texts: texts.all,
            strategy: file.found.strategy.clone(),
            seed: file.found.seed,
            run: file.found.run,
            memory_model: file.memory_model.clone(),
        }
    }
}

impl TryFrom<Failure> for FailureFile {
    type Error = Misfit;

    fn try_from(file: Failure) -> Result<FailureFile, Misfit> {
        let text = |number: u32| {
            let text = file.texts.get(number as usize).cloned();
            text.ok_or(Misfit("it names a text that is not there"))
        };
        let mut places = BTreeMap::new();
        for place in &file.places {
            let known = current::Place {
                file: text(place.file)?,
                line: place.line,
                column: place.column,
                function: text(place.function)?,
            };
            places.insert(SiteId(place.site), known);
        }
        let objects = file.objects.iter().map(|&(id, noun, site)| {
            Ok(current::ObjectInfo { id: ObjectId(id), noun: text(noun)?, name: None, site: SiteId(site) })
        });
        let objects = objects.collect::<Result<_, Misfit>>()?;
        let plan = raddle_model::Plan::try_from(file.plan)?;
        let trace = file.trace.into_model(&plan.prefix)?;
        let known = |&task: &u32| (task as usize) < trace.names.len();
        if !file.tasks_involved.iter().all(known) {
            return Err(Misfit("it names a task that the run did not have"));
        }
        Ok(FailureFile {
            tool: file.tool,
            target: file.target.into(),
            plan,
            failure: raddle_model::Failure {
                kind: file.kind.into(),
                message: file.message,
                tasks: file.tasks_involved.into_iter().map(TaskId).collect(),
                sites: file.sites_involved.into_iter().map(SiteId).collect(),
            },
            trace,
            tasks: file.tasks,
            objects,
            places,
            found: current::Found { strategy: file.strategy, seed: file.seed, run: file.run },
            memory_model: file.memory_model,
        })
    }
}
