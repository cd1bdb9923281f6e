//! What the tests of the library share.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of it")]

use raddle_model::Tail;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body` often under random schedules; every run must finish.
pub fn passes(body: impl Fn() + Send + Sync + 'static) {
    passes_runs(300, body);
}

/// The same, this often.
pub fn passes_runs(runs: u64, body: impl Fn() + Send + Sync + 'static) {
    raddle::probe(runs, Tail::Random, body);
}

/// Kind and message of the first failure of `body` under random schedules.
pub fn failure_of(body: impl Fn() + Send + Sync + 'static) -> (String, String) {
    let panic = catch_unwind(AssertUnwindSafe(|| raddle::probe(2_000, Tail::Random, body)))
        .expect_err("no run failed");
    let text = panic.downcast_ref::<String>().expect("a failed assertion has a text");
    let after = |key: &str| text.split_once(key).unwrap_or_else(|| panic!("no {key} in {text}")).1;
    let kind = after("kind: ").split(',').next().unwrap_or_default().to_lowercase();
    let message = after("message: \"").split("\", tasks").next().unwrap_or_default();
    (kind, message.replace("\\\"", "\""))
}
