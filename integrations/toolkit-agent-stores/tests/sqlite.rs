//! The store in an SQLite database: its thread and its transactions.

use crate::contract::{self, key, load, save};
use std::time::Duration;
use tokio::task::JoinSet;
use toolkit_agent::session::{ConversationStore, StoreError};
use toolkit_agent_stores::SqliteStore;

#[tokio::test]
async fn sqlite_store_keeps_conversations() {
    let folder = tempfile::tempdir().unwrap();
    contract::check(async || SqliteStore::open(folder.path().join("a.db")).await.unwrap()).await;
}

/// Simultaneous appends share a transaction, and each is judged by its version.
#[tokio::test]
async fn a_refused_append_does_not_undo_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let mut writers = JoinSet::new();
    for number in 0..300 {
        let store = store.clone();
        let id = (number / 3).to_string();
        writers.spawn(async move { store.append(key("ada", &id), save(0, 0, &number.to_string())).await });
    }
    let appended = writers.join_all().await;
    let refused = appended.iter().filter_map(|appended| appended.as_ref().err());
    assert!(refused.clone().all(StoreError::is_conflict));
    assert_eq!(refused.count(), 200);
    let other = SqliteStore::open(&path).await.unwrap();
    assert_eq!(other.list("ada").await.unwrap().len(), 100);
    for id in 0..100 {
        assert_eq!(load(&other, key("ada", &id.to_string())).await.entries.len(), 1);
    }
}

#[tokio::test]
async fn the_last_clone_closes_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).await.unwrap();
    let clone = store.clone();
    drop(store);
    clone.append(key("ada", "1"), save(0, 0, "[]")).await.unwrap();
    // SQLite removes this file when the last connection closes.
    let log = folder.path().join("a.db-wal");
    assert!(log.exists());
    drop(clone);
    for _ in 0..500 {
        if !log.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the database is still open");
}

/// SQLite does not wait by itself for another program's work on a new database.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_database_is_opened_while_another_program_creates_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; CREATE TABLE other (id)").unwrap();
    let opening = tokio::spawn(async move { SqliteStore::open(path).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    other.execute_batch("COMMIT").unwrap();
    let store = opening.await.unwrap().unwrap();
    assert!(store.append(key("ada", "1"), save(0, 0, "[]")).await.unwrap() > 0);
}

#[tokio::test]
async fn a_database_with_other_tables_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE conversations (number INTEGER PRIMARY KEY, user_id TEXT, id TEXT)")
        .unwrap();
    let error = SqliteStore::open(&path).await.unwrap_err().to_string();
    assert!(error.contains("the table `conversations` has other columns"), "{error}");
}
