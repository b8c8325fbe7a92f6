//! One item of a streamed response while it grows.

use super::call_of;
use crate::call::{Fields, is_blank};
use crate::openai_responses::call::{self, CUSTOM, FUNCTION, kind};
use crate::stream::decode::StreamEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_core::call::ToolCall;

/// What a fragment is a fragment of; the number is the place among those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Arguments,
    Input,
    Text(u64),
    Refusal(u64),
    Summary(u64),
    Reasoning(u64),
}

impl Part {
    /// The type of the items that have such parts.
    fn item_kind(self) -> &'static str {
        match self {
            Self::Arguments => FUNCTION,
            Self::Input => CUSTOM,
            Self::Text(_) | Self::Refusal(_) => "message",
            Self::Summary(_) | Self::Reasoning(_) => "reasoning",
        }
    }
}

/// What an item is known by.
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
            kind: Some(part.item_kind().to_owned()),
        }
    }

    /// Whether it says nothing but a type.
    pub(super) fn is_empty(&self) -> bool {
        self.item.is_none() && self.index.is_none() && self.call.is_none()
    }

    /// Whether both say the id of a call, and say the same.
    pub(super) fn is_same_call(&self, other: &Self) -> bool {
        self.call.is_some() && self.call == other.call
    }

    /// Whether both cannot be the same item, whatever else they have in common.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        differ(self.call.as_ref(), other.call.as_ref()) || differ(self.kind.as_ref(), other.kind.as_ref())
    }

    pub(super) fn is_elsewhere(&self, other: &Self) -> bool {
        differ(self.index.as_ref(), other.index.as_ref())
    }

    pub(super) fn is_other_item(&self, other: &Self) -> bool {
        differ(self.item.as_ref(), other.item.as_ref())
    }

    /// Takes over what was not known.
    pub(super) fn learn(&mut self, other: Self) {
        self.item = self.item.take().or(other.item);
        self.index = self.index.or(other.index);
        self.call = self.call.take().or(other.call);
        self.kind = self.kind.take().or(other.kind);
    }
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) key: Key,
    /// The place in the last response.
    pub(super) position: Option<usize>,
    /// The item as last told; `None` while only fragments tell of it.
    item: Option<Value>,
    parts: BTreeMap<Part, String>,
    is_done: bool,
    is_announced: bool,
    told: Option<ToolCall>,
}

impl Slot {
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether an item was told, and not only fragments of it.
    pub(super) fn is_known(&self) -> bool {
        self.item.is_some()
    }

    pub(super) fn append(&mut self, part: Part, text: &str) {
        self.parts.entry(part).or_default().push_str(text);
    }

    /// Sets the whole of what fragments may have told already; whether none had.
    pub(super) fn set(&mut self, part: Part, text: &str) -> bool {
        let known = self.parts.entry(part).or_default();
        let is_new = known.is_empty();
        text.clone_into(known);
        is_new
    }

    /// Whether a call was told, and `item` is another that is not known to be the same.
    pub(super) fn told_another(&self, key: &Key, item: &Fields) -> bool {
        let is_same_item = key.item.is_some() && key.item == self.key.item;
        let is_same = |name: &str| {
            let told = self.item.as_ref().and_then(|told| told.get(name));
            item.get(name).is_none_or(|value| Some(value) == told)
        };
        self.told.is_some() && !is_same_item && !["name", "arguments", "input"].into_iter().all(is_same)
    }

    pub(super) fn begin(&mut self, item: &Fields) {
        if self.item.is_none() {
            self.item = Some(Value::Object(item.clone()));
        }
    }

    /// The texts of an item that is told whole and of which no fragments came before.
    pub(super) fn unheard(&self, item: &Fields) -> Vec<StreamEvent> {
        if self.is_done || !self.parts.is_empty() {
            return Vec::new();
        }
        let blocks =
            ["summary", "content"].into_iter().filter_map(|name| item.get(name)?.as_array()).flatten();
        let texts = blocks.filter_map(Value::as_object).filter_map(|block| match kind(block)? {
            "output_text" => text(block, "text").map(StreamEvent::Text),
            "refusal" => text(block, "refusal").map(StreamEvent::Text),
            "summary_text" | "reasoning_text" => text(block, "text").map(StreamEvent::Reasoning),
            _ => None,
        });
        texts.collect()
    }

