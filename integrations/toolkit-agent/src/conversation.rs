//! A conversation: its messages and its session.

use crate::message::{AssistantMessage, Message, ToolMessage, store_details};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_core::context::SessionMap;
use toolkit_core::{Session, ToolCall, ToolError, ToolResult};

/// A conversation with its messages and its session. Clones have their own messages but share the session.
///
/// A conversation can be serialized at any time, also during a run, and continued later. If a call had no
/// result when the conversation was serialized, the call gets an error result as soon as the conversation is
/// continued.
///
/// The [details](ToolError::details) of errors, such as the messages of panics, are not stored, because they
/// may contain secrets. Use [`with_error_details`](Self::with_error_details) to store them too.
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
    id: String,
    #[serde(rename = "user", default, skip_serializing_if = "String::is_empty")]
    user_id: String,
    messages: Vec<Message>,
    /// The time of each message in seconds since 1970. 0 or missing if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<u64>,
    /// The unfinished turn, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<Turn>,
    /// The session values without a key prefix.
    #[serde(
        rename = "state",
        default,
        with = "session_values",
        skip_serializing_if = "session_values::is_empty"
    )]
    own: SessionMap,
    #[serde(skip)]
    user: SessionMap,
    #[serde(skip)]
    app: SessionMap,
    /// Whether the JSON of the conversation includes the details of errors.
    #[serde(skip)]
    error_details: bool,
    /// While this conversation is open, keeps in memory the session values that the user's conversations
    /// share.
    #[serde(skip)]
    pub(crate) lease: Option<Arc<dyn Any + Send + Sync>>,
}

/// The id of the user who owns the conversation, passed to the tools of a run as an extension.
#[derive(Debug, Clone)]
pub(crate) struct Owner(pub(crate) String);

/// An unfinished turn: the parts of the model's message and the tool results received so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) message: AssistantMessage,
    /// The results so far, in the order of completion.
    pub(crate) results: Vec<ToolResult>,
}

/// Serializes the session values of a conversation as a JSON object.
mod session_values {
    use super::{BTreeMap, Deserialize, SessionMap, Value};
    use serde::{Deserializer, Serialize, Serializer};

    pub(super) fn is_empty(values: &SessionMap) -> bool {
        values.snapshot().is_empty()
    }

