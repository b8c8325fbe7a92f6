//! The lock for shared state, which the model check in `tests/model.rs` replaces.

pub(super) use std::sync::{Mutex, MutexGuard};
