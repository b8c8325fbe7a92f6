//! What the log says of a conversation.

use crate::page_error::PageError;
use toolkit_agent::runs::Runs;
use toolkit_agent::session::{ConversationEntry, ConversationKey, EntryKind};
use toolkit_llm::UserMessage;

/// Reads the entries of what a conversation still has: without inputs that others took the place of, and what followed them.
pub(crate) async fn read_log(
    runs: &impl Runs,
    key: ConversationKey<'_>,
) -> Result<Vec<ConversationEntry>, PageError> {
    let mut log: Vec<ConversationEntry> = Vec::new();
    for entry in runs.entries(key).await? {
        if let EntryKind::Rewound { run, .. } = &entry.kind {
            let first = log.iter().position(|known| known.run == *run);
            log.truncate(first.unwrap_or(log.len()));
        } else {
            log.push(entry);
        }
    }
    Ok(log)
}

/// Returns the run of the latest input with this id of a client's message, and what it says.
pub(crate) fn input_of<'a>(log: &'a [ConversationEntry], id: &str) -> Option<(&'a str, &'a UserMessage)> {
    for entry in log.iter().rev() {
        let EntryKind::Input { message, message_id, .. } = &entry.kind else { continue };
        if message_id == id {
            return Some((&entry.run, message));
        }
    }
    None
}
