//! Lines that come again and again.

use super::*;
use alloc::vec;

const TASK: TaskId = TaskId(1);
const MUTEX: ObjectId = ObjectId(3);
const HERE: SiteId = SiteId(7);

fn section(script: &mut Script) {
    script.write_stay(Kind::Lock, TASK, MUTEX, HERE);
    script.close(TASK, MUTEX, HERE);
}

fn add(script: &mut Script) {
    script.write_stay(Kind::Rmw, TASK, MUTEX, HERE);
}

fn repeats_section(script: &mut Script) -> bool {
    script.opens(3, HERE) && script.gives_back().is_some()
}

fn repeats_add(script: &mut Script) -> bool {
    script.stays(Kind::Rmw, 3, HERE).is_some()
}

/// How often each line comes.
fn times(script: &Script) -> vec::Vec<u64> {
    script.lines.iter().map(|line| line.word / ONCE).collect()
}

#[test]
fn what_comes_again_is_counted() {
    let mut script = Script::default();
    (0..5).for_each(|_| section(&mut script));
    (0..4).for_each(|_| add(&mut script));
    section(&mut script);
    // The last one does not lead.
    assert_eq!((times(&script), script.lead(3).is_some()), (vec![5, 4, 1], true));
    assert!((0..5).all(|_| repeats_section(&mut script)));
    assert!(!repeats_section(&mut script));
    assert!((0..4).all(|_| repeats_add(&mut script)));
    assert!(!repeats_add(&mut script) && script.is_read());
}

#[test]
fn a_state_is_kept_between_lines() {
    let mut script = Script::default();
    (0..3).for_each(|_| section(&mut script));
    script.write(Line::staying(Kind::Lock, TASK, MUTEX, HERE));
    assert_eq!(script.settle(), 2);
    script.close(TASK, MUTEX, HERE);
    (0..3).for_each(|_| section(&mut script));
    assert_eq!(times(&script), [3, 1, 3]);
    let last = script.lead(2).expect("the line that the state was kept after");
    assert!(last.is_same(Line::staying(Kind::Lock, TASK, MUTEX, HERE)) && last.word / ONCE == 1);
    assert_eq!(times(&script), [3]);
    // The same for what is not given back.
    script.clear();
    (0..2).for_each(|_| add(&mut script));
    assert_eq!(script.settle(), 1);
    (0..2).for_each(|_| add(&mut script));
    assert_eq!(times(&script), [2, 2]);
}

