//! Recovery of conversations whose log is damaged.

use super::sessions::{SavedConversation, Sessions};
use super::store::ConversationKey;
use super::store_error::StoreError;
use crate::conversation::{Conversation, EarlierCall, LogReader};
use toolkit_core::ToolCall;

/// The sound part of a damaged log, from [`SavedConversation::recover`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovery {
    sessions: Sessions,
    conversation: Conversation,
    /// The number of the sound entries, with which the log begins.
    pub entries: u64,
    /// The number of saves after them. Those between them that are missing do not count.
    pub lost_saves: usize,
    /// What is wrong with the first of these.
    pub error: String,
    /// The calls that may have run although the sound part has no result of them.
    ///
    /// These are its own open calls, and those that can still be read in the lost saves. There may be more.
    pub calls: Vec<EarlierCall>,
}

impl SavedConversation {
    /// Reads the sound part of a damaged log, up to the first save that is damaged or missing. `None` if the
    /// log is not damaged, or does not exist.
    ///
    /// This changes nothing. [`Recovery::replace`] continues the conversation from the sound part.
    ///
    /// ```
    /// use toolkit_ai::agent::Sessions;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let saved = Sessions::default().user("ada").conversation("1");
    /// if let Some(recovery) = saved.recover().await? {
    ///     eprintln!("{} saves are lost: {}", recovery.lost_saves, recovery.error);
    ///     for earlier in &recovery.calls {
    ///         eprintln!("may have run: {} {}", earlier.call.name, earlier.call.arguments);
    ///     }
    ///     recovery.replace().await?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn recover(&self) -> Result<Option<Recovery>, StoreError> {
        let Some(log) = self.sessions().inner.store.load_damaged(self.key()).await? else { return Ok(None) };
        let mut reader = LogReader::default();
        let mut sound = Vec::new();
        let mut error = None;
        let mut entries = 0;
        for save in &log.entries {
            if let Err(reason) = reader.entries(save) {
                error = Some(reason);
                break;
            }
            sound.push(save.clone());
            entries = reader.next();
        }
        let Some(error) = error else { return Ok(None) };
        let ConversationKey { user, id } = self.key();
        let read = Conversation::read(id, &sound, self.sessions().store_id(), log.version);
        let mut conversation = read.map_err(StoreError::new)?.with_user_id(user);
        let lost = log.entries.get(sound.len()..).unwrap_or_default();
        let calls = conversation.lose(readable_calls(lost));
        let sessions = self.sessions().clone();
        Ok(Some(Recovery { sessions, conversation, entries, lost_saves: lost.len(), error, calls }))
    }
}

impl Recovery {
    /// Returns the sound part.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Replaces the damaged log by the sound part. The inbox stays.
    ///
    /// The first call of each tool of the lost saves waits for approval, as after a
    /// [fork](SavedConversation::fork).
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written, or a [conflict](StoreError::is_conflict) if the log has
    /// changed since.
    pub async fn replace(mut self) -> Result<(), StoreError> {
        let store = &*self.sessions.inner.store;
        let (user, id) = (self.conversation.user_id().to_owned(), self.conversation.id().to_owned());
        let key = ConversationKey { user: &user, id: &id };
        let inbox = store.inbox(key).await?;
        let journal = self.sessions.journal(&mut self.conversation);
        journal.rewrite(&self.conversation).await?;
        for item in inbox {
            store.put(key, &item.name, &item.content).await?;
        }
        Ok(())
    }
}

/// Returns the calls that can be read in the JSON of damaged saves.
fn readable_calls(saves: &[String]) -> Vec<EarlierCall> {
    let mut calls: Vec<EarlierCall> = Vec::new();
    for save in saves {
        for (begin, _) in save.match_indices("{\"id\":") {
            let rest = save.get(begin..).unwrap_or_default();
            let read = serde_json::Deserializer::from_str(rest).into_iter::<ToolCall>().next();
            let Some(Ok(call)) = read else { continue };
            if !calls.iter().any(|known| known.call == call) {
                calls.push(EarlierCall::unplaced(call, 0));
            }
        }
    }
    calls
}
