//! The slow path for faulty arguments: coerces near misses and reports every other violation.

use super::members::{Member, said, with_members};
use super::options::DecodeOptions;
use super::param::{Fill, Param, fill_absent};
use super::place;
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind, nearest, one_of, shorten_to};
use crate::schema::__private::{Scope, check, missing, value_in_words};
use crate::schema::{SchemaRef, coerce, describe};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The longest part of a decoder's message in ours, in characters.
const SAID: usize = 200;

/// The digits of the longest integer type.
const LONGEST_INTEGER: usize = 39;

/// Decodes like [`decode`](super::decode::decode), with coercion and a report.
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

/// Fills the slots as far as possible and reports the violations.
pub(super) fn fill_slots(
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
                report.extend(wrong_value(param.name, value, options, property, &error));
            }
        }
    }
    let missing = params.iter().zip(filled).filter(|(param, filled)| param.required && !filled);
    report.extend(missing.map(|(param, _)| missing_parameter(param, options.schema)));
    report
}

/// The violations of a call, in the order of the text; beyond a limit they are only counted.
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

/// Fills the slot with the value or a coerced one, and returns the accepted text.
///
/// Tried in order: the contents of a string, a whole number as an integer, an allowed value in another letter case,
/// and [coercion](coerce) inside an array or object.
fn fill<'a>(
    value: &'a str,
    param: &Param<'_>,
    options: &DecodeOptions<'_>,
    slot: &mut dyn Fill,
) -> Result<Cow<'a, str>, serde_json::Error> {
    let error = match slot.fill(value) {
        Ok(_) => return Ok(Cow::Borrowed(value)),
        Err(error) => error,
    };
    if !options.coerce {
        return Err(error);
    }
    let property = property(param, options.schema);
    let inner = serde_json::from_str::<String>(value).ok();
    let text = inner.as_deref().unwrap_or(value);
    let candidates: [&dyn Fn() -> Option<String>; 4] =
        [&|| inner.clone(), &|| integral(text), &|| other_case(inner.as_deref()?, property?), &|| {
            coerced(options.schema, property?, text)
        }];
    let taken =
        candidates.iter().filter_map(|candidate| candidate()).find(|candidate| fills(candidate, slot));
    taken.map(Cow::Owned).ok_or(error)
}

/// Returns the only allowed value equal to the text up to letter case.
fn other_case(text: &str, property: &Value) -> Option<String> {
    let allowed = property.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
    let mut alike = allowed.filter(|allowed| allowed.to_lowercase() == text.to_lowercase());
    let only = alike.next().filter(|_| alike.next().is_none())?;
    Some(Value::from(only).to_string())
}

fn fills(text: &str, slot: &mut dyn Fill) -> bool {
    // A slot reads only the start of a text, so the whole is checked first.
    serde_json::from_str::<&RawValue>(text).is_ok() && slot.fill(text).is_ok()
}

/// Returns a decimal text as an integer, without rounding: `5.0`, `1e3`, `-0`.
fn integral(text: &str) -> Option<String> {
    let text = text.trim();
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
    let digits = match usize::try_from(shift) {
        Ok(zeros) if zeros <= LONGEST_INTEGER => format!("{digits}{}", "0".repeat(zeros)),
        Ok(_) => return None,
        Err(_) => {
            let kept = digits.len().saturating_sub(usize::try_from(shift.unsigned_abs()).ok()?);
            let (kept, rest) = digits.split_at_checked(kept)?;
            rest.bytes().all(|byte| byte == b'0').then(|| kept.to_owned())?
        }
    };
    match digits.trim_start_matches('0') {
        "" => Some("0".to_owned()),
        digits if digits.len() <= LONGEST_INTEGER => Some(format!("{sign}{digits}")),
        _ => None,
    }
}

/// Returns an array or object with coerced contents, if any were.
fn coerced(root: &Value, schema: &Value, text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    let changed = coerce(SchemaRef::new(root, schema), &mut value);
    changed.then(|| value.to_string())
}

pub(super) fn given_twice(name: &str) -> Violation {
    Violation::new(name, ViolationKind::Duplicate, "given twice; give it once")
}

/// Returns the violation for an unknown argument; `names` are those of the parameters.
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

/// Returns whether a decoded value satisfies the constraints of its schema.
pub(super) fn conforms(param: &Param<'_>, value: &str, options: &DecodeOptions<'_>) -> bool {
    broken(param, value, options).is_empty()
}

fn broken(param: &Param<'_>, value: &str, options: &DecodeOptions<'_>) -> Vec<Violation> {
    let parsed = serde_json::from_str::<Value>(value).ok();
    let found = property(param, options.schema).zip(parsed).map(|(property, parsed)| {
        let schema = SchemaRef::new(options.schema, property);
        check(schema, &parsed, Some(value), param.name, Scope::Constraints)
    });
    found.unwrap_or_default()
}

/// Returns the violations of the schema; if there are none, the error of the type's decoder.
pub(super) fn wrong_value(
    place: &str,
    value: &str,
    options: &DecodeOptions<'_>,
    schema: Option<&Value>,
    error: &serde_json::Error,
) -> Vec<Violation> {
    let root = options.schema;
    let inner = container_in_string(value);
    let value = inner.as_deref().unwrap_or(value);
    // Skip values that coercion accepts.
    let coerced = schema.filter(|_| options.coerce).and_then(|schema| coerced(root, schema, value));
    let value = coerced.as_deref().unwrap_or(value);
    let parsed = serde_json::from_str::<Value>(value).ok();
    // A type that accepts every name may know a member under an alias missing from the schema.
    let scope = if is_about_members(error) { Scope::All } else { Scope::ExceptNames };
    let found = schema
        .zip(parsed)
        .map(|(schema, parsed)| check(SchemaRef::new(root, schema), &parsed, Some(value), place, scope));
    let found = found.filter(|found| !found.is_empty());
    found.unwrap_or_else(|| vec![refused_by_type(place, value, error)])
}

/// Returns an array or object written into a string.
fn container_in_string(value: &str) -> Option<String> {
    let inner = serde_json::from_str::<String>(value).ok()?;
    let parsed = serde_json::from_str::<Value>(&inner).ok()?;
    (parsed.is_object() || parsed.is_array()).then_some(inner)
}

fn is_about_members(error: &serde_json::Error) -> bool {
    let said = error.to_string();
    said.starts_with("unknown field") || said.starts_with("missing field")
}

/// Returns the decoder's error about the value at `place` as a violation.
fn refused_by_type(place: &str, value: &str, error: &serde_json::Error) -> Violation {
    let found = place::find(value, place::offset(value, error.line(), error.column()));
    let said = said(error);
    let said = said.split_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    // Messages about an invalid type or value already name what was found.
    let got = match said.starts_with("invalid ") {
        true => String::new(),
        false => format!(", got {}", value_in_words(found.text)),
    };
    let message = format!("{}{got}", shorten_to(said, SAID));
    Violation::new(found.path(place), ViolationKind::WrongType, message)
}

fn property<'a>(param: &Param<'_>, schema: &'a Value) -> Option<&'a Value> {
    schema.get("properties")?.get(param.name)
}
