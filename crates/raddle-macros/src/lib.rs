//! The `#[raddle::test]` attribute.
