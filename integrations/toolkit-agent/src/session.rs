//! Sessions: conversations and shared session values in a store.

#[cfg(feature = "files")]
mod files;
mod history_tool;
mod memory;
mod sessions;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

#[cfg(feature = "files")]
pub use files::FileStore;
pub use memory::MemoryStore;
pub use sessions::Sessions;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{ConversationInfo, ConversationStore, StateScope, StoreError};
