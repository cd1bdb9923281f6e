//! Warnings: what no run has shown and another may.

use raddle_explore::target::{CycleFound, EdgeFound, Target};
use raddle_model::Place;

/// A potential deadlock: tasks take locks in an order in which each can come to wait for the next,
/// though in no run they did.
///
/// What is no warning: an order that only one task takes, or only tasks that hold a common lock
/// meanwhile, or that cannot be there at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    edges: Vec<(EdgeFound, [Place; 2])>,
}

impl Warning {
    pub(crate) fn of(target: &impl Target, cycle: CycleFound) -> Warning {
        let placed = |edge: EdgeFound| {
            let places = edge.sites.map(|site| target.place(site));
            (edge, places)
        };
        Warning { edges: cycle.edges.into_iter().map(placed).collect() }
    }

    /// One line.
    pub fn message(&self) -> String {
        let tasks: Vec<&str> = self.edges.iter().map(|(edge, _)| &*edge.task).collect();
        format!(
            "potential deadlock of {}: each can come to wait for a lock that the next holds",
            tasks.join(", ")
        )
    }

    /// For each task where it takes the lock that it holds and where the one that it waits for, as
    /// `file:line:column`.
    pub fn sites(&self) -> Vec<[String; 2]> {
        self.edges.iter().map(|(_, places)| [places[0].link(), places[1].link()]).collect()
    }

    /// The same for the summary.
    pub(crate) fn summary(&self) -> raddle_report::Warning {
        let line = |(edge, [held, wanted]): &(EdgeFound, [Place; 2])| {
            let EdgeFound { task, held: lock, wanted: other, .. } = edge;
            format!(
                "{task} holds {lock}, taken at {}, and waits for {other} at {}",
                held.link(),
                wanted.link()
            )
        };
        raddle_report::Warning {
            message: self.message(),
            details: self.edges.iter().map(line).collect(),
            sites: self.edges.iter().flat_map(|(_, places)| places.clone()).collect(),
        }
    }
}
