//! What a journal begins with, version 1. Its entries are packed by hand: they are written after every run.

use super::Misfit;
use super::plan::Plan;
use crate::journal::JournalHeader;
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    program: String,
    identity: [u8; 8],
    strategy: String,
    plan: Plan,
}

impl From<&JournalHeader> for Header {
    fn from(header: &JournalHeader) -> Header {
        Header {
            program: header.program.clone(),
            identity: header.identity.to_le_bytes(),
            strategy: header.strategy.clone(),
            plan: Plan::from(&header.plan),
        }
    }
}

impl TryFrom<Header> for JournalHeader {
    type Error = Misfit;

    fn try_from(header: Header) -> Result<JournalHeader, Misfit> {
        Ok(JournalHeader {
            program: header.program,
            identity: u64::from_le_bytes(header.identity),
            strategy: header.strategy,
            plan: header.plan.try_into()?,
        })
    }
}
