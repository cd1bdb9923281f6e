//! Version 1 of plan, failure file and HaPSet file: mirrors of the model's types, in postcard.
//!
//! Frozen: a golden file of this version is read by a test. What the model gains goes to the end
//! of an enum, with a new version number so that older readers say why they cannot read it; what
//! changes its shape gets a module of its own.

pub(crate) mod failure;
pub(crate) mod hapset;
pub(crate) mod journal;
pub(crate) mod op;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod trace;

use crate::error::{What, WireError};
use alloc::string::String;
use alloc::vec::Vec;

/// What is wrong with values that could be read but do not fit together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Misfit(pub(crate) &'static str);

impl Misfit {
    pub(crate) fn in_a(self, what: What) -> WireError {
        WireError::Damaged { what, at: None, why: String::from(self.0) }
    }
}

pub(crate) fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
    let memory = Memory(Vec::with_capacity(ROOM));
    postcard::serialize_with_flavor(value, memory).expect("raddle bug: writing to memory failed")
}

/// Most of what is written is the report of a run, which has fewer bytes: it is not to grow one by one.
const ROOM: usize = 128;

/// Where the bytes go.
struct Memory(Vec<u8>);

impl postcard::ser_flavors::Flavor for Memory {
    type Output = Vec<u8>;

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(data);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// An enum with the model's variants and conversions both ways. The match is exhaustive, so a
/// variant that the model gains does not compile until it has a number here.
macro_rules! mirror {
    ($name:ident of $model:path { $($variant:ident),* $(,)? }) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub(crate) enum $name { $($variant),* }

        impl From<$model> for $name {
            fn from(value: $model) -> $name {
                use $model as Model;
                match value { $(Model::$variant => $name::$variant),* }
            }
        }

        impl From<$name> for $model {
            fn from(value: $name) -> $model {
                use $model as Model;
                match value { $($name::$variant => Model::$variant),* }
            }
        }
    };
}
pub(crate) use mirror;
