//! Which exit code is no failure: the one that was asked for, or the one that all runs have.
//!
//! The first run has to be believed until another one ends differently. If that one exits with 0, it was the first
//! that failed, and what is reported is the first: nobody wants to be shown the run that went well.

use raddle_model::{Failure, FailureKind, Plan, TaskId, Verdict};

/// What is known of exit codes.
#[derive(Default)]
pub(super) struct Exits {
    expected: Option<i32>,
    /// The run that taught it, unless somebody said it.
    first: Option<(u64, Plan)>,
    /// Whether the run that was judged last has taught it.
    fresh: bool,
    /// Whether a run has exited with 0 though the first did not.
    good: bool,
}

impl Exits {
    /// `expected` if somebody said which code is no failure.
    pub(super) fn new(expected: Option<i32>) -> Exits {
        Exits { expected, ..Exits::default() }
    }

    /// The code that is no failure, once it is known.
    pub(super) fn expected(&self) -> Option<i32> {
        self.expected
    }

    /// What a run that ended with this code is.
    pub(super) fn judge(&mut self, code: i32) -> Verdict {
        let expected = *self.expected.get_or_insert_with(|| {
            self.fresh = true;
            code
        });
        if code == expected {
            return Verdict::Finished;
        }
        self.good |= code == 0;
        Verdict::Failed(Failure {
            kind: FailureKind::Exit,
            message: format!("the program exits with {code} instead of {expected}"),
            tasks: vec![TaskId::MAIN],
            sites: Vec::new(),
        })
    }

    /// After a run was judged: how to repeat it, should it be the one that has taught the code.
    pub(super) fn remember(&mut self, run: u64, plan: impl FnOnce() -> Plan) {
        if std::mem::take(&mut self.fresh) && self.expected != Some(0) {
            self.first = Some((run, plan()));
        }
    }

    /// If a run has exited with 0 though the first did not: from now on 0 is expected, and this is the run that failed.
    pub(super) fn turn(&mut self) -> Option<(u64, Plan)> {
        let first = self.first.take_if(|_| self.good)?;
        self.expected = Some(0);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::Tail;

    fn message(verdict: Verdict) -> String {
        match verdict {
            Verdict::Failed(failure) => failure.message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn zero_is_right_as_soon_as_a_run_has_it() {
        let mut exits = Exits::new(None);
        assert_eq!(exits.judge(3), Verdict::Finished);
        exits.remember(0, || Plan::new(7, Tail::Random));
        assert_eq!(exits.judge(3), Verdict::Finished);
        exits.remember(1, || Plan::new(8, Tail::Random));
        assert_eq!(exits.turn(), None, "all runs are alike so far");
        assert_eq!(message(exits.judge(0)), "the program exits with 0 instead of 3");
        assert_eq!(exits.turn(), Some((0, Plan::new(7, Tail::Random))));
        assert_eq!(message(exits.judge(3)), "the program exits with 3 instead of 0");
        assert_eq!(exits.turn(), None, "once is enough");
    }

    #[test]
    fn what_somebody_said_stays() {
        let mut exits = Exits::new(Some(3));
        exits.judge(3);
        exits.remember(0, || Plan::new(7, Tail::Random));
        assert_eq!(message(exits.judge(0)), "the program exits with 0 instead of 3");
        assert_eq!((exits.turn(), exits.expected()), (None, Some(3)));
    }

    #[test]
    fn a_first_run_that_exits_with_zero_is_right() {
        let mut exits = Exits::new(None);
        exits.judge(0);
        exits.remember(0, || Plan::new(7, Tail::Random));
        assert_eq!(message(exits.judge(1)), "the program exits with 1 instead of 0");
        exits.judge(0);
        assert_eq!(exits.turn(), None);
    }
}
