//! The policy of a plan: follow the prefix, then let the tail decide. Leaving the prefix is an
//! end, never a fallback.

use crate::coverage::Coverage;
use crate::noise::Noise;
use crate::pct::Pct;
use crate::pos::Pos;
use crate::random::Random;
use crate::rapos::Rapos;
use crate::stay::Stay;
use crate::steps::Stepwise;
use crate::walks::Walks;
use crate::wishes::Wishful;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{
    Choice, Decision, Divergence, Pick, Plan, Policy, Rng, Tail, TaskId, TaskSet, View, World,
};

/// The policy that a plan describes.
#[derive(Debug)]
pub struct Planned {
    prefix: Vec<Decision>,
    position: usize,
    tail: AnyTail,
    // Of use if the tail is this one. Apart, since it is asked at each step, and then nobody has to ask who decides.
    random: Random,
}

/// Every policy there is: a match is cheaper than a virtual call at each step.
#[derive(Debug)]
enum AnyTail {
    Random,
    Rapos(Box<Rapos>),
    Pct(Box<Pct>),
    Pos(Box<Pos>),
    Walks(Box<Walks>),
    Coverage(Box<Coverage>),
    Noise(Box<Noise>),
    Stay(Stay),
    Wishes(Box<Wishful>),
    Steps(Box<Stepwise>),
    None,
}

macro_rules! each {
    ($tail:expr, $random:expr, $policy:ident => $body:expr, $none:expr) => {
        match $tail {
            AnyTail::Random => {
                let $policy = $random;
                $body
            }
            AnyTail::Rapos($policy) => $body,
            AnyTail::Pct($policy) => $body,
            AnyTail::Pos($policy) => $body,
            AnyTail::Walks($policy) => $body,
            AnyTail::Coverage($policy) => $body,
            AnyTail::Noise($policy) => $body,
            AnyTail::Stay($policy) => $body,
            AnyTail::Wishes($policy) => $body,
            AnyTail::Steps($policy) => $body,
            AnyTail::None => $none,
        }
    };
}

impl Planned {
    /// The policy of `plan`.
    pub fn new(plan: &Plan) -> Planned {
        let rng = Rng::new(plan.seed);
        let random = Random::new(rng.clone());
        let tail = match &plan.tail {
            Tail::Random => AnyTail::Random,
            Tail::Rapos => AnyTail::Rapos(Box::new(Rapos::new(rng))),
            Tail::Pct { depth, length } => AnyTail::Pct(Box::new(Pct::new(rng, *depth, *length))),
            Tail::Pos => AnyTail::Pos(Box::new(Pos::new(rng))),
            Tail::Walks(weights) => AnyTail::Walks(Box::new(Walks::new(rng, weights.clone()))),
            Tail::Coverage(covered) => AnyTail::Coverage(Box::new(Coverage::new(rng, covered.clone()))),
            &Tail::Noise { one_in, strength } => AnyTail::Noise(Box::new(Noise::new(rng, one_in, strength))),
            Tail::Stay => AnyTail::Stay(Stay),
            Tail::Wishes(wishes) => AnyTail::Wishes(Box::new(Wishful::new(wishes.clone()))),
            Tail::Steps(steps) => AnyTail::Steps(Box::new(Stepwise::new(steps.clone(), plan.seed))),
            Tail::None => AnyTail::None,
        };
        Planned { prefix: plan.prefix.decisions.clone(), position: 0, tail, random }
    }

    /// Becomes the policy of another plan, in the same memory where that is worth it: the runs of a search are short,
    /// and there are many.
    pub fn renew(&mut self, plan: &Plan) {
        match (&mut self.tail, &plan.tail) {
            (AnyTail::Steps(old), Tail::Steps(new)) => {
                old.renew(new, plan.seed);
                self.prefix.clone_from(&plan.prefix.decisions);
                self.position = 0;
            }
            _ => *self = Planned::new(plan),
        }
    }

    /// A run of a search is over: its steps are no longer in use.
    pub fn let_go(&mut self) {
        if let AnyTail::Steps(steps) = &mut self.tail {
            steps.let_go();
        }
    }

    /// Becomes the policy of another plan in mid-run. Both are plans of a search and begin with the steps that were
    /// taken so far; those are left out of the new one.
    pub fn go_on(&mut self, plan: Plan) {
        match (&mut self.tail, plan.tail) {
            (AnyTail::Steps(old), Tail::Steps(rest)) => old.go_on(rest, plan.seed),
            (_, tail) => panic!("raddle bug: a run of a search goes on as {}", tail.name()),
        }
    }

    fn diverged(&self, expected: String, found: String) -> Box<Divergence> {
        Box::new(Divergence { step: 0, decision: self.position, expected, found })
    }

    #[cold]
    fn follow(&mut self, view: &View<'_>) -> Pick {
        if let Some(task) = view.enabled.single() {
            return Pick::Run(task);
        }
        match self.prefix[self.position] {
            Decision::Run(task) if view.enabled.contains(task) => {
                self.position += 1;
                Pick::Run(task)
            }
            other => {
                let expected = match other {
                    Decision::Run(task) => format!("task {} to run", task.0),
                    Decision::Choose(value) => format!("the value {value} to be chosen"),
                };
                let able: Vec<String> = view.enabled.iter().map(|task| format!("{}", task.0)).collect();
                Pick::Diverged(
                    self.diverged(expected, format!("a choice between the tasks {}", able.join(", "))),
                )
            }
        }
    }

