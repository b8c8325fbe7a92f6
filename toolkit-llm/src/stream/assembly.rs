//! The state of a streamed response, in the same form for every API.
//!
//! A codec sorts the pieces of each event into fields of the body, fields of a message, and parts of a
//! message. The complete body is written from them once, at the end.

use super::event::StreamEvent;
use super::part::PartCodec;
use super::parts::Parts;
use crate::json::fields::Fields;
use crate::response::FinishReason;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_core::call::ToolCall;

#[derive(Debug, Clone)]
pub(crate) struct Assembly {
    codec: &'static dyn PartCodec,
    /// The fields of the body except the messages, each with its latest value.
    pub(crate) body: Fields,
    /// The messages by their index, almost always only one.
    pub(crate) messages: BTreeMap<u64, StreamedMessage>,
    /// Whether an event, rather than fields of the body, announced the end.
    pub(crate) is_over: bool,
    /// Whether the provider reported an error in an event.
    pub(crate) is_broken: bool,
    /// Whether events with the pieces of arguments are enabled.
    pub(crate) has_argument_events: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct StreamedMessage {
    /// The fields of the choice or candidate around the message.
    pub(crate) around: Fields,
    /// The fields of the message except its parts.
    pub(crate) fields: Fields,
    pub(crate) parts: Parts,
}

impl Assembly {
    pub(crate) fn new(codec: &'static dyn PartCodec) -> Self {
        Self {
            codec,
            body: Fields::new(),
            messages: BTreeMap::new(),
            is_over: false,
            is_broken: false,
            has_argument_events: false,
        }
    }

    /// Returns the message with this index, creating it if necessary.
    pub(crate) fn message(&mut self, index: u64) -> &mut StreamedMessage {
        self.messages.entry(index).or_insert_with(|| StreamedMessage {
            around: Fields::new(),
            fields: Fields::new(),
            parts: Parts::new(self.codec, json!([index, self.body]), self.has_argument_events),
        })
    }

    pub(crate) fn parts(&mut self) -> &mut Parts {
        &mut self.message(0).parts
    }

    /// Ends the parts of the only message and returns their JSON.
    ///
    /// Without a `reason`, the connection broke, and what may be cut off counts as cut off.
    pub(crate) fn end(&mut self, reason: Option<FinishReason>) -> Vec<Value> {
        let is_cut = self.is_broken || reason.as_ref().is_none_or(FinishReason::may_be_cut);
        let parts = self.parts();
        parts.close_all(is_cut);
        parts.release(is_cut);
        parts.take_json(reason.is_some() && is_cut)
    }

    /// Returns a copy with the parts up to the last complete call that earlier copies lack.
    pub(crate) fn take_complete(&mut self) -> Self {
        let mut messages = BTreeMap::new();
        for (index, message) in &mut self.messages {
            let around = message.around.clone();
            let fields = message.fields.clone();
            let parts = message.parts.take_complete();
            messages.insert(*index, StreamedMessage { around, fields, parts });
        }
        Self { messages, body: self.body.clone(), ..*self }
    }

    pub(crate) fn take_events(&mut self) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for message in self.messages.values_mut() {
            events.append(&mut message.parts.events);
        }
        events
    }

    pub(crate) fn take_calls(&mut self) -> Vec<ToolCall> {
        self.messages.values_mut().flat_map(|message| message.parts.take_calls()).collect()
    }
}
