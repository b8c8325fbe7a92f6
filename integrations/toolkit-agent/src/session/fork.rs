//! Forks and titles of saved conversations.

use super::sessions::SavedConversation;
use super::store_error::StoreError;
use crate::conversation::{Conversation, ForkPoint};

impl SavedConversation {
    /// Creates another conversation of the user, with the id `id` and the messages of this one before an
    /// input.
    ///
    /// The input is given by the index of its message, by the [id](crate::RunRequest::invocation_id) of its
    /// run, or by the id that the client gave to the message. To edit and resend a message, fork before it, and
    /// run the agent with the new text.
    ///
    /// - The session values of the conversation are those of the last save before the input; those with the
    ///   key prefix `user:` are shared.
    /// - What the runs have [spent](Conversation::spent), pending calls, decisions and approvals for the
    ///   session stay behind.
    /// - What tools have done after the input stays done. So the first call of each tool that ran then, and is
    ///   not [repeatable](toolkit_core::ToolMetadata::is_repeatable), waits for approval, and the reason lists
    ///   the earlier calls. The next ones wait too, until the program has approved one. Agents called as
    ///   tools do not wait, but the calls in them do.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, Sessions};
    /// use toolkit_ai::llm::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().text("It rains.").text("It is sunny.")).build()?;
    /// let saved = Sessions::default().user("ada").conversation("1");
    /// agent.run("How is the weather in Oslo?").invocation_id("oslo").on(&saved).await?;
    ///
    /// let fork = saved.fork("2", "oslo").await?;
    /// agent.run("How is the weather in Rome?").on(&fork).await?;
    /// assert_eq!(fork.open().await?.messages()[0].to_text(), "How is the weather in Rome?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError`] if the conversation does not exist, if a run works on it, or if the fork would begin
    /// inside of a run; a [conflict](StoreError::is_conflict) if the id is in use.
    pub async fn fork(
        &self,
        id: impl Into<String>,
        before: impl Into<ForkPoint>,
    ) -> Result<Self, StoreError> {
        let Some(log) = self.sessions().inner.store.load(self.key()).await? else {
            return Err(self.refused("it does not exist"));
        };
        let fork = self.with_id(id.into());
        let source = self.key();
        let copy =
            Conversation::forked((source.user, source.id), &log.entries, &before.into(), fork.key().id);
        let mut forked = copy.map_err(|reason| self.refused(&reason))?;
        self.sessions().save(&mut forked).await?;
        Ok(fork)
    }

    fn refused(&self, reason: &str) -> StoreError {
        StoreError::new(format_args!("conversation `{}` cannot be forked: {reason}", self.key().id))
    }

    /// Sets the title. See [`Conversation::set_title`].
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be read or saved, or if a run works on it, which would have a
    /// conflict.
    pub async fn rename(&self, title: impl Into<String>) -> Result<(), StoreError> {
        let mut conversation = self.open().await?;
        if conversation.may_be_worked_on() {
            let id = self.key().id;
            return Err(StoreError::new(format_args!(
                "conversation `{id}` cannot be renamed: a run works on it, or its process has died; wait for its end, or \
                 abandon it"
            )));
        }
        conversation.set_title(title);
        self.sessions().save(&mut conversation).await
    }
}
