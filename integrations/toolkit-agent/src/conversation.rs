//! A conversation: its messages and its session.

mod branches;
mod changes;
mod compacted;
mod edit;
mod keys;
mod lost;
mod native;
mod nested;
mod progress;
mod stored;
mod turn;
mod views;
mod withhold;

pub(crate) use changes::{Changes, Cursor, Position, Saved};
pub(crate) use compacted::{Compacted, Compactions, is_boundary};
pub(crate) use edit::{REMOVED, WITHHELD};
pub(crate) use keys::{Counts, Keys};
pub(crate) use lost::{is_final, unknown, with_account};
pub(crate) use progress::{Progress, Step};
use stored::{session_values, shared_text};
pub(crate) use turn::Turn;
pub(crate) use views::Views;

use crate::message::store_details;
use crate::output::{AgentOutput, RunOutput};
use crate::pending::PendingCall;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_core::context::SessionMap;
use toolkit_core::{Session, ToolResult};
use toolkit_llm::{Message, Messages, ToolMessage};

/// A sequence of messages between a user and agents, and the session with its values. Clones have their own
/// messages but share the session.
///
/// A conversation can be serialized at any time, even in the middle of a run, and continued later.
/// [`Agent::resume`](crate::Agent::resume) continues an unfinished run. If the program adds new input
/// instead, calls without a result get an error result.
///
/// The [details](toolkit_core::ToolError::details) of errors, such as the messages of panics, are not stored,
/// because they may contain secrets. Use [`with_error_details`](Self::with_error_details) to store them too.
///
/// ```
/// use toolkit_agent::{Conversation, Message};
///
/// let mut conversation = Conversation::new("session 1");
/// conversation.push(Message::user("My name is Ada."));
/// let saved = serde_json::to_string(&conversation)?;
/// let restored: Conversation = serde_json::from_str(&saved)?;
/// assert_eq!(restored.messages(), conversation.messages());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Conversation {
    #[serde(with = "shared_text")]
    id: Arc<str>,
    #[serde(rename = "user", default, skip_serializing_if = "String::is_empty")]
    user_id: String,
    messages: Messages,
    /// The time of each message, in seconds since 1970. The time is 0 or missing if it is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<u64>,
    /// The unfinished turn, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<Turn>,
    /// The latest run, if the conversation had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Compactions::is_empty")]
    compactions: Compactions,
    /// The unfinished conversations of agents called as tools, and the copies for parallel agents.
    /// `child_of_call` and `child_of_branch` create the keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    children: BTreeMap<String, Self>,
    /// The calls of removed messages.
    #[serde(default, skip_serializing_if = "Keys::is_empty")]
    removed_calls: Keys,
    /// The session without its id. Only the values without a key prefix are saved.
    #[serde(
        rename = "state",
        default,
        with = "session_values",
        skip_serializing_if = "session_values::is_empty"
    )]
    session: Session,
    /// Whether the JSON of the conversation includes the details of errors.
    #[serde(skip)]
    error_details: bool,
    /// Keeps the session values of the user in memory while this conversation is open. All conversations of
    /// the user share these values.
    #[serde(skip)]
    pub(crate) lease: Option<Arc<dyn Any + Send + Sync>>,
    /// The log to which the conversation is saved, and the state at the last save.
    #[serde(skip)]
    pub(crate) saved: Saved,
    /// The number of messages copied from another conversation, if this conversation is the copy for a
    /// parallel agent. Otherwise 0.
    #[serde(skip)]
    base: usize,
    /// The calls of messages that were removed before those copied from another conversation, if this conversation is
    /// the copy for a parallel agent.
    #[serde(skip)]
    copied_calls: Keys,
    /// The copied messages that were replaced, if this conversation is the copy for a parallel agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: edit::Replaced,
    /// The number of turns that began since the conversation was created or loaded.
    #[serde(skip)]
    turns: u64,
    /// The names of the agents that are working in this conversation now, the outermost first.
    #[serde(skip)]
    entered: Vec<String>,
    #[serde(skip)]
    views: Views,
    /// A weak reference that is alive while a run works in this conversation.
    #[serde(skip)]
    running: Weak<()>,
}

