//! Golden texts of runs that do not fit: events are left out, tasks share a column.

use crate::stories;
use crate::text::check;
use expect_test::expect;

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
