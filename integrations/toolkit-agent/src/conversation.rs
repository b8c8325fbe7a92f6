//! A conversation: what was said, and what is remembered beside it.

use crate::message::{AssistantMessage, Message, ToolMessage, UserMessage};
use crate::session::Lease;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_core::context::SessionMap;
use toolkit_core::{Session, ToolCall, ToolError, ToolResult};

/// A conversation: what was said, and what is remembered beside it.
///
/// Clones go on apart from each other, but remember the same.
///
/// It can be written as JSON at any time, also while an agent runs in it, and gone on with later: calls that had no
/// result by then are answered with an error that says so, and nothing else is lost.
///
/// ```
/// use toolkit_agent::{Conversation, Message};
///
/// let mut conversation = Conversation::new("session 1");
/// conversation.push(Message::user("My name is Ada."));
/// let saved = serde_json::to_string(&conversation)?;
/// let again: Conversation = serde_json::from_str(&saved)?;
/// assert_eq!(again.messages(), conversation.messages());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Conversation {
    id: String,
    user_id: String,
    messages: Vec<Message>,
    /// When each message was added, in seconds since 1970; 0 if it is not known.
    times: Vec<u64>,
    /// The turn of a model that has not ended.
    turn: Option<Turn>,
    /// What is remembered under keys without a prefix.
    own: SessionMap,
    user: SessionMap,
    app: SessionMap,
    /// Where what is remembered of the user and the application is kept.
    lease: Option<Arc<Lease>>,
}

/// Whose conversation it is that calls are made in.
#[derive(Debug, Clone)]
pub(crate) struct Owner(pub(crate) String);

/// A turn of a model that has not ended: what it has said so far, and what came of its calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) message: AssistantMessage,
    /// In no order.
    pub(crate) results: Vec<ToolResult>,
}

/// A [`Conversation`] as it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    user: String,
    messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<Turn>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    state: BTreeMap<String, Value>,
}

impl From<Stored> for Conversation {
    fn from(Stored { id, user, messages, mut times, turn, state }: Stored) -> Self {
        times.resize(messages.len(), 0);
        Self { user_id: user, messages, times, turn, own: state.into_iter().collect(), ..Self::new(id) }
    }
}

impl From<Conversation> for Stored {
    fn from(conversation: Conversation) -> Self {
        let Conversation { id, user_id, messages, times, turn, own, .. } = conversation;
        Self { id, user: user_id, messages, times, turn, state: own.snapshot() }
    }
}

impl Conversation {
    /// A conversation in which nothing was said.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Sets what is remembered under `user:`, in all conversations of a user. It is shared, not saved with the
    /// conversation.
    #[must_use]
    pub fn with_user(mut self, user: SessionMap) -> Self {
        self.user = user;
        self
    }

    /// Sets what is remembered under `app:`, in all conversations of the application. It is shared, not saved with
    /// the conversation.
    #[must_use]
    pub fn with_app(mut self, app: SessionMap) -> Self {
        self.app = app;
        self
    }

    /// Sets whose conversation it is.
    #[must_use]
    pub fn with_user_id(mut self, user: impl Into<String>) -> Self {
        self.user_id = user.into();
        self
    }

    /// A conversation in which nothing was said, and in which is remembered what this session remembers.
    pub(crate) fn beside(session: &Session) -> Self {
        let (own, user, app) = (session.store().clone(), session.user().clone(), session.app().clone());
        Self { own, user, app, ..Self::new(session.id()) }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whose conversation it is; empty if that was not said.
    #[must_use]
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// What was said. A turn that was broken off is there after [`settle`](Self::settle), which every run does first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// When the message at this position was added, to the second; `None` if it is not known.
    #[must_use]
    pub fn time_of(&self, position: usize) -> Option<SystemTime> {
        let seconds = *self.times.get(position).filter(|seconds| **seconds > 0)?;
        UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }

    /// Adds a message.
    pub fn push(&mut self, message: impl Into<Message>) {
        self.settle();
        self.add(message.into());
    }

    fn add(&mut self, message: Message) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.messages.push(message);
        self.times.push(now.as_secs());
    }

    /// Adds what was said in a copy of this conversation after the copy was made.
    pub(crate) fn add_branch(&mut self, mut branch: Self, begin: usize) {
        branch.settle();
        if begin <= branch.messages.len() {
            self.messages.extend(branch.messages.drain(begin..));
            self.times.extend(branch.times.drain(begin..));
        }
    }

    pub(crate) fn leased(mut self, lease: Arc<Lease>) -> Self {
        self.lease = Some(lease);
        self
    }

    pub(crate) fn lease(&self) -> Option<&Arc<Lease>> {
        self.lease.as_ref()
    }

