//! Integration tests of the stores.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod contract;
mod crashes;
mod files;
mod postgres;
mod runs;
mod sqlite;

use contract::{FIRST, append_parts, key};
use toolkit_agent::session::{ConversationStore, MemoryStore};

#[tokio::test]
async fn memory_store_keeps_conversations() {
    let store = MemoryStore::new();
    contract::check(async || store.clone()).await;
}

/// The contract allows more.
#[tokio::test]
async fn a_part_of_a_log_begins_with_the_save_that_has_the_entry() {
    let folder = tempfile::tempdir().unwrap();
    begins_with_entry(MemoryStore::new()).await;
    begins_with_entry(toolkit_agent_stores::FileStore::new(folder.path())).await;
    begins_with_entry(toolkit_agent_stores::SqliteStore::in_memory().unwrap()).await;
    let Some(schema) = postgres::server::Schema::new().await else { return };
    begins_with_entry(postgres::open(&schema.config()).await).await;
    schema.drop().await;
}

async fn begins_with_entry(store: impl ConversationStore) {
    append_parts(&store, key("ada", "1")).await;
    for entry in 0..25 {
        let part = store.load_from(key("ada", "1"), entry).await.unwrap().unwrap();
        let expected = FIRST.iter().rposition(|first| *first <= entry).unwrap();
        assert!(part.entries[0].starts_with(&format!("[{},", FIRST[expected])), "entry {entry}");
        assert_eq!(part.entries.len(), FIRST.len() - expected);
    }
}
