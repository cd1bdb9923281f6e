//! Raddle: the sans-I/O director that runs one interleaving