    /// Takes the item as it is in the end. What was told of a call stays, and so does its item if the
    /// later one is another call.
    pub(super) fn complete(&mut self, item: &Fields) {
        let mut whole = self.item.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, value) in item {
            if !value.is_null() || !whole.contains_key(name) {
                whole.insert(name.clone(), value.clone());
            }
        }
        if whole.get("status").is_some_and(|status| status == "in_progress") {
            whole.insert("status".to_owned(), "completed".into());
        }
        self.fill(&mut whole, true);
        let whole = Value::Object(whole);
        if self.told.is_none() || self.told == call_of(&whole) {
            self.item = Some(whole);
        }
        self.is_done = true;
    }

    /// Ends an item whose end was not told, with this status.
    pub(super) fn close(&mut self, status: &str) {
        if self.is_done {
            return;
        }
        let mut item = match self.item.take() {
            Some(Value::Object(item)) => item,
            _ => self.only_heard_of(),
        };
        self.fill(&mut item, false);
        if matches!(kind(&item), Some(FUNCTION | "message")) {
            item.insert("status".to_owned(), status.into());
        }
        self.item = Some(Value::Object(item));
        self.is_done = true;
    }

    /// Whether it is a call that has ended, was not told, and has no arguments.
    pub(super) fn is_blank_call(&self) -> bool {
        let item = self.item.as_ref().filter(|_| self.is_done && self.told.is_none());
        let call =
            item.and_then(|item| call::read(item, false)).filter(|call| !call::is_custom(&call.extras));
        call.is_some_and(|call| is_blank(call.json.get("arguments")))
    }

    /// Takes note that the model was stopped here, if this is a call without arguments.
    pub(super) fn cut(&mut self) {
        if self.is_blank_call()
            && let Some(Value::Object(item)) = &mut self.item
        {
            item.insert("status".to_owned(), "incomplete".into());
        }
    }

    /// Writes no arguments as the service does: blank ones look as if the model had been stopped before them.
    fn insist(&mut self) {
        let is_cut = |item: &Fields| item.get("status").is_some_and(|status| status == "incomplete");
        if self.is_blank_call()
            && let Some(Value::Object(item)) = &mut self.item
            && !is_cut(item)
        {
            item.insert("arguments".to_owned(), "{}".into());
        }
    }

    fn only_heard_of(&self) -> Fields {
        let mut item = Fields::new();
        let mut put = |name: &str, value: Option<&String>| {
            value.map(|value| item.insert(name.to_owned(), value.as_str().into()));
        };
        put("type", self.key.kind.as_ref());
        put("id", self.key.item.as_ref());
        put("call_id", self.key.call.as_ref());
        item
    }

    /// Puts the fragments into the fields that the item itself says nothing in. `is_told` is whether the
    /// item is as the service told it in the end.
    fn fill(&self, item: &mut Fields, is_told: bool) {
        let part = |part| self.parts.get(&part).map(|text| Value::from(text.as_str()));
        match kind(item) {
            Some(FUNCTION) => put(item, "arguments", part(Part::Arguments)),
            Some(CUSTOM) => put(item, "input", part(Part::Input)),
            Some("message") => {
                item.entry("role").or_insert_with(|| "assistant".into());
                put(item, "content", self.blocks("content"));
            }
            // The model's reasoning that the service shows need not be what it wants back.
            Some("reasoning") if !is_told => {
                put(item, "summary", self.blocks("summary"));
                put(item, "content", self.blocks("reasoning"));
            }
            _ => {}
        }
    }

    /// The contents of a field, in order; `None` if there are none.
    fn blocks(&self, field: &str) -> Option<Value> {
        let mut blocks: Vec<(u64, Value)> = Vec::new();
        for (part, text) in &self.parts {
            let (name, index, block) = match part {
                Part::Arguments | Part::Input => continue,
                Part::Text(index) => {
                    ("content", index, json!({"type": "output_text", "text": text, "annotations": []}))
                }
                Part::Refusal(index) => ("content", index, json!({"type": "refusal", "refusal": text})),
                Part::Summary(index) => ("summary", index, json!({"type": "summary_text", "text": text})),
                Part::Reasoning(index) => {
                    ("reasoning", index, json!({"type": "reasoning_text", "text": text}))
                }
            };
            if name == field {
                blocks.push((*index, block));
            }
        }
        blocks.sort_by_key(|(index, _)| *index);
        let blocks: Vec<Value> = blocks.into_iter().map(|(_, block)| block).collect();
        (!blocks.is_empty()).then(|| blocks.into())
    }

    /// The id and the name of a call that was not announced yet and is named. Until the call is
    /// complete, only a `call_id` is its id for sure.
    pub(super) fn announcement(&mut self) -> Option<(String, String)> {
        let item = self.item.as_ref().filter(|_| !self.is_announced)?;
        let call = call::read(item, false)?;
        let id = if self.is_done { call.id?.into_owned() } else { text(item.as_object()?, "call_id")? };
        if call.name.is_empty() && !self.is_done {
            return None;
        }
        self.is_announced = true;
        Some((id, call.name.to_owned()))
    }

    /// Whether the item is a complete call without any id.
    pub(super) fn needs_id(&self) -> bool {
        let call = self.item.as_ref().filter(|_| self.is_done).and_then(|item| call::read(item, false));
        call.is_some_and(|call| call.id.is_none())
    }

    pub(super) fn set_id(&mut self, id: &str) {
        if let Some(Value::Object(item)) = &mut self.item {
            item.insert("call_id".to_owned(), id.into());
        }
    }

    /// The call, once, when it is complete.
    pub(super) fn tell(&mut self) -> Option<ToolCall> {
        if !self.is_done || self.told.is_some() {
            return None;
        }
        self.insist();
        self.told = self.item.as_ref().and_then(call_of);
        self.told.clone()
    }

    pub(super) fn into_item(self) -> Value {
        self.item.unwrap_or_default()
    }
}

/// Whether both are known and not the same.
fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

fn text(fields: &Fields, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str().filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}

/// Sets a field that says nothing yet.
fn put(item: &mut Fields, name: &str, value: Option<Value>) {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    if let Some(value) = value
        && item.get(name).is_none_or(says_nothing)
    {
        item.insert(name.to_owned(), value);
    }
}
