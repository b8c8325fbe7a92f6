//! What programs read of a conversation's log.

use crate::event::RunEvent;
use crate::pending::Decision;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use toolkit_llm::{Message, Messages, UserMessage};

/// A part of what an entry of a conversation's log shows. One entry may show several.
///
/// It shows what models and users see: an answer after its verdict, a replaced input or answer in its
/// replaced form, and neither blocked inputs nor withheld answers. This also holds for agents called as
/// tools and for parallel agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConversationEntry {
    /// The number of the entry in the log.
    pub number: u64,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The id of the latest run, or an empty string if there was none.
    #[serde(default, with = "crate::helpers::shared_text", skip_serializing_if = "str::is_empty")]
    pub run: Arc<str>,
    /// The path to the conversation of an agent called as a tool or a parallel agent: `1.2.0`, `b1`. Empty
    /// for the outermost conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What has happened.
    pub kind: EntryKind,
}

/// What has happened in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// An event of a run, as its listener has seen it.
    Event(RunEvent),
    /// An input, or feedback to an invalid answer.
    #[non_exhaustive]
    Input {
        /// The input. A guardrail's replacement takes its place.
        message: UserMessage,
        /// The id that the client gave to it, or an empty string.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message_id: String,
    },
    /// The program has added a message of a model or a tool.
    Added(Box<Message>),
    /// The program has removed this number of oldest messages.
    Removed(usize),
    /// A process continues the run.
    #[non_exhaustive]
    Resumed {
        /// The number of the attempt at the run, from 1.
        attempt: u32,
    },
    /// The program has ended the unfinished run.
    Abandoned,
    /// An agent calls its model.
    #[non_exhaustive]
    Turn {
        /// The agent.
        agent: String,
        /// The id of the message that it asks for.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
    },
    /// A pending call was decided.
    #[non_exhaustive]
    Decided {
        /// The key of the call.
        #[serde(with = "crate::helpers::shared_text")]
        key: Arc<str>,
        /// The decision. `None` for an agent whose own calls were decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Decision>,
        /// Who has decided, or an empty string.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
    },
    /// The conversation has another title.
    Titled(String),
    /// The model of an agent reads less of the conversation from here on.
    #[non_exhaustive]
    Compacted {
        /// The agent.
        agent: String,
        /// The messages replaced with a summary or a note.
        messages_left_out: usize,
    },
    /// The conversation so far comes from another one of the user.
    #[non_exhaustive]
    Forked {
        /// The id of the other conversation.
        conversation: String,
        /// The number of the first entry there that this conversation does not have.
        entry: u64,
    },
    /// The conversation goes on before the input of a run: the input, and what followed it, are no part of it any more.
    #[non_exhaustive]
    Rewound {
        /// The id of the run.
        #[serde(with = "crate::helpers::shared_text")]
        run: Arc<str>,
    },
    /// The conversation so far. Its earlier entries were not saved, or were erased.
    Snapshot(Messages),
}

impl ConversationEntry {
    /// Returns the event, if this is one of a run.
    #[must_use]
    pub fn event(&self) -> Option<&RunEvent> {
        match &self.kind {
            EntryKind::Event(event) => Some(event),
            _ => None,
        }
    }
}
