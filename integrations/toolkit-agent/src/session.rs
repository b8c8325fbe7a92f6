//! Sessions: conversations, and the session values that they share, in a store.

mod entry;
mod history_tool;
mod info;
mod journal;
mod memory;
pub(crate) mod sessions;
mod store;

pub use entry::{ConversationEntry, EntryKind};
pub use info::{ConversationInfo, EndReason, RunStatus, Summary};
pub(crate) use journal::{Journal, RunningSave};
pub use memory::MemoryStore;
pub use sessions::{SavedConversation, UserSessions};
pub use store::{
    ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope, StoreError,
};
