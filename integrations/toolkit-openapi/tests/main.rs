//! Tests of `toolkit-openapi`.
