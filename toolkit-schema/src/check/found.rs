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
                let object = Json::parse(object).ok();
                let names = object.map(|object| checks.member_names(schema, &object));
                no_such_property(&name, names.into_iter().flatten())
            }
            Message::Mismatch { schema, keyword, text } => {
                // Only strings are compared with expected values.
                let value = if text.starts_with('"') { Json::parse(text).ok() } else { None };
                let expected = match keyword {
                    SEVERAL => Some("a value that fits exactly one of the alternatives".to_owned()),
                    _ => expected(root, &schema, keyword, value.as_ref()),
                };
                let expected = expected.unwrap_or_else(|| "another value".to_owned());
                format!("expected {expected}, got {}", value_in_words(text))
            }
        };
        Violation::new(self.path, self.kind, message)
    }
}

/// Describes the expected values, for a violation of `keyword`.
pub(super) fn expected(
    root: &Value,
    schema: &Value,
    keyword: &str,
    value: Option<&Json<'_>>,
) -> Option<String> {
    let inner = |schema: &Value| describe_in(root, schema).unwrap_or_else(|| "another value".to_owned());
    match (keyword, schema.get(keyword)) {
        ("not", Some(not)) => return Some(format!("anything else than {}", inner(not))),
        ("contains", Some(item)) => return Some(format!("array with {} among its items", inner(item))),
        ("uniqueItems", _) => return Some("array whose items differ".to_owned()),
        _ => {}
    }
    // A copy of a deeper schema could exhaust the stack.
    let mut plain = schema.as_object().filter(|_| !nests_deeper(schema, MAX_DEPTH))?.clone();
    if !keyword.ends_with("Of") {
        plain.retain(|own, _| keyword.is_empty() || !matches!(own.as_str(), "$ref" | "anyOf" | "oneOf"));
    }
    let plain = Value::Object(plain);
    describe_for(root, &plain, value).or_else(|| {
        let mut keywords = plain.as_object()?.iter().filter(|(own, _)| keyword.is_empty() || *own == keyword);
        keywords.find_map(|(keyword, value)| phrase(keyword, value))
    })
}
