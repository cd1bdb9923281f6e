//! Every collection does in one thread what std's does; every iterator notices a modification.

use super::*;
use std::collections::BTreeSet;

/// A plain model of a collection.
trait Model: Default {
    fn add(&mut self, value: Value) -> bool;
    fn remove(&mut self, value: Value) -> bool;
    fn values(&self) -> Vec<Value>;
    fn keep(&mut self, keep: impl Fn(Value) -> bool);
}

impl Model for Vec<Value> {
    fn add(&mut self, value: Value) -> bool {
        self.push(value);
        true
    }

    fn remove(&mut self, value: Value) -> bool {
        let found = self.iter().position(|&v| v == value);
        if let Some(index) = found {
            Vec::remove(self, index);
        }
        found.is_some()
    }

    fn values(&self) -> Vec<Value> {
        self.clone()
    }

    fn keep(&mut self, keep: impl Fn(Value) -> bool) {
        self.retain(|&v| keep(v));
    }
}

impl Model for BTreeSet<Value> {
    fn add(&mut self, value: Value) -> bool {
        self.insert(value)
    }

    fn remove(&mut self, value: Value) -> bool {
        BTreeSet::remove(self, &value)
    }

    fn values(&self) -> Vec<Value> {
        self.iter().copied().collect()
    }

    fn keep(&mut self, keep: impl Fn(Value) -> bool) {
        self.retain(|&v| keep(v));
    }
}

/// A set in order of insertion.
#[derive(Default)]
struct InOrder(Vec<Value>);

impl Model for InOrder {
    fn add(&mut self, value: Value) -> bool {
        let new = !self.0.contains(&value);
        if new {
            self.0.push(value);
        }
        new
    }

    fn remove(&mut self, value: Value) -> bool {
        Model::remove(&mut self.0, value)
    }

    fn values(&self) -> Vec<Value> {
        self.0.clone()
    }

    fn keep(&mut self, keep: impl Fn(Value) -> bool) {
        self.0.retain(|&v| keep(v));
    }
}

/// A small generator, so that the sequences are the same everywhere.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

/// Compares thousands of calls on a pair of collections with the same calls on models. `sorted` for a collection whose
/// order of iteration is its own affair.
fn check<C: Collection, M: Model>(make: impl Fn() -> C, sorted: bool) {
    for (seed, range) in [(1, 4), (2, 40), (3, 400)] {
        let mut numbers = Numbers(seed);
        let real = [make(), make()];
        let mut model = [M::default(), M::default()];
        for _ in 0..2_000 {
            let (i, value) = (numbers.below(2) as usize, numbers.below(range).cast_signed());
            let (this, other) = (&real[i], &real[1 - i]);
            let other_values = model[1 - i].values();
            match numbers.below(40) {
                0 => {
                    this.clear();
                    model[i].keep(|_| false);
                }
                // Bulk operations are kept rare: addAll would double a list each time.
                1 if other_values.len() < 500 => {
                    let expected = other_values.iter().fold(false, |c, &v| model[i].add(v) | c);
                    assert_eq!(this.add_all(other), expected);
                }
                2 => {
                    let before = model[i].values();
                    model[i].keep(|v| !other_values.contains(&v));
                    assert_eq!(this.remove_all(other), before != model[i].values());
                }
                3 => {
                    let mine = model[i].values();
                    let expected = other_values.iter().all(|v| mine.contains(v));
                    assert_eq!(this.contains_all(other), expected);
                }
                4..20 => assert_eq!(this.remove(value), model[i].remove(value)),
                20..24 => assert_eq!(this.contains(value), model[i].values().contains(&value)),
                _ => assert_eq!(this.add(value), model[i].add(value)),
            }
            let mut values = this.to_array();
            if sorted {
                values.sort_unstable();
            }
            assert_eq!(values, model[i].values());
            assert_eq!(this.size(), values.len());
        }
    }
}

#[test]
fn lists_do_what_vec_does() {
    check::<_, Vec<Value>>(ArrayList::new, false);
    check::<_, Vec<Value>>(LinkedList::new, false);
    check::<_, Vec<Value>>(Vector::new, false);
    check::<_, Vec<Value>>(|| Synchronized::new(LinkedList::new()), false);
}

#[test]
fn sets_do_what_btreeset_does() {
    check::<_, BTreeSet<Value>>(HashSet::new, true);
    check::<_, BTreeSet<Value>>(TreeSet::new, false);
    check::<_, InOrder>(LinkedHashSet::new, false);
    check::<_, BTreeSet<Value>>(|| Synchronized::new(TreeSet::new()), false);
}

#[test]
fn iterators_notice_a_modification() {
    fn check<C: Collection>(make: impl Fn() -> C) {
        for modify in [|c: &C| c.clear(), |c: &C| _ = c.add(9), |c: &C| _ = c.remove(1)] {
            let collection = make();
            collection.add(1);
            collection.add(2);
            let mut cursor = collection.iter();
            assert!(cursor.has_next());
            modify(&collection);
            let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cursor.next()))
                .expect_err("the collection was modified");
            let message = payload.downcast_ref::<String>().expect("a message");
            assert!(message.contains("ConcurrentModificationException"), "{message}");
        }
    }
    check(ArrayList::new);
    check(LinkedList::new);
    check(Vector::new);
    check(HashSet::new);
    check(LinkedHashSet::new);
    check(TreeSet::new);
}

#[test]
fn removing_through_the_iterator_is_no_modification_behind_its_back() {
    fn check<C: Collection>(make: impl Fn() -> C) {
        let collection = make();
        for value in 0..50 {
            collection.add(value);
        }
        let mut cursor = collection.iter();
        while cursor.has_next() {
            if cursor.next() % 2 == 0 {
                cursor.remove();
            }
        }
        let mut left = collection.to_array();
        left.sort_unstable();
        assert_eq!(left, (0..50).filter(|v| v % 2 == 1).collect::<Vec<_>>());
    }
    check(ArrayList::new);
    check(LinkedList::new);
    check(Vector::new);
    check(HashSet::new);
    check(LinkedHashSet::new);
    check(TreeSet::new);
}
