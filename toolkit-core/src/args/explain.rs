//! The slow path of decoding, for faulty arguments: coerces near misses and reports all other violations.

use super::members::{Member, said, with_members};
use super::options::DecodeOptions;
use super::param::{Fill, Param, fill_absent};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind, nearest, one_of, shorten_to};
use crate::schema::__private::{self, Json, Scope, check, missing, value_in_words};
use crate::schema::{SchemaRef, describe};
use serde::de::Error as _;
use serde_json::{Error, Value};
use std::borrow::Cow;

/// The maximum length, in characters, of a `serde_json` message quoted in a violation.
const SAID: usize = 200;

/// Decodes the arguments like [`decode`](super::decode::decode), with coercion and a report of all
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
    with_members(text, |members| fill_slots(members, params, options, slots))?.finish()
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
        match fill(value, param, options, *slot) {
            Ok(taken) => {
                mark(&mut filled, index);
                if let (Cow::Owned(_), Some(emitter)) =
                    (&taken, options.context.and_then(ToolContext::emitter))
                {
                    emitter.coerced(param.name);
                }
                if options.is_constrained(index) {
                    report.extend(broken(param, &taken, options));
                }
            }
            Err(_) if value == "null" && !param.required => {}
            Err(error) => {
                mark(&mut filled, index);
                let property = property(param, options.schema);
                let found = violations(param.name, value, options, property, &error);
                if found.is_empty() {
                    report.add(|| refused_by_type(param.name, value, &error));
                }
                report.extend(found);
            }
        }
    }
    let missing = params.iter().zip(filled).filter(|(param, filled)| param.required && !filled);
    report.extend(missing.map(|(param, _)| missing_parameter(param, options.schema)));
    report
}

/// The violations of one call's arguments, in the order found. Violations beyond the limit are only counted.
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

/// Fills the slot from `value` or, if this fails, from the coerced `value`. Returns the JSON text of the
/// accepted value.
fn fill<'a>(
    value: &'a str,
    param: &Param<'_>,
    options: &DecodeOptions<'_>,
    slot: &mut dyn Fill,
) -> Result<Cow<'a, str>, Error> {
    let error = match fill_whole(value, slot) {
        Ok(()) => return Ok(Cow::Borrowed(value)),
        Err(error) => error,
    };
    let property = property(param, options.schema).filter(|_| options.coerce);
    let taken = property.and_then(|property| coerced(options.schema, property, value));
    taken.filter(|taken| fill_whole(taken, slot).is_ok()).map(Cow::Owned).ok_or(error)
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

pub(super) fn coerced(root: &Value, schema: &Value, text: &str) -> Option<String> {
    __private::coerced(SchemaRef::new(root, schema), &Json::parse(text).ok()?)
}

pub(super) fn given_twice(name: &str) -> Violation {
    Violation::new(name, ViolationKind::Duplicate, "given twice; give it once")
}

/// Returns the violation for an unknown argument `name`. `names` are the names of the tool's parameters.
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

/// Returns whether a decoded value of `param` satisfies the constraints of the schema.
pub(super) fn conforms(param: &Param<'_>, value: &str, options: &DecodeOptions<'_>) -> bool {
    broken(param, value, options).is_empty()
}

fn broken(param: &Param<'_>, value: &str, options: &DecodeOptions<'_>) -> Vec<Violation> {
    let parsed = Json::parse(value).ok();
    let found = property(param, options.schema).zip(parsed).map(|(property, parsed)| {
        check(SchemaRef::new(options.schema, property), &parsed, param.name, Scope::Constraints)
    });
    found.unwrap_or_default()
}

/// Returns the violations of `schema` by `value`, after deserializing the value failed with `error`.
///
/// `place` is the path of the value, such as `filters`.
pub(super) fn violations(
    place: &str,
    value: &str,
    options: &DecodeOptions<'_>,
    schema: Option<&Value>,
    error: &Error,
) -> Vec<Violation> {
    let Some(schema) = schema else { return Vec::new() };
    // Check the coerced value: parts accepted by coercion are no violations.
    let coerced = if options.coerce { coerced(options.schema, schema, value) } else { None };
    // Report names only if the error is about names: an open type may accept a member by an alias unknown to
    // the schema.
    let scope = if is_about_members(error) { Scope::All } else { Scope::ExceptNames };
    let parsed = Json::parse(coerced.as_deref().unwrap_or(value));
    let found = parsed.map(|value| check(SchemaRef::new(options.schema, schema), &value, place, scope));
    found.unwrap_or_default()
}

fn is_about_members(error: &Error) -> bool {
    let said = error.to_string();
    said.starts_with("unknown field") || said.starts_with("missing field")
}

/// Converts a deserialization error about the value at the path `place` into a violation.
pub(super) fn refused_by_type(place: &str, value: &str, error: &Error) -> Violation {
    let lines = value.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column();
    let parsed = Json::parse(value);
    let found = parsed.map(|parsed| parsed.place(offset, place));
    let (path, text) = found.unwrap_or_else(|_| (place.to_owned(), value));
    let said = said(error);
    let said = said.split_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let is_integer = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let (said, got) = match said.starts_with("invalid ") {
        // `serde_json` reads an integer of more than 64 bits as a float and reports the rounded float.
        true if is_integer && said.contains("floating point") => ("expected integer", true),
        // Messages with the prefix "invalid " already describe the value found.
        invalid => (said, !invalid),
    };
    let got = if got { format!(", got {}", value_in_words(text)) } else { String::new() };
    Violation::new(path, ViolationKind::WrongType, format!("{}{got}", shorten_to(said, SAID)))
}

fn property<'a>(param: &Param<'_>, schema: &'a Value) -> Option<&'a Value> {
    schema.get("properties")?.get(param.name)
}
