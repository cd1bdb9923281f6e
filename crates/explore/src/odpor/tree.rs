//! The tree of an optimal search, which its workers share: the states that are being searched, what was taken from
//! each of them, and the sequences that must still be.
//!
//! What makes it right with several workers:
//! - Steps are only ever added behind those that are there. Whoever takes one sleeps on all that come before it,
//!   whether those are done or under way. So nobody takes what another one covers, in whatever order they work.
//! - A sequence goes down into the first step that is a weak initial of it, though that be under way or done: what
//!   sleeps in a later branch counts on the earlier one to find what must be added to the later one.
//! - At the end of a sequence nobody sleeps any more. Everything from there on is found by those who work
//!   there, and such a state is *fresh*: sequences from elsewhere end there, since it covers them.
//! - A state is forgotten once nothing is left to do below it, and nobody can add to it: it is fresh, or all
//!   that comes before it is done.
//! - Which values the last step of a sequence chooses shows when it has been run. Until then nothing that comes
//!   behind it is taken: it would not know what sleeps.

mod changes;

use super::alphabet::{Alphabet, LetterId};
use super::letter::{Letter, Relation};
use super::wakeup::{Initial, Sequence, Waiting, Wakeups};
use changes::{Changes, What};
use raddle_model::plan::Step;

/// A state of the tree.
pub(super) type NodeId = u32;

const NOBODY: NodeId = NodeId::MAX;

/// A step from a state, and what is known of what follows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    /// It has not been taken.
    Waiting(Waiting),
    /// The same, and nothing must follow it, as is so for most.
    Single(LetterId),
    /// It has, and leads here.
    Live(LetterId, NodeId),
    /// It has, and nothing is left to do.
    Done(LetterId),
}

impl Child {
    #[inline]
    fn letter(self, wakeups: &Wakeups) -> LetterId {
        match self {
            Child::Waiting(step) => wakeups.letter(step),
            Child::Single(letter) | Child::Live(letter, _) | Child::Done(letter) => letter,
        }
    }
}

/// What is known of the state before a step.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    /// Which child of its parent it is, and how many steps lead to it.
    pub(super) place: u32,
    pub(super) depth: u32,
    /// Steps that need not be taken here: what they lead to is covered elsewhere. Known once a run came by.
    pub(super) asleep: Vec<LetterId>,
    pub(super) entered: bool,
    /// Those that wait are behind all others.
    pub(super) children: Vec<Child>,
    /// Number of those that do not wait, of those among them up to the first that is not done, and of those that
    /// are under way.
    pub(super) taken: u32,
    done: u32,
    open: u32,
    /// Nobody slept here when it was reached.
    pub(super) fresh: bool,
    /// A sequence ends here, and its run is under way.
    pub(super) running: bool,
    /// That is so for a child.
    awaited: bool,
    /// Number of workers whose last run came here, and who have not asked for the next one: they will go on from here.
    held: u32,
    /// Nothing is left to do from here, unless somebody adds to it.
    complete: bool,
}

impl Default for Node {
    fn default() -> Node {
        Node {
            parent: NOBODY,
            place: 0,
            depth: 0,
            asleep: Vec::new(),
            entered: false,
            children: Vec::new(),
            taken: 0,
            done: 0,
            open: 0,
            fresh: false,
            running: false,
            awaited: false,
            held: 0,
            complete: false,
        }
    }
}

impl Node {
    /// It is in use no more, and nobody sleeps there: all but these is as it was before anybody used it.
    fn renew(&mut self) {
        (self.parent, self.taken, self.done, self.open) = (NOBODY, 0, 0, 0);
        (self.entered, self.fresh, self.running) = (false, false, false);
        (self.awaited, self.complete, self.held) = (false, false, 0);
    }

    fn is_as_new(&self) -> bool {
        let Node { taken, done, open, held, .. } = *self;
        let unused = self.parent == NOBODY && self.asleep.is_empty() && self.children.is_empty();
        let flags = self.entered || self.fresh || self.running || self.awaited || self.complete;
        unused && !flags && [taken, done, open, held] == [0; 4]
    }
}

