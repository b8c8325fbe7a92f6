//! Stores for the conversations of agents: files, SQLite and PostgreSQL.
//!
//! Each is a [`ConversationStore`](toolkit_agent::session::ConversationStore) for
//! [`Sessions`](toolkit_agent::Sessions). For conversations in memory, see
//! [`MemoryStore`](toolkit_agent::session::MemoryStore).
//!
//! ```
//! use toolkit_ai::agent::{Agent, Sessions};
//! use toolkit_ai::llm::ScriptedModel;
//! use toolkit_agent_stores::FileStore;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let folder = tempfile::tempdir()?;
//! let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.").text("You are Ada.")).build()?;
//! let sessions = Sessions::new(FileStore::new(folder.path()));
//! agent.run("I am Ada.").on(sessions.user("ada").conversation("session 1")).await?;
//!
//! // Another program.
//! let sessions = Sessions::new(FileStore::new(folder.path()));
//! assert_eq!(agent.run("Who am I?").on(sessions.user("ada").conversation("session 1")).await?.text, "You are Ada.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//!
//! None is enabled by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `files` | `FileStore`: a file for each conversation |
//! | `sqlite` | `SqliteStore`: an SQLite database |
//! | `postgres` | `PostgresStore`: a PostgreSQL database |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "files")]
mod files;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "files")]
pub use files::FileStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

/// Returns the database columns `scope` and `owner`.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn columns(scope: toolkit_agent::session::StateScope<'_>) -> [&str; 2] {
    use toolkit_agent::session::StateScope;
    match scope {
        StateScope::App => ["app", ""],
        StateScope::User(user) => ["user", user],
    }
}

/// Returns the database column `status`.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn status_column(status: &toolkit_agent::session::RunStatus) -> &'static str {
    use toolkit_agent::session::RunStatus;
    match status {
        RunStatus::Idle => "idle",
        RunStatus::Working { .. } => "working",
        RunStatus::Waiting { .. } => "waiting",
        _ => "ended",
    }
}

/// Returns a random number for pauses, and for versions that no recreated log repeats.
#[cfg(any(feature = "files", feature = "postgres"))]
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}

/// The examples of the README, compiled as doc tests.
#[cfg(all(doctest, feature = "files", feature = "postgres", feature = "sqlite"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
