//! The parsing of a document: within limits, and without large examples.

use super::budget::allowed;
use super::limits::OpenApiLimits;
use crate::error::{OpenApiError, OpenApiErrorKind};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// The maximum bytes of all names around a value, of which places in a document are made.
const LONGEST_NAMES: usize = 4 << 10;

/// The word for a text in messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextRole<'a> {
    Document,
    /// A document for references to this address.
    Referenced(&'a str),
    Overlay,
}

impl fmt::Display for TextRole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("the document"),
            Self::Referenced(address) => write!(f, "the document `{address}`"),
            Self::Overlay => f.write_str("the overlay"),
        }
    }
}

impl TextRole<'_> {
    fn one_line(self) -> &'static str {
        match self {
            Self::Document => {
                "is one line without members; `from_file` and `read_file` take a path, `from_address` and \
                 `read_address` an address"
            }
            Self::Referenced(_) | Self::Overlay => {
                "is one line without members; read the file and give its text"
            }
        }
    }
}

const PAGE: &str =
    "is an HTML page or XML, not JSON or YAML; a service often has its document at `/openapi.json`";

/// Parses a document in JSON, or in YAML with the feature `yaml`.
///
/// Examples that are objects or lists, a large part of many documents, are left out: definitions show only
/// single values.
pub(crate) fn parse_document(
    text: &str,
    role: TextRole<'_>,
    limits: &OpenApiLimits,
) -> Result<Value, OpenApiError> {
    let length = text.len();
    let limit = limits.document_bytes;
    if length > limit {
        return Err(OpenApiError::too_long(role, length, limit));
    }
    let text = text.trim_start_matches('\u{feff}');
    let words = text.trim();
    if words.is_empty() {
        return Err(OpenApiError::of_text(OpenApiErrorKind::Syntax, role, "is empty"));
    }
    // A merge key of YAML begins with `<<`.
    if words.starts_with('<') && !words.starts_with("<<") {
        return Err(OpenApiError::of_text(OpenApiErrorKind::Syntax, role, PAGE));
    }
    if !words.contains(['\n', '{']) && !words.contains(": ") {
        return Err(OpenApiError::of_text(OpenApiErrorKind::Syntax, role, role.one_line()));
    }
    let values = allowed(limits, length);
    let left = Left::new(values, length.saturating_mul(limits.values_per_byte).max(length));
    let seed = ValueSeed { left: &left, place: Place::Keyword, names: 0 };
    let parsed = if text.trim_start().starts_with('{') { json(text, seed) } else { yaml(text, seed) };
    match left.fault.get() {
        Some(TooLarge::Values) => {
            let fault = format!("has more than {values} values");
            Err(OpenApiError::of_text(OpenApiErrorKind::TooLarge, role, fault))
        }
        Some(TooLarge::Names) => {
            let fault = format!("has a value below names of more than {LONGEST_NAMES} bytes");
            Err(OpenApiError::of_text(OpenApiErrorKind::TooLarge, role, fault))
        }
        None => parsed.map_err(|fault| OpenApiError::of_text(OpenApiErrorKind::Syntax, role, fault)),
    }
}

fn json(text: &str, seed: ValueSeed<'_>) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut deserializer).map_err(invalid_json)?;
    deserializer.end().map_err(invalid_json)?;
    Ok(value.unwrap_or_default())
}

fn invalid_json(error: serde_json::Error) -> String {
    format!("is no valid JSON: {error}")
}

#[cfg(feature = "yaml")]
fn yaml(text: &str, seed: ValueSeed<'_>) -> Result<Value, String> {
    super::yaml_nesting::check_nesting(text)?;
    let value = seed.deserialize(yaml_serde::Deserializer::from_str(text));
    value.map(Option::unwrap_or_default).map_err(|error| format!("is no valid YAML: {error}"))
}

#[cfg(not(feature = "yaml"))]
fn yaml(_: &str, _: ValueSeed<'_>) -> Result<Value, String> {
    Err("is no JSON object; for YAML, turn on the feature `yaml`".to_owned())
}

struct Left {
    values: Cell<usize>,
    /// Bytes of texts, and values of examples that are left out. Only aliases of YAML can exceed them.
    repeated: Cell<usize>,
    fault: Cell<Option<TooLarge>>,
}

