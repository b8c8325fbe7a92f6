//! The slow way, taken when something is wrong: coerce what can be meant, report everything else.

use super::decode::Rules;
use super::param::{Fill, Param};
use super::place;
use crate::error::{ToolError, Violation, ViolationKind, nearest, one_of, shorten};
use crate::schema::{Fault, Step, broken_constraints, describe, faults, missing, value_in_words};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Integers of this size and less are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[cold]
pub(super) fn decode(
    text: &str,
    params: &[Param],
    rules: &Rules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    let unwrapped;
    let members = match read_members(text)? {
        Members::Object(members) => members,
        Members::String(inner) => {
            unwrapped = inner;
            match read_members(&unwrapped) {
                Ok(Members::Object(members)) => members,
                Ok(Members::Absent) => Vec::new(),
                _ => return Err(not_an_object(text)),
            }
        }
        Members::Absent => Vec::new(),
        Members::Other => return Err(not_an_object(text)),
    };

    let mut violations = Vec::new();
    let mut given = vec![false; params.len()];
    for (name, value) in &members {
        let Some(index) = params.iter().position(|param| param.answers_to(name)) else {
            if rules.refuse_unknown {
                violations.push(unknown(name, params));
            }
            continue;
        };
        let (Some(param), Some(slot), Some(given)) =
            (params.get(index), slots.get_mut(index), given.get_mut(index))
        else {
            continue;
        };
        if *given {
            violations.push(Violation::new(
                param.name,
                ViolationKind::Duplicate,
                "given twice; give it once",
            ));
            continue;
        }
        let value = value.get();
        let property = property(param, rules.schema);
        match fill(value, property, rules, *slot) {
            Ok(taken) => {
                *given = true;
                if rules.demand_more(index) {
                    violations.extend(broken(param, &taken, rules));
                }
            }
            Err(_) if value == "null" && !param.required => {}
            Err(error) => {
                *given = true;
                violations.extend(wrong_value(param, value, rules.schema, &error));
            }
        }
    }
    let missing = params.iter().zip(given).filter(|(param, given)| param.required && !given);
    violations.extend(missing.map(|(param, _)| missing_parameter(param, rules.schema)));
    if violations.is_empty() { Ok(()) } else { Err(ToolError::invalid_arguments(violations)) }
}

enum Members<'a> {
    Object(Vec<(String, &'a RawValue)>),
    /// A JSON text within a JSON string, as some models write it.
    String(String),
    Absent,
    Other,
}

fn read_members(text: &str) -> Result<Members<'_>, ToolError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(Members::Absent);
    }
    let value: &RawValue = serde_json::from_str(text).map_err(ToolError::invalid_json)?;
    let value = value.get();
    match value.as_bytes().first() {
        Some(b'{') => object(value).map(Members::Object).map_err(ToolError::invalid_json),
        Some(b'"') => serde_json::from_str(value).map(Members::String).map_err(ToolError::invalid_json),
        Some(b'n') => Ok(Members::Absent),
        _ => Ok(Members::Other),
    }
}

/// The members in the order of the text, doubled names included.
fn object(text: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_map(InOrder)
}

/// Fills the slot with the value, or else with what the model may have meant, and returns what was
/// taken: the contents of a string as the value, a number without a fraction as an integer, an allowed
/// value in other letter case.
fn fill<'a>(
    value: &'a str,
    property: Option<&Value>,
    rules: &Rules<'_>,
    slot: &mut dyn Fill,
) -> Result<Cow<'a, str>, serde_json::Error> {
    let error = match slot.fill(value) {
        Ok(_) => return Ok(Cow::Borrowed(value)),
        Err(error) => error,
    };
    if !rules.coerce {
        return Err(error);
    }
    let inner = serde_json::from_str::<String>(value).ok();
    let candidates = match inner {
        Some(inner) => [integral(&inner), other_case(&inner, property), Some(inner)],
        None => [integral(value), None, None],
    };
    let taken = candidates.into_iter().rev().flatten().find(|candidate| fills(candidate, slot));
    taken.map(Cow::Owned).ok_or(error)
}

