//! The slow path of decoding, for faulty arguments: coerces near misses and reports all other violations.

use super::members::{Member, in_words_of_schemas, not_an_object, not_json, said, with_members};
use super::options::DecodeOptions;
use super::param::{Param, fill_absent};
use super::slot::Fill;
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind, nearest, one_of, shorten_to};
use crate::schema::__private::{
    Json, Scope, TOO_COMPLEX, check, check_decoded, coerced_except_words, coerced_with_words, missing,
    object_in, repeated_names, repeated_names_in, use_own_names, value_in_words,
};
use crate::schema::{SchemaRef, describe};
use serde::de::Error as _;
use serde_json::value::RawValue;
use serde_json::{Error, Value};
use std::borrow::Cow;

/// The name reported in `CallEnd::coerced` if the JSON text of the arguments was repaired as a whole.
const ARGUMENTS: &str = "arguments";

/// The maximum length, in characters, of a `serde_json` message quoted in a violation.
const SAID: usize = 200;

/// The endings of `serde_json` messages about a map key that is not an integer.
const NOT_AN_INTEGER_AS_NAME: [&str; 2] = ["expected key to be a number in quotes", "expected `\"`"];

/// Parses the JSON text of arguments.
///
/// # Errors
/// The text is not JSON, or a number is out of range. For a number out of range, the error contains its path.
pub(crate) fn parse_value(text: &str) -> Result<Value, ToolError> {
    serde_json::from_str(text).map_err(|error| match Json::parse(text) {
        Ok(_) => ToolError::invalid_arguments(vec![refused_by_type("", text, &error)]),
        Err(_) => not_json(text, &error),
    })
}

/// Decodes the arguments like [`decode`](super::decode::decode), but also coerces near misses and reports all
/// violations.
#[cold]
pub(super) fn decode(
    text: &str,
    params: &[Param<'_>],
    options: &DecodeOptions<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    for (param, slot) in params.iter().zip(slots.iter_mut()) {
        fill_absent(param, *slot);
    }
    check_json(text, options)?;
    with_members(text, |members| fill_slots(members, params, options, slots))?.finish()
}

/// Reports a coercion if the arguments are an object only after the text was repaired or [unwrapped](object_in).
///
/// # Errors
/// Near misses are not coerced, and the text is not JSON, or is a string or a list.
pub(crate) fn check_json(text: &str, options: &DecodeOptions<'_>) -> Result<(), ToolError> {
    let parsed = serde_json::from_str::<&RawValue>(text);
    let error = match &parsed {
        Ok(value) if value.get().starts_with(['"', '[']) => not_an_object(text),
        Err(error) if !text.trim().is_empty() => not_json(text, error),
        _ => return Ok(()),
    };
    if !options.coerce {
        return Err(error);
    }
    if let (Some(emitter), Some(_)) = (options.context.and_then(ToolContext::emitter), object_in(text)) {
        emitter.coerced(ARGUMENTS);
    }
    Ok(())
}

/// Fills as many slots as possible and returns the report of all violations.
fn fill_slots(
    members: &[Member<'_>],
    params: &[Param<'_>],
    options: &DecodeOptions<'_>,
    slots: &mut [&mut dyn Fill],
) -> Report {
    let mut report = Report::default();
    let mut seen = vec![false; params.len()];
    let mut filled = vec![false; params.len()];
    for (name, value) in members {
        let Some(index) = params.iter().position(|param| param.answers_to(name)) else {
            if options.refuse_unknown {
                report.add(|| unknown(name, params.iter().map(|param| param.name)));
            }
            continue;
        };
        let (Some(param), Some(slot)) = (params.get(index), slots.get_mut(index)) else { continue };
        if seen.get_mut(index).is_some_and(|seen| std::mem::replace(seen, true)) {
            report.add(|| given_twice(param.name));
            continue;
        }
        let value = value.get();
        match fill(value, param, options, options.is_constrained(index), &mut **slot) {
            Ok((taken, found)) => {
                mark(&mut filled, index);
                if let (Cow::Owned(_), Some(emitter)) =
                    (&taken, options.context.and_then(ToolContext::emitter))
                {
                    emitter.coerced(param.name);
                }
                report.extend(found);
            }
            Err(_) if value == "null" && !param.required => {}
            Err((value, error)) => {
                mark(&mut filled, index);
                let repeated = repeated_inside(&value, param.name);
                if !repeated.is_empty() {
                    report.extend(repeated);
                    continue;
                }
                let property = property(param, options.schema);
                let found = property.map(|schema| violations(param.name, &value, options, schema, &error));
                if found.as_ref().is_none_or(Vec::is_empty) {
                    report.add(|| refused_by_type(param.name, &value, &error));
                }
                report.extend(found.unwrap_or_default());
            }
        }
    }
    let missing = params.iter().zip(filled).filter(|(param, filled)| param.required && !filled);
    report.extend(missing.map(|(param, _)| missing_parameter(param, options.schema)));
    report
}

/// The violations of one call's arguments, in the order found. Violations beyond the first 64 are only
/// counted.
#[derive(Default)]
pub(super) struct Report {
    pub(super) violations: Vec<Violation>,
    more: usize,
}

impl Report {
    const MOST: usize = 64;

    pub(super) fn add(&mut self, violation: impl FnOnce() -> Violation) {
        match self.violations.len() < Self::MOST {
            true => self.violations.push(violation()),
            false => self.more += 1,
        }
    }

    pub(super) fn extend(&mut self, violations: impl IntoIterator<Item = Violation>) {
        violations.into_iter().for_each(|violation| self.add(|| violation));
    }

    pub(super) fn finish(self) -> Result<(), ToolError> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.into_error()) }
    }

    pub(super) fn into_error(self) -> ToolError {
        ToolError::invalid_arguments_and_more(self.violations, self.more)
    }
}

