//! Reading of arguments by their contract: own names, near misses coerced, all violations reported.

use super::aliases::Aliases;
use super::members::{ObjectText, message_of, not_json};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind, nearest, one_of, shorten_to};
use crate::schema::__private::{
    Contract, Json, ReadValue, extract_object, members_of, quoted, value_in_words,
};
use serde_json::{Error, Value};
use std::borrow::Cow;
use std::fmt;

/// The name in `CallEnd::coerced` if the arguments' text was repaired as a whole.
const ARGUMENTS: &str = "arguments";

/// The maximum length, in characters, of a `serde_json` message in a violation.
const LONGEST: usize = 200;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgumentRules<'a> {
    pub(crate) schema: &'a Value,
    pub(crate) contract: &'a Contract,
    pub(crate) aliases: &'a Aliases,
    /// Whether near misses, such as `"5"` for an integer, are coerced.
    pub(crate) coerce: bool,
    /// The context of the call. If set, coercions are emitted as events.
    pub(crate) context: Option<&'a ToolContext>,
}

/// Returns the normal form of the arguments: under their parameters' names, coerced, with the published
/// defaults.
///
/// # Errors
/// The text is not JSON, is not an object although the tool takes only objects, or violates the contract.
#[cold]
pub(crate) fn read_arguments<'t>(
    text: &'t str,
    rules: &ArgumentRules<'_>,
) -> Result<Cow<'t, str>, ToolError> {
    let kinds = rules.schema.get("type");
    let allows_object = match kinds {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    };
    if kinds != Some(&"object".into()) {
        // A tool may take a list or a single value as it is.
        let given = Json::parse(text);
        if let Ok(given) = &given
            && given.members().is_none()
        {
            let read = rules.contract.read(rules.schema.into(), given, "", rules.coerce && !allows_object);
            if read.violations.is_empty() || !allows_object || extract_object(text).is_none() {
                return refuse_violations(read, rules);
            }
        } else if let Err(error) = &given
            && !allows_object
        {
            return Err(ToolError::invalid_json(error));
        }
    }
    let trimmed = text.trim_matches([' ', '\n', '\r', '\t']);
    if rules.aliases.is_empty() && trimmed.starts_with('{') && rules.contract.is_normal(trimmed) {
        return Ok(Cow::Borrowed(trimmed));
    }
    let ObjectText { text: object, repaired } = ObjectText::read(text)?;
    if let Some(error) = repaired {
        if !rules.coerce {
            return Err(error);
        }
        if let Some(emitter) = rules.context.and_then(ToolContext::emitter) {
            emitter.coerced(ARGUMENTS);
        }
    }
    if rules.aliases.is_empty() && rules.contract.is_normal(&object) {
        return Ok(object);
    }
    let renamed = under_own_names(&object, rules)?;
    let value = Json::parse(&renamed).map_err(|error| unreadable(&renamed, &error))?;
    let checked = rules.contract.read(rules.schema.into(), &value, "", rules.coerce);
    let read = refuse_violations(checked, rules)?;
    emit_coerced(&renamed, &read, rules);
    let normal = match rules.contract.normal(rules.schema.into(), &read) {
        Cow::Owned(normal) => normal,
        Cow::Borrowed(_) => read.into_owned(),
    };
    Ok(Cow::Owned(normal))
}

/// Returns the text of the object, under the names of the parameters.
fn under_own_names<'t>(object: &'t str, rules: &ArgumentRules<'_>) -> Result<Cow<'t, str>, ToolError> {
    if rules.aliases.is_empty() {
        return Ok(Cow::Borrowed(object));
    }
    let members = members_of(object).map_err(|error| not_json(object, &error))?;
    if !members.iter().any(|(name, _)| rules.aliases.get(name).is_some()) {
        return Ok(Cow::Borrowed(object));
    }
    let mut written = Vec::with_capacity(members.len());
    for (name, value) in &members {
        let own = rules.aliases.get(name).unwrap_or(name);
        written.push(format!("{}:{value}", quoted(own)));
    }
    Ok(Cow::Owned(format!("{{{}}}", written.join(","))))
}