    #[inline(never)]
    fn pick_otherwise(&mut self, view: View<'_>) -> Pick {
        if self.position < self.prefix.len() {
            return self.follow(&view);
        }
        each!(&mut self.tail, &mut self.random, policy => policy.pick(&view), match view.enabled.single() {
            Some(task) => Pick::Run(task),
            None => Pick::Diverged(self.at_the_end()),
        })
    }

    fn at_the_end(&self) -> Box<Divergence> {
        self.diverged(String::from("the end of the run"), String::from("the run goes on"))
    }
}

impl Policy for Planned {
    #[inline(always)]
    fn pick(&mut self, view: &View<'_>) -> Pick {
        match &mut self.tail {
            AnyTail::Random if self.position >= self.prefix.len() => self.random.pick(view),
            // By value, so that the common path need not put the view together.
            _ => self.pick_otherwise(*view),
        }
    }

    #[inline(always)]
    fn stays(&mut self, task: TaskId, others: &TaskSet, world: &World) -> bool {
        match &mut self.tail {
            AnyTail::Pct(pct) if self.position >= self.prefix.len() => pct.stays(task, others, world),
            AnyTail::Steps(steps) if self.position >= self.prefix.len() => steps.stays(task, others, world),
            _ => false,
        }
    }

    #[inline]
    fn spell(&self, task: TaskId, others: u64, tasks: usize) -> u64 {
        match &self.tail {
            AnyTail::Pct(pct) if self.position >= self.prefix.len() => pct.spell(task, others, tasks),
            AnyTail::Steps(steps) if self.position >= self.prefix.len() => steps.spell(task, others, tasks),
            _ => 0,
        }
    }

    #[inline]
    fn spent(&mut self, points: u64, alone: bool) {
        match &mut self.tail {
            AnyTail::Pct(pct) => pct.spent(points, alone),
            AnyTail::Steps(steps) => steps.spent(points, alone),
            _ => {}
        }
    }

    #[inline(always)]
    fn pick_at_once(&mut self, enabled: u64, world: &World) -> Option<(TaskId, u64)> {
        match &mut self.tail {
            AnyTail::Pct(pct) if self.position >= self.prefix.len() => pct.pick_at_once(enabled, world),
            _ => None,
        }
    }

    #[inline(always)]
    fn stays_in_search(&mut self, task: TaskId, world: &World) -> bool {
        match &mut self.tail {
            AnyTail::Steps(steps) if self.position >= self.prefix.len() => steps.stays_in_search(task, world),
            _ => false,
        }
    }

    #[inline(always)]
    fn next_in_search(&self, enabled: u64, current: TaskId, world: &World) -> Option<TaskId> {
        match &self.tail {
            AnyTail::Steps(steps) if self.position >= self.prefix.len() => {
                steps.next_in_search(enabled, current, world)
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn goes_on_in_search(&mut self) {
        if let AnyTail::Steps(steps) = &mut self.tail {
            steps.goes_on_in_search();
        }
    }

    #[inline]
    fn is_blind(&self) -> bool {
        matches!(self.tail, AnyTail::Random) && self.position >= self.prefix.len()
    }

    #[inline(always)]
    fn draw(&mut self, enabled: u64) -> TaskId {
        debug_assert!(self.is_blind(), "raddle bug: a policy that looks is asked blindly");
        self.random.draw(enabled)
    }

    #[inline(always)]
    fn draw_at_once(&mut self, enabled: u64, again: bool) -> Option<TaskId> {
        debug_assert!(self.is_blind(), "raddle bug: a policy that looks is asked blindly");
        self.random.draw_at_once(enabled, again)
    }

    #[inline(always)]
    fn draw_again(&mut self, enabled: u64) -> Option<TaskId> {
        debug_assert!(self.is_blind(), "raddle bug: a policy that looks is asked blindly");
        self.random.draw_again(enabled)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        if self.position < self.prefix.len() {
            return match self.prefix[self.position] {
                Decision::Choose(value) if value < choice.arity => {
                    self.position += 1;
                    Ok(value)
                }
                Decision::Choose(value) => {
                    let expected = format!("the value {value} to be chosen");
                    Err(self.diverged(expected, format!("a choice among {} values", choice.arity)))
                }
                Decision::Run(task) => {
                    let expected = format!("task {} to run", task.0);
                    Err(self.diverged(expected, format!("a choice among {} values", choice.arity)))
                }
            };
        }
        each!(&mut self.tail, &mut self.random, policy => policy.choose(choice), Err(self.at_the_end()))
    }

    fn finished(&mut self, step: u64) -> Result<(), Box<Divergence>> {
        if self.position == self.prefix.len() {
            return each!(&mut self.tail, &mut self.random, policy => policy.finished(step), Ok(()));
        }
        let left = self.prefix.len() - self.position;
        Err(self.diverged(format!("{left} more decisions"), String::from("the end of the run")))
    }

    fn restart(&mut self, seed: u64) {
        self.position = 0;
        each!(&mut self.tail, &mut self.random, policy => policy.restart(seed), ());
    }

    fn skip(&mut self, points: usize) {
        each!(&mut self.tail, &mut self.random, policy => policy.skip(points), ());
    }

    fn can_reseed(&self) -> bool {
        self.position == 0 && each!(&self.tail, &self.random, policy => policy.can_reseed(), true)
    }

    fn reseed(&mut self, seed: u64) {
        each!(&mut self.tail, &mut self.random, policy => policy.reseed(seed), ());
    }
}
