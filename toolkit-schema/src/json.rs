//! JSON values with their original text: numbers keep every digit, and objects keep repeated members.

use crate::number::Decimal;
use crate::order::sort_by;
use crate::reader::{ReadError, Reader};
use serde::de::Error as _;
use serde_json::Error;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The number of schemas that may be applied to any value, besides `STEPS_PER_BYTE` for each byte.
const STEPS: usize = 10_000;
const STEPS_PER_BYTE: usize = 64;

/// The name and unparsed value of an object's member.
pub type Member<'a> = (Cow<'a, str>, &'a str);

/// A JSON value together with its original text.
#[derive(Debug, Clone)]
pub struct Json<'a> {
    /// The original text, without white space around it.
    pub text: &'a str,
    /// The kind of value, with its parsed content.
    pub kind: Kind<'a>,
}

/// The kinds of JSON values.
#[derive(Debug, Clone)]
pub enum Kind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. Its digits are in [`Json::text`].
    Number,
    /// A string, with all escapes decoded.
    String(Cow<'a, str>),
    /// An array with its items.
    Array(Vec<Json<'a>>),
    /// An object with its members in their original order, also repeated ones.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Parses `text` as JSON.
    ///
    /// # Errors
    /// The text is not JSON, or is nested too deep.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let mut reader = Reader::unchecked(text);
        let error = match reader.json() {
            Ok(value) => match reader.end() {
                Ok(()) => return Ok(value),
                Err(error) => error,
            },
            Err(error) => error,
        };
        Err(fault_of(text, reader.offset(), &error))
    }

    /// Returns the content of a string, or `None` for other values.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Kind::String(text) = &self.kind { Some(text) } else { None }
    }

    /// Returns the members of an object, or `None` for other values.
    #[must_use]
    pub fn members(&self) -> Option<&[(Cow<'a, str>, Self)]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// Returns the value of the last member called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let (_, value) = self.members()?.iter().rev().find(|(own, _)| own == name)?;
        Some(value)
    }

    /// Returns the value of a number, with all its digits.
    pub(crate) fn number(&self) -> Option<Decimal> {
        if matches!(self.kind, Kind::Number) { Decimal::parse(self.text) } else { None }
    }

    /// Returns the name of the value's JSON type; `5.0` is an `integer`.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Number if self.number().is_some_and(|number| number.is_integer()) => "integer",
            Kind::Number => "number",
            Kind::String(_) => "string",
            Kind::Array(_) => "array",
            Kind::Object(_) => "object",
        }
    }

    /// Returns whether serde accepts the value for a JSON type: not `5.0` or `-0` as an integer.
    pub(crate) fn is_of_type(&self, name: &str) -> bool {
        match name {
            "integer" => {
                matches!(self.kind, Kind::Number) && !self.text.contains(['.', 'e', 'E']) && self.text != "-0"
            }
            "number" => matches!(self.kind, Kind::Number),
            "null" | "boolean" | "string" | "array" | "object" => self.type_name() == name,
            _ => true,
        }
    }

    /// Returns the path and text of the innermost value at a byte offset.
    ///
    /// `at` is the path of this value, with which the result begins, as in `filters[2].max`.
    #[must_use]
    pub fn place(&self, offset: usize, at: &str) -> (String, &'a str) {
        let mut path = at.to_owned();
        let mut here = self;
        let place = self.text.as_ptr().addr() + offset;
        loop {
            match &here.kind {
                Kind::Array(items) => {
                    let mut numbered = items.iter().enumerate();
                    let Some((index, item)) = numbered.find(|(_, item)| item.holds(place)) else { break };
                    path.push_str(&format!("[{index}]"));
                    here = item;
                }
                Kind::Object(members) => {
                    let Some((name, value)) = members.iter().find(|(_, value)| value.holds(place)) else {
                        break;
                    };
                    path.extend([if path.is_empty() { "" } else { "." }, name]);
                    here = value;
                }
                _ => break,
            }
        }
        (path, here.text)
    }

    /// Returns whether the address `place` is inside the text or at its end.
    fn holds(&self, place: usize) -> bool {
        let start = self.text.as_ptr().addr();
        (start..=start + self.text.len()).contains(&place)
    }

    /// Returns whether a [`serde_json::Value`] can store every number inside exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match &self.kind {
            Kind::Number if self.is_of_type("integer") => self.is_of_64_bits(),
            Kind::Number => self.double().is_some_and(|double| Some(double) == self.number()),
            Kind::Array(items) => items.iter().all(Self::is_exact),
            Kind::Object(members) => members.iter().all(|(_, member)| member.is_exact()),
            _ => true,
        }
    }

    fn is_of_64_bits(&self) -> bool {
        self.text.parse::<i64>().is_ok() || self.text.parse::<u64>().is_ok()
    }

    fn double(&self) -> Option<Decimal> {
        let double = self.text.parse::<f64>().ok().filter(|double| double.is_finite())?;
        Decimal::parse(&format!("{double:e}"))
    }

    /// Returns whether this is an integer that a [`serde_json::Value`] cannot store exactly, beyond 64 bits.
    pub(crate) fn is_other_integer(&self) -> bool {
        self.number().is_some_and(|number| number.is_integer())
            && !self.is_of_64_bits()
            && self.double().is_some_and(|double| Some(double) != self.number())
    }

    /// Appends compact JSON, or the canonical form.
    fn write(&self, written: &mut String, canonical: bool) {
        match &self.kind {
            Kind::Null | Kind::Bool(_) => written.push_str(self.text),
            Kind::Number => match self.number() {
                Some(number) if canonical => written.push_str(&number.to_string()),
                _ => written.push_str(self.text),
            },
            Kind::String(text) => written.push_str(&quoted(text)),
            Kind::Array(items) => {
                written.push('[');
                for (index, item) in items.iter().enumerate() {
                    written.push_str(if index > 0 { "," } else { "" });
                    item.write(written, canonical);
                }
                written.push(']');
            }
            Kind::Object(members) => {
                let mut members: Vec<(&str, &Self)> =
                    members.iter().map(|(name, value)| (&**name, value)).collect();
                if canonical {
                    // The sort is stable, because the order of repeated members can matter.
                    sort_by(&mut members, |(one, _), (other, _)| one.cmp(other));
                }
                written.push('{');
                for (index, (name, value)) in members.into_iter().enumerate() {
                    written.extend([if index > 0 { "," } else { "" }, &quoted(name), ":"]);
                    value.write(written, canonical);
                }
                written.push('}');
            }
        }
    }

    /// Returns canonical JSON: compact, with sorted members and normalized numbers.
    ///
    /// Equal values have equal canonical forms, also 5 and 5.0.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut written = String::with_capacity(self.text.len());
        self.write(&mut written, true);
        written
    }

    /// Returns compact JSON for the current content of `kind`. Numbers keep their original text.
    #[must_use]
    pub fn compact(&self) -> String {
        let mut written = String::with_capacity(self.text.len());
        self.write(&mut written, false);
        written
    }
}

