//! The members of the arguments object, unparsed and in the order of the text.

use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Json, Kind, coerced, members_of, quoted, value_in_words};
use serde_json::value::RawValue;
use serde_json::{Error, Value};

pub(crate) use crate::schema::__private::Member;

enum Members<'a> {
    /// The object's text and its members.
    Object(&'a str, Vec<Member<'a>>),
    /// JSON inside a JSON string, as some models write it.
    String(String),
    Absent,
    Other,
}

/// Calls `read` with the members of the arguments. Empty text and `null` have none; an object in a string is read.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn with_members<T>(text: &str, read: impl FnOnce(&[Member<'_>]) -> T) -> Result<T, ToolError> {
    with_object(text, |_, members| read(members))
}

/// Calls `read` with the object's text too; the members borrow from it.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn with_object<T>(
    text: &str,
    read: impl FnOnce(&str, &[Member<'_>]) -> T,
) -> Result<T, ToolError> {
    let (inner, mended);
    let members = match read_members(text) {
        Ok(members) => members,
        Err(error) => {
            mended = mend(text);
            mended.as_deref().and_then(|mended| read_members(mended).ok()).ok_or(error)?
        }
    };
    let members = match members {
        Members::String(text) => {
            inner = text;
            read_members(&inner).unwrap_or(Members::Other)
        }
        members => members,
    };
    match members {
        Members::Object(object, members) => Ok(read(object, &members)),
        Members::Absent => Ok(read("{}", &[])),
        Members::String(_) | Members::Other => Err(not_an_object(text)),
    }
}

/// Returns the arguments without a fence of Markdown around them, and with escapes for line breaks inside of strings.
pub(super) fn mend(text: &str) -> Option<String> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.map_or(text, |inner| inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    let (mut mended, mut is_inside, mut is_escaped) = (String::with_capacity(inner.len()), false, false);
    for c in inner.chars() {
        is_inside ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        match c {
            '\n' if is_inside => mended.push_str("\\n"),
            '\r' if is_inside => mended.push_str("\\r"),
            '\t' if is_inside => mended.push_str("\\t"),
            c => mended.push(c),
        }
    }
    (mended != text).then_some(mended)
}

/// The names and the schema of a tool's parameters.
pub(crate) struct Names<'a> {
    pub(crate) schema: &'a Value,
    /// Whether near misses are coerced.
    pub(crate) coerce: bool,
    /// Returns the parameter that an alias stands for.
    pub(crate) own: &'a dyn Fn(&str) -> Option<&'a str>,
}

/// Returns the arguments as the text of one object under the parameters' names, without near misses if the tool
/// coerces them.
fn as_meant(text: &str, names: &Names<'_>) -> Result<String, ToolError> {
    let own_name = |name: &str| quoted((names.own)(name).unwrap_or(name));
    let object = with_members(text, |members| {
        let written = members.iter().map(|(name, value)| format!("{}:{}", own_name(name), value.get()));
        format!("{{{}}}", written.collect::<Vec<_>>().join(","))
    })?;
    let parsed = Json::parse(&object).ok().filter(|_| names.coerce);
    Ok(parsed.and_then(|object| coerced(names.schema.into(), &object)).unwrap_or(object))
}

/// Parses the arguments into one object with members under the parameters' names.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn arguments_value(text: &str, names: &Names<'_>) -> Result<Value, ToolError> {
    serde_json::from_str(&as_meant(text, names)?).map_err(|error| not_json(&error))
}

/// Returns the arguments in [canonical form](Json::canonical) under the parameters' names, without those that have
/// their default; `None` if they are not a JSON object.
pub(crate) fn canonical_arguments(text: &str, names: &Names<'_>) -> Option<String> {
    let text = as_meant(text, names).ok()?;
    let mut arguments = Json::parse(&text).ok()?;
    remove_defaults(names.schema, &mut arguments);
    Some(arguments.canonical())
}

/// Removes members that mean the same as their absence.
fn remove_defaults(schema: &Value, value: &mut Json<'_>) {
    let Kind::Object(members) = &mut value.kind else { return };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own == name));
    let repeated = |name: &str, names: &[String]| names.iter().filter(|own| *own == name).count() > 1;
    let names: Vec<String> = members.iter().map(|(name, _)| name.to_string()).collect();
    members.retain_mut(|(name, member)| {
        let Some(property) = schema.get("properties").and_then(|properties| properties.get(&**name)) else {
            return true;
        };
        remove_defaults(property, member);
        let default = property.get("default").unwrap_or(&Value::Null).to_string();
        let is_default = Json::parse(&default).is_ok_and(|default| default.canonical() == member.canonical());
        !is_default || is_required(name) || repeated(name, &names)
    });
}

