//! One item of a streamed response.

use crate::call::{self as shared, WireCall, is_blank};
use crate::fields::{self, Fields, set};
use crate::openai_responses::call::{self, CUSTOM, FUNCTION, kind};
use crate::stream::assembler::StreamPart;
use crate::stream::decode::StreamEvent;
use crate::stream::merge::overlay;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use toolkit_core::call::ToolCall;

/// The part of an item continued by a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The type of items with this part.
    item: &'static str,
    /// The field for the text or for the list of text blocks.
    field: &'static str,
    /// The index of the block.
    index: u64,
    /// The type of the block. Empty if the field contains the text itself.
    block: &'static str,
    /// The field of the block for the text.
    pub(super) text: &'static str,
}

impl Part {
    /// Returns the part changed by an event, according to the name of the event.
    pub(super) fn of(name: &str, event: &Fields) -> Option<Self> {
        let (item, field, block, text) = match name {
            "function_call_arguments" => (FUNCTION, "arguments", "", "arguments"),
            "custom_tool_call_input" => (CUSTOM, "input", "", "input"),
            "output_text" => ("message", "content", "output_text", "text"),
            "refusal" => ("message", "content", "refusal", "refusal"),
            "reasoning_text" | "reasoning" => ("reasoning", "content", "reasoning_text", "text"),
            "reasoning_summary_text" | "reasoning_summary" => {
                ("reasoning", "summary", "summary_text", "text")
            }
            _ => return None,
        };
        let index = if field == "summary" { "summary_index" } else { "content_index" };
        let index = event.get(index).and_then(Value::as_u64).unwrap_or_default();
        Some(Self { item, field, index: if block.is_empty() { 0 } else { index }, block, text })
    }

    /// Returns the event for the text of a block.
    pub(super) fn news(block: &str, text: &str) -> Option<StreamEvent> {
        match block {
            _ if text.is_empty() => None,
            "output_text" | "refusal" => Some(StreamEvent::Text(text.to_owned())),
            "summary_text" | "reasoning_text" => Some(StreamEvent::Reasoning(text.to_owned())),
            _ => None,
        }
    }

    pub(super) fn event(self, text: &str) -> Option<StreamEvent> {
        Self::news(self.block, text)
    }
}

/// The ids and the index of an item, to identify the item.
#[derive(Debug, Default)]
pub(super) struct Key {
    pub(super) item: Option<String>,
    pub(super) index: Option<u64>,
    pub(super) call: Option<String>,
    kind: Option<String>,
}

impl Key {
    pub(super) fn of_item(item: &Fields, output_index: Option<&Value>) -> Self {
        Self {
            item: text(item, "id"),
            index: output_index.and_then(Value::as_u64),
            call: text(item, "call_id"),
            kind: text(item, "type"),
        }
    }

    pub(super) fn of_event(event: &Fields, part: Part) -> Self {
        Self {
            item: text(event, "item_id"),
            index: event.get("output_index").and_then(Value::as_u64),
            call: text(event, "call_id"),
            kind: Some(part.item.to_owned()),
        }
    }

    /// Returns whether the key has neither ids nor an index.
    pub(super) fn is_empty(&self) -> bool {
        self.item.is_none() && self.index.is_none() && self.call.is_none()
    }

    /// Returns whether both keys have the same `call_id`.
    pub(super) fn is_same_call(&self, other: &Self) -> bool {
        self.call.is_some() && self.call == other.call
    }

    /// Returns whether the keys belong to different items for certain.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        differ(self.call.as_ref(), other.call.as_ref()) || differ(self.kind.as_ref(), other.kind.as_ref())
    }

    pub(super) fn is_elsewhere(&self, other: &Self) -> bool {
        differ(self.index.as_ref(), other.index.as_ref())
    }

    pub(super) fn is_other_item(&self, other: &Self) -> bool {
        differ(self.item.as_ref(), other.item.as_ref())
    }

    /// Fills in the missing fields from `other`.
    pub(super) fn learn(&mut self, other: Self) {
        self.item = self.item.take().or(other.item);
        self.index = self.index.or(other.index);
        self.call = self.call.take().or(other.call);
        self.kind = self.kind.take().or(other.kind);
    }
}

