//! The memory of the process, for tests that bound it.

use tokio::sync::{Mutex, MutexGuard};

static ALONE: Mutex<()> = Mutex::const_new(());

pub(super) async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

pub(super) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok()).unwrap_or_default() >> 10
}
