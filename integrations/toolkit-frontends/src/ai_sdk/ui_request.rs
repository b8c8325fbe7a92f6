//! What a page sends.

use super::ui_encoder::run_of_message;
use crate::page_error::PageError;
use serde::Deserialize;
use serde_json::Value;
use toolkit_agent::Decision;
use toolkit_agent::runs::RunInput;
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
    Inputs(Vec<RunInput>),
    /// Go on with the run, whose message has these decisions.
    Decisions(UiDecisions),
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
        if self.trigger == "regenerate-message" {
            let reason = "an answer cannot be written again here; send another message";
            return Err(PageError::Conflict(reason.to_owned()));
        }
        let Some(last) = self.messages.last() else {
            return Err(PageError::BadRequest("the request has no messages".to_owned()));
        };
        if last.role == "assistant" {
            return last.decisions();
        }
        if self.message_id.as_ref().is_some_and(|id| self.has_message(id)) {
            let reason = "an earlier message cannot be changed here; begin another conversation";
            return Err(PageError::Conflict(reason.to_owned()));
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

impl UiRequest {
    fn has_message(&self, id: &str) -> bool {
        self.messages.iter().any(|message| message.id == id)
    }
}

impl ClientMessage {
    /// Returns the input of a user's message. Its id names the run, so that it is answered once.
    fn input(&self) -> Result<RunInput, PageError> {
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
        let input = RunInput::new(UserMessage::new(contents));
        Ok(input.with_run(self.id.clone()).with_message_id(self.id.clone()))
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
