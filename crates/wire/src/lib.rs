//! Raddle: the formats that are read back
