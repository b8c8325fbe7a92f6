//! How a run saves its conversation, and what its owner hears of it.

use super::Run;
use super::owner::{RunOwner, Sink, SteeredInput};
use crate::conversation::{Conversation, InputId};
use crate::error::AgentError;
use crate::session::{RunningSave, StoreError};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::runtime::Handle;

impl Run {
    /// Saves the new entries of a conversation that belongs to sessions. If the run stops meanwhile, the
    /// save is given up after five seconds.
    pub(crate) async fn save(&self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let journal = self.0.place.journal.as_ref().filter(|journal| conversation.is_saved_in(&journal.log));
        let Some(journal) = journal else { return Ok(()) };
        let budget = self.0.budget.clone();
        let (values, summary) = (conversation.session_values(), conversation.summary());
        let saved = match journal.save(values, summary, move || budget.sum_of_run()).await {
            RunningSave::Ended(saved) => saved,
            // Boxed, because most saves have ended, and a run's future has room for several.
            save @ RunningSave::Running(_) => Box::pin(self.until_late(save.finish())).await?,
            // No task can finish a save that was dropped, so this save is not interrupted.
            save @ RunningSave::Waiting(_) => save.finish().await,
        };
        if saved.as_ref().is_err_and(StoreError::is_conflict) {
            self.0.shared.is_lost.store(true, Ordering::Relaxed);
        }
        saved?;
        if let Some(owner) = self.owner()
            && let Some(entries) = conversation.entries_between_turns()
        {
            owner.saved(entries);
        }
        Ok(())
    }

    /// Returns the owner of the run, unless this is a part of it.
    fn owner(&self) -> Option<&Arc<dyn RunOwner>> {
        match &self.0.shared.events {
            Some(Sink::Owner(owner)) if self.is_outermost() => Some(owner),
            _ => None,
        }
    }

    /// Returns whether somebody continues the run when its future is dropped.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self.0.shared.events, Some(Sink::Owner(_)))
    }

    /// Returns the inputs that the run reads before its next turn.
    pub(crate) async fn steered(&self) -> Result<Vec<SteeredInput>, AgentError> {
        match self.owner() {
            Some(owner) => Ok(owner.inputs().await?),
            None => Ok(Vec::new()),
        }
    }

    /// Saves a conversation whose run has ended before, if its last save has failed.
    pub(crate) async fn save_again(&self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let spent = conversation.attempt_spent();
        let journal = self.0.place.journal.as_ref().filter(|journal| conversation.is_saved_in(&journal.log));
        let Some(journal) = journal else { return Ok(()) };
        let saved = journal.save(conversation.session_values(), conversation.summary(), move || spent).await;
        Ok(saved.finish().await?)
    }

    /// Returns the run with the id of the conversation's latest run, which it continues. An id of the program's
    /// stays.
    pub(crate) fn continuing(mut self, conversation: &Conversation) -> Self {
        let id = conversation.run_id();
        if !id.is_empty()
            && let Some(shared) = Arc::get_mut(&mut self.0).and_then(|run| Arc::get_mut(&mut run.shared))
            && !shared.is_named
        {
            shared.context = std::mem::take(&mut shared.context).with_invocation_id(id.clone());
            shared.invocation_id = id;
        }
        self
    }

    pub(crate) fn input_id(&self) -> InputId {
        InputId { run: self.0.shared.invocation_id.clone(), message: self.0.shared.message_id.clone() }
    }

    /// Saves the new entries in a task of its own, because the run's future is dropped.
    pub(crate) fn save_dropped(&self, conversation: &mut Conversation) {
        conversation.set_spent(self.0.budget.sum_of_run());
        let journal = self.0.place.journal.as_ref().filter(|journal| conversation.is_saved_in(&journal.log));
        if let (Some(journal), Ok(runtime)) = (journal.cloned(), Handle::try_current()) {
            let (values, summary) = (conversation.session_values(), conversation.summary());
            let spent = self.0.budget.sum_of_run();
            runtime.spawn(async move { journal.save(values, summary, move || spent).await.finish().await });
        }
    }
}
