//! Failures that somebody does not want to hear of: `--suppressions FILE`, in the format of ThreadSanitizer's files.

use crate::native::NativeTarget;
use crate::problem::Problem;
use raddle_explore::campaign::Found;
use raddle_model::SiteId;
use raddle_model::trace::Place;
use raddle_report::suppressions::{Accused, Scene, Suppressions};
use std::collections::BTreeMap;
use std::path::Path;

/// A file of suppressions, and what it has kept from us.
#[derive(Default, Debug)]
pub(crate) struct Suppressed {
    list: Suppressions,
    file: String,
    /// How many distinct failures, by line.
    used: BTreeMap<usize, (String, u32)>,
}

impl Suppressed {
    /// Reads a file, if there is one.
    pub(crate) fn read(file: Option<&Path>) -> Result<Suppressed, Problem> {
        let Some(path) = file else { return Ok(Suppressed::default()) };
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Problem::new(format!("{file} cannot be read: {error}"), "is the path right?"))?;
        let list =
            Suppressions::parse(&text).map_err(|error| Problem::new(format!("{file}, {error}"), ""))?;
        Ok(Suppressed { list, file, used: BTreeMap::new() })
    }

    /// Whether a failure is to be kept quiet.
    pub(crate) fn covers(&mut self, native: &NativeTarget, found: &Found) -> bool {
        let stack = |site: &SiteId| native.stack(found.run.digest.fingerprint, *site);
        let scenes = |site: SiteId| {
            let module = native.address(site).map(|(module, _)| module.display().to_string());
            let module = module.unwrap_or_default();
            let scene = move |place: Place| Scene {
                function: place.function,
                file: place.file,
                module: module.clone(),
            };
            native.places(site).into_iter().map(scene)
        };
        let sites = found.failure.sites.iter();
        let stacks: Vec<Vec<Scene>> =
            sites.map(|site| stack(site).into_iter().flat_map(scenes).collect()).collect();
        // The message of a race has the name of the variable, if it has one, between two of these.
        let variables: Vec<String> =
            found.failure.message.split('`').nth(1).map(str::to_owned).into_iter().collect();
        let accused = Accused { kind: found.failure.kind, stacks: &stacks, variables: &variables };
        let Some(suppression) = self.list.matching(&accused) else { return false };
        self.used.entry(suppression.line).or_insert_with(|| (suppression.text.clone(), 0)).1 += 1;
        true
    }

    /// What was kept from us, a sentence a line of the file.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(line, (text, times)): (&usize, &(String, u32))| {
            let failures = if *times == 1 { "failure is" } else { "failures are" };
            format!("{times} distinct {failures} suppressed by `{text}` ({}:{line})", self.file)
        };
        self.used.iter().map(note).collect()
    }
}
