//! The lock for shared state. The model check in `tests/model.rs` replaces it by its own.

pub(super) use std::sync::{Mutex, MutexGuard};
