//! Names for people: objects as the program calls them, or by noun and number in the order in which they appear, tasks by their
//! path, places as short as they can be without being mistaken for each other.

use crate::story::{ObjectInfo, Place, Story};
use raddle_model::{Kind, ObjectId, Op, SiteId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// The names of one story.
pub(crate) struct Names<'a> {
    story: &'a Story,
    tasks: Vec<String>,
    objects: BTreeMap<ObjectId, String>,
    owners: BTreeMap<ObjectId, TaskId>,
    /// Numbered objects in the order in which they appear.
    pub(crate) order: Vec<ObjectId>,
    /// Files of the places in the trace, with the shortest path that tells them apart.
    pub(crate) files: BTreeMap<&'a str, String>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(story: &'a Story) -> Names<'a> {
        let mut names = Names {
            story,
            tasks: labels(story),
            objects: BTreeMap::new(),
            owners: owners(story),
            order: Vec::new(),
            files: BTreeMap::new(),
        };
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let (mut files, mut called) = (BTreeSet::new(), BTreeSet::new());
        for op in ops(story) {
            for id in [op.object, op.second] {
                if !id.is_some() || names.owners.contains_key(&id) || names.objects.contains_key(&id) {
                    continue;
                }
                let info = names.info(id);
                let noun = info.map_or("object", |object| &object.noun);
                let own = info.and_then(|info| info.name.as_deref()).filter(|own| is_short(own));
                let name = match own.filter(|&own| called.insert(own)) {
                    Some(own) => String::from(own),
                    None => {
                        let count = counts.entry(noun).or_default();
                        *count += 1;
                        format!("{noun}#{count}")
                    }
                };
                names.objects.insert(id, name);
                names.order.push(id);
            }
            files.extend(names.place(op.site).map(|place| place.file.as_str()));
        }
        names.files = shortened(&files);
        names
    }

    /// What is known of an object.
    pub(crate) fn info(&self, id: ObjectId) -> Option<&'a ObjectInfo> {
        self.story.objects.iter().find(|object| object.id == id)
    }

    /// `mutex#1`, or what the program calls it; a task or its park token by the task's path.
    pub(crate) fn object(&self, id: ObjectId) -> &str {
        if let Some(&task) = self.owners.get(&id) {
            return self.task(task);
        }
        self.objects.get(&id).map_or("nothing", String::as_str)
    }

    /// The same for a list: with what it is, or is part of.
    pub(crate) fn described(&self, id: ObjectId) -> String {
        let called = self.object(id);
        match self.info(id) {
            Some(ObjectInfo { noun, name: Some(name), .. }) if name == called => format!("{called}: {noun}"),
            Some(ObjectInfo { name: Some(name), .. }) => format!("{called}: {name}"),
            _ => String::from(called),
        }
    }

    /// What a parked task waits for, if it has looked at something from the same place just before: files, or a word. It may
    /// have been woken since, and have found that another was quicker.
    pub(crate) fn awaited(&self, task: TaskId, park: &Op) -> Option<String> {
        let before = self.story.trace.events.iter().rev().filter(|event| event.task == task);
        let looked = before.take_while(|event| event.op.site == park.site);
        let mut objects: Vec<&str> = Vec::new();
        let ids = looked.flat_map(|event| [event.op.second, event.op.object]);
        for id in ids.filter(|id| self.objects.contains_key(id)) {
            let object = self.object(id);
            if !objects.contains(&object) {
                objects.push(object);
            }
        }
        objects.reverse();
        (!objects.is_empty()).then(|| objects.join(", "))
    }

    /// Path of a task.
    pub(crate) fn task(&self, task: TaskId) -> &str {
        let label = self.label(task);
        label.split(' ').next().unwrap_or(label)
    }

    /// Path of a task, and its name if it has one.
    pub(crate) fn label(&self, task: TaskId) -> &str {
        self.tasks.get(task.index()).map_or("?", String::as_str)
    }

    /// How many tasks there were.
    pub(crate) fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// Where a site is, if that is known.
    pub(crate) fn place(&self, site: SiteId) -> Option<&'a Place> {
        let place = self.story.places.get(&site)?;
        (!place.file.is_empty()).then_some(place)
    }

    /// `lib.rs:12`: as short as the other files allow.
    pub(crate) fn short(&self, site: SiteId) -> String {
        let Some(place) = self.place(site) else {
            return String::new();
        };
        let file = self.files.get(place.file.as_str());
        format!("{}:{}", file.map_or(&place.file, |file| file), place.line)
    }

    /// The failure's message with objects as they are called here. The engine knows only ids.
    pub(crate) fn message(&self) -> String {
        let mut message = self.story.failure.message.clone();
        // From the highest id down, so that o4 is not found in o41.
        for (id, name) in self.objects.iter().rev() {
            let noun = self.info(*id).map_or("object", |object| &object.noun);
            message = message.replace(&format!("{noun} {id:?}"), name);
        }
        for (task, park) in self.story.trace.pending.iter().filter(|(_, op)| op.kind == Kind::Park) {
            if let Some(awaited) = self.awaited(*task, park) {
                let path = self.task(*task);
                let parked = format!("{path} is parked and nobody unparks it");
                message =
                    message.replace(&parked, &format!("{path} waits for {awaited} and nobody wakes it"));
            }
        }
        message
    }
}

