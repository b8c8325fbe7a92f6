//! The lock of what calls share. The model check in `tests/model.rs` puts one in its place whose every use it orders.

pub(super) use std::sync::{Mutex, MutexGuard};