/// Whoever is led does not notice where states were kept.
#[test]
fn what_was_parted_by_a_state_is_read_at_once() {
    for long in [false, true] {
        let mut script = Script::default();
        for _ in 0..3 {
            (0..3).for_each(|_| section(&mut script));
            script.write(Line::staying(Kind::Lock, TASK, MUTEX, HERE));
            script.settle();
            script.close(TASK, MUTEX, HERE);
        }
        add(&mut script);
        script.settle();
        add(&mut script);
        // Another site, object and answer are other lines.
        script.write_stay(Kind::Rmw, TASK, MUTEX, SiteId(8));
        script.write_stay(Kind::Rmw, TASK, ObjectId(4), SiteId(8));
        let turn = Line::new(Call::Arrive, Kind::Rmw, MUTEX, HERE, 2);
        (0..2).for_each(|_| script.write(turn));
        section(&mut script);
        assert_eq!(times(&script), [3, 1, 3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert!(script.lead(13).is_some());
        let [lock, unlock] =
            [Kind::Lock, Kind::Unlock].map(|kind| Line::new(Call::Arrive, kind, MUTEX, HERE, 0));
        for time in 0..12 {
            let answers =
                |script: &mut Script| [lock, unlock].map(|call| script.answer(call, TASK)) == [Some(1); 2];
            assert!(if long && time % 3 == 0 { answers(&mut script) } else { repeats_section(&mut script) });
        }
        assert!(!repeats_section(&mut script) && script.answer(lock, TASK).is_none());
        assert!((0..2).all(|_| repeats_add(&mut script)) && !repeats_add(&mut script));
        assert!(
            script.stays(Kind::Rmw, 3, SiteId(8)).is_some()
                && script.stays(Kind::Rmw, 4, SiteId(8)).is_some()
        );
        assert!(!repeats_add(&mut script) && !script.is_read());
        assert_eq!([(); 2].map(|()| script.answer(turn, TASK)), [Some(2); 2]);
        assert!(script.is_read() && script.answer(turn, TASK).is_none());
    }
}

#[test]
fn a_line_has_an_end_and_another_comes_after_it() {
    let mut script = Script::default();
    let often = OFTEN / ONCE;
    let many = often + 10;
    (0..many).for_each(|_| add(&mut script));
    (0..many).for_each(|_| section(&mut script));
    assert_eq!(times(&script), [often, 10, often, 10]);
    script.write(Line::staying(Kind::Rmw, TASK, MUTEX, HERE));
    assert!(script.lead(5).is_some());
    assert!((0..many).all(|_| repeats_add(&mut script)));
    assert!((0..many).all(|_| repeats_section(&mut script)) && script.is_read());
}

#[test]
fn what_differs_in_one_thing_is_another_line() {
    let mut script = Script::default();
    add(&mut script);
    script.write_stay(Kind::Rmw, TASK, ObjectId(4), HERE);
    script.write_stay(Kind::Rmw, TASK, ObjectId(4), SiteId(8));
    script.write_stay(Kind::Store, TASK, ObjectId(4), SiteId(8));
    section(&mut script);
    script.write_stay(Kind::Lock, TASK, MUTEX, HERE);
    add(&mut script);
    assert_eq!(times(&script), [1; 7]);
    // Where another task went on its own number is no answer.
    let other = Line::new(Call::Arrive, Kind::Rmw, MUTEX, HERE, 5);
    script.write(other);
    script.write(other);
    assert_eq!(script.lines.len(), 9);
}

#[test]
fn nothing_else_is_done_in_a_section_that_is_open() {
    let mut script = Script::default();
    (0..4).for_each(|_| section(&mut script));
    script.write(Line::staying(Kind::Rmw, TASK, MUTEX, HERE));
    assert!(script.lead(2).is_some());
    let [lock, unlock] = [Kind::Lock, Kind::Unlock].map(|kind| Line::new(Call::Arrive, kind, MUTEX, HERE, 0));
    assert!(script.opens(3, HERE) && !repeats_add(&mut script));
    assert_eq!(script.answer(unlock, TASK), None);
    assert!(script.gives_back().is_some());
    // The long way leads as far as the short one.
    assert_eq!(script.answer(lock, TASK), Some(1));
    assert_eq!(script.answer(lock, TASK), None);
    assert_eq!(script.answer(unlock, TASK), Some(1));
    assert!((0..2).all(|_| repeats_section(&mut script)) && script.is_read());
    script.end();
    assert!(!script.is_about(3) && !script.opens(3, HERE) && script.gives_back().is_none());
}

#[test]
fn what_is_given_back_in_a_panic_is_a_line_by_itself() {
    let parted = |sections: usize, settled: bool| {
        let mut script = Script::default();
        (0..sections).for_each(|_| section(&mut script));
        script.write_stay(Kind::Lock, TASK, MUTEX, HERE);
        if settled {
            script.settle();
        }
        script.close(TASK, MUTEX, HERE);
        script.part(TASK, MUTEX, HERE);
        // Another one is no part of it.
        section(&mut script);
        script
    };
    let [lock, unlock] = [Kind::Lock, Kind::Unlock].map(|kind| Line::new(Call::Arrive, kind, MUTEX, HERE, 0));
    for (sections, settled) in [(0, false), (1, false), (4, false), (0, true), (3, true)] {
        let mut script = parted(sections, settled);
        let lines = usize::from(sections > 0) + 3;
        assert_eq!(times(&script).len(), lines);
        script.write(Line::staying(Kind::Rmw, TASK, MUTEX, HERE));
        assert!(script.lead(lines + 1).is_some());
        assert!((0..sections).all(|_| repeats_section(&mut script)));
        assert!(!script.opens(3, HERE));
        assert_eq!((script.answer(lock, TASK), script.answer(unlock, TASK)), (Some(1), Some(1)));
        assert!(repeats_section(&mut script) && script.is_read());
    }
    // Where it was no part of a step nothing is to be done.
    let mut script = Script::default();
    script.part(TASK, MUTEX, HERE);
    section(&mut script);
    script.part(TASK, ObjectId(4), HERE);
    script.part(TASK, MUTEX, SiteId(8));
    add(&mut script);
    script.part(TASK, MUTEX, HERE);
    assert_eq!(times(&script), [1, 1]);
}