/// All states.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Number of states that are complete, and kept since somebody may add to them.
    retained: usize,
    /// What all steps are, and those that wait.
    pub(super) alphabet: Alphabet,
    pub(super) wakeups: Wakeups,
    /// For the journal.
    changes: Changes,
}

impl Default for Tree {
    /// The first state.
    fn default() -> Tree {
        let root = Node { entered: true, fresh: true, ..Node::default() };
        Tree {
            nodes: vec![root],
            free: Vec::new(),
            retained: 0,
            alphabet: Alphabet::default(),
            wakeups: Wakeups::default(),
            changes: Changes::default(),
        }
    }
}

pub(super) const ROOT: NodeId = 0;

impl Tree {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// Whether nothing is left.
    pub(super) fn is_complete(&self) -> bool {
        self.node(ROOT).complete
    }

    #[inline(always)]
    fn add(&mut self, parent: NodeId, place: u32) -> NodeId {
        let depth = self.node(parent).depth + 1;
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            (self.nodes.len() - 1) as NodeId
        });
        let node = &mut self.nodes[id as usize];
        // What is not written here is as new in a state that is not in use.
        debug_assert!(node.is_as_new());
        (node.parent, node.place, node.depth) = (parent, place, depth);
        id
    }

    /// Takes the root, for the first run of all.
    pub(super) fn begin(&mut self) {
        self.changes.note(What::Begin, ROOT);
        self.node_mut(ROOT).running = true;
    }

    /// Whether there is a sequence to be taken from a state now.
    pub(super) fn offers(&self, id: NodeId) -> bool {
        let node = self.node(id);
        !node.awaited && (node.taken as usize) < node.children.len()
    }

    /// Takes the first sequence that waits at a state: its steps are appended to `steps`, and the states that they lead
    /// to to `stack`.
    pub(super) fn take(&mut self, id: NodeId, steps: &mut Vec<Step>, stack: &mut Vec<NodeId>) {
        let (mut at, mut place) = (id, self.node(id).taken);
        let known = stack.len();
        loop {
            match self.node(at).children[place as usize] {
                Child::Single(letter) => at = self.go(at, place, letter, steps, stack),
                Child::Waiting(waiting) => {
                    let mut left = Some(self.wakeups.place(waiting));
                    while let Some(letter_at) = left {
                        let (letter, rest) = self.wakeups.read(letter_at);
                        at = self.go(at, place, letter, steps, stack);
                        (place, left) = (0, rest);
                    }
                    let node = &mut self.nodes[at as usize];
                    self.wakeups.take(waiting, |rest| node.children.push(Child::Waiting(rest)));
                }
                _ => unreachable!("raddle bug: a branch is taken twice"),
            }
            place = 0;
            let node = &mut self.nodes[at as usize];
            if node.children.is_empty() {
                node.fresh = true;
                node.running = true;
                let parent = node.parent;
                self.node_mut(parent).awaited = true;
                if let Some(notes) = self.changes.note(What::Take, id) {
                    notes.numbers(&stack[known..]);
                }
                return;
            }
        }
    }

    /// Takes a step from a state: its child at a place, or the first one. The state that it leads to.
    fn go(
        &mut self,
        at: NodeId,
        place: u32,
        letter: LetterId,
        steps: &mut Vec<Step>,
        stack: &mut Vec<NodeId>,
    ) -> NodeId {
        steps.push(self.alphabet.get(letter).step());
        let next = self.add(at, place);
        stack.push(next);
        let node = self.node_mut(at);
        node.taken += 1;
        node.open += 1;
        match node.children.get_mut(place as usize) {
            Some(first) => *first = Child::Live(letter, next),
            None => node.children.push(Child::Live(letter, next)),
        }
        next
    }

    /// The run that ends its sequence at this state is over.
    #[inline]
    pub(super) fn release(&mut self, id: NodeId) {
        self.changes.note(What::Release, id);
        let node = self.node_mut(id);
        node.running = false;
        let parent = node.parent;
        if parent != NOBODY {
            self.node_mut(parent).awaited = false;
        }
    }

    /// A worker will go on from here.
    pub(super) fn hold(&mut self, id: NodeId) {
        self.nodes[id as usize].held += 1;
    }

    /// It does.
    pub(super) fn let_go(&mut self, id: NodeId) {
        self.nodes[id as usize].held -= 1;
    }

    /// A run goes on with a step of its own from a state from which none was taken.
    pub(super) fn extend(&mut self, id: NodeId, letter: LetterId) -> NodeId {
        debug_assert!(self.node(id).children.is_empty());
        let next = self.add(id, 0);
        self.nodes[next as usize].fresh = self.node(id).fresh;
        let letter = self.alphabet.keep(letter);
        let node = self.node_mut(id);
        node.children.push(Child::Live(letter, next));
        (node.taken, node.open) = (1, 1);
        if let Some(notes) = self.changes.note_letter(What::Extend, id, &self.alphabet, letter) {
            notes.number(next);
        }
        next
    }

    /// A run ends with a step of its own.
    pub(super) fn end(&mut self, id: NodeId, letter: LetterId) {
        let letter = self.alphabet.keep(letter);
        let node = self.node_mut(id);
        debug_assert!(node.children.is_empty());
        node.children.push(Child::Done(letter));
        (node.taken, node.done) = (1, 1);
        self.changes.note_letter(What::End, id, &self.alphabet, letter);
    }

    /// A run came to a state by this step, with so many objects that all runs know.
    #[inline]
    pub(super) fn enter(&mut self, id: NodeId, by: LetterId, objects: u32) {
        // It chose what the sequence may have left open.
        if by.has_more() {
            self.rename(id, by);
        }
        if !self.node(id).entered {
            self.enter_first(id, by, objects);
        }
    }

    fn enter_first(&mut self, id: NodeId, by: LetterId, objects: u32) {
        let Node { parent, place, .. } = *self.node(id);
        if !self.node(parent).asleep.is_empty() || place > 0 {
            let mut asleep = core::mem::take(&mut self.nodes[id as usize].asleep);
            for other in self.sleepers(parent, place as usize) {
                if self.alphabet.relation(other, by, objects) == Relation::Apart {
                    asleep.push(other);
                }
            }
            if self.alphabet.has_more() {
                asleep.iter().for_each(|&letter| _ = self.alphabet.keep(letter));
            }
            self.nodes[id as usize].asleep = asleep;
        }
        self.node_mut(id).entered = true;
        if let Some(notes) = self.changes.note(What::Enter, id) {
            notes.letters(&self.alphabet, self.nodes[id as usize].asleep.iter().copied());
        }
    }

    /// The step that leads to a state has this letter.
    #[inline(never)]
    fn rename(&mut self, id: NodeId, by: LetterId) {
        let Node { parent, place, .. } = *self.node(id);
        if let Child::Live(letter, _) = &mut self.nodes[parent as usize].children[place as usize] {
            let before = core::mem::replace(letter, self.alphabet.keep(by));
            self.changes.note_letter(What::Letter, id, &self.alphabet, by);
            self.alphabet.drop(before);
        }
    }

    /// Who sleeps at a state for the child at `place`.
    #[inline]
    pub(super) fn sleepers(&self, id: NodeId, place: usize) -> impl Iterator<Item = LetterId> {
        let node = self.node(id);
        let before = node.children[..place].iter().map(|child| child.letter(&self.wakeups));
        node.asleep.iter().copied().chain(before)
    }

    /// Adds a sequence to a state, behind the child at `place`, unless what is there covers it.
    pub(super) fn insert(&mut self, id: NodeId, place: usize, sequence: &mut Sequence<'_>) {
        let (mut id, mut from) = (id, place + 1);
        loop {
            let Tree { nodes, alphabet, wakeups, changes, .. } = self;
            let node = &mut nodes[id as usize];
            let later = node.children.iter().enumerate().skip(from);
            let initial = |&child: &Child| sequence.initial(alphabet, child.letter(wakeups));
            let mut initials = later.map(|(place, child)| (place, *child, initial(child)));
            match initials.find(|&(_, _, initial)| initial != Initial::No) {
                None => {
                    node.children.push(match sequence.letters[..] {
                        [letter] => Child::Single(alphabet.keep(letter)),
                        _ => Child::Waiting(wakeups.add_sequence(alphabet, sequence)),
                    });
                    changes.note_sequence(id, None, alphabet, sequence.left());
                    return self.reopen(id);
                }
                Some((_, Child::Done(_) | Child::Single(_), _)) => return,
                Some((place, Child::Waiting(step), initial)) => {
                    if wakeups.insert(alphabet, step, initial, sequence) {
                        let graft = Some((place, wakeups.last_graft()));
                        changes.note_sequence(id, graft, alphabet, sequence.left());
                    }
                    return;
                }
                Some((_, Child::Live(_, next), initial)) => {
                    sequence.pass(initial);
                    (id, from) = (next, 0);
                    if sequence.letters.is_empty() || self.node(id).fresh {
                        return;
                    }
                }
            }
        }
    }

    /// There is something to do again.
    fn reopen(&mut self, mut id: NodeId) {
        while self.node(id).complete {
            let node = self.node_mut(id);
            node.complete = false;
            id = node.parent;
            self.retained -= 1;
            self.node_mut(id).open += 1;
        }
    }

    /// Whether nothing is left to do from a state. If so it may be gone.
    #[inline]
    pub(super) fn settle(&mut self, id: NodeId) -> bool {
        let node = self.node(id);
        let waits = node.open > 0 || (node.taken as usize) < node.children.len();
        if node.running || node.held > 0 || waits {
            return false;
        }
        if !node.complete {
            self.complete(id);
        }
        true
    }

    /// Nothing is left to do from a state.
    fn complete(&mut self, id: NodeId) {
        let node = self.node(id);
        let Node { parent, place, fresh, .. } = *node;
        self.changes.note(What::Settle, id);
        self.node_mut(id).complete = true;
        if parent == NOBODY {
            return;
        }
        self.node_mut(parent).open -= 1;
        self.retained += 1;
        if fresh || self.is_final(id) {
            self.forget(parent, place);
        }
        if self.retained > 0 {
            self.sweep(parent);
        }
    }

    /// Nobody can do anything below a state: what waits there is left out.
    pub(super) fn abandon(&mut self, id: NodeId) {
        self.changes.note(What::Abandon, id);
        let Tree { nodes, alphabet, wakeups, .. } = self;
        let node = &mut nodes[id as usize];
        for child in node.children.drain(node.taken as usize..) {
            match child {
                Child::Waiting(step) => wakeups.remove(alphabet, step),
                Child::Single(letter) => alphabet.drop(letter),
                _ => {}
            }
        }
    }

    /// Whether nobody can add to a state but from below.
    #[inline(never)]
    fn is_final(&self, mut id: NodeId) -> bool {
        loop {
            let node = self.node(id);
            if node.fresh {
                return true;
            }
            // The root is fresh.
            if self.node(node.parent).done < node.place {
                return false;
            }
            id = node.parent;
        }
    }

    /// Forgets a complete child and all below it.
    #[inline(always)]
    fn forget(&mut self, parent: NodeId, place: u32) {
        let Tree { nodes, alphabet, free, retained, .. } = self;
        let node = &mut nodes[parent as usize];
        let child = &mut node.children[place as usize];
        let Child::Live(letter, gone) = *child else { unreachable!("raddle bug: gone twice") };
        *child = Child::Done(letter);
        while let Some(Child::Done(_)) = node.children.get(node.done as usize) {
            node.done += 1;
        }
        let node = &mut nodes[gone as usize];
        if node.done as usize == node.children.len() && !alphabet.has_more() {
            // Nearly always nothing of what came below it is kept.
            *retained -= 1;
            free.push(gone);
            node.asleep.clear();
            node.children.clear();
            return node.renew();
        }
        self.forget_all(gone);
    }

    /// The same for a state from which some steps were kept.
    #[inline(never)]
    fn forget_all(&mut self, gone: NodeId) {
        let Tree { nodes, alphabet, free, retained, .. } = self;
        let (mut left, mut next) = (Vec::new(), Some(gone));
        while let Some(id) = next {
            *retained -= 1;
            free.push(id);
            let node = &mut nodes[id as usize];
            node.renew();
            node.asleep.drain(..).for_each(|letter| alphabet.drop(letter));
            for child in node.children.drain(..) {
                match child {
                    Child::Live(letter, next) => {
                        alphabet.drop(letter);
                        left.push(next);
                    }
                    Child::Done(letter) => alphabet.drop(letter),
                    Child::Waiting(_) | Child::Single(_) => {
                        unreachable!("raddle bug: something was left to do")
                    }
                }
            }
            next = left.pop();
        }
    }

    /// Something that came before what is kept is done: looks what need not be kept any more.
    #[inline(never)]
    fn sweep(&mut self, id: NodeId) {
        if !self.is_final(id) {
            return;
        }
        let mut id = id;
        loop {
            let node = self.node(id);
            let Some(&Child::Live(_, next)) = node.children.get(node.done as usize) else { return };
            if self.node(next).complete {
                let place = node.done;
                self.forget(id, place);
            } else {
                id = next;
            }
        }
    }

    /// A state from which a sequence can be taken: one with the fewest steps before it, or the most.
    pub(super) fn find(&self, deepest: bool) -> Option<NodeId> {
        let (mut level, mut below, mut found) = (vec![ROOT], Vec::new(), None);
        while !level.is_empty() {
            for &id in &level {
                if self.offers(id) {
                    found = Some(id);
                    if !deepest {
                        return found;
                    }
                }
                below.extend(self.node(id).children.iter().filter_map(|child| match child {
                    Child::Live(_, next) if !self.node(*next).complete => Some(*next),
                    _ => None,
                }));
            }
            level.clear();
            core::mem::swap(&mut level, &mut below);
        }
        found
    }

    /// The states up to this one, and the steps that lead to it.
    pub(super) fn write_path(&self, id: NodeId, steps: &mut Vec<Step>, stack: &mut Vec<NodeId>) {
        steps.clear();
        stack.clear();
        let mut at = id;
        while at != ROOT {
            let Node { parent, place, .. } = *self.node(at);
            stack.push(at);
            steps.push(self.letter(self.node(parent).children[place as usize]).step());
            at = parent;
        }
        stack.push(ROOT);
        stack.reverse();
        steps.reverse();
    }

    /// What a step is.
    pub(super) fn letter(&self, child: Child) -> &Letter {
        self.alphabet.get(child.letter(&self.wakeups))
    }

    /// Number of sequences that wait at each depth.
    pub(super) fn waiting(&self) -> Vec<usize> {
        let (mut waiting, mut left) = (Vec::new(), vec![ROOT]);
        while let Some(id) = left.pop() {
            let node = self.node(id);
            let depth = node.depth as usize;
            if waiting.len() <= depth {
                waiting.resize(depth + 1, 0);
            }
            for &child in &node.children {
                match child {
                    Child::Waiting(step) => waiting[depth] += self.wakeups.leaves(step),
                    Child::Single(_) => waiting[depth] += 1,
                    Child::Live(_, next) => left.push(next),
                    Child::Done(_) => {}
                }
            }
        }
        waiting
    }

    /// Number of states, those that are gone included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}
