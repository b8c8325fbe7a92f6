//! What a page sends.

use super::ui_encoder::run_of_message;
use crate::page_error::PageError;
use crate::page_runs::PageInput;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_agent::Decision;
use toolkit_core::Content;
use toolkit_core::output::{Media, MediaData};
use toolkit_llm::UserMessage;

/// The body of `POST /{chat}`, as far as it is read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UiRequest {
    pub(super) id: Option<String>,
    #[serde(default)]
    trigger: String,
    message_id: Option<String>,
    messages: Vec<ClientMessage>,
    /// The session values that the page writes.
    #[serde(default)]
    pub(super) values: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct ClientMessage {
    id: String,
    role: String,
    #[serde(default)]
    parts: Vec<ClientPart>,
}

/// A part of a message, of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClientPart {
    #[serde(rename = "type")]
    kind: String,
    text: String,
    media_type: String,
    filename: Option<String>,
    url: String,
    tool_call_id: String,
    state: String,
    output: Value,
    error_text: String,
    approval: Option<ClientApproval>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClientApproval {
    approved: bool,
    reason: Option<String>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum UiAsk {
    /// Answer these messages, of which earlier ones may be known.
    Inputs(Vec<PageInput>),
    /// Answer the last message again, in place of all that follows it.
    Again(UiAgain),
    /// Go on with the run, whose message has these decisions.
    Decisions(UiDecisions),
}

/// A message that is answered again.
#[derive(Debug)]
pub(super) struct UiAgain {
    pub(super) input: PageInput,
    /// Whether the answer is another one even to the same message.
    pub(super) is_regenerated: bool,
    /// The run of the answer that the new one takes the place of, if the page has named it.
    pub(super) run: Option<String>,
}

/// The decisions in the message of a run.
#[derive(Debug)]
pub(super) struct UiDecisions {
    pub(super) run: String,
    /// The steps that the page has of the message.
    pub(super) steps: usize,
    /// The calls with their decisions. Those that do not wait are ignored.
    pub(super) calls: Vec<(String, Decision)>,
}

impl UiRequest {
    /// Returns what the request asks for. Only the user's messages at the end of the history count, or the decisions in an
    /// agent's last message.
    pub(super) fn ask(self) -> Result<UiAsk, PageError> {
        let is_regenerated = self.trigger == "regenerate-message";
        let Some(last) = self.messages.last() else {
            return Err(PageError::BadRequest("the request has no messages".to_owned()));
        };
        if last.role == "assistant" && !is_regenerated {
            return last.decisions();
        }
        if last.role == "user" && (is_regenerated || self.message_id.as_ref() == Some(&last.id)) {
            let run = self.message_id.as_deref().and_then(run_of_message).map(str::to_owned);
            return Ok(UiAsk::Again(UiAgain { input: last.input()?, is_regenerated, run }));
        }
        let mut inputs = Vec::new();
        for message in self.messages.iter().rev() {
            if message.role != "user" {
                break;
            }
            inputs.push(message.input()?);
        }
        inputs.reverse();
        if inputs.is_empty() {
            return Err(PageError::BadRequest("the last message is not one of the user".to_owned()));
        }
        Ok(UiAsk::Inputs(inputs))
    }
}

impl ClientMessage {
    fn input(&self) -> Result<PageInput, PageError> {
        if self.id.is_empty() {
            return Err(PageError::BadRequest("a message has no id".to_owned()));
        }
        let mut contents = Vec::new();
        for part in &self.parts {
            match part.kind.as_str() {
                "text" => contents.push(Content::text(part.text.clone())),
                "file" => contents.push(part.file()?.into()),
                _ => {}
            }
        }
        if contents.is_empty() {
            return Err(PageError::BadRequest(format!("message `{}` has no text and no file", self.id)));
        }
        Ok(PageInput { id: self.id.clone(), message: UserMessage::new(contents) })
    }

    fn decisions(&self) -> Result<UiAsk, PageError> {
        let Some(run) = run_of_message(&self.id) else {
            let reason = "the last message is none of this conversation; load its messages again";
            return Err(PageError::Conflict(reason.to_owned()));
        };
        let mut calls = Vec::new();
        let mut steps = 0;
        for part in &self.parts {
            steps += usize::from(part.kind == "step-start");
            if let Some(decision) = part.decision() {
                calls.push((part.tool_call_id.clone(), decision));
            }
        }
        Ok(UiAsk::Decisions(UiDecisions { run: run.to_owned(), steps, calls }))
    }
}

impl ClientPart {
    /// Returns the decision or the result in the part of a call. Those of calls that do not wait are ignored later.
    fn decision(&self) -> Option<Decision> {
        if self.tool_call_id.is_empty() {
            return None;
        }
        match (self.state.as_str(), &self.approval) {
            ("approval-responded", Some(approval)) if approval.approved => Some(Decision::Approve),
            ("approval-responded", Some(approval)) => {
                let reason = approval.reason.clone().unwrap_or_else(|| "the user has denied it".to_owned());
                Some(Decision::Deny(reason))
            }
            ("output-available", _) => Some(Decision::Answer(self.output.clone())),
            ("output-error", _) => Some(Decision::Fail(self.error_text.clone())),
            _ => None,
        }
    }

    /// Reads a file with its bytes. Other addresses are refused: the provider would fetch them.
    fn file(&self) -> Result<Media, PageError> {
        let Some((head, data)) = self.url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"))
        else {
            return Err(no_data_address());
        };
        if data.len() % 4 != 0 || !data.bytes().all(is_base64) {
            return Err(no_data_address());
        }
        let media_type = if self.media_type.contains('/') { &self.media_type } else { head };
        let mut media = Media::new(media_type, "");
        media.data = MediaData::Base64(data.to_owned());
        media.name.clone_from(&self.filename);
        Ok(media)
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn no_data_address() -> PageError {
    PageError::BadRequest("a file of a message must have a data address in Base64".to_owned())
}