/// An item being received.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) key: Key,
    /// The position among the items. The final response overrides it.
    pub(super) position: u64,
    /// Whether the final response contains the item.
    pub(super) is_listed: bool,
    /// The item, from the latest event with an item. `None` while only fragments have arrived.
    item: Option<Value>,
    parts: BTreeMap<Part, String>,
    is_done: bool,
}

impl Slot {
    pub(super) fn at(position: usize) -> Self {
        Self { position: position as u64, ..Self::default() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns whether the item itself has arrived, and not only fragments of it.
    pub(super) fn is_known(&self) -> bool {
        self.item.is_some()
    }

    pub(super) fn append(&mut self, part: Part, text: &str) {
        self.parts.entry(part).or_default().push_str(text);
    }

    /// Sets the complete text of a part. Returns whether no fragments of this text arrived before.
    pub(super) fn set(&mut self, part: Part, text: &str) -> bool {
        let known = self.parts.entry(part).or_default();
        let is_new = known.is_empty();
        text.clone_into(known);
        is_new
    }

    /// Returns whether `item` and the item in this slot are different calls.
    pub(super) fn is_another(&self, key: &Key, item: &Fields) -> bool {
        let is_same_item = key.item.is_some() && key.item == self.key.item;
        let is_same = |name: &str| {
            let known = self.item.as_ref().and_then(|known| known.get(name));
            item.get(name).is_none_or(|value| Some(value) == known)
        };
        !is_same_item && !["name", "arguments", "input"].into_iter().all(is_same)
    }

    pub(super) fn begin(&mut self, item: &Fields) {
        if self.item.is_none() {
            self.item = Some(Value::Object(item.clone()));
        }
    }

    /// Returns the events for the texts of an item received complete, without earlier fragments.
    pub(super) fn texts(&self, item: &Fields) -> Vec<StreamEvent> {
        if self.is_done || !self.parts.is_empty() {
            return Vec::new();
        }
        let blocks =
            ["summary", "content"].into_iter().filter_map(|name| item.get(name)?.as_array()).flatten();
        let texts = blocks.filter_map(|block| {
            let kind = fields::text(block, "type");
            Part::news(kind, fields::text(block, if kind == "refusal" { "refusal" } else { "text" }))
        });
        texts.collect()
    }

    /// Sets the final item. If the call was already returned, the call stays unchanged, and so does the item
    /// if the final one contains a different call.
    pub(super) fn complete(&mut self, item: &Fields, is_yielded: bool) {
        let mut whole = self.item.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        // An announced id is kept if the final item has none.
        let is_kept = |name: &str, value: &Value| name != "call_id" || shared::id(Some(value)).is_some();
        overlay(&mut whole, item, is_kept);
        if whole.get("status").is_some_and(|status| status == "in_progress") {
            set(&mut whole, "status", "completed");
        }
        self.fill(&mut whole, true);
        let whole = Value::Object(whole);
        if !is_yielded || self.to_call() == call_of(&whole) {
            self.item = Some(whole);
        }
        self.is_done = true;
    }

    /// Ends an item without an end event and sets its `status`.
    pub(super) fn close(&mut self, status: &str) {
        if self.is_done {
            return;
        }
        let mut item = match self.item.take() {
            Some(Value::Object(item)) => item,
            _ => self.known_by_key(),
        };
        self.fill(&mut item, false);
        if matches!(kind(&item), Some(FUNCTION | "message")) {
            set(&mut item, "status", status);
        }
        self.item = Some(Value::Object(item));
        self.is_done = true;
    }

    fn set_field(&mut self, field: &str, value: &str) {
        if let Some(Value::Object(item)) = &mut self.item {
            set(item, field, value);
        }
    }

    fn known_by_key(&self) -> Fields {
        let known = [("type", &self.key.kind), ("id", &self.key.item), ("call_id", &self.key.call)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        known.map(|(name, value)| (name.to_owned(), value.into())).collect()
    }

    /// Fills empty fields of the item with the streamed fragments.
    ///
    /// `is_final` is `true` if the service sent the item as final. Final reasoning stays unchanged.
    fn fill(&self, item: &mut Fields, is_final: bool) {
        let kind = kind(item).unwrap_or_default().to_owned();
        if kind == "message" {
            item.entry("role").or_insert_with(|| "assistant".into());
        }
        // The reasoning that the service streams may differ from the reasoning that it expects back.
        if is_final && kind == "reasoning" {
            return;
        }
        for field in ["arguments", "input", "summary", "content"] {
            let parts = self.parts.iter().filter(|(part, _)| part.item == kind && part.field == field);
            let values: Vec<Value> = parts.map(|(part, text)| block(*part, text)).collect();
            let says_nothing = |value: &Value| match value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(list) => list.is_empty(),
                _ => false,
            };
            if !values.is_empty() && item.get(field).is_none_or(says_nothing) {
                match values.as_slice() {
                    [text @ Value::String(_)] => set(item, field, text.clone()),
                    _ => set(item, field, values),
                }
            }
        }
    }

    /// Returns whether the id and the name of the call are final. Before the call is complete, only a
    /// `call_id` is a final id.
    pub(super) fn can_be_announced(&self) -> bool {
        self.read().is_some_and(|call| self.is_done || self.given_id().is_some() && !call.name.is_empty())
    }

    fn read(&self) -> Option<WireCall<'_>> {
        call::read(self.item.as_ref()?, false)
    }

    pub(super) fn into_item(self) -> Value {
        self.item.unwrap_or_default()
    }
}

impl StreamPart for Slot {
    fn position(&self) -> u64 {
        self.position
    }

