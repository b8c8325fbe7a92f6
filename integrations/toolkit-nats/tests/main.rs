//! Tests of `toolkit-nats`.