/// The one allowed value that differs from the text in letter case only.
fn other_case(text: &str, property: Option<&Value>) -> Option<String> {
    let allowed = property?.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
    let mut alike = allowed.filter(|allowed| allowed.to_lowercase() == text.to_lowercase());
    let only = alike.next().filter(|_| alike.next().is_none())?;
    Some(Value::from(only).to_string())
}

fn fills(text: &str, slot: &mut dyn Fill) -> bool {
    let whole = serde_json::from_str::<&RawValue>(text).is_ok();
    whole && slot.fill(text).is_ok()
}

fn integral(text: &str) -> Option<String> {
    let number: f64 = text.trim().parse().ok()?;
    let looks_like_json = text.trim().starts_with(|c: char| c == '-' || c.is_ascii_digit());
    (looks_like_json && number.fract() == 0.0 && number.abs() <= EXACT).then(|| format!("{number:.0}"))
}

fn not_an_object(text: &str) -> ToolError {
    let message = format!("the arguments must be a JSON object, got {}", value_in_words(text.trim()));
    ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::NotAnObject, message)])
}

fn unknown(name: &str, params: &[Param]) -> Violation {
    let names: Vec<&str> = params.iter().map(|param| param.name).collect();
    let message = match (nearest(name, names.iter().copied()).as_slice(), names.as_slice()) {
        ([meant, ..], _) => format!("there is no such parameter; did you mean `{meant}`?"),
        ([], []) => "there is no such parameter; this tool takes none".to_owned(),
        ([], names) => format!("there is no such parameter; there is {}", one_of(names)),
    };
    Violation::new(name, ViolationKind::Unknown, message)
}

fn missing_parameter(param: &Param, schema: &Value) -> Violation {
    let expected = property(param, schema).and_then(|property| describe(schema, property));
    Violation::new(param.name, ViolationKind::Missing, missing(expected))
}

/// Whether a value that was decoded keeps within the constraints of its schema.
pub(super) fn keeps_to_schema(param: &Param, value: &str, rules: &Rules<'_>) -> bool {
    broken(param, value, rules).is_empty()
}

fn broken(param: &Param, value: &str, rules: &Rules<'_>) -> Vec<Violation> {
    let value = serde_json::from_str::<Value>(value).ok();
    let faults = property(param, rules.schema)
        .zip(value)
        .map(|(property, value)| broken_constraints(rules.schema, property, &value));
    violations(param, faults.unwrap_or_default())
}

fn violations(param: &Param, faults: Vec<Fault>) -> Vec<Violation> {
    let violation = |fault: Fault| Violation::new(path(param, &fault.steps), fault.kind, fault.message);
    faults.into_iter().map(violation).collect()
}

/// Every fault that the schema shows; if it shows none, the type has a rule of its own, and the error
/// of the decoder is all there is.
fn wrong_value(param: &Param, value: &str, schema: &Value, error: &serde_json::Error) -> Vec<Violation> {
    let parsed = serde_json::from_str::<Value>(value).ok();
    let faults =
        property(param, schema).zip(parsed).map(|(property, value)| faults(schema, property, &value));
    match faults {
        Some(faults) if !faults.is_empty() => violations(param, faults),
        _ => vec![refused_by_type(param, value, error)],
    }
}

fn refused_by_type(param: &Param, value: &str, error: &serde_json::Error) -> Violation {
    let place = place::find(value, place::offset(value, error.line(), error.column()));
    let said = error.to_string();
    let said = said.split_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let message = format!("{}, got {}", shorten(said), value_in_words(place.text));
    Violation::new(path(param, &place.steps), ViolationKind::WrongType, message)
}

fn property<'a>(param: &Param, schema: &'a Value) -> Option<&'a Value> {
    schema.get("properties")?.get(param.name)
}

fn path(param: &Param, steps: &[Step]) -> String {
    let mut path = param.name.to_owned();
    for step in steps {
        match step {
            Step::Key(key) => path.push_str(&format!(".{key}")),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}
