//! Sessions: conversations, and the session values that they share, in a store.

mod history_tool;
mod journal;
mod memory;
mod sessions;
mod store;

pub(crate) use journal::Journal;
pub use memory::MemoryStore;
pub use sessions::Sessions;
pub use store::{ConversationInfo, ConversationLog, ConversationStore, StateScope, StoreError};
pub use toolkit_core::context::SessionDelta;
