//! What lists tell of a conversation: its title, its times, and how its run stands.

use crate::status::Summary;
use std::time::{SystemTime, UNIX_EPOCH};

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConversationInfo {
    /// The user.
    pub user: String,
    /// The id of the conversation.
    pub id: String,
    /// The title, and how the latest run stands.
    pub summary: Summary,
    /// The time of the first save.
    pub created_at: SystemTime,
    /// The time of the last save.
    pub saved_at: SystemTime,
    /// The number of items in the inbox.
    pub inbox: usize,
}

impl ConversationInfo {
    /// Creates the entry of a conversation without a log.
    #[must_use]
    pub fn new(user: impl Into<String>, id: impl Into<String>) -> Self {
        let [created_at, saved_at] = [UNIX_EPOCH; 2];
        Self { user: user.into(), id: id.into(), summary: Summary::default(), created_at, saved_at, inbox: 0 }
    }
}

setters! { ConversationInfo:
    /// Sets the title and the status.
    with_summary(summary: Summary) = summary;
    /// Sets the time of the first save.
    with_created_at(created_at: SystemTime) = created_at;
    /// Sets the time of the last save.
    with_saved_at(saved_at: SystemTime) = saved_at;
    /// Sets the number of items in the inbox.
    with_inbox(inbox: usize) = inbox;
}