/// Returns the error for an object nested too deep, or with text that is not Unicode.
#[cold]
fn unreadable(object: &str, error: &Error) -> ToolError {
    let members = match members_of(object) {
        Ok(members) => members,
        Err(error) => return not_json(object, &error),
    };
    let mut refused = Vec::new();
    for (name, value) in &members {
        if let Err(error) = Json::parse(value) {
            refused.push(refused_by_type(name, value, &error));
        }
    }
    if refused.is_empty() {
        refused.push(refused_by_type("", object, error));
    }
    ToolError::invalid_arguments(refused)
}

fn refuse_violations<'t>(read: ReadValue<'t>, rules: &ArgumentRules<'_>) -> Result<Cow<'t, str>, ToolError> {
    if read.violations.is_empty() {
        return Ok(read.text);
    }
    let members = members_of(&read.text).unwrap_or_default();
    // Names with a pattern cannot be listed.
    let is_listed = rules.schema.get("patternProperties").is_none();
    let mut violations = read.violations;
    for violation in &mut violations {
        let is_argument = members.iter().any(|(name, _)| *name == violation.path);
        if violation.kind == ViolationKind::Unknown && is_argument && is_listed {
            let names = rules.contract.member_names(rules.schema, &read.text).into_iter();
            *violation = unknown(&violation.path, names.filter(|name| *name != violation.path));
        }
    }
    Err(ToolError::invalid_arguments(violations))
}

/// Parses the JSON text of arguments. The error of a number out of range has its path.
pub(crate) fn parse_value(text: &str) -> Result<Value, ToolError> {
    let error = match text.parse() {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    match Json::parse(text) {
        Ok(_) => Err(ToolError::invalid_arguments(vec![refused_by_type("", text, &error)])),
        Err(_) => Err(not_json(text, &error)),
    }
}

/// Reports a coercion for each member that differs between `object` and `read`.
fn emit_coerced(object: &str, read: &str, rules: &ArgumentRules<'_>) {
    if object == read {
        return;
    }
    let Some(emitter) = rules.context.and_then(ToolContext::emitter) else { return };
    let given = compact_members(object);
    for (name, value) in compact_members(read) {
        // A member with the same value was only given under an alias, if at all.
        if !given.iter().any(|(_, other)| *other == value) {
            emitter.coerced(&name);
        }
    }
}

fn compact_members(object: &str) -> Vec<(String, String)> {
    let members = members_of(object).unwrap_or_default();
    let mut compact = Vec::with_capacity(members.len());
    for (name, value) in members {
        let text = Json::parse(value).map(|value| value.compact()).unwrap_or_default();
        compact.push((name.into_owned(), text));
    }
    compact
}

pub(crate) fn given_twice(name: &str) -> Violation {
    Violation::new(name, ViolationKind::Duplicate, "given twice; give it once")
}

/// Returns the violation for an unknown argument. `names` are those of the parameters.
pub(crate) fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Violation {
    let names: Vec<&str> = names.collect();
    let message = match (nearest(name, names.iter().copied()).as_slice(), names.as_slice()) {
        ([closest, ..], _) => format!("there is no such parameter; did you mean `{closest}`?"),
        ([], []) => "there is no such parameter; this tool takes none".to_owned(),
        ([], names) => format!("there is no such parameter; use {}", one_of(names)),
    };
    Violation::new(name, ViolationKind::Unknown, message)
}

/// Converts an error of `serde_json` about the value at `place` into a violation.
fn refused_by_type(place: &str, value: &str, error: &Error) -> Violation {
    let lines = value.split_inclusive('\n').take(error.line().saturating_sub(1));
    refused_at(place, value, lines.map(str::len).sum::<usize>() + error.column(), error)
}

/// Converts an error at an offset in the value at `place` into a violation.
pub(crate) fn refused_at(place: &str, value: &str, offset: usize, error: &dyn fmt::Display) -> Violation {
    let (path, text) = match Json::parse(value) {
        Ok(parsed) => parsed.place(offset, place),
        Err(_) => (place.to_owned(), value),
    };
    let full_message = message_of(error);
    let mut message = match full_message.split_once(" at line ") {
        Some((message, _)) => message,
        None => &*full_message,
    };
    // `serde_json` reads longer integers than 64 bits as floats, and reports these.
    let is_integer = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if is_integer && message.contains("floating point") {
        message = "expected integer";
    }
    // Messages with the prefix "invalid " describe the value.
    let got = if message.starts_with("invalid ") {
        String::new()
    } else {
        format!(", got {}", value_in_words(text))
    };
    Violation::new(path, ViolationKind::WrongType, format!("{}{got}", shorten_to(message, LONGEST)))
}
