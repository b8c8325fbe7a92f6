//! Runs that somebody owns: inputs are submitted, listeners come and go, and decisions arrive from anywhere.
//!
//! ```
//! use toolkit_ai::agent::runs::{LocalRuns, RunInput, Runs as _};
//! use toolkit_ai::agent::session::ConversationKey;
//! use toolkit_ai::agent::{Agent, RunEvent, Sessions};
//! use toolkit_ai::llm::ScriptedModel;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build()?;
//! let runs = LocalRuns::new(agent, Sessions::default());
//! let key = ConversationKey { user: "ada", id: "1" };
//! runs.submit(key, RunInput::new("I am Ada.")).await?;
//! let mut updates = runs.attach(key, None).await?; // a page that was loaded
//! let mut text = String::new();
//! while let Some(update) = updates.next().await {
//!     if let Some(RunEvent::Text { text: piece, .. }) = update.event() {
//!         text.push_str(piece);
//!     }
//! }
//! assert_eq!(text, "Hello, Ada.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! An input is saved before [`submit`](Runs::submit) returns, and a run goes on without listeners.
//!
//! | mode of an input | no run, or it has ended | a run works | a run waits for a decision |
//! | --- | --- | --- | --- |
//! | [`Enqueue`](InputMode::Enqueue) | begins a run | waits for its end | waits for its end |
//! | [`Steer`](InputMode::Steer) | begins a run | is read at its next turn | is refused |
//! | [`Interrupt`](InputMode::Interrupt) | begins a run | cancels it, and begins another | gives up its calls, and begins another |
//! | [`Reject`](InputMode::Reject) | begins a run | is refused | is refused |
//!
//! A run whose process has died counts as one that works, until [`LocalRuns::take_over`] continues it.

mod active;
mod client_tool;
mod cursor;
mod driver;
mod hub;
mod item;
mod listener;
mod local;
mod past;
mod step;

pub use client_tool::ClientTool;
pub use cursor::{Cursor, ParseCursorError};
pub use listener::{RunUpdate, RunUpdates};
pub use local::LocalRuns;

