//! Tools on many machines, over NATS.
