//! The store in PostgreSQL, on a real server.

mod proxy;
pub(crate) mod server;

use crate::contract::{self, key, load, save};
use serde::Deserialize;
use server::Schema;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;
use toolkit_agent::session::{ConversationStore, StateScope};
use toolkit_agent::{Agent, Sessions};
use toolkit_agent_stores::PostgresStore;
use toolkit_core::context::SessionDelta;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::ScriptedModel;

/// Isolation levels, in the last two of which statements are rolled back instead of waiting.
const LEVELS: [&str; 3] = ["read\\ committed", "repeatable\\ read", "serializable"];

const WRITERS: usize = 16;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

pub(crate) async fn open(config: &str) -> PostgresStore {
    PostgresStore::connect(config).await.unwrap()
}

#[tokio::test]
async fn postgres_store_keeps_conversations() {
    let Some(schema) = Schema::new().await else { return };
    contract::check(async || open(&schema.config()).await).await;
    schema.drop().await;
}

#[tokio::test]
async fn a_database_with_other_tables_is_refused() {
    let Some(schema) = Schema::new().await else { return };
    let name = &schema.name;
    schema.execute(&format!("CREATE TABLE {name}.toolkit_conversations (user_id BYTEA, id BYTEA)")).await;
    let error = PostgresStore::connect(&schema.config()).await.unwrap_err().to_string();
    assert!(error.contains("is that of a development version"), "{error}");
    schema.drop().await;
}

