//! Sessions: conversations, and the session values that they share, in a store.

mod fork;
mod history_tool;
mod info;
mod journal;
mod memory;
mod recovery;
pub(crate) mod sessions;
mod store;
mod store_error;

pub use crate::conversation::{EarlierCall, ForkPoint};
pub use crate::conversation_entry::{ConversationEntry, EntryKind};
pub use crate::status::{EndReason, RunStatus, Summary};
pub(crate) use history_tool::date;
pub use info::ConversationInfo;
pub(crate) use journal::{Journal, RunningSave};
pub use memory::MemoryStore;
pub use recovery::Recovery;
pub use sessions::{SavedConversation, UserSessions};
pub use store::{ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope};
pub use store_error::StoreError;
