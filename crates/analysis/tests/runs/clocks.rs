//! The clocks against the oracle: happens-before is equal for all pairs of events.

use crate::generate;
use crate::oracle::Oracle;
use crate::program::run;
use raddle_analysis::Clocks;
use raddle_model::{Analysis, Kind, Rng};
use raddle_tiers::size;
use std::collections::BTreeMap;

#[test]
fn happens_before_is_equal_for_all_pairs() {
    let mut clocks = Clocks::default();
    let mut kinds: BTreeMap<Kind, u32> = BTreeMap::new();
    let mut ordered = 0u64;
    let mut pairs = 0u64;
    for number in 0..size("sync_programs") {
        let program = generate::program(&mut Rng::new(number), false);
        let steps = run(&program, number);
        let oracle = Oracle::new(&steps);
        let mut epochs = Vec::new();
        clocks.begin();
        for (later, step) in steps.iter().enumerate() {
            let event = &oracle.events[later];
            *kinds.entry(event.op.kind).or_default() += 1;
            epochs.push(clocks.now(event.task));
            clocks.event(event, &step.world);
            for (earlier, &epoch) in epochs.iter().enumerate().take(later) {
                let expected = oracle.before(earlier, later);
                assert_eq!(
                    clocks.before(epoch, event.task),
                    expected,
                    "program {number}: {:?} before {event:?}\n{:#?}",
                    oracle.events[earlier],
                    oracle.events[..=later]
                        .iter()
                        .map(|e| (e.task, e.op.kind, e.op.object, e.op.order, e.outcome))
                        .collect::<Vec<_>>()
                );
                ordered += u64::from(expected && oracle.events[earlier].task != event.task);
                pairs += 1;
            }
        }
    }
    // The comparison means something only if every kind occurs and both answers do.
    for kind in [
        Kind::Spawn,
        Kind::Exit,
        Kind::Join,
        Kind::Finished,
        Kind::Park,
        Kind::Unpark,
        Kind::Lock,
        Kind::Unlock,
        Kind::ReadLock,
        Kind::WriteLock,
        Kind::ReadUnlock,
        Kind::WriteUnlock,
        Kind::Downgrade,
        Kind::Wait,
        Kind::Wake,
        Kind::Acquire,
        Kind::Release,
        Kind::Arrive,
        Kind::Leave,
        Kind::OnceGet,
        Kind::OnceEnter,
        Kind::OnceDone,
        Kind::Send,
        Kind::Handover,
        Kind::Recv,
        Kind::DropSender,
        Kind::DropReceiver,
        Kind::Load,
        Kind::Store,
        Kind::Rmw,
        Kind::Fence,
    ] {
        assert!(kinds.get(&kind).copied().unwrap_or(0) > 50, "{kind:?} hardly occurs: {kinds:?}");
    }
    assert!(ordered > pairs / 20 && ordered < pairs * 19 / 20, "{ordered} of {pairs} are ordered");
}