    pub(super) fn serialize<S: Serializer>(values: &SessionMap, serializer: S) -> Result<S::Ok, S::Error> {
        values.snapshot().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SessionMap, D::Error> {
        Ok(BTreeMap::<String, Value>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Conversation {
    /// Creates an empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Creates an empty conversation that shares the values of `session`.
    pub(crate) fn with_session(session: &Session) -> Self {
        let (own, user, app) = (session.store().clone(), session.user().clone(), session.app().clone());
        Self { own, user, app, ..Self::new(session.id()) }
    }

    /// Returns the id of the conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the user. Empty if unknown.
    #[must_use]
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Returns the messages. The messages of an unfinished turn are not included until
    /// [`settle`](Self::settle) adds them.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the time of a message, with a precision of one second. `None` if unknown.
    #[must_use]
    pub fn time_of(&self, index: usize) -> Option<SystemTime> {
        let seconds = *self.times.get(index).filter(|seconds| **seconds > 0)?;
        UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }

    /// Adds a message. If a turn is unfinished, it is [settled](Self::settle) first.
    pub fn push(&mut self, message: impl Into<Message>) {
        self.settle();
        self.add(message.into());
    }

    fn add(&mut self, mut message: Message) {
        if let Message::Tool(message) = &mut message
            && self.error_details
        {
            message.results.iter_mut().for_each(|result| store_details(result, true));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.times.resize(self.messages.len(), 0);
        self.messages.push(message);
        self.times.push(now.as_secs());
    }

    /// Appends the messages of `branch`, starting at the index `begin`. `branch` is a copy of this
    /// conversation.
    pub(crate) fn add_branch(&mut self, mut branch: Self, begin: usize) {
        branch.settle();
        if begin <= branch.messages.len() {
            self.times.resize(self.messages.len(), 0);
            self.messages.extend(branch.messages.drain(begin..));
            self.times.extend(branch.times.into_iter().skip(begin));
        }
    }

    /// Returns copies of the messages, starting at the index `begin`.
    pub(crate) fn messages_since(&self, begin: usize) -> Vec<Message> {
        self.messages.get(begin..).unwrap_or_default().to_vec()
    }

    /// Returns the session of the conversation. The tools of a run see the same session.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.id.as_str())
            .with_store(self.own.clone())
            .with_user(self.user.clone())
            .with_app(self.app.clone())
    }

    /// Keeps the latest `max` messages, and removes all older messages.
    ///
    /// Fewer than `max` messages may remain, because providers require a user message at the beginning of a
    /// history. The latest user message and all messages after it always remain, even if these are more than
    /// `max` messages.
    pub fn keep_latest(&mut self, max: usize) {
        self.settle();
        let start = start_of_latest(&self.messages, max);
        self.messages.drain(..start);
        self.times.drain(..start.min(self.times.len()));
    }

    /// Completes a turn left unfinished by a crash or a dropped run.
    ///
    /// The message and the results of the turn are kept. Each call without a result gets an error result, as
    /// if the call had been cancelled.
    pub fn settle(&mut self) {
        if let Some(Turn { message, results }) = self.turn.take() {
            self.end_turn(message, results, false);
        }
    }

    pub(crate) fn begin_turn(&mut self, agent: &str) -> &mut Turn {
        self.settle();
        let message = AssistantMessage { agent: agent.to_owned(), ..AssistantMessage::default() };
        self.turn.insert(Turn { message, results: Vec::new() })
    }

    /// Adds a result to the unfinished turn.
    pub(crate) fn add_result(&mut self, mut result: ToolResult) {
        if self.error_details {
            store_details(&mut result, true);
        }
        self.turn().results.push(result);
    }

    /// Returns the unfinished turn.
    pub(crate) fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_default()
    }

    /// Ends a turn: adds the message of the model and the results of its calls to the conversation. Returns
    /// the results in the order of the calls. A message with neither text nor calls is only added if
    /// `is_kept` is `true`.
    pub(crate) fn end_turn(
        &mut self,
        message: AssistantMessage,
        results: Vec<ToolResult>,
        is_kept: bool,
    ) -> Vec<ToolResult> {
        self.turn = None;
        if message.is_empty() && !is_kept {
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

setters! { Conversation:
    /// Sets the session values shared by all conversations of a user, with the key prefix `user:`. They are
    /// not saved with this conversation.
    with_user_state(user: SessionMap) = user;
    /// Sets the session values shared by all conversations, with the key prefix `app:`. They are not saved
    /// with this conversation.
    with_app_state(app: SessionMap) = app;
    /// Sets the id of the user.
    with_user_id(user_id: impl Into<String>) = user_id.into();
    /// Sets whether the JSON of the conversation includes the [details](ToolError::details) of errors. By
    /// default, only the program sees them, in the results and [events](crate::RunEvent::Result) of a run.
    with_error_details(error_details: bool) = error_details;
}

/// Returns the index of the first message to keep.
///
/// This is the first user message within the last `max` messages, or else the latest user message.
pub(crate) fn start_of_latest(messages: &[Message], max: usize) -> usize {
    let start = messages.len().saturating_sub(max);
    let is_user = |message: &Message| matches!(message, Message::User(_));
    let within = messages.iter().skip(start).position(is_user).map(|offset| start + offset);
    within.or_else(|| messages.iter().rposition(is_user)).unwrap_or(0)
}

/// Returns one result per call, in the order of the calls. If several calls have the same id, each gets the
/// next result with this id.
fn in_order(calls: &[ToolCall], mut results: Vec<ToolResult>) -> Vec<ToolResult> {
    results.sort_by_key(|result| result.position);
    let of_call = |(position, call): (usize, &ToolCall)| {
        let found = results.iter().position(|result| result.call_id == call.id && result.name == call.name);
        let cancelled = || ToolResult::of(call, Err(ToolError::cancelled(&call.name)));
        found.map_or_else(cancelled, |index| results.remove(index)).with_position(position)
    };
    calls.iter().enumerate().map(of_call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "add", "{}")
    }

    #[test]
    fn settling_answers_every_call_of_an_unfinished_turn() {
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
    fn the_latest_messages_begin_with_a_user_message() {
        let conversation = || {
            let mut conversation = Conversation::new("1");
            for text in ["1", "2"] {
                conversation.push(Message::user(text));
                conversation.end_turn(
                    AssistantMessage::default().with_calls([call(text)]),
                    Vec::new(),
                    false,
                );
                conversation.push(Message::assistant("done"));
            }
            conversation
        };
        for (max, left) in [(0, 4), (1, 4), (4, 4), (7, 4), (8, 8), (100, 8)] {
            let mut conversation = conversation();
            conversation.keep_latest(max);
            assert_eq!(conversation.messages().len(), left, "{max}");
        }
    }

    #[test]
    fn session_values_are_saved() {
        let conversation = Conversation::new("1");
        conversation.session().apply(&[("theme".to_owned(), Some("dark".into()))].into());
        let saved = serde_json::to_value(&conversation).unwrap();
        let restored: Conversation = serde_json::from_value(saved).unwrap();
        assert_eq!(restored.session().get("theme"), Some("dark".into()));
    }
}
