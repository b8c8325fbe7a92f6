//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. No code panics while it holds a lock of this crate, so poisoning is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