/// Whether a name may stand in a column. None that is longer says more than a number.
fn is_short(name: &str) -> bool {
    const LETTERS_MAX: usize = 32;
    name.chars().count() <= LETTERS_MAX && !name.chars().any(char::is_control)
}

/// All operations of a story, those that did not happen last.
fn ops(story: &Story) -> impl Iterator<Item = &Op> {
    let events = story.trace.events.iter().map(|event| &event.op);
    events.chain(story.trace.pending.iter().map(|(_, op)| op))
}

/// Which task a task object or park token stands for. Task objects are made with their tasks, in
/// the same order; a token is known by the task that parks on it.
fn owners(story: &Story) -> BTreeMap<ObjectId, TaskId> {
    let tasks = story.objects.iter().filter(|object| object.noun == "task");
    let tasks = tasks.zip(0..).map(|(object, id)| (object.id, TaskId(id)));
    let events = story.trace.events.iter().map(|event| (event.task, &event.op));
    let pending = story.trace.pending.iter().map(|(task, op)| (*task, op));
    let parks = events
        .chain(pending)
        .filter(|(_, op)| op.kind == Kind::Park && op.object.is_some())
        .map(|(task, op)| (op.object, task));
    tasks.chain(parks).collect()
}

/// Labels of all tasks, without anything that could upset a terminal.
fn labels(story: &Story) -> Vec<String> {
    let count = story.trace.names.len().max(story.tasks.len());
    let given = |index: usize| {
        let label = story.tasks.get(index)?;
        let clean = label.chars().map(|c| if c.is_control() { '?' } else { c });
        Some(clean.collect())
    };
    (0..count).map(|index| given(index).unwrap_or_else(|| format!("task {index}"))).collect()
}

/// The shortest tail of each path, cut at a slash, that no other of them has.
fn shortened<'a>(files: &BTreeSet<&'a str>) -> BTreeMap<&'a str, String> {
    let tails = |file: &'a str| {
        let cuts = file.rmatch_indices('/').map(|(at, _)| &file[at + 1..]);
        cuts.chain([file])
    };
    let unique = |file: &'a str| {
        let others = || files.iter().filter(move |&&other| other != file);
        let alone = |tail: &&str| !others().any(|other| tails(other).any(|t| t == *tail));
        tails(file).find(alone).unwrap_or(file)
    };
    files.iter().map(|&file| (file, String::from(unique(file)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_short_as_they_can_be() {
        let files = BTreeSet::from(["src/a/mod.rs", "src/b/mod.rs", "src/lib.rs"]);
        let short: Vec<String> = shortened(&files).into_values().collect();
        assert_eq!(short, ["a/mod.rs", "b/mod.rs", "lib.rs"]);
        let nested = BTreeSet::from(["lib.rs", "src/lib.rs"]);
        let short: Vec<String> = shortened(&nested).into_values().collect();
        assert_eq!(short, ["lib.rs", "src/lib.rs"]);
    }
}
