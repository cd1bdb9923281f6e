//! Rule: what the native runtime reaches is `#![no_std]`.
//!
//! Std inside the runtime would import `read`, `write` and `free`, names that the runtime interposes, and
//! so re-enter it. A crate that uses std by mistake is cheap to mend today and not after a year.

use super::{File, Finding, tokens};

const CRATES: &[&str] = &["model", "engine", "policy", "analysis", "wire", "native"];

pub(super) fn rule(file: &File) -> Vec<Finding> {
    let concerned = CRATES.iter().any(|name| file.path == format!("crates/{name}/src/lib.rs"));
    if concerned && tokens::find(&file.tokens, &["#", "!", "[", "no_std", "]"]).next().is_none() {
        return vec![Finding::new(1, "the native runtime reaches this crate: it must say `#![no_std]`")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_a_crate_with_std() {
        for text in ["//! Why.\n", "//! #![no_std]\n", "#![cfg_attr(not(test), no_std)]\n"] {
            assert_eq!(File::check(rule, "crates/engine/src/lib.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn accepts_no_std_and_leaves_other_crates_alone() {
        assert_eq!(File::check(rule, "crates/engine/src/lib.rs", "//! Why.\n#![no_std]\n"), []);
        assert_eq!(File::check(rule, "crates/engine/src/spin.rs", "//! Why.\n"), []);
        assert_eq!(File::check(rule, "crates/explore/src/lib.rs", "//! Why.\n"), []);
    }
}