fn mark(marks: &mut [bool], index: usize) {
    if let Some(mark) = marks.get_mut(index) {
        *mark = true;
    }
}

/// The accepted text and its constraint violations, or the refused text and the deserialization error.
type Filled<'a> = Result<(Cow<'a, str>, Vec<Violation>), (Cow<'a, str>, Error)>;

/// Fills the slot with the value or a coerced form of the value. Returns the accepted text and its constraint
/// violations.
///
/// A value accepted by the type is coerced only if it violates a constraint. For example, a string may be
/// missing from the list of allowed values. If the schema accepts strings, a string is coerced last, because
/// the type may accept the original string as an alias.
///
/// # Errors
/// The last text that the type refused, and the error.
fn fill<'a>(
    value: &'a str,
    param: &Param<'_>,
    options: &DecodeOptions<'_>,
    constrained: bool,
    slot: &mut dyn Fill,
) -> Filled<'a> {
    let property = property(param, options.schema);
    let constrained = property.filter(|_| constrained);
    let mut given = try_fill(Cow::Borrowed(value), param, options, constrained, slot);
    let mut refused = None;
    let mut takes = |text: &str| {
        let taken = try_fill(Cow::Borrowed(text), param, options, constrained, slot);
        taken.ok().map(|(_, found)| found.is_empty())
    };
    let schema = property.filter(|_| options.coerce);
    for coerced in schema.map_or_else(Vec::new, |schema| coercions(options.schema, schema, value, &mut takes))
    {
        if matches!(&given, Ok((_, found)) if found.is_empty()) {
            break;
        }
        match (try_fill(Cow::Owned(coerced), param, options, constrained, slot), &given) {
            (Ok(coerced), Err(_)) => given = Ok(coerced),
            (Ok((text, found)), Ok(_)) if found.is_empty() => given = Ok((text, found)),
            (Err(error), Err(_)) => refused = Some(error),
            _ => {}
        }
    }
    if let Ok((text, _)) = &given {
        // A rejected coercion may have changed the slot. So fill it again with the accepted text.
        let _ = slot.fill(text);
    }
    given.map_err(|error| refused.unwrap_or(error))
}