pub(crate) fn budget(value: &Json<'_>) -> usize {
    STEPS + STEPS_PER_BYTE * value.text.len()
}

/// Returns the error of `serde_json` for a text that a reader refuses, or else the reader's message.
#[cold]
fn fault_of(text: &str, offset: usize, error: &ReadError) -> Error {
    if let Err(fault) = raw_json(text) {
        return fault;
    }
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = match before.rfind('\n') {
        Some(newline) => offset - newline - 1,
        None => offset,
    };
    // `serde_json` takes the place from the message.
    Error::custom(format_args!("{error} at line {line} column {column}"))
}

/// Returns a JSON value without the white space around it. Strings may be invalid Unicode.
///
/// # Errors
/// The text is not JSON.
pub fn raw_json(text: &str) -> Result<&str, Error> {
    serde_json::from_str::<&RawValue>(text).map(RawValue::get)
}

/// Returns a JSON text in canonical form: compact, with sorted members and plain numbers.
///
/// Equal values have equal canonical forms: 5, 5.0 and 5e0 are equal, and members have no order. No number is
/// rounded, and repeated members are kept. A hash of the canonical form therefore identifies a value.
///
/// ```
/// use toolkit_schema::canonical_json;
///
/// assert_eq!(canonical_json(r#"{"b": 5.0, "a": "\u0061"}"#)?, r#"{"a":"a","b":5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The text is not JSON, or is nested too deep.
pub fn canonical_json(text: &str) -> Result<String, Error> {
    Ok(Json::parse(text)?.canonical())
}

/// Returns `text` as a JSON string, with quotes and escapes.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Returns an object's members in their original order. Names may be repeated, and values may be nested to
/// any depth.
///
/// # Errors
/// The text is no JSON object, or a name is invalid Unicode.
pub fn members_of(text: &str) -> Result<Vec<Member<'_>>, Error> {
    let text = raw_json(text)?;
    let mut reader = Reader::unchecked(text);
    reader.members().map_err(|error| fault_of(text, reader.offset(), &error))
}