fn read_members(text: &str) -> Result<Members<'_>, ToolError> {
    if text.trim().is_empty() {
        return Ok(Members::Absent);
    }
    let read = || -> Result<Members<'_>, Error> {
        let value = serde_json::from_str::<&RawValue>(text)?.get();
        match value.as_bytes().first() {
            Some(b'{') => members_of(value).map(|members| Members::Object(value, members)),
            Some(b'"') => serde_json::from_str(value).map(Members::String),
            Some(b'n') => Ok(Members::Absent),
            _ => Ok(Members::Other),
        }
    };
    read().map_err(|error| not_json(&error))
}

pub(super) fn not_json(error: &Error) -> ToolError {
    ToolError::invalid_json(format_args!("{}; the arguments must be one JSON object", said(error)))
}

/// Returns the message of `serde_json`, with a clear text for lone surrogates.
pub(super) fn said(error: &Error) -> String {
    let lone_surrogate = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let advice = "write the character itself, not half of a surrogate pair";
    lone_surrogate.iter().fold(error.to_string(), |text, theirs| text.replace(theirs, advice))
}

pub(super) fn not_an_object(text: &str) -> ToolError {
    let message = format!("the arguments must be a JSON object, got {}", value_in_words(text.trim()));
    ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::NotAnObject, message)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn canonical(text: &str) -> Option<String> {
        canonical_of(text, json!({"type": "object"}))
    }

    fn canonical_of(text: &str, schema: Value) -> Option<String> {
        let own = |name: &str| (name == "number").then_some("n");
        canonical_arguments(text, &Names { schema: &schema, coerce: true, own: &own })
    }

    #[test]
    fn equal_arguments_have_equal_text() {
        for (text, expected) in [
            ("", "{}"),
            (" null ", "{}"),
            (
                r#" { "b" : [ 1 , { "d" : null, "c" : "\u0061\/" } ] , "a" : true } "#,
                r#"{"a":true,"b":[1,{"c":"a/","d":null}]}"#,
            ),
            (r#""{\"number\": 1}""#, r#"{"n":1}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn different_arguments_have_different_text() {
        for (one, other) in [
            (
                r#"{"n": 100000000000000000000000000000000000001}"#,
                r#"{"n": 100000000000000000000000000000000000002}"#,
            ),
            (r#"{"n": 0.1}"#, r#"{"n": 0.1000000000000000055}"#),
            (r#"{"n": 1}"#, r#"{"n": "1"}"#),
            (r#"{"n": [1]}"#, r#"{"n": [1, 1]}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a": 2, "a": 1}"#),
        ] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn only_objects_have_a_canonical_form() {
        let deep = format!(r#"{{"n": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "1", r#"{"n": "\ud800"}"#, &deep] {
            assert_eq!(canonical(text), None);
        }
    }

    #[test]
    fn arguments_that_mean_the_same_have_equal_text() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer"}, "x": {"type": "number", "default": 1.5}, "t": {"type": "string"},
            "unit": {"enum": ["big-step", "small"]},
            "in": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}},
        }});
        for (expected, texts) in [
            (
                r#"{"n":5}"#,
                &[r#"{"n": 5}"#, r#"{"n": 5.0}"#, r#"{"number": "5"}"#, r#"{"n": 5e0, "t": null}"#][..],
            ),
            (
                r#"{"n":1000}"#,
                &[r#"{"n": 1e3}"#, r#"{"n": 1000, "x": 1.5}"#, r#"{"n": "1000", "x": "15e-1"}"#],
            ),
            (r#"{"n":1,"x":2}"#, &[r#"{"n": 1, "x": 2}"#, r#"{"x": 2.0, "n": 1}"#, r#"{"x": "2", "n": 1}"#]),
            (r#"{"n":1,"t":"5"}"#, &[r#"{"n": 1, "t": "5"}"#, r#"{"n": 1, "t": 5}"#]),
            (
                r#"{"n":1,"unit":"big-step"}"#,
                &[r#"{"n": 1, "unit": "Big Step"}"#, r#"{"n": 1, "unit": "big_step"}"#],
            ),
            (r#"{"in":{},"n":1}"#, &[r#"{"n": 1, "in": {"on": "yes"}}"#, r#"{"n": 1, "in": {}}"#]),
            (r#"{"n":1}"#, &["```json\n{\"n\": 1}\n```", r#""{\"n\": 1}""#]),
        ] {
            for text in texts {
                assert_eq!(canonical_of(text, schema.clone()).as_deref(), Some(expected), "{text}");
            }
        }
    }
}
