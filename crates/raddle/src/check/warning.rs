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
        let line = |at: usize| {
            let (EdgeFound { task, held, .. }, [first, second]) = &self.edges[at];
            let (next, _) = &self.edges[(at + 1) % self.edges.len()];
            format!(
                "{task} takes a {held} at {} and, holding it, waits at {} for the {} that {} holds",
                first.link(),
                second.link(),
                next.held,
                next.task
            )
        };
        raddle_report::Warning {
            message: self.message(),
            details: (0..self.edges.len()).map(line).collect(),
            sites: self.edges.iter().flat_map(|(_, places)| places.clone()).collect(),
        }
    }
}