#[derive(Clone, Copy)]
enum TooLarge {
    Values,
    Names,
}

impl Left {
    fn new(values: usize, repeated: usize) -> Self {
        Self { values: Cell::new(values), repeated: Cell::new(repeated), fault: Cell::new(None) }
    }

    fn take<E: Error>(&self, from: &Cell<usize>, count: usize) -> Result<(), E> {
        let Some(left) = from.get().checked_sub(count) else {
            return Err(self.refused(TooLarge::Values));
        };
        from.set(left);
        Ok(())
    }

    fn refused<E: Error>(&self, fault: TooLarge) -> E {
        self.fault.set(Some(fault));
        E::custom("too large")
    }
}

/// What the members of an object are.
#[derive(Clone, Copy)]
enum Place {
    /// Keywords of OpenAPI or JSON Schema.
    Keyword,
    /// Entries under the author's names, such as `properties`.
    Names,
    /// The author's data, such as a default.
    Data,
    /// An example.
    Example,
    LeftOut,
}

impl Place {
    fn below(self, name: &str) -> Self {
        match (self, name) {
            (Self::Data, _) => Self::Data,
            (Self::LeftOut, _) => Self::LeftOut,
            (Self::Names, _) => Self::Keyword,
            (_, "example" | "examples") => Self::Example,
            (_, "default" | "enum" | "const") => Self::Data,
            (_, "properties" | "patternProperties" | "dependentSchemas" | "definitions" | "$defs") => {
                Self::Names
            }
            (_, "schemas" | "parameters" | "responses" | "requestBodies" | "headers" | "pathItems") => {
                Self::Names
            }
            (_, "securitySchemes" | "securityDefinitions" | "paths" | "content" | "encoding") => Self::Names,
            (_, "variables" | "mapping" | "scopes" | "callbacks" | "webhooks" | "links") => Self::Names,
            (_, name) if name.starts_with("x-") => Self::Data,
            _ => Self::Keyword,
        }
    }

    fn inside(self) -> Self {
        if matches!(self, Self::Names) { Self::Keyword } else { self }
    }
}

/// Makes one value, or nothing of an example that is an object.
#[derive(Clone, Copy)]
struct ValueSeed<'a> {
    left: &'a Left,
    place: Place,
    /// The bytes of the names around the value.
    names: usize,
}

impl ValueSeed<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        let from = if matches!(self.place, Place::LeftOut) { &self.left.repeated } else { &self.left.values };
        self.left.take(from, 1)
    }

    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Option<Value>, E> {
        self.count()?;
        if matches!(self.place, Place::LeftOut) {
            return Ok(None);
        }
        Ok(Some(value.into()))
    }

    fn member<E: Error>(self, name: &str) -> Result<Self, E> {
        self.left.take(&self.left.repeated, name.len())?;
        let names = self.names + name.len();
        if names > LONGEST_NAMES {
            return Err(self.left.refused(TooLarge::Names));
        }
        Ok(Self { place: self.place.below(name), names, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($method:ident($kind:ty),)+) => {
        $(fn $method<E: Error>(self, value: $kind) -> Result<Self::Value, E> {
            self.scalar(value)
        })+
    };
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    scalars! {
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_f64(f64),
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        self.left.take(&self.left.repeated, value.len())?;
        self.scalar(value)
    }

    /// YAML has longer integers than JSON values. They are bounds of generators, which round them anyway.
    fn visit_i128<E: Error>(self, value: i128) -> Result<Self::Value, E> {
        self.scalar(value as f64)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Self::Value, E> {
        self.scalar(value as f64)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        self.count()?;
        let inside = Self { place: self.place.inside(), ..self };
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.extend(item);
        }
        if matches!(self.place, Place::LeftOut) {
            return Ok(None);
        }
        Ok(Some(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        self.count()?;
        if matches!(self.place, Place::Example | Place::LeftOut) {
            let inside = Self { place: Place::LeftOut, ..self };
            while members.next_key::<IgnoredAny>()?.is_some() {
                members.next_value_seed(inside)?;
            }
            return Ok(None);
        }
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if let Some(value) = members.next_value_seed(self.member(&name)?)? {
                map.insert(name, value);
            }
        }
        Ok(Some(map.into()))
    }
}
