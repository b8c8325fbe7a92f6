//! The memory of the process, for tests that bound it.

use tokio::sync::{Mutex, MutexGuard};

static ALONE: Mutex<()> = Mutex::const_new(());

/// Waits until no other test measures memory.
pub(super) async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

/// The resident memory of this process, in MiB.
pub(super) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok()).unwrap_or_default() >> 10
}
