//! The text of a document becomes a JSON value: within limits, and without large examples.

use super::{OpenApiError, OpenApiLimits};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Parses a document in JSON, or in YAML with the feature `yaml`.
///
/// Examples that are objects or lists are left out: definitions show only single values as examples, and large
/// documents consist of such examples for a good part.
pub(super) fn parse_document(text: &str, limits: &OpenApiLimits) -> Result<Value, OpenApiError> {
    let length = text.len();
    let limit = limits.document_bytes;
    if length > limit {
        return Err(OpenApiError::TooLarge(format!("has {length} bytes, more than {limit}")));
    }
    let text = text.trim_start_matches('\u{feff}');
    let left = Cell::new(limits.values);
    let seed = ValueSeed { left: &left, place: Place::Keyword };
    let parsed = if text.trim_start().starts_with('{') { json(text, seed) } else { yaml(text, seed) };
    if left.get() == 0 {
        return Err(OpenApiError::TooLarge(format!("has more than {} values", limits.values)));
    }
    parsed.map_err(OpenApiError::Syntax)
}

fn json(text: &str, seed: ValueSeed<'_>) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map(Option::unwrap_or_default).map_err(|error| format!("is no valid JSON: {error}"))
}

#[cfg(feature = "yaml")]
fn yaml(text: &str, seed: ValueSeed<'_>) -> Result<Value, String> {
    let value = seed.deserialize(yaml_serde::Deserializer::from_str(text));
    value.map(Option::unwrap_or_default).map_err(|error| format!("is no valid YAML: {error}"))
}

#[cfg(not(feature = "yaml"))]
fn yaml(_: &str, _: ValueSeed<'_>) -> Result<Value, String> {
    Err("is no JSON object; for YAML, turn on the feature `yaml`".to_owned())
}

/// What the members of an object are.
#[derive(Clone, Copy)]
enum Place {
    /// Keywords of OpenAPI or JSON Schema.
    Keyword,
    /// Entries under names of the author, such as `properties`.
    Names,
    /// Data of the author, such as a default.
    Data,
    /// An example.
    Example,
}

impl Place {
    fn below(self, name: &str) -> Self {
        match (self, name) {
            (Self::Data, _) => Self::Data,
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

    /// Returns what the items of a list are.
    fn inside(self) -> Self {
        if matches!(self, Self::Names) { Self::Keyword } else { self }
    }
}

/// Makes one value, or nothing of an example that is an object.
#[derive(Clone, Copy)]
struct ValueSeed<'a> {
    /// The number of values that may still be made.
    left: &'a Cell<usize>,
    place: Place,
}

impl ValueSeed<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 { Err(E::custom("too many values")) } else { Ok(()) }
    }

    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Option<Value>, E> {
        self.count()?;
        Ok(Some(value.into()))
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
        visit_str(&str),
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
        Ok(Some(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        self.count()?;
        if matches!(self.place, Place::Example) {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(None);
        }
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let place = self.place.below(&name);
            if let Some(value) = members.next_value_seed(Self { place, ..self })? {
                map.insert(name, value);
            }
        }
        Ok(Some(map.into()))
    }
}
