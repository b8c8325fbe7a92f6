//! What a client of AG-UI sends.

use crate::page_error::PageError;
use crate::page_runs::PageInput;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_agent::Decision;
use toolkit_agent::PendingCall;
use toolkit_agent::runs::ClientTool;
use toolkit_core::Content;
use toolkit_core::error::Pending;
use toolkit_core::output::{Media, MediaData};
use toolkit_llm::UserMessage;

/// The input of a run, as far as it is read: the context of a client is not.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgRequest {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    #[serde(default)]
    messages: Vec<AgClientMessage>,
    #[serde(default)]
    pub(super) resume: Vec<ResumeEntry>,
    #[serde(default)]
    pub(super) tools: Vec<ClientTool>,
    /// An object with the values of the session, or anything else.
    #[serde(default)]
    state: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgClientMessage {
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
    tool_call_id: Option<String>,
    error: Option<String>,
}

/// The answer to an interrupt.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResumeEntry {
    interrupt_id: String,
    status: String,
    #[serde(default)]
    payload: Value,
}

impl AgRequest {
    /// Returns the session values of the client.
    pub(super) fn values(&self) -> BTreeMap<String, Value> {
        self.state.as_object().map(|state| state.clone().into_iter().collect()).unwrap_or_default()
    }

    /// Returns the ids of all messages.
    pub(super) fn ids(&self) -> Vec<&str> {
        self.messages.iter().map(|message| message.id.as_str()).collect()
    }

    /// Returns the user's messages at the end of the history.
    pub(super) fn inputs(&self) -> Result<Vec<PageInput>, PageError> {
        let mut inputs = Vec::new();
        for message in self.messages.iter().rev() {
            if message.role != "user" {
                break;
            }
            inputs.push(message.input()?);
        }
        inputs.reverse();
        Ok(inputs)
    }

    /// Returns the decisions of the resume, and the results of tools of the page at the end of the history.
    pub(super) fn decisions(&self, pending: &[PendingCall]) -> Vec<(String, Decision)> {
        let mut decisions = Vec::new();
        for entry in &self.resume {
            let waiting = pending.iter().find(|call| call.id == entry.interrupt_id);
            let decision = entry.decision(waiting.map(|call| &call.reason));
            decisions.push((entry.interrupt_id.clone(), decision));
        }
        for (call, message) in self.results() {
            let decision = match &message.error {
                Some(error) => Decision::Fail(error.clone()),
                None => Decision::Answer(message.content.clone()),
            };
            decisions.push((call.to_owned(), decision));
        }
        decisions
    }

    /// Returns the calls whose results are at the end of the history.
    pub(super) fn answered(&self) -> Vec<String> {
        self.results().map(|(call, _)| call.to_owned()).collect()
    }

    /// Returns the results of tools of the page at the end of the history, by their call.
    fn results(&self) -> impl Iterator<Item = (&str, &AgClientMessage)> {
        self.messages.iter().rev().map_while(AgClientMessage::result)
    }
}

impl ResumeEntry {
    /// Returns the decision about a call that waits for this reason, if it still waits.
    fn decision(&self, reason: Option<&Pending>) -> Decision {
        if self.status != "resolved" {
            return denial("the user has cancelled it");
        }
        if !matches!(reason, Some(Pending::Approval { .. })) {
            return Decision::Answer(self.payload.clone());
        }
        if self.payload["approved"] != true && self.payload != true {
            return denial(self.payload["reason"].as_str().unwrap_or_default());
        }
        match &self.payload["editedArgs"] {
            Value::Null => Decision::Approve,
            arguments => Decision::Change(arguments.clone()),
        }
    }
}

fn denial(reason: &str) -> Decision {
    let told = if reason.is_empty() { "the user has denied it" } else { reason };
    Decision::Deny(told.to_owned())
}

impl AgClientMessage {
    /// Returns the call of a result, with the message.
    fn result(&self) -> Option<(&str, &Self)> {
        let call = self.tool_call_id.as_deref()?;
        (self.role == "tool").then_some((call, self))
    }

    fn input(&self) -> Result<PageInput, PageError> {
        let mut contents = Vec::new();
        match &self.content {
            Value::String(text) => contents.push(Content::text(text.clone())),
            Value::Array(parts) => {
                for part in parts {
                    contents.push(content(part)?);
                }
            }
            _ => {}
        }
        let is_empty = matches!(&contents[..], [Content::Text(text)] if text.is_empty());
        if contents.is_empty() || is_empty || self.id.is_empty() {
            return Err(PageError::BadRequest("a message has no content or no id".to_owned()));
        }
        Ok(PageInput { id: self.id.clone(), message: UserMessage::new(contents) })
    }
}

/// Reads a part of a message. Files have their bytes: the provider would fetch other addresses.
fn content(part: &Value) -> Result<Content, PageError> {
    if let Some(text) = part["text"].as_str() {
        return Ok(Content::text(text.to_owned()));
    }
    let source = &part["source"];
    let (Some(data), Some(media_type), "data") =
        (source["value"].as_str(), source["mimeType"].as_str(), source["type"].as_str().unwrap_or_default())
    else {
        let reason = "a part of a message must be text, or have its data in Base64";
        return Err(PageError::BadRequest(reason.to_owned()));
    };
    let mut media = Media::new(media_type, "");
    media.data = MediaData::Base64(data.to_owned());
    Ok(media.into())
}
