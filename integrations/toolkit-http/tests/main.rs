//! Tests of `toolkit-http`.
