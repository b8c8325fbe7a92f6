//! The messages of `serde_json` for arguments that do not fit.
//!
//! A schema is deserialized like a Rust type, so the messages are serde's own.

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use std::fmt;

/// Returns serde's message, or `None` if the arguments fit.
pub(crate) fn message(schema: &Value, arguments: &str) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_str(arguments);
    let result = Type { schema, is_optional: false }.deserialize(&mut deserializer);
    result.and_then(|()| deserializer.end()).err().map(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct Type<'a> {
    schema: &'a Value,
    /// Whether it accepts `null`, as an `Option`.
    is_optional: bool,
}

impl<'a> Type<'a> {
    fn kind(&self) -> &'a str {
        self.schema["type"].as_str().unwrap_or_default()
    }

    fn fits(&self, kind: &str) -> bool {
        self.kind() == kind || self.kind().is_empty()
    }

    fn required(&self) -> impl Iterator<Item = &'a str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }
}

impl<'de> DeserializeSeed<'de> for Type<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.is_optional {
            return deserializer.deserialize_option(self);
        }
        match self.kind() {
            "integer" => deserializer.deserialize_i64(self),
            "number" => deserializer.deserialize_f64(self),
            "boolean" => deserializer.deserialize_bool(self),
            "string" => deserializer.deserialize_str(self),
            "array" => deserializer.deserialize_seq(self),
            "object" => deserializer.deserialize_map(self),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Type<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind() {
            "integer" => "i64",
            "number" => "f64",
            "boolean" => "a boolean",
            "array" => "a sequence",
            "object" => "a map",
            _ => "a string",
        })
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.fits("boolean").then_some(()).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        let fits = self.fits("integer") || self.fits("number");
        fits.then_some(()).ok_or_else(|| E::invalid_type(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        let fits = self.fits("integer") || self.fits("number");
        fits.then_some(()).ok_or_else(|| E::invalid_type(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.fits("number").then_some(()).ok_or_else(|| E::invalid_type(Unexpected::Float(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        if !self.fits("string") {
            return Err(E::invalid_type(Unexpected::Str(value), &self));
        }
        let Some(allowed) = self.schema["enum"].as_array() else { return Ok(()) };
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        if allowed.contains(&value) {
            Ok(())
        } else {
            Err(E::custom(format_args!("unknown variant `{value}`, expected {}", one_of(&allowed))))
        }
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        Type { is_optional: false, ..self }.deserialize(deserializer)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.fits("null").then_some(()).ok_or_else(|| E::invalid_type(Unexpected::Unit, &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.fits("array") {
            return Err(de::Error::invalid_type(Unexpected::Seq, &self));
        }
        let items = Type { schema: &self.schema["items"], is_optional: false };
        while list.next_element_seed(items)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        if !self.fits("object") {
            return Err(de::Error::invalid_type(Unexpected::Map, &self));
        }
        let empty = serde_json::Map::new();
        let properties = self.schema["properties"].as_object().unwrap_or(&empty);
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut seen: Vec<String> = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let Some(schema) = properties.get(&name) else {
                if known.is_empty() {
                    members.next_value::<de::IgnoredAny>()?;
                    continue;
                }
                let text = format_args!("unknown field `{name}`, expected {}", one_of(&known)).to_string();
                return Err(de::Error::custom(text));
            };
            if seen.contains(&name) {
                return Err(de::Error::custom(format_args!("duplicate field `{name}`")));
            }
            let is_optional = !self.required().any(|required| required == name);
            members.next_value_seed(Type { schema, is_optional })?;
            seen.push(name);
        }
        match self.required().find(|name| !seen.iter().any(|seen| seen == name)) {
            Some(missing) => Err(de::Error::custom(format_args!("missing field `{missing}`"))),
            None => Ok(()),
        }
    }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [name] => format!("`{name}`"),
        [one, other] => format!("`{one}` or `{other}`"),
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", quoted.join(", "))
        }
    }
}

/// Those of a derived type with the same members.
#[test]
fn messages_are_those_of_a_type() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Unit {
        Metre,
        Foot,
        Yard,
    }
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only the errors matter")]
    struct Arguments {
        base: i64,
        height: f64,
        unit: Option<Unit>,
        #[serde(default)]
        tags: Vec<String>,
    }
    let schema = serde_json::json!({"type": "object", "required": ["base", "height"], "properties": {
        "base": {"type": "integer"}, "height": {"type": "number"},
        "unit": {"type": "string", "enum": ["metre", "foot", "yard"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }});
    for arguments in [
        r#"{"base": 1, "height": 2, "unit": "foot", "tags": ["a"]}"#,
        r#"{"base": 1, "height": 2.5, "unit": null}"#,
        r#"{"base": "1", "height": 2}"#,
        r#"{"base": 1.5, "height": 2}"#,
        r#"{"base": 1}"#,
        r#"{}"#,
        r#"{"base": 1, "height": 2, "unit": "mile"}"#,
        r#"{"base": 1, "height": 2, "width": 3}"#,
        r#"{"base": 1, "height": 2, "base": 3}"#,
        r#"{"base": 1, "height": 2, "tags": "a"}"#,
        r#"{"base": 1, "height": 2, "tags": [1]}"#,
        r#"{"base": 1, "height": {"a": 1}}"#,
        r#"{"base": null, "height": true}"#,
        r#"{"base": 1, "height": 2}{}"#,
        r#"{"base": 1, "height":"#,
        "",
    ] {
        let derived = serde_json::from_str::<Arguments>(arguments).err().map(|error| error.to_string());
        assert_eq!(message(&schema, arguments), derived, "{arguments}");
    }
}
