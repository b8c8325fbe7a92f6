//! A conversation: its messages and its session.

mod branches;
mod compacted;
mod entry;
mod fold_turn;
mod fork;
mod history;
mod inputs;
mod interrupted_calls;
mod log;
mod native;
mod owned;
mod past;
mod rewind;
mod run_state;
mod runs;
mod short;
mod state;
mod stored;
mod turn;
mod turn_path;
mod turns;
mod verdict;
mod views;

pub(crate) use compacted::{Compacted, Compactions, is_boundary};
pub(crate) use entry::{Arrived, Entry, ModelEnd, Stop, TurnAnswer, TurnVerdict};
pub use fork::{EarlierCall, ForkPoint};
pub(crate) use interrupted_calls::{describe_interrupted, is_final, unknown};
pub(crate) use log::{Log, Position, Unsaved, VERSION};
pub(crate) use past::{PastEvent, PastEvents};
pub(crate) use run_state::{Frame, RunState};
pub(crate) use runs::InputId;
pub(crate) use state::State;
pub(crate) use stored::LogReader;
pub(crate) use turn::Turn;
pub(crate) use turn_path::TurnPath;
pub(crate) use verdict::accepted_alongside;
pub(crate) use views::{Rewrite, Views};

use crate::message::store_details;
use crate::pending::PendingCall;
use serde::Deserialize;
use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stored::Stored;
use toolkit_core::Session;
use toolkit_core::context::SessionMap;
use toolkit_llm::{Message, Messages};

/// The messages between a user and agents, and the session. Clones have their own messages but share the
/// session.
///
/// A conversation can be serialized at any time, even in the middle of a run.
/// [`Agent::resume`](crate::Agent::resume) continues an unfinished run. If the program adds new input
/// instead, calls without a result get an error result.
///
/// The [details](toolkit_core::ToolError::details) of errors may contain secrets. Only
/// [`with_error_details`](Self::with_error_details) stores them.
///
/// ```
/// use toolkit_ai::agent::Conversation;
/// use toolkit_ai::llm::Message;
///
/// let mut conversation = Conversation::new("session 1");
/// conversation.push(Message::user("My name is Ada."));
/// let saved = serde_json::to_string(&conversation)?;
/// let restored: Conversation = serde_json::from_str(&saved)?;
/// assert_eq!(restored.messages(), conversation.messages());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias("Thread", "chat_history", "message_history"))]
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Conversation {
    id: Arc<str>,
    user_id: String,
    /// Changed by [`record`](Self::record), except for what the run has spent, and for the conversations of
    /// called agents and branches, which have their own entries.
    state: State,
    /// The session without its id. Only the values without a key prefix are saved.
    session: Session,
    error_details: bool,
    /// The sessions of the conversation. Keeps the session values of its user in memory while it is open.
    pub(crate) lease: Option<Arc<dyn Any + Send + Sync>>,
    log: OwnLog,
    /// The path from the outermost conversation, with `/` after each key.
    node: Arc<str>,
    live: Live,
}

/// What a process knows of a conversation beside its state.
#[derive(Debug, Clone, Default)]
struct Live {
    /// The number of agents working here now.
    depth: usize,
    /// The number of agents that worked when the run was last resumed, and have not begun again.
    resumed: usize,
    /// The pieces of the message since its last complete call.
    arrived: Arrived,
    views: Views,
    /// Alive while a run works in this conversation.
    running: Weak<()>,
}

/// The log of a saved conversation. A clone has its own position: after one of them is saved, a save of the
/// other is refused.
#[derive(Debug, Default)]
struct OwnLog(Option<Arc<Log>>);

impl Clone for OwnLog {
    fn clone(&self) -> Self {
        Self(self.0.as_deref().map(|log| Arc::new(log.copied())))
    }
}

/// The owner's id, an extension of the tools' context.
#[derive(Debug, Clone)]
pub(crate) struct Owner(pub(crate) String);

