//! Golden texts: what people see.

use crate::stories;
use expect_test::{Expect, expect};
use raddle_report::Story;
use raddle_report::text::{self, Style};

fn source(file: &str) -> Option<String> {
    let line = |number| format!("    let step{number} = self.accounts.lock().unwrap();\n");
    (file == "src/bank.rs").then(|| (1..=40).map(line).collect())
}

fn render(story: &Story, style: Style) -> String {
    let copy = [
        "raddle replay raddle-out/deadlock-17.raddle",
        "raddle minimize raddle-out/deadlock-17.raddle",
    ];
    text::failure(story, style, &source, &copy.map(String::from))
}

fn check(story: &Story, expect: Expect) {
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
             »   12 │                           │                           │                           │ choose 3 of 0..5      :15
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
             »    2 │ read cell#1   bank.rs:9 │
             ›    3 │                         │ exit          bank.rs:8
             » preemption   › switch

            objects, and where each was first used
              cell#1  src/bank.rs:5:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn ten_thousand_events() {
    check(
        &stories::long(),
        expect![[r#"
            deadlock: main/0 waits for mutex#2 held by main/1; main/1 waits for mutex#1 held by main/0
            found by random, seed 0, run 17

              main/0  src/bank.rs:13:9 in bank::transfer
                13 │ let step13 = self.accounts.lock().unwrap();
              main/1  src/bank.rs:21:9 in bank::transfer
                21 │ let step21 = self.accounts.lock().unwrap();

               step │ main              │ main/0               │ main/1               │ main/2
            ────────┼───────────────────┼──────────────────────┼──────────────────────┼──────────────────────
                  0 │ spawn main/0  :30 │                      │                      │
                  1 │ spawn main/1  :31 │                      │                      │
                  2 │ spawn main/2  :32 │                      │                      │
             ›    3 │                   │ lock mutex#1     :12 │                      │
                                           … 9,840 events with 983 switches …
             » 9844 │                   │ update atomic#1  :40 │                      │
                    │                   │ … 9 events …         │                      │
             » 9854 │                   │                      │ update atomic#1  :41 │
                    │                   │                      │ … 9 events …         │
             » 9864 │                   │                      │                      │ update atomic#1  :42
                    │                   │                      │                      │ … 9 events …
             » 9874 │                   │ update atomic#1  :40 │                      │
                    │                   │ … 9 events …         │                      │
             » 9884 │                   │                      │ update atomic#1  :41 │
                    │                   │                      │ … 9 events …         │
             » 9894 │                   │                      │                      │ update atomic#1  :42
                    │                   │                      │                      │ … 9 events …
             » 9904 │                   │ update atomic#1  :40 │                      │
                    │                   │ … 9 events …         │                      │
             » 9914 │                   │                      │ update atomic#1  :41 │
                    │                   │                      │ … 9 events …         │
             » 9924 │                   │                      │                      │ update atomic#1  :42
                    │                   │                      │                      │ … 9 events …
             » 9934 │                   │ update atomic#1  :40 │                      │
                    │                   │ … 9 events …         │                      │
             » 9944 │                   │                      │ update atomic#1  :41 │
                    │                   │                      │ … 9 events …         │
             » 9954 │                   │                      │                      │ update atomic#1  :42
                    │                   │                      │                      │ … 9 events …
             » 9964 │                   │ update atomic#1  :40 │                      │
               9965 │                   │ update atomic#1  :41 │                      │
               9966 │                   │ update atomic#1  :42 │                      │
               9967 │                   │ update atomic#1  :40 │                      │
               9968 │                   │ update atomic#1  :41 │                      │
               9969 │                   │ update atomic#1  :42 │                      │
               9970 │                   │ update atomic#1  :40 │                      │
               9971 │                   │ update atomic#1  :41 │                      │
               9972 │                   │ update atomic#1  :42 │                      │
               9973 │                   │ update atomic#1  :40 │                      │
             » 9974 │                   │                      │ update atomic#1  :41 │
               9975 │                   │                      │ update atomic#1  :42 │
               9976 │                   │                      │ update atomic#1  :40 │
               9977 │                   │                      │ update atomic#1  :41 │
               9978 │                   │                      │ update atomic#1  :42 │
               9979 │                   │                      │ update atomic#1  :40 │
               9980 │                   │                      │ update atomic#1  :41 │
               9981 │                   │                      │ update atomic#1  :42 │
               9982 │                   │                      │ update atomic#1  :40 │
               9983 │                   │                      │ update atomic#1  :41 │
               9984 │                   │                      │ lock mutex#2     :20 │
             › 9985 │                   │                      │                      │ update atomic#1  :40
             ×      │                   │ lock mutex#2     :13 │                      │
             ×      │                   │                      │ lock mutex#1     :21 │
             » preemption   › switch   × waits for ever   lines of src/bank.rs

            at the end
              main/0  waits for mutex#2 held by main/1  bank.rs:13
                      holds mutex#1, since step 3       bank.rs:12
              main/1  waits for mutex#1 held by main/0  bank.rs:21
                      holds mutex#2, since step 9984    bank.rs:20
              main    waits for main/0 to exit          bank.rs:35
              1 other task could go on

            objects, and where each was first used
              mutex#1   src/bank.rs:12:9
              atomic#1  src/bank.rs:40:9
              mutex#2   src/bank.rs:20:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn thirty_tasks() {
    check(
        &stories::many(),
        expect![[r#"
            deadlock: main/7 waits for mutex#1 held by main/7 and holds it itself
            found by random, seed 0, run 17

              main/7  src/bank.rs:13:9 in bank::transfer
                13 │ let step13 = self.accounts.lock().unwrap();

               step │ main               │ main/7            │ main/10    │ main/11    │ 8 others
            ────────┼────────────────────┼───────────────────┼────────────┼────────────┼─────────────────────
                  0 │ spawn main/0   :30 │                   │            │            │
                  1 │ spawn main/1   :30 │                   │            │            │
                  2 │ spawn main/2   :30 │                   │            │            │
                  3 │ spawn main/3   :30 │                   │            │            │
                  4 │ spawn main/4   :30 │                   │            │            │
                  5 │ spawn main/5   :30 │                   │            │            │
                  6 │ spawn main/6   :30 │                   │            │            │
                  7 │ spawn main/7   :30 │                   │            │            │
                  8 │ spawn main/8   :30 │                   │            │            │
                  9 │ spawn main/9   :30 │                   │            │            │
                 10 │ spawn main/10  :30 │                   │            │            │
                 11 │ spawn main/11  :30 │                   │            │            │
                 12 │ spawn main/12  :30 │                   │            │            │
                 13 │ spawn main/13  :30 │                   │            │            │
                 14 │ spawn main/14  :30 │                   │            │            │
                 15 │ spawn main/15  :30 │                   │            │            │
                 16 │ spawn main/16  :30 │                   │            │            │
                 17 │ spawn main/17  :30 │                   │            │            │
                 18 │ spawn main/18  :30 │                   │            │            │
                 19 │ spawn main/19  :30 │                   │            │            │
                 20 │ spawn main/20  :30 │                   │            │            │
                 21 │ spawn main/21  :30 │                   │            │            │
                 22 │ spawn main/22  :30 │                   │            │            │
                 23 │ spawn main/23  :30 │                   │            │            │
                 24 │ spawn main/24  :30 │                   │            │            │
                 25 │ spawn main/25  :30 │                   │            │            │
                 26 │ spawn main/26  :30 │                   │            │            │
                 27 │ spawn main/27  :30 │                   │            │            │
                 28 │ spawn main/28  :30 │                   │            │            │
             ›   29 │                    │ lock mutex#1  :12 │            │            │
             ›   30 │                    │                   │ yield  :14 │            │
             ›   31 │                    │                   │            │ yield  :14 │
             ›   32 │                    │                   │            │            │ main/12: yield  :14
             ›   33 │                    │                   │            │            │ main/13: yield  :14
             ›   34 │                    │                   │            │            │ main/14: yield  :14
             ›   35 │                    │                   │            │            │ main/15: yield  :14
             ›   36 │                    │                   │            │            │ main/16: yield  :14
             ›   37 │                    │                   │            │            │ main/17: yield  :14
             ›   38 │                    │                   │            │            │ main/18: yield  :14
             ›   39 │                    │                   │            │            │ main/19: yield  :14
             ×      │                    │ lock mutex#1  :13 │            │            │
             › switch   × waits for ever   lines of src/bank.rs

            at the end
              main/7  waits for mutex#1 held by itself  bank.rs:13
                      holds mutex#1, since step 29      bank.rs:12
              main    waits for main/0 to exit          bank.rs:35
              28 other tasks could go on

            objects, and where each was first used
              mutex#1  src/bank.rs:12:9

              raddle replay raddle-out/deadlock-17.raddle
              raddle minimize raddle-out/deadlock-17.raddle
        "#]],
    );
}

#[test]
fn no_line_is_wider_than_it_may_be() {
    let stories = [
        stories::deadlock(),
        stories::lost_update(),
        stories::condvar(),
        stories::five(),
        stories::race(),
        stories::long(),
        stories::many(),
    ];
    for story in &stories {
        for width in [60, 80, 110, 160] {
            let style = Style {
                width,
                ..Style::default()
            };
            let text = render(story, style);
            let table = text.lines().skip_while(|line| !line.contains("step │"));
            for line in table
                .take_while(|line| !line.is_empty())
                .filter(|line| line.contains('│'))
            {
                let wide = unicode_width::UnicodeWidthStr::width(line);
                assert!(wide <= width, "{wide} > {width}: {line}\n{text}");
            }
        }
    }
}

#[test]
fn colour_changes_nothing_else() {
    let story = stories::condvar();
    let plain = render(&story, Style::default());
    let mut coloured = render(
        &story,
        Style {
            colour: true,
            ..Style::default()
        },
    );
    assert!(coloured.contains("\x1b[1;31mdeadlock\x1b[0m"));
    while let Some(start) = coloured.find('\x1b') {
        let end = start + coloured[start..].find('m').unwrap();
        coloured.replace_range(start..=end, "");
    }
    let trimmed = |text: &str| {
        text.lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect::<String>()
    };
    assert_eq!(trimmed(&coloured), trimmed(&plain));
}
