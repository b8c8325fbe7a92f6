//! The entries of a conversation's log.

use super::fork::{EarlierCall, ForkSource};
use super::{Compacted, State};
use crate::output::{AgentOutput, Spent};
use crate::pending::Decision;
use crate::status::EndReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::error::Pending;
use toolkit_core::{ToolCall, ToolResult};
use toolkit_llm::FinishReason;
use toolkit_llm::{AssistantMessage, Message, NativeMessages, Usage, UserMessage};

/// A change of a conversation. A run and loading apply the same entries.
///
/// `docs/log.md` describes the JSON. A change of its meaning needs a new [`VERSION`](super::VERSION).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first entry of each log.
    Log {
        /// The format's version.
        version: u32,
        /// The id of the log, which no other log has.
        #[serde(with = "crate::helpers::shared_text")]
        id: Arc<str>,
    },
    /// The conversation so far, without entries.
    Snapshot(Box<State>),
    /// The conversation begins as this one does. A snapshot follows.
    Forked(ForkSource),
    /// The conversation goes on before the input of a run.
    Rewound {
        #[serde(with = "crate::helpers::shared_text")]
        run: Arc<str>,
        /// The calls that may have run, and whose tools were not called again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<EarlierCall>,
    },
    /// The program has added a message.
    Message(Box<Message>),
    /// The program has removed this number of oldest messages.
    Removed(usize),
    /// The program has ended the unfinished turn.
    Settled,
    /// The program has abandoned the unfinished run.
    Abandoned,
    /// Session values have changed since the last such entry.
    Values {
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        set: BTreeMap<String, Value>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },

    /// A run begins with the input of a user.
    RunBegan {
        #[serde(with = "super::short::input")]
        input: UserMessage,
        /// Whether the run repeats the one before after an invalid answer. Then the input is feedback.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_attempt: bool,
        /// The id of the run.
        #[serde(default, with = "crate::helpers::shared_text", skip_serializing_if = "str::is_empty")]
        run: Arc<str>,
        /// The id that the client gave to the input.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// A process continues the unfinished run: another attempt.
    Resumed,
    /// What this attempt has spent so far.
    Spent(#[serde(with = "super::short::spent")] Spent),
    /// The run has stopped without an answer.
    Stopped(Stop),
    /// The run reads another input at its next turn.
    Steered {
        #[serde(with = "super::short::input")]
        input: UserMessage,
        /// The id of the input, by which it is submitted once.
        #[serde(default, with = "crate::helpers::shared_text", skip_serializing_if = "str::is_empty")]
        run: Arc<str>,
        /// The id that the client gave to the input.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// The program has given the conversation a title.
    Titled(String),
    /// The run has ended with the answer of its agent.
    Ended,

    /// A guardrail has replaced an input.
    InputReplaced { index: usize, message: UserMessage },
    /// A guardrail has removed an input.
    InputBlocked { index: usize },

    /// An agent begins within the first `depth` working agents.
    AgentBegan {
        #[serde(default, skip_serializing_if = "is_default")]
        depth: usize,
        agent: String,
        /// The agents of a team, in order. A resumed run must have the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<String>,
    },
    /// The agent within the first `depth` working agents has answered. `output` is missing if it is the
    /// answer of its last turn, or of the last agent within it.
    AgentEnded {
        #[serde(default, skip_serializing_if = "is_default")]
        depth: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Box<AgentOutput>>,
    },
    /// The innermost agent hands the conversation to another agent.
    Transferred(String),
    /// `count` is the number of invalid answers so far.
    AnswerInvalid {
        count: u32,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_repeated: bool,
    },
    /// A member of a parallel team begins, in a copy of the conversation.
    BranchBegan(usize),
    /// A member of a parallel team has failed.
    BranchFailed { index: usize, error: String },
    /// All members of a parallel team have failed. Their messages become part of the conversation.
    BranchesFailed,

    /// An agent calls its model. `agent` is missing if it is the innermost working one.
    TurnBegan {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        checks_answers: bool,
    },
    /// The model has completed a call, with the pieces of the message since the call before.
    Call(Box<Arrived>),
    /// These calls are started.
    Started(Vec<usize>),
    /// A call has a result. Its position is the index of the call in the turn.
    Result(Box<ToolResult>),
    /// A call waits for the program.
    Pending { call: usize, reason: Pending },
    /// A pending call was decided. `decision` is missing for an agent whose own calls were decided.
    Decided {
        call: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Decision>,
        /// Who has decided, if it is known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
    },
    /// The session changes of the results so far are applied.
    Applied,
    /// Guardrails check the turn's answer from now on.
    AnswersChecked,
    /// The model's message is complete, or has broken off.
    ModelEnded(Box<ModelEnd>),
    /// The model has failed before a call started.
    ModelFailed,
    /// The turn ends before it is complete.
    TurnStopped {
        /// Whether to add an empty message that the provider knows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_kept: bool,
    },
    /// The turn ends, with the answer of its agent if there is one.
    TurnEnded {
        #[serde(default, skip_serializing_if = "is_default")]
        verdict: TurnVerdict,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<TurnAnswer>>,
    },
    /// Unchecked text before a pause of the provider is removed.
    PausedRemoved,
    /// An agent's model reads less of the conversation from here.
    Compacted { agent: String, compacted: Box<Compacted> },
}

/// The pieces of a message since its last call, and the next call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Arrived {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) reasoning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) native: Option<NativeMessages>,
    /// `None` if the message has broken off after the pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<ToolCall>,
    /// The tool of the call, if its arguments are the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) answer_tool: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ModelEnd {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) finish: FinishReason,
    /// Whether the provider knows the empty message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_kept: bool,
    /// Whether `message` continues the pieces that have arrived with calls. Otherwise it replaces them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continues: bool,
    /// The message without its agent's name and its token counts.
    pub(crate) message: AssistantMessage,
    #[serde(skip_serializing_if = "Usage::is_empty", with = "super::short::usage")]
    pub(crate) usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnAnswer {
    /// `None` if it is the text of the turn's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// `None` if it is that of the turn's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) finish: Option<FinishReason>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) escalate: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The end of an attempt without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Stop {
    pub(crate) reason: EndReason,
    /// Whether another attempt continues the unchanged turn, although the run has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_turn: bool,
}

impl Stop {
    pub(super) fn ends_turn(&self) -> bool {
        !self.keeps_turn && !matches!(self.reason, EndReason::Waiting | EndReason::Dropped)
    }
}

impl From<EndReason> for Stop {
    fn from(reason: EndReason) -> Self {
        Self { reason, keeps_turn: false }
    }
}

/// What becomes of a complete turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnVerdict {
    #[default]
    Unchanged,
    /// The answer was accepted. Everything beside it that no guardrail has seen is removed.
    Accepted,
    /// A guardrail has replaced or blocked the answer.
    Replaced(String),
    /// The answer is not shown, because it is invalid or another agent answers.
    Withheld,
}
