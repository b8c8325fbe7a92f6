//! One part of a streamed message, such as a call.

use super::paths::PathArguments;
use super::scan::ObjectScanner;
use crate::call::WireCall;
use crate::facts::Api;
use crate::hosted::HostedPart;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use toolkit_core::call::{CallId, ToolCall};

/// Reads and completes the parts of a streamed message.
pub(crate) trait PartCodec: Api + fmt::Debug + Sync {
    /// Reads a part as a call.
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>>;

    /// Writes the pieces of a part into its JSON.
    ///
    /// If `is_complete` is `false`, the part was cut off.
    fn seal(&self, _part: &mut StreamedPart, _is_complete: bool) {}

    /// Changes the JSON of a complete call before its return.
    fn settle(&self, _call: &mut Value) {}

    /// Reads a call or an output of a hosted tool.
    fn hosted(&self, _part: &Value) -> Option<HostedPart> {
        None
    }
}

/// What identifies a part: the ids of its item and call, its index and its type.
///
/// Some servers omit some of the fields, which are then empty strings, and some repeat a value for several
/// parts.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct PartKey<S> {
    pub(crate) item: S,
    pub(crate) index: Option<u64>,
    pub(crate) call: S,
    pub(crate) kind: S,
}

/// The location of a text inside a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The field of the part with the text, or with a list of blocks.
    pub(crate) field: &'static str,
    /// The index of the block in the list.
    pub(crate) index: u64,
    /// The type of the block.
    ///
    /// Empty if the field contains the text itself.
    pub(crate) block: &'static str,
    pub(crate) text: &'static str,
}

/// A part of a message while it is received.
#[derive(Debug, Default, Clone)]
pub(crate) struct StreamedPart {
    pub(crate) key: PartKey<String>,
    /// The position by which the parts of the message are sorted at the end.
    pub(crate) position: u64,
    /// The provider's JSON, complete once the part is done.
    ///
    /// `null` if only fragments have arrived.
    pub(crate) json: Value,
    /// The name of the tool, if the part is a call.
    pub(crate) name: String,
    /// The arguments received in pieces, until the part is done.
    pub(crate) text: ScannedText,
    /// The texts received in pieces, if a part may have several texts.
    pub(crate) texts: BTreeMap<Place, String>,
    /// The arguments of an unfinished part that have arrived as pairs of a path and a value.
    pub(crate) paths: Option<Box<PathArguments>>,
    pub(crate) is_custom: bool,
    /// Whether empty arguments or free text are known to be complete.
    ///
    /// Their pieces have arrived, or their end was announced.
    pub(crate) has_pieces: bool,
    pub(crate) is_done: bool,
    pub(crate) is_listed: bool,
    pub(super) returned: ReturnedPart,
}

#[derive(Debug, Default, Clone)]
pub(super) struct ReturnedPart {
    /// Whether the part is a call that repeats another or has no name.
    ///
    /// It is not in the response.
    pub(super) is_dropped: bool,
    pub(super) is_announced: bool,
    pub(super) id: Option<CallId>,
    /// The bytes of the arguments returned in events.
    pub(super) shown: usize,
    pub(super) is_counted: bool,
    /// The call as it was returned.
    ///
    /// Later pieces do not change it.
    pub(super) call: Option<ToolCall>,
}

/// Arguments received in pieces, with the scanner for the end of their JSON object.
#[derive(Debug, Default, Clone)]
pub(crate) struct ScannedText {
    text: String,
    scan: ObjectScanner,
}

impl ScannedText {
    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.scan.push(piece);
    }

    pub(crate) fn take(&mut self) -> String {
        std::mem::take(self).text
    }
}

impl Deref for ScannedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartKey<&str> {
    pub(crate) fn is_empty(&self) -> bool {
        self.item.is_empty() && self.index.is_none() && self.call.is_empty()
    }
}

impl PartKey<String> {
    /// Returns whether both keys have the same call id.
    pub(crate) fn is_same_call(&self, other: &PartKey<&str>) -> bool {
        !self.call.is_empty() && self.call == other.call
    }

    pub(crate) fn is_other_call(&self, other: &PartKey<&str>) -> bool {
        differ(&self.call, other.call)
    }

    pub(crate) fn is_other_kind(&self, other: &PartKey<&str>) -> bool {
        differ(&self.kind, other.kind)
    }

    pub(crate) fn is_elsewhere(&self, other: &PartKey<&str>) -> bool {
        matches!((self.index, other.index), (Some(index), Some(other)) if index != other)
    }

    pub(crate) fn is_other_item(&self, other: &PartKey<&str>) -> bool {
        differ(&self.item, other.item)
    }
}

impl StreamedPart {
    /// Appends a piece to the arguments.
    ///
    /// An object after an empty object replaces it: some servers send `{}` first.
    pub(crate) fn append(&mut self, piece: &str) {
        if self.is_complete() && self.text.trim() == "{}" && piece.trim_start().starts_with('{') {
            self.text = ScannedText::default();
        }
        self.text.push(piece);
    }

    /// Returns whether the arguments so far are an incomplete object.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_custom && self.text.scan.is_open()
    }

    /// Returns whether the arguments so far are a complete object.
    ///
    /// The end of free text cannot be recognised.
    pub(crate) fn is_complete(&self) -> bool {
        !self.is_custom && self.text.scan.is_complete()
    }

    pub(crate) fn arguments(&self) -> &str {
        for (place, text) in &self.texts {
            if matches!(place.field, "arguments" | "input") {
                return text;
            }
        }
        &self.text
    }

    pub(crate) fn is_yielded(&self) -> bool {
        self.returned.call.is_some()
    }

    pub(crate) fn is_announced(&self) -> bool {
        self.returned.is_announced
    }

    pub(crate) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Some(fields) = self.json.as_object_mut() {
            crate::json::fields::set(fields, field, value);
        }
    }
}

/// Returns whether both values are present (not empty) and different.
fn differ(one: &str, other: &str) -> bool {
    !one.is_empty() && !other.is_empty() && one != other
}