    /// What is remembered, for the tools of an agent and for the program.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.id.as_str())
            .with_store(self.own.clone())
            .with_user(self.user.clone())
            .with_app(self.app.clone())
    }

    /// Forgets the messages before the latest ones, so that at most `most` are left. What is left begins with a
    /// message of the user, as providers want it, so that it may be less; but the latest message of the user, and
    /// what came after it, always stays.
    pub fn keep_latest(&mut self, most: usize) {
        self.settle();
        let start = self.messages.len().saturating_sub(most);
        let is_user = |message: &Message| matches!(message, Message::User(_));
        let later = self.messages.iter().skip(start).position(is_user).map(|at| start + at);
        let latest = || self.messages.iter().rposition(is_user);
        if let Some(first) = later.or_else(latest) {
            self.messages.drain(..first);
            self.times.drain(..first);
        }
    }

    /// Ends a turn that was broken off, by a crash or because its future was dropped: what the model had said and the
    /// results that had come are kept, and every other call gets a result that says that it was cancelled.
    pub fn settle(&mut self) {
        if let Some(Turn { message, results }) = self.turn.take() {
            self.end_turn(message, results);
        }
    }

    pub(crate) fn begin_turn(&mut self, agent: &str) -> &mut Turn {
        self.settle();
        let message = AssistantMessage { agent: agent.to_owned(), ..AssistantMessage::default() };
        self.turn.insert(Turn { message, results: Vec::new() })
    }

    /// The turn that has not ended.
    pub(crate) fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_default()
    }

    /// Forgets a turn of which nothing is worth keeping.
    pub(crate) fn drop_turn(&mut self) {
        self.turn = None;
    }

    /// Adds what the model has said and what came of its calls, in their order.
    pub(crate) fn end_turn(
        &mut self,
        message: AssistantMessage,
        results: Vec<ToolResult>,
    ) -> Vec<ToolResult> {
        self.turn = None;
        if message.is_empty() {
            return Vec::new();
        }
        let results = in_order(&message.calls, results);
        let agent = message.agent.clone();
        self.add(Message::Assistant(message));
        if !results.is_empty() {
            self.add(Message::Tool(ToolMessage { agent, results: results.clone() }));
        }
        results
    }
}

/// One result for each call, in their order. Of several calls with the same id, each takes the next result.
fn in_order(calls: &[ToolCall], mut results: Vec<ToolResult>) -> Vec<ToolResult> {
    results.sort_by_key(|result| result.position);
    let mut ordered = Vec::with_capacity(calls.len());
    for (position, call) in calls.iter().enumerate() {
        let of_call = |result: &ToolResult| result.call_id == call.id && result.name == call.name;
        let result = match results.iter().position(of_call) {
            Some(at) => results.remove(at),
            None => ToolResult::of(call, Err(ToolError::cancelled(&call.name))),
        };
        ordered.push(result.with_position(position));
    }
    ordered
}

impl From<UserMessage> for Message {
    fn from(message: UserMessage) -> Self {
        Self::User(message)
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "add", "{}")
    }

    #[test]
    fn a_turn_that_was_broken_off_is_answered() {
        let mut conversation = Conversation::new("1");
        conversation.push(Message::user("hi"));
        let turn = conversation.begin_turn("root");
        turn.message.calls = vec![call("a"), call("b"), call("a")];
        turn.results = vec![
            ToolResult::of(&call("a"), Ok("third".into())).with_position(2),
            ToolResult::of(&call("a"), Ok("first".into())),
        ];
        let saved = serde_json::to_string(&conversation).unwrap();
        for mut conversation in [conversation, serde_json::from_str(&saved).unwrap()] {
            conversation.settle();
            let [_, Message::Assistant(said), Message::Tool(given)] = conversation.messages() else {
                panic!("{:?}", conversation.messages())
            };
            assert_eq!((said.agent.as_str(), said.calls.len()), ("root", 3));
            let texts: Vec<_> = given.results.iter().map(ToolResult::to_text).collect();
            assert_eq!(texts, ["first", "Tool `add` was cancelled before it finished", "third"]);
        }
    }

    #[test]
    fn what_is_kept_begins_with_the_user() {
        let conversation = || {
            let mut conversation = Conversation::new("1");
            for text in ["1", "2"] {
                conversation.push(Message::user(text));
                conversation.end_turn(AssistantMessage::default().with_calls([call(text)]), Vec::new());
                conversation.push(Message::assistant("done"));
            }
            conversation
        };
        for (most, left) in [(0, 4), (1, 4), (4, 4), (7, 4), (8, 8), (100, 8)] {
            let mut conversation = conversation();
            conversation.keep_latest(most);
            assert_eq!(conversation.messages().len(), left, "{most}");
        }
    }

    #[test]
    fn state_is_saved() {
        let conversation = Conversation::new("1");
        conversation.session().apply(&[("theme".to_owned(), Some("dark".into()))].into());
        let saved = serde_json::to_value(&conversation).unwrap();
        let again: Conversation = serde_json::from_value(saved).unwrap();
        assert_eq!(again.session().get("theme"), Some("dark".into()));
    }
}
