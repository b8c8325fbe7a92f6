//! Runs with an owner, over files and SQLite.

#[path = "../../toolkit-agent/tests/runs/table.rs"]
mod table;

use toolkit_agent_stores::{FileStore, SqliteStore};

#[tokio::test(flavor = "multi_thread")]
async fn an_input_does_what_its_mode_says_over_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    let folders = std::iter::repeat_with(|| {
        number += 1;
        folder.path().join(number.to_string())
    });
    let folders = std::sync::Mutex::new(folders);
    table::check(async || FileStore::new(folders.lock().unwrap().next().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_does_what_its_mode_says_over_sqlite() {
    table::check(async || SqliteStore::in_memory().unwrap()).await;
}