#[tokio::test]
async fn programs_that_start_at_once_create_the_tables_once() {
    let Some(schema) = Schema::new().await else { return };
    let mut programs = JoinSet::new();
    for number in 0..12 {
        let config = schema.config();
        programs.spawn(async move {
            open(&config).await.append(key("ada", &number.to_string()), save(0, 0, "[]")).await.unwrap();
        });
    }
    programs.join_all().await;
    assert_eq!(open(&schema.config()).await.list("ada").await.unwrap().len(), 12);
    schema.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_appends_to_a_version_wins() {
    let Some(schema) = Schema::new().await else { return };
    for level in LEVELS {
        let config = schema.config_with(&format!("-cdefault_transaction_isolation={level}"));
        let mut stores = Vec::new();
        for _ in 0..8 {
            stores.push(open(&config).await);
        }
        let mut version = 0;
        let mut expected = Vec::new();
        for round in 0..10 {
            let mut writers = JoinSet::new();
            for (number, store) in stores.iter().cloned().enumerate() {
                let entry = format!("[{round}, {number}]");
                writers.spawn(async move {
                    let appended = store.append(key("ada", "race"), save(version, 0, &entry)).await;
                    (entry, appended)
                });
            }
            let appended = writers.join_all().await;
            let won: Vec<_> = appended.iter().filter(|(_, appended)| appended.is_ok()).collect();
            assert_eq!(won.len(), 1, "{level}: {appended:?}");
            for (_, lost) in appended.iter().filter(|(_, appended)| appended.is_err()) {
                let error = lost.as_ref().unwrap_err();
                assert!(error.is_conflict(), "{level}: {error}");
            }
            version = *won[0].1.as_ref().unwrap();
            expected.push(won[0].0.clone());
            let log = load(&stores[0], key("ada", "race")).await;
            assert_eq!((log.entries, log.version), (expected.clone(), version));
        }
        assert!(stores[0].delete(key("ada", "race")).await.unwrap());
    }
    schema.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_conversation_has_no_entries_of_concurrent_appends() {
    let Some(schema) = Schema::new().await else { return };
    let one = open(&schema.config()).await;
    let other = open(&schema.config()).await;
    for _ in 0..50 {
        let version = one.append(key("ada", "1"), save(0, 0, "[1]")).await.unwrap();
        let (appended, deleted) =
            tokio::join!(one.append(key("ada", "1"), save(version, 0, "[2]")), other.delete(key("ada", "1")));
        assert!(deleted.unwrap());
        assert!(
            appended.is_ok_and(|appended| appended > version) || one.list("ada").await.unwrap().is_empty()
        );
        assert!(one.load(key("ada", "1")).await.unwrap().is_none());
    }
    schema.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_shared_values_are_all_applied() {
    let Some(schema) = Schema::new().await else { return };
    for level in LEVELS {
        let config = schema.config_with(&format!("-cdefault_transaction_isolation={level}"));
        let mut writers = JoinSet::new();
        for number in 0..4 {
            let store = open(&config).await;
            writers.spawn(async move {
                for round in 0..10 {
                    // Half of the writers do the reverse.
                    let [set, removed] = if number % 2 == 0 { ["b", "a\0"] } else { ["a\0", "b"] };
                    let changes = [
                        (set.to_owned(), Some(round.into())),
                        (removed.to_owned(), None),
                        (format!("{level} {number} {round}"), Some("ü\0".into())),
                    ];
                    store.update_state(StateScope::App, &SessionDelta::from(changes)).await.unwrap();
                }
            });
        }
        writers.join_all().await;
        let values = open(&config).await.load_state(StateScope::App).await.unwrap();
        let found: BTreeSet<_> = values.keys().filter(|key| key.starts_with(level)).collect();
        assert_eq!(found.len(), 40, "{values:?}");
        assert_eq!(values[&format!("{level} 0 0")], "ü\0");
    }
    schema.drop().await;
}

/// Ends a store's connections, like a server's restart.
async fn disconnect(schema: &Schema) {
    let sql = format!(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE query LIKE '%toolkit_entries%' AND query NOT LIKE '%pg_stat_activity%' AND application_name = '{}'",
        schema.name
    );
    schema.execute(&sql).await;
}

#[tokio::test]
async fn a_lost_connection_is_an_error_or_replaced() {
    let Some(schema) = Schema::new().await else { return };
    let config = schema.config_with(&format!("-capplication_name={}", schema.name));
    let store = open(&config).await;
    let version = store.append(key("ada", "1"), save(0, 0, "[1]")).await.unwrap();
    disconnect(&schema).await;
    store.append(key("ada", "1"), save(version, 0, "[2]")).await.unwrap();

    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let given = PostgresStore::new(client).await.unwrap();
    assert_eq!(given.load(key("ada", "1")).await.unwrap().unwrap().entries, ["[1]", "[2]"]);
    disconnect(&schema).await;
    assert!(connection.await.unwrap().is_err());
    let error = given.load(key("ada", "1")).await.unwrap_err();
    assert_eq!(error.to_string(), "the PostgreSQL database of conversations failed: connection closed");
    assert!(!error.is_conflict());
    assert_eq!(load(&store, key("ada", "1")).await.entries.len(), 2);
    schema.drop().await;
}

#[derive(Default)]
struct Steps {
    made: [AtomicU32; WRITERS],
    changed: Notify,
}

impl Steps {
    fn add(&self, writer: usize) {
        self.made[writer].fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn end(&self, writer: usize) {
        self.made[writer].store(u32::MAX, Ordering::Relaxed);
        self.changed.notify_one();
    }

    async fn all_made(&self) {
        let made = || self.made.iter().map(|steps| steps.load(Ordering::Relaxed));
        let earlier: Vec<u32> = made().collect();
        while made().zip(&earlier).any(|(now, earlier)| now == *earlier && now != u32::MAX) {
            self.changed.notified().await;
        }
    }
}

/// Ends all connections whenever each writer has made a step, whatever the machine's speed, until aborted.
fn disconnect_often(schema: &Schema, steps: Arc<Steps>) -> tokio::task::JoinHandle<()> {
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{}'",
        schema.name
    );
    let server = schema.server();
    tokio::spawn(async move {
        let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
        tokio::spawn(async { drop(connection.await) });
        loop {
            client.batch_execute(&sql).await.unwrap();
            steps.all_made().await;
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_lose_no_entry_and_write_none_twice() {
    let Some(schema) = Schema::new().await else { return };
    let store = open(&schema.config_with(&format!("-capplication_name={}", schema.name))).await;
    let steps = Arc::new(Steps::default());
    let disconnecting = disconnect_often(&schema, steps.clone());
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, steps) = (store.clone(), steps.clone());
        writers.spawn(async move {
            let id = writer.to_string();
            let mut version = 0;
            // Only versions tell the entries apart.
            for _ in 0..100 {
                version = store.append(key("ada", &id), save(version, 0, "[]")).await.unwrap();
                steps.add(writer);
            }
            assert_eq!(load(&store, key("ada", &id)).await.entries.len(), 100);
            let version = store.replace(key("ada", &id), save(version, 0, "[1]")).await.unwrap();
            assert_eq!(load(&store, key("ada", &id)).await.version, version);
            steps.end(writer);
        });
    }
    writers.join_all().await;
    disconnecting.abort();
    schema.drop().await;
}

/// A log's entries are equal, and each third connection is lost after an executed append.
#[tokio::test(flavor = "multi_thread")]
async fn an_append_whose_answer_is_lost_is_not_repeated() {
    let Some(schema) = Schema::new().await else { return };
    let (config, lost) = proxy::start(&schema.config()).await;
    let store = PostgresStore::connect_with(config, NoTls).await.unwrap();
    let other = open(&schema.config()).await;
    for id in ["1", "2"] {
        let mut version = 0;
        for _ in 0..20 {
            let next = store.append(key("ada", id), save(version, 0, "[]")).await.unwrap();
            assert!(store.append(key("ada", id), save(version, 0, "[]")).await.unwrap_err().is_conflict());
            assert!(other.append(key("ada", id), save(version, 0, "[]")).await.unwrap_err().is_conflict());
            version = next;
        }
        let log = load(&other, key("ada", id)).await;
        assert_eq!((log.entries.len(), log.version), (20, version));
        let version = store.replace(key("ada", id), save(version, 0, "[1]")).await.unwrap();
        assert_eq!(load(&other, key("ada", id)).await.version, version);
    }
    assert!(lost.load(Ordering::Relaxed) > 20);
    schema.drop().await;
}

/// Each third connection is lost after an executed statement that puts an item or takes it up.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_whose_answer_is_lost_is_put_once_and_taken_once() {
    let Some(schema) = Schema::new().await else { return };
    let (config, lost) = proxy::start(&schema.config()).await;
    let store = PostgresStore::connect_with(config, NoTls).await.unwrap();
    let other = open(&schema.config()).await;
    let inbox = key("ada", "1");
    let mut version = 0;
    for round in 0..20 {
        let item = store.put(inbox, "a", &round.to_string()).await.unwrap();
        assert_eq!(other.inbox(inbox).await.unwrap(), from_ref(&item));
        let taken = [item.number];
        let taking = save(version, round, "[]").with_taken(&taken);
        version = store.append(inbox, taking).await.unwrap();
        assert!(other.inbox(inbox).await.unwrap().is_empty());
        assert!(store.append(inbox, taking).await.unwrap_err().is_conflict());
    }
    assert_eq!(load(&other, inbox).await.entries.len(), 20);
    assert!(lost.load(Ordering::Relaxed) > 10);
    schema.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_end_no_run_and_run_no_call_twice() {
    let Some(schema) = Schema::new().await else { return };
    let store = open(&schema.config_with(&format!("-capplication_name={}", schema.name))).await;
    let sessions = Sessions::new(store);
    let steps = Arc::new(Steps::default());
    let disconnecting = disconnect_often(&schema, steps.clone());
    let mut runs = JoinSet::new();
    for writer in 0..WRITERS {
        let (sessions, steps) = (sessions.clone(), steps.clone());
        runs.spawn(async move {
            let id = writer.to_string();
            let count = Arc::new(AtomicU32::new(0));
            let (counted, stepped) = (count.clone(), steps.clone());
            let work = ClosureTool::new("work", "Works.", move |_: Nothing| {
                stepped.add(writer);
                // Different outputs keep the agent from refusing repeated calls.
                counted.fetch_add(1, Ordering::Relaxed)
            });
            let mut model = ScriptedModel::new();
            for _ in 0..10 {
                model = model.call("work", "{}").then();
            }
            let tools = ToolRegistry::from_tools([work.unwrap()]).unwrap();
            let agent = Agent::builder(model.text("Done.")).tools(tools).build().unwrap();
            let output = agent.run("Work.").on(sessions.user("ada").conversation(&id)).await.unwrap();
            assert_eq!((output.text.as_str(), count.load(Ordering::Relaxed)), ("Done.", 10));
            assert_eq!(sessions.user("ada").conversation(&id).open().await.unwrap().messages().len(), 22);
            steps.end(writer);
        });
    }
    runs.join_all().await;
    disconnecting.abort();
    schema.drop().await;
}

#[tokio::test]
async fn a_user_without_the_right_to_create_tables_uses_those_that_exist() {
    let Some(schema) = Schema::new().await else { return };
    drop(open(&schema.config()).await);
    let name = &schema.name;
    schema
        .execute(&format!(
            "CREATE ROLE {name}; GRANT USAGE ON SCHEMA {name} TO {name};
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO {name};"
        ))
        .await;
    let store = open(&schema.config_with(&format!("-crole={name}"))).await;
    let version = store.append(key("ada", "1"), save(0, 0, "[1]")).await.unwrap();
    store.append(key("ada", "1"), save(version, 0, "[2]")).await.unwrap();
    assert!(store.delete(key("ada", "1")).await.unwrap());
    schema.execute(&format!("DROP OWNED BY {name}; DROP ROLE {name}")).await;
    schema.drop().await;
}

#[tokio::test]
async fn errors_of_connections_contain_no_secrets() {
    let invalid =
        PostgresStore::connect("host=localhost password=open sesame=1").await.unwrap_err().to_string();
    assert!(invalid.contains("connection string") && !invalid.contains("sesame"), "{invalid}");
    let absent = "host=/nowhere/at/all user=ada password=sesame connect_timeout=5";
    let absent = PostgresStore::connect(absent).await.unwrap_err().to_string();
    let expected = "the PostgreSQL database of conversations failed: error connecting to server: ";
    assert!(absent.starts_with(expected) && !absent.contains("sesame"), "{absent}");
    assert!(absent.contains("No such file"), "{absent}");
}
