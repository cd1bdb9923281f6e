//! Seeds on the command line: a number, or `random`, which draws one.

use std::hash::{BuildHasher, RandomState};

/// Reads a seed. A drawn one is printed with the results, so that they can be had again.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    if text == "random" {
        return Ok(RandomState::new().hash_one(std::process::id()));
    }
    text.parse().map_err(|_| String::from("a whole number or `random`"))
}

/// Reads a strategy; the error lists what there is.
pub(crate) fn strategy(text: &str) -> Result<String, String> {
    raddle_policy::parse(text).map(|_| text.to_owned()).map_err(|error| error.message)
}

/// Reads a strategy that draws each run by itself: what a mean over runs can be told of.
pub(crate) fn sampler(text: &str) -> Result<String, String> {
    match raddle_policy::parse(text) {
        Ok(strategy) if strategy.samples() => Ok(text.to_owned()),
        Ok(strategy) => Err(format!("{} is a search, and this measures samplers", strategy.name())),
        Err(error) => Err(error.message),
    }
}
