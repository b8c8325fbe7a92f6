//! The lock for shared state. The model check in `tests/model.rs` replaces it with another lock.

pub(super) use std::sync::{Mutex, MutexGuard};