/// Fills the slot from `text`. Returns the text and its violations of `constrained`: the schema of the
/// parameter, or `None` if the parameter has no constraints.
fn try_fill<'a>(
    text: Cow<'a, str>,
    param: &Param<'_>,
    options: &DecodeOptions<'_>,
    constrained: Option<&Value>,
    slot: &mut dyn Fill,
) -> Filled<'a> {
    if let Err(error) = fill_whole(&text, slot) {
        return Err((text, error));
    }
    // An optional argument may be sent as `null` instead of being omitted.
    let is_absent = text.trim() == "null" && !param.required;
    let Some(schema) = constrained.filter(|_| !is_absent) else { return Ok((text, Vec::new())) };
    let mut accepts = |text: &str| fill_whole(text, slot).is_ok();
    let found = broken(schema, &text, param.name, options, Some(&mut accepts));
    Ok((text, found))
}

/// Returns a violation for each repeated member name in the objects of `value`, the JSON text of arguments.
pub(super) fn repeated_inside(value: &str, place: &str) -> Vec<Violation> {
    // A text without `{` contains no object, so no names are repeated.
    if !value.contains('{') {
        return Vec::new();
    }
    Json::parse(value).map_or_else(|_| Vec::new(), |value| repeated_names(&value, place))
}

/// Fills the slot from `text`, and refuses trailing characters.
///
/// [`Fill::fill`] alone may read only the beginning of a longer number.
fn fill_whole(text: &str, slot: &mut dyn Fill) -> Result<(), Error> {
    match slot.fill(text)? {
        taken if taken == text.len() => Ok(()),
        _ => Err(Error::custom("invalid value")),
    }
}

/// Returns the possible coerced forms of a value as JSON texts, the closest form first. `takes` returns
/// whether a text fits the schema, and `None` if the type refuses the text.
pub(super) fn coercions(
    root: &Value,
    schema: &Value,
    text: &str,
    takes: &mut dyn FnMut(&str) -> Option<bool>,
) -> Vec<String> {
    let Ok(mut value) = Json::parse(text) else { return Vec::new() };
    let schema = SchemaRef::new(root, schema);
    use_own_names(schema, &mut value);
    let text = value.compact();
    let Ok(value) = Json::parse(&text) else { return Vec::new() };
    let by_type = coerced_except_words(schema, &value);
    let by_word = coerced_with_words(schema, &value, takes).filter(|text| Some(text) != by_type.as_ref());
    by_type.into_iter().chain(by_word).collect()
}

pub(crate) fn given_twice(name: &str) -> Violation {
    Violation::new(name, ViolationKind::Duplicate, "given twice; give it once")
}

/// Returns the violation for an unknown argument called `name`. `names` are the names of the tool's
/// parameters.
pub(crate) fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Violation {
    let names: Vec<&str> = names.collect();
    let message = match (nearest(name, names.iter().copied()).as_slice(), names.as_slice()) {
        ([closest, ..], _) => format!("there is no such parameter; did you mean `{closest}`?"),
        ([], []) => "there is no such parameter; this tool takes none".to_owned(),
        ([], names) => format!("there is no such parameter; use {}", one_of(names)),
    };
    Violation::new(name, ViolationKind::Unknown, message)
}

fn missing_parameter(param: &Param<'_>, schema: &Value) -> Violation {
    let expected = property(param, schema).and_then(|property| describe(SchemaRef::new(schema, property)));
    Violation::new(param.name, ViolationKind::Missing, missing(expected))
}

/// Returns whether a decoded value satisfies the constraints of its schema. Members with names unknown to the
/// schema are not checked.
pub(super) fn conforms(param: &Param<'_>, value: &str, options: &DecodeOptions<'_>) -> bool {
    let broken = |schema| broken(schema, value, param.name, options, None).is_empty();
    (value == "null" && !param.required) || property(param, options.schema).is_none_or(broken)
}