use crate::conversation_entry::ConversationEntry;
use crate::pending::Decision;
use crate::session::{ConversationInfo, ConversationKey, RunStatus, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_llm::UserMessage;

/// An owner of the runs of conversations. [`LocalRuns`] owns them in this process.
///
/// All functions may be called from any process that has the same store.
pub trait Runs: Send + Sync + 'static {
    /// Saves an input, and begins a run for it when its [mode](InputMode) allows.
    ///
    /// An input with the id of an earlier one is not saved again.
    ///
    /// # Errors
    /// [`RunsError::Refused`] if its mode refuses it now, or [`RunsError::Store`].
    fn submit(
        &self,
        key: ConversationKey<'_>,
        input: RunInput,
    ) -> impl Future<Output = Result<Submitted, RunsError>> + Send;

    /// Listens to a conversation: what happened after `after`, or from its beginning, and what happens from now on. The
    /// listener ends with the run, if no other input follows.
    ///
    /// A run that works in another process is heard as far as it is saved.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the conversation cannot be read.
    fn attach(
        &self,
        key: ConversationKey<'_>,
        after: Option<Cursor>,
    ) -> impl Future<Output = Result<RunUpdates, RunsError>> + Send;

    /// Cancels a run, or takes back its input if it has not begun. Returns whether there was something to cancel.
    ///
    /// Running calls get error results, and the conversation can be continued.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the store cannot be read or written.
    fn cancel(
        &self,
        key: ConversationKey<'_>,
        run: &str,
    ) -> impl Future<Output = Result<bool, RunsError>> + Send;

    /// Decides a pending call. The first decision about a call wins, and an equal one is accepted, too.
    ///
    /// # Errors
    /// [`RunsError::AlreadyDecided`], [`RunsError::NotPending`], or [`RunsError::Store`].
    fn decide(
        &self,
        key: ConversationKey<'_>,
        call: &str,
        decision: Decision,
        by: &str,
    ) -> impl Future<Output = Result<(), RunsError>> + Send;

    /// Returns how the latest run of a conversation stands. [`RunStatus::Idle`] if the conversation does not exist.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the conversation cannot be read.
    fn status(&self, key: ConversationKey<'_>) -> impl Future<Output = Result<RunStatus, RunsError>> + Send;

    /// Returns the ids of the runs that wait to begin, in their order.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the store cannot be read.
    fn queued(&self, key: ConversationKey<'_>)
    -> impl Future<Output = Result<Vec<String>, RunsError>> + Send;

    /// Returns the saved session values of a conversation, without those of its user and of the application.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the conversation cannot be read.
    fn values(
        &self,
        key: ConversationKey<'_>,
    ) -> impl Future<Output = Result<BTreeMap<String, Value>, RunsError>> + Send;

    /// Reads what the entries of a conversation's log show. Empty if the conversation does not exist.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the conversation cannot be read.
    fn entries(
        &self,
        key: ConversationKey<'_>,
    ) -> impl Future<Output = Result<Vec<ConversationEntry>, RunsError>> + Send;

    /// Lists the conversations of a user, or of all users, whose calls wait for a decision, the earliest first.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the store cannot be read.
    fn waiting(
        &self,
        user: Option<&str>,
    ) -> impl Future<Output = Result<Vec<ConversationInfo>, RunsError>> + Send;

    /// Lists the conversations of a user, latest first.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the store cannot be read.
    fn list(&self, user: &str) -> impl Future<Output = Result<Vec<ConversationInfo>, RunsError>> + Send;
}

/// What an input does while a run works or waits. See the [table](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputMode {
    /// Waits until the run has ended.
    #[default]
    Enqueue,
    /// Is read by the run before its next model call.
    Steer,
    /// Ends the run, and begins another.
    Interrupt,
    /// Is refused.
    Reject,
}

/// An input for [`Runs::submit`].
#[derive(Debug, Clone, PartialEq)]
pub struct RunInput {
    run: Option<String>,
    item: item::InputItem,
}

impl RunInput {
    /// Creates an input.
    #[must_use]
    pub fn new(input: impl Into<UserMessage>) -> Self {
        Self { item: item::InputItem::new(input.into()), run: None }
    }

    /// Sets the id of the run that the input begins, by which the same input is submitted only once. Default: a new id.
    #[doc(alias("idempotency_key", "invocation_id"))]
    #[must_use]
    pub fn with_run(self, run: impl Into<String>) -> Self {
        Self { run: Some(run.into()), ..self }
    }

    /// Sets the time before which the input is not read. Its resolution is a second.
    #[must_use]
    pub fn with_not_before(mut self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.item.not_before = since.as_secs() + u64::from(since.subsec_nanos() > 0);
        self
    }
}

setters! { RunInput.item:
    /// Sets what the input does while a run works or waits. Default: it waits.
    with_mode(mode: InputMode) = mode;
    /// Sets the id that the client gave to its message.
    with_message_id(message: impl Into<String>) = message.into();
    /// Sets the earlier input that this one takes the place of, by the id of its run or of its message: the conversation
    /// goes on before it, as a [fork](crate::session::SavedConversation::fork) would, and keeps its id. What was said since
    /// then stays in the log, and what was spent in the bill. It steers no run.
    #[doc(alias("edit", "regenerate", "rewind"))]
    with_replaced(replaced: impl Into<String>) = replaced.into();
    /// Sets session values of the conversation for the run and those after it. A key with a prefix, such as `user:`, is no
    /// value of the conversation.
    with_values(values: BTreeMap<String, Value>) = values;
    /// Sets the tools that the client has for the run, in place of those of the input before. The agent's own tool hides
    /// one with the same name. Tools and values of an input that [steers](InputMode::Steer) are ignored.
    with_tools(tools: Vec<ClientTool>) = tools;
}

/// What became of an input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Submitted {
    /// The id of the run that the input begins, or of the input if a working run reads it.
    pub run: String,
    /// Whether the input is new. An earlier one may have had the same id. Of two that come at the same time, both may be
    /// called new; one is read.
    pub is_new: bool,
    /// The run that the input waits for, or that reads it: it works, or its calls wait.
    pub behind: Option<RunStatus>,
    /// A place before the run: who [attaches](Runs::attach) after it does not hear the conversation so far. `None` if the
    /// conversation is empty, or has the input already.
    pub after: Option<Cursor>,
}

/// An error of [`Runs`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum RunsError {
    /// The mode of the input refuses it now.
    Refused(String),
    /// The call was decided before.
    #[non_exhaustive]
    AlreadyDecided {
        /// The call.
        call: String,
        /// The decision.
        decision: Box<Decision>,
        /// Who has decided, if it is known.
        by: String,
    },
    /// The call does not wait, or not for this kind of decision.
    NotPending(String),
    /// The store cannot be read or written.
    Store(StoreError),
}

impl fmt::Display for RunsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) | Self::NotPending(reason) => f.write_str(reason),
            Self::AlreadyDecided { call, by, .. } if by.is_empty() => {
                write!(f, "call `{call}` was already decided")
            }
            Self::AlreadyDecided { call, by, .. } => write!(f, "call `{call}` was already decided by {by}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for RunsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for RunsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

from_contents!(RunsError: Store(StoreError));
