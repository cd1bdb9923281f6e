//! What is watched in every run, and what only in those that are recorded in full.

use raddle_analysis::{Fingerprint, Races};
use raddle_model::{Analysis, Event, Kind, Order, PlainEvent, Recorder, World};

/// The analyses of the library front end.
#[derive(Default, Debug)]
pub(crate) struct Watch {
    /// Always on.
    pub(crate) fingerprint: Fingerprint,
    /// Costs a branch until a plain access was seen.
    pub(crate) races: Races,
    /// On in runs that are recorded in full.
    pub(crate) recorder: Option<Recorder>,
    /// Whether an atomic weaker than sequentially consistent was executed, in any run.
    pub(crate) weak_orders: bool,
}

impl Analysis for Watch {
    fn begin(&mut self) {
        self.fingerprint.begin();
        self.races.begin();
        self.recorder.begin();
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        self.fingerprint.event(event, world);
        self.races.event(event, world);
        if event.op.order != Order::SeqCst && matches!(event.op.kind, Kind::Load | Kind::Store | Kind::Rmw) {
            self.weak_orders = true;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.event(event, world);
        }
    }

    #[inline(always)]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        self.fingerprint.plain(event, world);
        self.races.plain(event, world);
        // Only atomics have another order.
        if event.plain.order != Order::SeqCst {
            self.weak_orders = true;
        }
        if self.recorder.is_some() {
            self.record(&event.event());
        }
    }
}

impl Watch {
    #[cold]
    fn record(&mut self, event: &Event) {
        self.recorder.get_or_insert_default().events.push(*event);
    }
}
