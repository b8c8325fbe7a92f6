//! Locks whose values no panic can leave half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Poisoning is ignored, because each change under our locks is one statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
