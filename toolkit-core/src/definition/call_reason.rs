//! The call reason, in an extra argument removed before the tool runs.

use super::rewriting::Rewriting;
use super::{ToolDefinition, ToolKind};
use crate::args::ObjectText;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

pub(crate) const CALL_REASON: &str = "call_reason";

/// Returns whether the model is asked for the call reason: by the tool's setting, or else `by_default`.
///
/// The arguments must be an object, as the reason is a member.
#[inline]
pub(crate) fn asks_for_call_reason(definition: &ToolDefinition, by_default: bool) -> bool {
    definition.metadata.call_reason.unwrap_or(by_default) && takes_object(definition)
}

#[inline(never)]
fn takes_object(definition: &ToolDefinition) -> bool {
    definition.kind == ToolKind::Function
        && (properties(definition).is_some() || definition.parameters.get("type") == Some(&"object".into()))
}

/// Returns whether the tool itself has a parameter `call_reason`.
pub(crate) fn has_call_reason_parameter(definition: &ToolDefinition) -> bool {
    properties(definition).is_some_and(|properties| properties.contains_key(CALL_REASON))
}

fn properties(definition: &ToolDefinition) -> Option<&Map<String, Value>> {
    definition.parameters.get("properties").and_then(Value::as_object)
}

impl ToolDefinition {
    /// Returns the definition for models, clients and other machines.
    ///
    /// The objects inside of a Rust type's parameters are closed, as the tool refuses unknown members at
    /// every depth. If the model is asked for a reason, there is an argument `call_reason`. The tool's own
    /// setting overrides `by_default`.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, prelude::*};
    ///
    /// #[derive(ToolParams)]
    /// struct Search { filter: Filter }
    ///
    /// #[derive(ToolParams)]
    /// struct Filter { city: String }
    ///
    /// let search = ClosureTool::new("search", "Searches.", |search: Search| search.filter.city)?;
    /// let published = search.definition().published(false);
    /// assert_eq!(published.parameters["properties"]["filter"]["additionalProperties"], false);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[must_use]
    pub fn published(&self, by_default: bool) -> Cow<'_, Self> {
        let closed = self.contract().ok().and_then(|contract| contract.published(&self.parameters));
        let asks = asks_for_call_reason(self, by_default) && !has_call_reason_parameter(self);
        if closed.is_none() && !asks {
            return Cow::Borrowed(self);
        }
        let mut augmented = self.clone();
        if let Some(closed) = closed {
            augmented.parameters = closed;
        }
        if let Value::Object(schema) = &mut augmented.parameters
            && asks
        {
            let properties = schema.entry("properties").or_insert_with(|| Map::new().into());
            if let Value::Object(properties) = properties {
                properties.insert(
                    CALL_REASON.to_owned(),
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

/// The arguments of a call without the call reason, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SplitArguments {
    pub(crate) arguments: String,
    /// The call reason; `None` for `null`. Values other than strings are JSON text.
    pub(crate) call_reason: Option<String>,
}

/// Separates the call reason from the other arguments, which stay as the model wrote them.
///
/// Returns `None` without a call reason, or if `text` is no JSON object. One that is only
/// [wrapped](ObjectText::repaired) in `text` is read with `coerce` and stays wrapped, so that the tool
/// reports the coercion.
pub(crate) fn split_call_reason(text: &str, coerce: bool) -> Option<SplitArguments> {
    // Skip the parsing if the text has neither the name nor an escape that may hide it.
    if !text.contains(CALL_REASON) && !text.contains('\\') {
        return None;
    }
    let object = ObjectText::read(text).ok().filter(|object| object.repaired.is_none() || coerce)?;
    let mut rewriting = Rewriting::new(&object.text);
    let mut reason = None;
    for (name, value) in object.members().ok()? {
        if name == CALL_REASON {
            rewriting.skip(value);
            reason = Some(read_reason(value));
        } else {
            rewriting.keep(value, None);
        }
    }
    let rest = rewriting.finish();
    let arguments = if object.repaired.is_some() { Value::from(rest).to_string() } else { rest };
    reason.map(|call_reason| SplitArguments { arguments, call_reason })
}

fn read_reason(value: &str) -> Option<String> {
    match value.parse() {
        Ok(Value::Null) => None,
        Ok(Value::String(reason)) => Some(reason),
        _ => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, arguments: &str, reason: Option<&str>) {
        let expected =
            SplitArguments { arguments: arguments.to_owned(), call_reason: reason.map(str::to_owned) };
        assert_eq!(split_call_reason(text, true), Some(expected));
    }

    #[test]
    fn other_arguments_stay_as_they_were_written() {
        check(r#"{"call_reason":"x"}"#, "{}", Some("x"));
        check(r#"{"a": 1.0,"call_reason": "x"}"#, r#"{"a": 1.0}"#, Some("x"));
        check(r#"{"call_reason": "x" , "a": 1e3}"#, r#"{ "a": 1e3}"#, Some("x"));
        check(r#"{"a" :[ 1 ] , "call_reason":"x\n" ,"b":"é"}"#, r#"{"a" :[ 1 ] ,"b":"é"}"#, Some("x\n"));
        check(r#"{"call_reason":1,"a":1,"call_reason":null,"a":2}"#, r#"{"a":1,"a":2}"#, None);
        check(r#"{"call\u005freason":{"b": 1},"a":1}"#, r#"{"a":1}"#, Some(r#"{"b": 1}"#));
    }

    #[test]
    fn a_wrapped_object_stays_wrapped_and_is_read_only_with_coercion() {
        for text in [r#""{\"a\": 1, \"call_reason\": \"x\"}""#, r#"[{"a": 1,"call_reason":"x"}]"#] {
            check(text, r#""{\"a\": 1}""#, Some("x"));
            assert_eq!(split_call_reason(text, false), None);
        }
    }

    #[test]
    fn arguments_without_a_call_reason_are_left_alone() {
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
            assert_eq!(split_call_reason(text, true), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn splitting_a_call_reason_changes_nothing_else(
            values in proptest::collection::vec(("[a-c]{1,3}", "[ -~é]{0,12}"), 0..6),
            at in 0_usize..7,
            blank in "[ \n]{0,2}",
        ) {
            let mut members: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{blank}{}:{}", Value::from(name.as_str()), Value::from(value.as_str())))
                .collect();
            let plain = members.clone();
            members.insert(at.min(plain.len()), format!("{blank}\"{CALL_REASON}\" : \"because, {{\""));
            let split = split_call_reason(&format!("{{{}}}", members.join(",")), true).unwrap();
            prop_assert_eq!(split.call_reason.as_deref(), Some("because, {"));
            let read = |text: &str| {
                let object = ObjectText::read(text).unwrap();
                let members = object.members().unwrap().into_iter();
                members.map(|(name, value)| (name.into_owned(), value.to_owned())).collect::<Vec<_>>()
            };
            prop_assert_eq!(read(&split.arguments), read(&format!("{{{}}}", plain.join(","))));
        }
    }
}