    fn call(&self) -> Option<WireCall<'_>> {
        self.read().filter(|_| self.is_done)
    }

    fn given_id(&self) -> Option<Cow<'_, str>> {
        match self.is_done {
            true => self.read()?.id,
            false => shared::id(self.item.as_ref()?.get("call_id")),
        }
    }

    fn name(&self) -> &str {
        self.read().map(|call| call.name).unwrap_or_default()
    }

    fn set_id(&mut self, id: &str) {
        if self.read().is_some_and(|call| call.id.is_none()) {
            self.set_field("call_id", id);
        }
    }

    fn is_blank(&self) -> bool {
        let call = self.read().filter(|call| !call::is_custom(&call.extras));
        call.is_some_and(|call| is_blank(call.json.get("arguments")))
    }

    fn set_arguments(&mut self, text: &str) {
        self.set_field("arguments", text);
    }

    /// Sets blank arguments of a complete call to `{}`, as the service does. Otherwise, the call would look
    /// cut off.
    fn seal(&mut self) {
        let is_cut = self.item.as_ref().is_some_and(|item| fields::text(item, "status") == "incomplete");
        if self.is_blank_call() && !is_cut {
            self.set_field("arguments", "{}");
        }
    }
}

/// Returns the block with the text of a part.
fn block(part: Part, text: &str) -> Value {
    match part.block {
        "" => text.into(),
        "output_text" => json!({"type": part.block, "text": text, "annotations": []}),
        _ => json!({"type": part.block, part.text: text}),
    }
}

/// Reads an item as a call with its own id.
fn call_of(item: &Value) -> Option<ToolCall> {
    let call = call::read(item, false)?;
    let id = call.id.as_deref()?.into();
    Some(call.into_call(id))
}

/// Returns whether both values are present and different.
fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

fn text(fields: &Fields, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str().filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}
