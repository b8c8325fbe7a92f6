//! The violations of a search, whose messages are written only when reported.

use super::{Checks, SEVERAL, no_such_property};
use crate::depth::{MAX_DEPTH, nests_deeper};
use crate::describe::{describe_for, describe_in};
use crate::json::Json;
use crate::violation::{Violation, ViolationKind};
use crate::words::{phrase, value_in_words};
use serde_json::Value;
use std::borrow::Cow;
use std::ptr;

/// A violation whose message may not be written yet.
#[derive(Clone)]
pub(super) struct Found<'a, 'v> {
    pub(super) path: String,
    pub(super) kind: ViolationKind,
    /// Whether its value has another structure, and so belongs to another branch, unlike one that violates a
    /// constraint.
    pub(super) is_structure: bool,
    pub(super) message: Message<'a, 'v>,
}

/// The message of a violation, perhaps unwritten.
#[derive(Clone)]
pub(super) enum Message<'a, 'v> {
    Text(String),
    /// A value with the JSON `text` violates `keyword` of `schema`.
    Mismatch {
        schema: Cow<'a, Value>,
        keyword: &'static str,
        text: &'v str,
    },
    /// `schema` lists no `name` for the JSON `object`.
    Unknown {
        schema: &'a Value,
        name: String,
        object: &'v str,
    },
}

impl<'a> Found<'a, '_> {
    /// Returns whether `other` has the same path and the same cause.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same_message = match (&self.message, &other.message) {
            (Message::Text(text), Message::Text(other)) => text == other,
            (
                Message::Mismatch { schema: Cow::Borrowed(schema), keyword, .. },
                Message::Mismatch { schema: Cow::Borrowed(other), keyword: others, .. },
            ) => ptr::eq(*schema, *other) && keyword == others,
            (Message::Unknown { schema, .. }, Message::Unknown { schema: other, .. }) => {
                ptr::eq(*schema, *other)
            }
            _ => false,
        };
        is_same_message && self.path == other.path
    }

    pub(super) fn into_violation(self, checks: &Checks<'a>) -> Violation {
        let root = checks.root;
        let message = match self.message {
            Message::Text(text) => text,
            Message::Unknown { schema, name, object } => {
                let names = Json::parse(object).map(|object| checks.member_names(schema, &object));
                no_such_property(&name, names.unwrap_or_default().into_iter())
            }
            Message::Mismatch { schema, keyword, text } => {
                // Only strings are compared with expected values.
                let value = if text.starts_with('"') { Json::parse(text).ok() } else { None };
                let expected = match keyword {
                    SEVERAL => "a value that fits exactly one of the alternatives".to_owned(),
                    _ => or_another(expected(root, &schema, keyword, value.as_ref())),
                };
                format!("expected {expected}, got {}", value_in_words(text))
            }
        };
        Violation::new(self.path, self.kind, message)
    }
}

/// Returns a description of values, or else words for any other value.
fn or_another(description: Option<String>) -> String {
    description.unwrap_or_else(|| "another value".to_owned())
}

/// Describes the expected values, for a violation of `keyword`.
pub(super) fn expected(
    root: &Value,
    schema: &Value,
    keyword: &str,
    value: Option<&Json<'_>>,
) -> Option<String> {
    let inner = |schema: &Value| or_another(describe_in(root, schema));
    match (keyword, schema.get(keyword)) {
        ("not", Some(not)) => return Some(format!("anything else than {}", inner(not))),
        ("contains", Some(item)) => return Some(format!("array with {} among its items", inner(item))),
        ("uniqueItems", _) => return Some("array whose items differ".to_owned()),
        _ => {}
    }
    // A copy of a deeper schema could exhaust the stack.
    if nests_deeper(schema, MAX_DEPTH) {
        return None;
    }
    let mut plain = schema.clone();
    let keywords = plain.as_object_mut()?;
    if !keyword.ends_with("Of") && !keyword.is_empty() {
        keywords.retain(|own, _| !matches!(own.as_str(), "$ref" | "anyOf" | "oneOf"));
    }
    if let Some(words) = describe_for(root, &plain, value) {
        return Some(words);
    }
    let mut violated = plain.as_object()?.iter().filter(|(own, _)| keyword.is_empty() || *own == keyword);
    violated.find_map(|(own, limit)| phrase(own, limit))
}
