//! The reason that the model gives for a call, as an argument that no tool sees.

use super::{ToolDefinition, ToolKind};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;

/// The name of the argument.
pub(crate) const REASON: &str = "call_reason";

/// Whether the model is asked for its reason: the tool says so, or `by_default` where it says nothing. Arguments
/// that are no object have no place for it.
pub(crate) fn asks_for_reason(definition: &ToolDefinition, by_default: bool) -> bool {
    definition.metadata.call_reason.unwrap_or(by_default)
        && definition.kind == ToolKind::Function
        && (properties(definition).is_some() || definition.parameters.get("type") == Some(&"object".into()))
}

/// Whether the tool has a parameter of its own under the name.
pub(crate) fn takes_reason_itself(definition: &ToolDefinition) -> bool {
    properties(definition).is_some_and(|properties| properties.contains_key(REASON))
}

fn properties(definition: &ToolDefinition) -> Option<&Map<String, Value>> {
    definition.parameters.get("properties").and_then(Value::as_object)
}

impl ToolDefinition {
    /// Returns the definition as the model sees it: with the argument `call_reason` if the tool asks for it, or
    /// `by_default` where the tool says nothing.
    #[must_use]
    pub fn published(&self, by_default: bool) -> Cow<'_, Self> {
        if !asks_for_reason(self, by_default) || takes_reason_itself(self) {
            return Cow::Borrowed(self);
        }
        let mut augmented = self.clone();
        if let Value::Object(schema) = &mut augmented.parameters {
            let properties = schema.entry("properties").or_insert_with(|| Map::new().into());
            if let Value::Object(properties) = properties {
                properties.insert(
                    REASON.to_owned(),
                    json!({
                        "type": "string",
                        "description": "Why you chose this tool and what you expect from it.",
                    }),
                );
            }
        }
        Cow::Owned(augmented)
    }
}

/// Arguments without the reason, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parted {
    pub(crate) arguments: String,
    /// `None` if it is `null`. One that is no text stays as it was written.
    pub(crate) reason: Option<String>,
}

/// Takes the reason out of the arguments; all others stay as the model wrote them. `None` if there is no
/// reason, or the text is not that of an object.
pub(crate) fn part_reason(text: &str) -> Option<Parted> {
    // Nearly always the name stands there as it is; only then, or if it may be escaped, is the text read.
    if !text.contains(REASON) && !text.contains('\\') {
        return None;
    }
    if text.trim_start().starts_with('"') {
        // Some models write the object into a string.
        let inner: String = serde_json::from_str(text).ok()?;
        return part_members(&inner);
    }
    part_members(text)
}

fn part_members(text: &str) -> Option<Parted> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = deserializer.deserialize_map(Members).ok()?;
    deserializer.end().ok()?;
    if !members.iter().any(|(name, _)| name == REASON) {
        return None;
    }
    let mut reason = None;
    let mut end = text.find('{')? + 1;
    let mut arguments = text.get(..end)?.to_owned();
    let mut is_first = true;
    for (name, value) in members {
        // The value is borrowed from the text, so where it stands is known.
        let value_end = value.as_ptr().addr() - text.as_ptr().addr() + value.len();
        let member = text.get(end..value_end)?;
        end = value_end;
        if name == REASON {
            reason = read_reason(value);
        } else if is_first {
            arguments.push_str(member.trim_start().trim_start_matches(','));
            is_first = false;
        } else {
            arguments.push_str(member);
        }
    }
    arguments.push_str(text.get(end..)?);
    Some(Parted { arguments, reason })
}

fn read_reason(value: &str) -> Option<String> {
    match serde_json::from_str(value) {
        Ok(Value::Null) => None,
        Ok(Value::String(reason)) => Some(reason),
        _ => Some(value.to_owned()),
    }
}

/// The names and the values as they are written, in their order.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((name, value.get()));
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, arguments: &str, reason: Option<&str>) {
        let expected = Parted { arguments: arguments.to_owned(), reason: reason.map(str::to_owned) };
        assert_eq!(part_reason(text), Some(expected));
    }

    #[test]
    fn the_others_stay_as_they_were_written() {
        check(r#"{"call_reason":"x"}"#, "{}", Some("x"));
        check(r#"{"a": 1.0,"call_reason": "x"}"#, r#"{"a": 1.0}"#, Some("x"));
        check(r#"{"call_reason": "x" , "a": 1e3}"#, r#"{ "a": 1e3}"#, Some("x"));
        check(r#"{"a" :[ 1 ] , "call_reason":"x\n" ,"b":"é"}"#, r#"{"a" :[ 1 ] ,"b":"é"}"#, Some("x\n"));
        check(r#"{"call_reason":1,"a":1,"call_reason":null,"a":2}"#, r#"{"a":1,"a":2}"#, None);
        check(r#"{"call\u005freason":{"b": 1},"a":1}"#, r#"{"a":1}"#, Some(r#"{"b": 1}"#));
        check(r#""{\"a\": 1, \"call_reason\": \"x\"}""#, r#"{"a": 1}"#, Some("x"));
    }

    #[test]
    fn what_has_none_is_left_alone() {
        for text in [
            "",
            "null",
            r#"{"a": "call_reason"}"#,
            r#"{"a": {"call_reason": "x"}}"#,
            r#"["call_reason"]"#,
            r#"{"call_reason": "x""#,
            r#"{"call_reason": "x"} and more"#,
            r#""call_reason""#,
        ] {
            assert_eq!(part_reason(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_reason_anywhere_changes_nothing_else(
            values in proptest::collection::vec(("[a-c]{1,3}", "[ -~é]{0,12}"), 0..6),
            at in 0_usize..7,
            blank in "[ \n]{0,2}",
        ) {
            let mut members: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{blank}{}:{}", Value::from(name.as_str()), Value::from(value.as_str())))
                .collect();
            let plain = members.clone();
            members.insert(at.min(plain.len()), format!("{blank}\"{REASON}\" : \"because, {{\""));
            let parted = part_reason(&format!("{{{}}}", members.join(","))).unwrap();
            prop_assert_eq!(parted.reason.as_deref(), Some("because, {"));
            let read = |text: &str| serde_json::Deserializer::from_str(text).deserialize_map(Members).map(
                |members| members.into_iter().map(|(name, value)| (name, value.to_owned())).collect::<Vec<_>>(),
            ).unwrap();
            prop_assert_eq!(read(&parted.arguments), read(&format!("{{{}}}", plain.join(","))));
        }
    }
}
