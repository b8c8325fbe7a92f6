//! Sessions: conversations, and the session values that they share, in a store.

mod history_tool;
mod journal;
mod memory;
pub(crate) mod sessions;
mod store;

pub(crate) use journal::{Journal, Save};
pub use memory::MemoryStore;
pub use sessions::{SavedConversation, UserSessions};
pub use store::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, StateScope, StoreError,
};
