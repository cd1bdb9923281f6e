//! The same for tools: one object on one line.

mod failure;
mod summary;

pub use failure::failure;
pub use summary::summary;

use crate::story::Place;
use serde::Serialize;

/// What values the run could read.
const MEMORY_MODEL: &str = "sc";

/// A place, as an object.
#[derive(Serialize)]
struct Site<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
}

impl<'a> From<&'a Place> for Site<'a> {
    fn from(place: &'a Place) -> Site<'a> {
        Site { file: &place.file, line: place.line, column: place.column, function: &place.function }
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("raddle bug: json of plain values")
}
