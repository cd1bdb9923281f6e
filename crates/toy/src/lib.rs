//! Raddle: a front end for tests that runs small programs given as data
