//! Raddle: ids, operations, objects, plans, traces and failures; pure semantics, no I/O
