//! The lock of shared state, which the model check in `tests/model.rs` replaces by its own.

pub(super) use std::sync::{Mutex, MutexGuard};