/// Returns the constraint violations of a decoded value.
pub(super) fn broken(
    schema: &Value,
    value: &str,
    place: &str,
    options: &DecodeOptions<'_>,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
) -> Vec<Violation> {
    let schema = SchemaRef::new(options.schema, schema);
    let Ok(value) = Json::parse(value) else {
        // The value was decoded although a part is nested too deep for the parser: the type ignores this
        // part.
        return vec![Violation::new(place, ViolationKind::Constraint, TOO_COMPLEX)];
    };
    let Some(accepts) = accepts else {
        let repeated = repeated_names_in(schema, &value, place, None);
        return if repeated.is_empty() { check_decoded(schema, &value, place, None) } else { repeated };
    };
    let repeated = repeated_names_in(schema, &value, place, Some(&mut |text| accepts(text)));
    if repeated.is_empty() { check_decoded(schema, &value, place, Some(accepts)) } else { repeated }
}

/// Returns the schema violations of a coerced value. `error` is the deserialization error of the type.
pub(super) fn violations(
    place: &str,
    value: &str,
    options: &DecodeOptions<'_>,
    schema: &Value,
    error: &Error,
) -> Vec<Violation> {
    // Report violations about names only if the error is about names: an open type may accept a member under
    // an alias unknown to the schema.
    let scope =
        if is_about_members(error) || is_about_variants(error) { Scope::All } else { Scope::ExceptNames };
    let found =
        Json::parse(value).map(|value| check(SchemaRef::new(options.schema, schema), &value, place, scope));
    found.unwrap_or_default()
}

fn is_about_members(error: &Error) -> bool {
    let said = error.to_string();
    said.starts_with("unknown field") || said.starts_with("missing field")
}

/// Returns whether the deserialization error is about an enum variant written as an object with more than one member.
fn is_about_variants(error: &Error) -> bool {
    error.to_string().starts_with("expected value at")
}

/// Converts a deserialization error about the value at the path `place` into a violation.
pub(super) fn refused_by_type(place: &str, value: &str, error: &Error) -> Violation {
    let lines = value.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column();
    let parsed = Json::parse(value);
    // If serde has buffered the value, the error has no position but contains the number.
    let float = said(error)
        .split_once("floating point `")
        .and_then(|(_, number)| number.split('`').next()?.parse().ok());
    let offset = |parsed: &Json<'_>| float.and_then(|float| parsed.offset_of(float)).unwrap_or(offset);
    let found = parsed.map(|parsed| parsed.place(offset(&parsed), place));
    let (path, text) = found.unwrap_or_else(|_| (place.to_owned(), value));
    let said = said(error);
    let said = said.split_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    if NOT_AN_INTEGER_AS_NAME.iter().any(|message| said.ends_with(message)) && text.starts_with('{') {
        let message = "the name of each member must be an integer, as in \"1\"";
        return Violation::new(path, ViolationKind::WrongType, message);
    }
    // `serde_json` has already skipped the first letter of a name that is no boolean.
    if text.starts_with('{')
        && said.starts_with("invalid type: string")
        && said.ends_with("expected a boolean")
    {
        let message = "the name of each member must be \"true\" or \"false\"";
        return Violation::new(path, ViolationKind::WrongType, message);
    }
    let is_integer = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let (said, got) = match said.starts_with("invalid ") {
        // `serde_json` reads an integer of more than 64 bits as a float and reports the rounded float.
        true if is_integer && said.contains("floating point") => ("expected integer", true),
        // Messages with the prefix "invalid " already describe the value found.
        invalid => (said, !invalid),
    };
    let said = in_words_of_schemas(said);
    let got = if got { format!(", got {}", value_in_words(text)) } else { String::new() };
    Violation::new(path, ViolationKind::WrongType, format!("{}{got}", shorten_to(&said, SAID)))
}

fn property<'a>(param: &Param<'_>, schema: &'a Value) -> Option<&'a Value> {
    schema.get("properties")?.get(param.name)
}