/// The id of the owner of the conversation. Tools of a run receive it as an extension of their context.
#[derive(Debug, Clone)]
pub(crate) struct Owner(pub(crate) String);

impl Conversation {
    /// Creates an empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into().into(), ..Self::default() }
    }

    /// Returns the id of the conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the user, or an empty string if the user is unknown.
    #[must_use]
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Returns the messages. They do not include the messages of an unfinished turn. [`settle`](Self::settle)
    /// adds these messages.
    ///
    /// An answer is not included before it has passed the [guardrails](crate::guardrail) for answers, and neither is
    /// its text before a pause of the provider. The results of other calls in the turn of the answer are included.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.messages.get(..self.checked()).unwrap_or_default()
    }

    /// Returns all messages, including those that guardrails have not checked.
    pub(crate) fn all_messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the time of the message at `index`, with a precision of one second. Returns `None` if the time
    /// is unknown.
    #[must_use]
    pub fn time_of(&self, index: usize) -> Option<SystemTime> {
        let seconds = *self.times.get(index).filter(|seconds| **seconds > 0)?;
        UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }

    /// Adds a message. An unfinished turn is [settled](Self::settle) first.
    ///
    /// A message of the user also ends an unfinished run: [`resume`](crate::Agent::resume) then answers this
    /// message instead of continuing the run.
    pub fn push(&mut self, message: impl Into<Message>) {
        self.settle();
        let message = message.into();
        if self.running.strong_count() == 0 && matches!(message, Message::User(_)) {
            self.entered.clear();
            self.give_up_run();
        }
        self.add(message);
    }

    fn add(&mut self, message: Message) {
        self.messages.push(message);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.times.resize(self.messages.len() - 1, 0);
        self.times.push(now.as_secs());
        if self.error_details
            && let Some(Message::Tool(message)) = self.messages.last_mut()
        {
            message.results.iter_mut().for_each(|result| store_details(result, true));
        }
    }

    /// Returns the list of all messages, including those that guardrails have not checked.
    pub(crate) fn history(&self) -> &Messages {
        &self.messages
    }

    /// Returns the [messages](Self::messages) from the index `begin` on. If they are all messages, the returned list
    /// shares them instead of copying them.
    pub(crate) fn messages_since(&self, begin: usize) -> Messages {
        match self.messages().get(begin..) {
            Some(since) if since.len() == self.messages.len() => self.messages.clone(),
            since => since.unwrap_or_default().to_vec().into(),
        }
    }

    /// Returns the session of the conversation. The tools of a run see the same session.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session.clone().with_id(self.id.clone())
    }

    /// Sets the session values with the key prefix `user:`, which all conversations of a user share. They are
    /// not saved with the conversation.
    #[must_use]
    pub fn with_user_state(mut self, user: SessionMap) -> Self {
        self.session = self.session.with_user(user);
        self
    }

    /// Sets the session values with the key prefix `app:`, which all conversations share. They are not saved
    /// with the conversation.
    #[must_use]
    pub fn with_app_state(mut self, app: SessionMap) -> Self {
        self.session = self.session.with_app(app);
        self
    }

    /// Keeps the latest `max` messages, and removes all older messages.
    ///
    /// Fewer than `max` messages may remain, because providers require that a history begins with a user
    /// message. More than `max` messages remain if the latest user message is older. This message and all
    /// messages after it always remain.
    pub fn keep_latest(&mut self, max: usize) {
        self.settle();
        let start =
            start_of_latest(&self.messages, max, || self.messages.iter().rposition(Message::is_input));
        self.remove_first(start);
    }

    /// Completes a turn that was left unfinished by a crash, a dropped run or an
    /// [interruption](crate::AgentError::Interrupted).
    ///
    /// The message and the results of the turn remain. Each call without a result gets an error result, which tells
    /// the model whether the call may have run. Pending calls cannot be decided afterwards.
    ///
    /// If the agent of the turn checks its answers with a [guardrail](crate::guardrail), an answer in the
    /// turn is removed, because the guardrail has not checked it. Text before a pause of the provider is removed for
    /// the same reason.
    pub fn settle(&mut self) {
        self.stop_turn(false);
        self.withhold_unchecked(None);
    }

    /// Ends the unfinished turn before its answer was checked. If the agent of the turn checks its answers,
    /// removes the answer. Text before a pause stays, so that the agent can continue it.
    ///
    /// An empty message is added only if `is_kept` is `true` and the message has content in the JSON of the
    /// provider.
    pub(crate) fn stop_turn(&mut self, is_kept: bool) {
        if let Some(mut turn) = self.turn.take() {
            turn.withhold_answer();
            let is_kept = is_kept && turn.message().native.is_some();
            self.withhold_before(turn.message());
            self.add_turn(turn, is_kept);
        }
    }

    /// Returns the calls that wait for a decision or a result from the program. They include the calls of
    /// agents called as tools and of parallel agents.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingCall> {
        let mut found = Vec::new();
        self.waiting(&Keys::default(), "", &mut found);
        found
    }

    /// Returns the unfinished turn, if there is one.
    pub(crate) fn unfinished(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    pub(crate) fn begin_turn(&mut self, agent: &str) -> &mut Turn {
        self.stop_turn(false);
        self.turns += 1;
        self.turn.insert(Turn::new(agent, self.turns))
    }

    /// Returns the unfinished turn. Creates an empty turn if there is none.
    pub(crate) fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_with(|| {
            self.turns += 1;
            Turn::new("", self.turns)
        })
    }

    /// Replaces the unfinished turn with an earlier copy of the same turn.
    pub(crate) fn restore_turn(&mut self, turn: Turn) {
        self.turns += 1;
        self.turn = Some(turn.renumbered(self.turns));
    }

    /// Discards the unfinished turn.
    pub(crate) fn discard_turn(&mut self) {
        self.turn = None;
        self.drop_called();
    }

    /// Adds the result of a call to the unfinished turn.
    pub(crate) fn add_result(&mut self, result: ToolResult) {
        let error_details = self.error_details;
        self.turn().add_result(result, error_details);
    }

    /// Ends the unfinished turn. Adds the message of the model and the results of its calls to the
    /// conversation, and returns these results in the order of the calls.
    ///
    /// An empty message is added only if `is_kept` is `true`.
    pub(crate) fn end_turn(&mut self, is_kept: bool) -> &[ToolResult] {
        let turn = self.turn.take().unwrap_or_default();
        match self.add_turn(turn, is_kept).then(|| self.messages.last()).flatten() {
            Some(Message::Tool(message)) => &message.results,
            _ => &[],
        }
    }

    /// Adds the message of a turn and the results of its calls. Returns whether there were results.
    fn add_turn(&mut self, turn: Turn, is_kept: bool) -> bool {
        let checks_answers = turn.checks_answers();
        let called = &mut self.children;
        let (message, results) = turn.into_parts(|position| called.remove(&nested::child_of_call(position)));
        self.drop_called();
        if message.is_empty() && !is_kept {
            return false;
        }
        if !message.calls.is_empty() && !message.has_answer() {
            // Text before calls is not an answer.
            self.set_checked();
        }
        let given = (!results.is_empty()).then(|| ToolMessage::new(results).by(message.agent.as_str()));
        let is_unchecked = checks_answers && message.paused && message.calls.is_empty();
        let is_unchecked = is_unchecked && !message.text.is_empty();
        self.add(Message::Assistant(message));
        if is_unchecked {
            self.set_unchecked();
        }
        given.map(|given| self.add(Message::Tool(given))).is_some()
    }
}

setters! { Conversation:
    /// Sets the id of the user.
    with_user_id(user_id: impl Into<String>) = user_id.into();
    /// Sets whether the JSON of the conversation includes the [details](toolkit_core::ToolError::details) of errors. By
    /// default, only the results and [events](crate::RunEvent::Result) of a run contain them.
    with_error_details(error_details: bool) = error_details;
}

/// Returns the index of the first message that remains if the history is limited to `max` messages.
///
/// This is the first user message within the last `max` messages, or else the latest user message, which
/// `latest_input` finds. Feedback about an invalid answer does not count as a user message, because the question
/// comes before it.
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
