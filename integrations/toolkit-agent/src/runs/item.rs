//! The items of a conversation's inbox.

use super::{ClientTool, InputMode};
use crate::pending::Decision;
use crate::session::sessions::Sessions;
use crate::session::{ConversationKey, InboxItem, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_llm::UserMessage;

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Item {
    Input(InputItem),
    Decision(DecisionItem),
    /// A run shall be cancelled, by its id.
    Cancel(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InputItem {
    pub(super) input: UserMessage,
    #[serde(default)]
    pub(super) mode: InputMode,
    /// The id that the client gave to the message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
    /// The seconds since 1970 before which it is not read.
    #[serde(default)]
    pub(super) not_before: u64,
    /// The input that it takes the place of, or an empty text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) replaced: String,
    /// The session values that it sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) values: BTreeMap<String, Value>,
    /// The tools that the client has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ClientTool>,
    /// A new text for each submission, by which an earlier one with the same content is known.
    #[serde(default)]
    pub(super) ticket: String,
}

impl InputItem {
    pub(super) fn interrupts(&self, now: u64) -> bool {
        self.mode == InputMode::Interrupt && self.not_before <= now
    }

    /// Returns whether a working run reads it. One that takes the place of another waits for the end of the run.
    pub(super) fn steers(&self) -> bool {
        self.mode == InputMode::Steer && self.replaced.is_empty()
    }

    pub(super) fn new(input: UserMessage) -> Self {
        Self {
            input,
            mode: InputMode::default(),
            message: String::new(),
            not_before: 0,
            replaced: String::new(),
            values: BTreeMap::new(),
            tools: Vec::new(),
            ticket: String::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DecisionItem {
    pub(super) call: String,
    pub(super) decision: Decision,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) by: String,
    /// As that of an input.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) ticket: String,
}

/// An item with its number and, for an input, the id of its run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbered<T> {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) item: T,
}

/// An inbox that was read.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) inputs: Vec<Numbered<InputItem>>,
    pub(super) decisions: Vec<Numbered<DecisionItem>>,
    /// The runs to cancel.
    pub(super) cancelled: Vec<Numbered<String>>,
}

impl Inbox {
    /// Loads the inbox of a conversation.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read, or has an item that this version does not know.
    pub(super) async fn load(sessions: &Sessions, key: ConversationKey<'_>) -> Result<Self, StoreError> {
        let mut inbox = Self::default();
        for InboxItem { number, name, content } in sessions.store().inbox(key).await? {
            let id = name.split_once('/').map_or("", |(_, id)| id).to_owned();
            match serde_json::from_str(&content)? {
                Item::Input(item) => inbox.inputs.push(Numbered { number, id, item }),
                Item::Decision(item) => inbox.decisions.push(Numbered { number, id, item }),
                Item::Cancel(item) => inbox.cancelled.push(Numbered { number, id, item }),
            }
        }
        Ok(inbox)
    }
}

pub(super) fn name_of_input(run: &str) -> String {
    format!("input/{run}")
}

pub(super) fn name_of_decision(call: &str) -> String {
    format!("decision/{call}")
}

pub(super) fn name_of_cancel(run: &str) -> String {
    format!("cancel/{run}")
}
