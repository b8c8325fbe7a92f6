//! Integration tests of the stores.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod contract;
mod crashes;
mod files;
mod postgres;
mod sqlite;

#[tokio::test]
async fn memory_store_keeps_conversations() {
    let store = toolkit_agent::session::MemoryStore::new();
    contract::check(async || store.clone()).await;
}
