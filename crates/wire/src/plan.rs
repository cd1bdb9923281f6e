//! Plans as data: what crosses a process boundary, all tails included.

use crate::envelope;
use crate::error::{What, WireError};
use crate::v1;
use crate::version::PlanVersion;
use alloc::vec::Vec;
use raddle_model::Plan;

/// The bytes of a plan. Sites keep their numbers: the reader must be the same program, or
/// [`crate::sites::renumber`] them.
pub fn encode(plan: &Plan) -> Vec<u8> {
    let content = v1::bytes(&v1::plan::Plan::from(plan));
    envelope::seal(What::Plan, PlanVersion::CURRENT.0, &[], &content)
}

/// The plan of such bytes.
pub fn decode(bytes: &[u8]) -> Result<Plan, WireError> {
    let readable = |version| PlanVersion(version).check_readable_by(PlanVersion::CURRENT);
    let (_, content) = envelope::open(What::Plan, bytes, readable)?;
    let plan: v1::plan::Plan = envelope::parse(What::Plan, content)?;
    Plan::try_from(plan).map_err(|error| error.in_a(What::Plan))
}
