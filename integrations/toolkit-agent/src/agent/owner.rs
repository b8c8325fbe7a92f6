//! Where the events of a run go, and who owns it.

use crate::conversation::InputId;
use crate::event::RunEvent;
use crate::helpers::BoxFuture;
use crate::session::StoreError;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use toolkit_llm::UserMessage;

/// Where the events of a run go.
pub(crate) enum Sink {
    Stream(UnboundedSender<RunEvent>),
    Owner(Arc<dyn RunOwner>),
}

/// The owner of a run: it hears what happens, and gives inputs to a run that works.
pub(crate) trait RunOwner: Send + Sync {
    fn hear(&self, event: RunEvent);

    /// Notes that the log has this number of entries, and all events so far are theirs.
    fn saved(&self, entries: u64);

    /// Returns the inputs for the next turn.
    fn inputs(&self) -> BoxFuture<'_, Result<Vec<SteeredInput>, StoreError>>;
}

/// An input for a run that works.
pub(crate) struct SteeredInput {
    /// The number of its item in the inbox.
    pub(crate) number: u64,
    pub(crate) id: InputId,
    pub(crate) input: UserMessage,
}
