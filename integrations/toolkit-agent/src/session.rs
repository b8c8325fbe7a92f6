//! Sessions: conversations, and the session values that they share, in a store.

#[cfg(feature = "files")]
mod files;
mod history_tool;
mod journal;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod sessions;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

#[cfg(feature = "files")]
pub use files::FileStore;
pub(crate) use journal::Journal;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use sessions::Sessions;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{ConversationInfo, ConversationLog, ConversationStore, StateScope, StoreError};
