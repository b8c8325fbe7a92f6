//! Descriptions for time types, because their generated schemas have no description.

use serde_json::{Map, Value, json};

/// The names and the descriptions of a time type's properties.
type Properties = [(&'static str, &'static str); 2];

/// The time types of the standard library. Each entry has the properties of the type and a description.
const OBJECTS: [(Properties, &str); 2] = [
    (
        [("secs", "Whole seconds"), ("nanos", "Nanoseconds beyond the seconds, below 1000000000")],
        "A length of time",
    ),
    (
        [
            ("secs_since_epoch", "Whole seconds since 1970-01-01T00:00:00Z"),
            ("nanos_since_epoch", "Nanoseconds beyond the seconds, below 1000000000"),
        ],
        "A point in time",
    ),
];

/// Time formats that other crates use, but JSON Schema does not define. Each entry has the name of the format, an
/// example, and a description.
const FORMATS: [(&str, &str, &str); 3] = [
    ("partial-time", "13:45:00", "a time of day without a time zone"),
    ("partial-date-time", "2026-01-31T13:45:00", "a date and a time of day without a time zone"),
    ("zoned-date-time", "2026-01-31T13:45:00+01:00[Europe/Oslo]", "a date and a time of day in a time zone"),
];

/// Returns an example value for the schema of a standard library time type. The example is a JSON object.
///
/// The time type is recognised by the names of its properties. Returns `None` for other schemas.
pub(crate) fn example(schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let is_type = |names: &&(Properties, &str)| {
        properties.len() == names.0.len() && names.0.iter().all(|(name, _)| properties.contains_key(*name))
    };
    let ([(whole, _), (rest, _)], _) = OBJECTS.iter().find(is_type)?;
    Some(format!(r#"{{"{whole}": 5, "{rest}": 0}}"#))
}

/// Adds a description to the schema of a time type. An existing description stays.
pub(crate) fn describe_time(schema: &mut Map<String, Value>) {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some((_, example, words)) = FORMATS.iter().find(|(name, ..)| Some(*name) == format) {
        // The text has the form of a note, so it is kept if the parameter has its own description.
        schema.entry("description").or_insert_with(|| format!("- `{example}`: {words}").into());
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let is_type = |names: &Properties| {
        let is_number = |name: &str| properties.get(name).is_some_and(|found| found["type"] == "integer");
        properties.len() == names.len() && names.iter().all(|(name, _)| is_number(name))
    };
    let Some((names, words)) = OBJECTS.iter().find(|(names, _)| is_type(names)) else { return };
    for (name, words) in names {
        if let Some(Value::Object(property)) = properties.get_mut(*name) {
            property.entry("description").or_insert_with(|| json!(words));
        }
    }
    schema.entry("description").or_insert_with(|| json!(words));
}

#[cfg(test)]
mod tests {
    use crate::schema_of;
    use serde_json::Value;

    #[test]
    fn types_of_time_are_described_in_words() {
        let duration = schema_of::<std::time::Duration>();
        assert_eq!(duration["description"], "A length of time");
        assert_eq!(duration["properties"]["secs"]["description"], "Whole seconds");
        let time = schema_of::<std::time::SystemTime>();
        assert_eq!(time["description"], "A point in time");
        let mut naive = serde_json::json!({"type": "string", "format": "partial-time"});
        crate::tidy(&mut naive);
        assert_eq!(naive["description"], "- `13:45:00`: a time of day without a time zone");
        let own = serde_json::json!({"type": "string", "format": "partial-time", "description": "When."});
        let mut tidied = own.clone();
        crate::tidy(&mut tidied);
        assert_eq!(tidied, own);
    }

    /// Tests that schemas similar to those of time types stay unchanged.
    #[test]
    fn other_types_keep_their_schema() {
        for schema in [
            serde_json::json!({"properties": {"secs": {"type": "integer"}}}),
            serde_json::json!({"properties": {"secs": {"type": "integer"}, "nanos": {"type": "string"}}}),
            serde_json::json!({"properties": {"secs": {}, "nanos": {"type": "integer"}, "x": {}}}),
            serde_json::json!({"type": "string", "format": "date-time"}),
        ] {
            let mut tidied: Value = schema.clone();
            crate::tidy(&mut tidied);
            assert_eq!(tidied, schema);
        }
    }
}