impl Conversation {
    /// Creates an empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into().into(), ..Self::default() }
    }

    /// Applies an entry, and adds it to the log.
    pub(crate) fn record(&mut self, entry: Entry) {
        // Reading the clock takes time, and these entries add no message.
        let is_timeless =
            matches!(entry, Entry::Call(_) | Entry::Started(_) | Entry::Result(_) | Entry::ModelEnded(_));
        let at = if is_timeless && self.log.0.is_none() { 0 } else { log::now() };
        if let Some(log) = &self.log.0 {
            log.push(self.node.trim_end_matches('/'), &entry, at);
        }
        self.state.apply(entry, at / 1_000);
        if let Some(index) = self.state.history.take_changed() {
            self.live.views.change_from(index);
        }
    }

    /// Returns the id of the conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the title: the one that the program has [given](Self::set_title), or the beginning of the
    /// first input.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.state.title
    }

    /// Sets the title, which the list of [`UserSessions`](crate::session::UserSessions::list) shows after
    /// the next save.
    pub fn set_title(&mut self, title: impl Into<String>) {
        self.record(Entry::Titled(title.into()));
    }

    /// Returns the id of the user, or an empty string if it is unknown.
    #[must_use]
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Returns the messages, without those of an unfinished turn, which [`settle`](Self::settle) adds.
    ///
    /// An answer, and its text before a pause of the provider, is included only after it has passed the
    /// [guardrails](crate::guardrail) for answers.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.state.history.shown()
    }

    /// Returns all messages, including unchecked text before a pause.
    pub(crate) fn all_messages(&self) -> &[Message] {
        &self.state.history.messages
    }

    /// Returns all messages, including unchecked text before a pause.
    pub(crate) fn history(&self) -> &Messages {
        &self.state.history.messages
    }

    /// Returns the unchecked text before a pause of the provider.
    pub(crate) fn unchecked(&self) -> &[Message] {
        self.state.history.messages.get(self.messages().len()..).unwrap_or_default()
    }

    /// Returns the [messages](Self::messages) from the index `begin` on, shared if these are all.
    pub(crate) fn messages_since(&self, begin: usize) -> Messages {
        self.state.history.shown_since(begin)
    }

    /// Returns the time of the message at `index`, in whole seconds, if it is known.
    #[must_use]
    pub fn time_of(&self, index: usize) -> Option<SystemTime> {
        UNIX_EPOCH.checked_add(Duration::from_secs(*self.state.history.times.get(index)?))
    }

    /// Adds a message. An unfinished turn is [settled](Self::settle) first.
    ///
    /// A user message also ends an unfinished run: [`resume`](crate::Agent::resume) then answers this
    /// message.
    pub fn push(&mut self, message: impl Into<Message>) {
        let mut message = message.into();
        if self.live.running.strong_count() == 0 && matches!(message, Message::User(_)) {
            self.end_latest_run();
        }
        if let (true, Message::Tool(message)) = (self.error_details, &mut message) {
            message.results.iter_mut().for_each(|result| store_details(result, true));
        }
        self.settle();
        self.record(Entry::Message(Box::new(message)));
    }

    /// Returns the session, which tools see, too.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session.clone().with_id(self.id.clone())
    }

    /// Returns the session values without a key prefix.
    pub(crate) fn session_values(&self) -> SessionMap {
        self.session.store().clone()
    }

    /// Sets the session values with the key prefix `user:`, shared by all conversations of a user and not
    /// saved with this one.
    #[must_use]
    pub fn with_user_state(mut self, user: SessionMap) -> Self {
        self.session = self.session.with_user(user);
        self
    }

    /// Sets the session values with the key prefix `app:`, shared by all conversations and not saved with
    /// this one.
    #[must_use]
    pub fn with_app_state(mut self, app: SessionMap) -> Self {
        self.session = self.session.with_app(app);
        self
    }

    /// Removes all but the latest `max` messages. Unfinished parallel agents are abandoned.
    ///
    /// Fewer may remain, because providers require that a history begins with a user message. The latest
    /// user message and all after it always remain.
    pub fn keep_latest(&mut self, max: usize) {
        if self.state.has_branches() {
            self.abandon();
        }
        self.settle();
        let messages = &self.state.history.messages;
        let start = start_of_latest(messages, max, || messages.iter().rposition(Message::is_input));
        if start > 0 {
            self.record(Entry::Removed(start));
        }
    }

    /// Completes a turn that a crash, a dropped run or an [interruption](crate::AgentError::Interrupted)
    /// left unfinished.
    ///
    /// Calls without a result get an error result, which tells the model whether the call may have run.
    /// Pending calls cannot be decided afterwards.
    ///
    /// If the agent checks its answers with a [guardrail](crate::guardrail), an unchecked answer, and text
    /// before a pause of the provider, is removed.
    pub fn settle(&mut self) {
        self.keep_arrived();
        if self.state.turn.is_some() || self.state.history.unchecked.is_some() {
            self.record(Entry::Settled);
        }
    }

    /// Ends an unfinished run without an answer, for example if the program no longer has its agents.
    ///
    /// Their messages stay, and calls without a result get an error result, as by [`settle`](Self::settle).
    pub fn abandon(&mut self) {
        if self.state.run.as_ref().is_none_or(|run| run.end.is_none()) {
            self.end_latest_run();
        }
    }

    fn end_latest_run(&mut self) {
        self.live.depth = 0;
        self.live.resumed = 0;
        self.keep_arrived();
        if self.state.run.is_some() || self.state.turn.is_some() {
            self.record(Entry::Abandoned);
        }
    }

    /// Returns the calls that wait for the program, including those of agents called as tools and of
    /// parallel agents.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingCall> {
        let mut found = Vec::new();
        self.state.waiting("", &mut found);
        found
    }
}

setters! { Conversation:
    /// Sets the id of the user.
    with_user_id(user_id: impl Into<String>) = user_id.into();
    /// Sets whether the JSON of the conversation includes the [details](toolkit_core::ToolError::details)
    /// of errors.
    ///
    /// By default, only a run's results and [events](crate::RunEvent::Result) contain them.
    with_error_details(error_details: bool) = error_details;
}

/// Returns the index of the first message that remains in a history of `max` messages.
///
/// This is the first user message within the last `max` messages, or else the latest user message, which
/// `latest_input` finds. Feedback about an invalid answer is none, because the question comes before it.
pub(crate) fn start_of_latest(
    messages: &[Message],
    max: usize,
    latest_input: impl FnOnce() -> Option<usize>,
) -> usize {
    let start = messages.len().saturating_sub(max);
    let within = messages.iter().skip(start).position(Message::is_input).map(|offset| start + offset);
    within.or_else(latest_input).unwrap_or(0)
}

#[cfg(test)]
mod tests;
