//! Golden texts: what people see.

use crate::stories;
use expect_test::{Expect, expect};
use raddle_report::Story;
use raddle_report::text::{self, Style};

fn source(file: &str) -> Option<String> {
    let line = |number| format!("    let step{number} = self.accounts.lock().unwrap();\n");
    (file == "src/bank.rs").then(|| (1..=40).map(line).collect())
}

pub(crate) fn render(story: &Story, style: Style) -> String {
    let copy =
        ["raddle replay raddle-out/deadlock-17.raddle", "raddle minimize raddle-out/deadlock-17.raddle"];
    text::failure(story, style, &source, &copy.map(String::from))
}

pub(crate) fn check(story: &Story, expect: Expect) {
    expect.assert_eq(&render(story, Style::default()));
}

#[test]
fn a_deadlock_of_two() {
    check(
        &stories::deadlock(),
        expect![[r#"
            deadlock: main/0 waits for mutex#2 held by main/1; main/1 waits for mutex#1 held by main/0
            found by random, seed 0, run 17

              main/0 payer  src/bank.rs:13:9 in bank::transfer
                13 │ let step13 = self.accounts.lock().unwrap();
              main/1        src/bank.rs:21:9 in bank::transfer
                21 │ let step21 = self.accounts.lock().unwrap();

               step │ main                     │ main/0 payer             │ main/1
            ────────┼──────────────────────────┼──────────────────────────┼──────────────────────────
                  0 │ spawn main/0  bank.rs:30 │                          │
                  1 │ spawn main/1  bank.rs:31 │                          │
             ›    2 │                          │ lock mutex#1  bank.rs:12 │
             »    3 │                          │                          │ lock mutex#2  bank.rs:20
             ×      │                          │ lock mutex#2  bank.rs:13 │
             ×      │                          │                          │ lock mutex#1  bank.rs:21
             » preemption   › switch   × waits for ever

            at the end
              main/0 payer  waits for mutex#2 held by main/1  bank.rs:13
                            holds mutex#1, since step 2       bank.rs:12
              main/1        waits for mutex#1 held by main/0  bank.rs:21
                            holds mutex#2, since step 3       bank.rs:20
              main          waits for main/0 to exit          bank.rs:33

            objects, and where each was first used
              mutex#1  src/bank.rs:12:9
              mutex#2  src/bank.rs:20:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

/// By what the program calls them, if that is short and nothing else is called so.
#[test]
fn objects_are_called_what_the_program_calls_them() {
    let named = |names: [&str; 2]| {
        let mut story = stories::deadlock();
        let locks = story.objects.iter_mut().filter(|object| object.noun == "mutex");
        locks.zip(names).for_each(|(object, name)| object.name = Some(name.into()));
        story
    };
    let story = named(["from.lock", "to.lock"]);
    let text = render(&story, Style::default());
    for said in [
        "main/0 waits for to.lock held by main/1; main/1 waits for from.lock held by main/0",
        "lock from.lock  bank.rs:12",
        "holds from.lock, since step 2",
        "  from.lock: mutex  src/bank.rs:12:9",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains('#'), "{text}");
    let json = raddle_report::json::failure(&story);
    assert!(json.contains(r#""name":"from.lock","noun":"mutex","variable":"from.lock""#), "{json}");
    let long = "state.a_table_of_many_things[17].entries[2].lock";
    for names in [["lock", "lock"], ["lock", long]] {
        let text = render(&named(names), Style::default());
        for said in ["lock: mutex", "mutex#1: ", "lock mutex#1  bank.rs:20"] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

#[test]
fn calls_on_files_have_names() {
    let text = render(&stories::calls(), Style::default());
    for said in ["write pipe#1", "read pipe#1", "accept socket#1", "use file#1"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let json = raddle_report::json::failure(&stories::calls());
    assert!(json.contains(r#""call":"accept""#), "{json}");
}

#[test]
fn who_waits_for_files() {
    check(
        &stories::files(),
        expect![[r#"
            deadlock: main waits for main/0 to exit; main/0 waits for file#2, file#3 and nobody wakes it; main/1 is parked and
                nobody unparks it
            found by random, seed 0, run 17

              main    src/bank.rs:33:9 in bank::transfer
                33 │ let step33 = self.accounts.lock().unwrap();
              main/0  src/bank.rs:12:9 in bank::transfer
                12 │ let step12 = self.accounts.lock().unwrap();
              main/1  src/bank.rs:21:9 in bank::transfer
                21 │ let step21 = self.accounts.lock().unwrap();

               step │ main                     │ main/0                         │ main/1
            ────────┼──────────────────────────┼────────────────────────────────┼───────────────────────────
                  0 │ spawn main/0  bank.rs:30 │                                │
                  1 │ spawn main/1  bank.rs:31 │                                │
             ›    2 │                          │ use file#1          bank.rs:14 │
                  3 │                          │ use file#2, file#3  bank.rs:12 │
             ›    4 │                          │                                │ use file#1     bank.rs:20
                  5 │                          │                                │ unpark main/0  bank.rs:20
             ›    6 │                          │ park                bank.rs:12 │
             ×      │ join main/0   bank.rs:33 │                                │
             ×      │                          │ park                bank.rs:12 │
             ×      │                          │                                │ park           bank.rs:21
             › switch   × waits for ever

            at the end
              main    waits for main/0 to exit                   bank.rs:33
              main/0  waits for file#2, file#3; nobody wakes it  bank.rs:12
              main/1  is parked; nobody unparks it               bank.rs:21

            objects, and where each was first used
              file#1  src/bank.rs:14:9
              file#2  src/bank.rs:12:9
              file#3  src/bank.rs:12:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn a_lost_update() {
    check(
        &stories::lost_update(),
        expect![[r#"
            assertion: assertion `left == right` failed
                  left: 1
                 right: 2
            found by random, seed 0, run 17

              main  src/bank.rs:11:9 in bank::transfer
                11 │ let step11 = self.accounts.lock().unwrap();

               step │ main                      │ main/0                           │ main/1
            ────────┼───────────────────────────┼──────────────────────────────────┼──────────────────────────────────
                  0 │ spawn main/0    bank.rs:8 │                                  │
                  1 │ spawn main/1    bank.rs:8 │                                  │
             ›    2 │                           │ load atomic#1 relaxed  bank.rs:5 │
             »    3 │                           │                                  │ load atomic#1 relaxed  bank.rs:5
             »    4 │                           │ store atomic#1         bank.rs:6 │
                  5 │                           │ exit                   bank.rs:8 │
             ›    6 │                           │                                  │ store atomic#1         bank.rs:6
                  7 │                           │                                  │ exit                   bank.rs:8
             ›    8 │ join main/0    bank.rs:10 │                                  │
                  9 │ join main/1    bank.rs:10 │                                  │
                 10 │ load atomic#1  bank.rs:11 │                                  │
             ×      │ assertion      bank.rs:11 │                                  │
             » preemption   › switch   × fails here

            objects, and where each was first used
              atomic#1  src/bank.rs:5:9

            note: an atomic weaker than SeqCst was executed; weak-memory outcomes were not explored

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn a_condition_variable() {
    check(
        &stories::condvar(),
        expect![[r#"
            deadlock: main waits for main/0 to exit; main/0 waits for condvar#1 and nobody notifies it
            found by random, seed 0, run 17

              main    src/bank.rs:26:9 in bank::transfer
                26 │ let step26 = self.accounts.lock().unwrap();
              main/0  src/bank.rs:6:9 in bank::transfer
                 6 │ let step6 = self.accounts.lock().unwrap();

               step │ main                      │ main/0                    │ main/1                    │ main/2
            ────────┼───────────────────────────┼───────────────────────────┼───────────────────────────┼───────────────────────────
                  0 │ spawn main/0          :20 │                           │                           │
                  1 │ spawn main/1          :20 │                           │                           │
                  2 │ spawn main/2          :21 │                           │                           │
             »    3 │                           │ lock mutex#1           :4 │                           │
                  4 │                           │ wait at condvar#1,     :6 │                           │
                    │                           │   give mutex#1            │                           │
             ›    5 │                           │                           │ lock mutex#1           :4 │
                  6 │                           │                           │ wait at condvar#1,     :6 │
                    │                           │                           │   give mutex#1            │
             ›    7 │ lock mutex#1          :23 │                           │                           │
                  8 │ notify-one condvar#1   :6 │                           │                           │
                    │   → woke main/1           │                           │                           │
                  9 │ unlock mutex#1        :24 │                           │                           │
             ›   10 │                           │                           │ wake at condvar#1,     :6 │
                    │                           │                           │   take mutex#1            │
                 11 │                           │                           │ unlock mutex#1         :7 │
             ›   12 │                           │                           │                           │ choose 3 of 0..5      :15
                 13 │                           │                           │                           │ try lock mutex#1      :15
                 14 │                           │                           │                           │ wait at condvar#1,    :15
                    │                           │                           │                           │   give mutex#1
                 15 │                           │                           │                           │ wake at condvar#1,    :15
                    │                           │                           │                           │   take mutex#1 → timed
                    │                           │                           │                           │   out
                 16 │                           │                           │                           │ sleep 1µs             :15
                 17 │                           │                           │                           │ notify-all condvar#1  :16
                    │                           │                           │                           │   → woke 1
             »   18 │                           │                           │ exit                  :20 │
             ›   19 │                           │                           │                           │ unlock mutex#1        :17
                 20 │                           │                           │                           │ exit                  :20
             ›   21 │                           │ wake at condvar#1,     :6 │                           │
                    │                           │   take mutex#1            │                           │
                 22 │                           │ wait at condvar#1,     :6 │                           │
                    │                           │   give mutex#1            │                           │
             ×      │ join main/0           :26 │                           │                           │
             ×      │                           │ wake at condvar#1,     :6 │                           │
                    │                           │   take mutex#1            │                           │
             » preemption   › switch   × waits for ever   lines of src/bank.rs

            at the end
              main    waits for main/0 to exit                bank.rs:26
              main/0  waits at condvar#1; nobody notifies it  bank.rs:6

            objects, and where each was first used
              mutex#1    src/bank.rs:4:9
              condvar#1  src/bank.rs:6:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn five_tasks_and_two_files() {
    check(
        &stories::five(),
        expect![[r#"
            deadlock: main waits for main/0 to exit; main/0 waits for barrier and not enough tasks arrive
            found by random, seed 0, run 17

              main                            src/bank.rs:105:9 in bank::transfer
              main/0 leser-日本               src/bank.rs:71:9 in bank::transfer
              main/1                          src/store/queue.rs:61:9 in store::queue::push
              main/2                          src/bank.rs:70:9 in bank::transfer
              main/3 writer of all the tabl…  src/store/queue.rs:42:9 in store::queue::push

               step │ main                │ main/0 leser-日本    │ main/1               │ main/2              │ main/3 writer of a…
            ────────┼─────────────────────┼──────────────────────┼──────────────────────┼─────────────────────┼─────────────────────
                  0 │ spawn main/0  a:100 │                      │                      │                     │
                  1 │ spawn main/1  a:101 │                      │                      │                     │
                  2 │ spawn main/2  a:102 │                      │                      │                     │
                  3 │ spawn main/3  a:103 │                      │                      │                     │
             ›    4 │                     │ read-lock       b:40 │                      │                     │
                    │                     │   rwlock#1           │                      │                     │
             »    5 │                     │                      │ read-lock       b:41 │                     │
                    │                     │                      │   rwlock#1           │                     │
             »    6 │                     │                      │                      │ send channel#1 b:60 │
                  7 │                     │                      │                      │ arrive at      a:70 │
                    │                     │                      │                      │   barrier#1         │
             ›    8 │                     │ arrive at       a:71 │                      │                     │
                    │                     │   barrier#1          │                      │                     │
             ›    9 │                     │                      │                      │                     │ recv channel#1 b:62
                    │                     │                      │                      │                     │   within 2ms
                 10 │                     │                      │                      │                     │ try write-lock b:62
                    │                     │                      │                      │                     │   rwlock#1 → failed
             ›   11 │                     │                      │ read-unlock     b:43 │                     │
                    │                     │                      │   rwlock#1           │                     │
             ×      │ join main/0   a:105 │                      │                      │                     │
             ×      │                     │ leave barrier#1 a:71 │                      │                     │
             ×      │                     │                      │ recv channel#1  b:61 │                     │
             ×      │                     │                      │                      │ leave          a:70 │
                    │                     │                      │                      │   barrier#1         │
             ×      │                     │                      │                      │                     │ write-lock     b:42
                    │                     │                      │                      │                     │   rwlock#1
             » preemption   › switch   × waits for ever   a src/bank.rs   b src/store/queue.rs

            at the end
              main                            waits for main/0 to exit                        bank.rs:105
              main/0 leser-日本               waits at barrier#1 for others to arrive         bank.rs:71
                                              holds rwlock#1 for reading, since step 4        queue.rs:40
              main/1                          waits for a message at channel#1; nobody sends  queue.rs:61
              main/2                          waits at barrier#1 for others to arrive         bank.rs:70
              main/3 writer of all the tabl…  waits for rwlock#1 held by main/0               queue.rs:42

            objects, and where each was first used
              rwlock#1   src/store/queue.rs:40:9
              channel#1  src/store/queue.rs:60:9
              barrier#1  src/bank.rs:70:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn a_race_whose_accesses_are_no_events_is_told_without_steps() {
    let story = stories::race_without_events();
    let told = text::failure(&story, Style::default(), &|_| None, &[]);
    let head: Vec<&str> = told.lines().skip_while(|line| !line.starts_with("two accesses")).take(3).collect();
    assert_eq!(
        head,
        [
            "two accesses that nothing orders",
            "  src/bank.rs:5:9 in bank::transfer",
            "  src/bank.rs:9:9 in bank::transfer"
        ]
    );
}

#[test]
fn a_race() {
    check(
        &stories::race(),
        expect![[r#"
            race: cell#1 is written and read without order
            found by random, seed 0, run 17

            two accesses that nothing orders
              main/0  src/bank.rs:5:9 in bank::transfer: write cell#1, step 1
                5 │ let step5 = self.accounts.lock().unwrap();
              main    src/bank.rs:9:9 in bank::transfer: read cell#1, step 2
                9 │ let step9 = self.accounts.lock().unwrap();

               step │ main                    │ main/0
            ────────┼─────────────────────────┼─────────────────────────
                  0 │ spawn main/0  bank.rs:8 │
             »    1 │                         │ write cell#1  bank.rs:5
             ›    2 │ read cell#1   bank.rs:9 │
             ›    3 │                         │ exit          bank.rs:8
             » preemption   › switch

            objects, and where each was first used
              cell#1  src/bank.rs:5:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}
