//! Writing constraints into a schema.

use schemars::Schema;
use serde_json::{Map, Value};

/// Writes constraints into the schema of a parameter or a field. What stands in the schema is what is
/// checked at the call, so the two cannot differ.
///
/// Generated code makes these calls of `#[param(range = …, length = …)]` and so on.
#[derive(Debug)]
pub struct Constraints<'a>(&'a mut Map<String, Value>);

impl<'a> Constraints<'a> {
    /// Constraints of this schema.
    pub fn new(schema: &'a mut Map<String, Value>) -> Self {
        Self(schema)
    }

    /// Constraints of a generated schema. One that allows everything then begins to say something.
    pub fn of(schema: &'a mut Schema) -> Self {
        Self(schema.ensure_object())
    }

    /// The least number.
    pub fn minimum(&mut self, bound: impl Into<Value>) {
        self.set("minimum", bound);
    }

    /// The greatest number.
    pub fn maximum(&mut self, bound: impl Into<Value>) {
        self.set("maximum", bound);
    }

    /// The number that all numbers must be less than.
    pub fn exclusive_maximum(&mut self, bound: impl Into<Value>) {
        self.set("exclusiveMaximum", bound);
    }

    /// The number that all numbers must be a multiple of.
    pub fn multiple_of(&mut self, step: impl Into<Value>) {
        self.set("multipleOf", step);
    }

    /// How many characters a text, items a list, or members a map must have at least.
    pub fn min_length(&mut self, least: u64) {
        let (keyword, _) = self.length_keywords();
        self.set(keyword, least);
    }

    /// How many characters a text, items a list, or members a map may have at most.
    pub fn max_length(&mut self, most: u64) {
        let (_, keyword) = self.length_keywords();
        self.set(keyword, most);
    }

    /// The regular expression that must match somewhere in the text.
    pub fn pattern(&mut self, pattern: &str) {
        self.set("pattern", pattern);
    }

    /// The format of the text, as in `email`.
    pub fn format(&mut self, format: &str) {
        self.set("format", format);
    }

    /// The only values that are allowed.
    pub fn one_of<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("enum", values.into_iter().map(Into::into).collect::<Vec<Value>>());
        self.set(super::ONE_OF, true);
    }

    /// Values that show what is meant.
    pub fn examples<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("examples", values.into_iter().map(Into::into).collect::<Vec<Value>>());
    }

    /// The model should no longer use it.
    pub fn deprecated(&mut self) {
        self.set("deprecated", true);
    }

    /// Of a variant beside whose tag its data would stand, under this name: it has none.
    pub fn no_data(&mut self, content: &str) {
        if let Some(Value::Object(properties)) = self.0.get_mut("properties") {
            properties.insert(content.to_owned(), serde_json::json!({"type": "null"}));
        }
    }

    /// Constraints of each item of a list, or of each value of a map.
    pub fn items(&mut self, constrain: impl FnOnce(&mut Constraints<'_>)) {
        let keyword = if self.kind() == Some("object") { "additionalProperties" } else { "items" };
        if let Some(Value::Object(items)) = self.0.get_mut(keyword) {
            constrain(&mut Constraints(items));
        }
    }

    fn set(&mut self, keyword: &str, value: impl Into<Value>) {
        self.0.insert(keyword.to_owned(), value.into());
    }

    fn length_keywords(&self) -> (&'static str, &'static str) {
        match self.kind() {
            Some("array") => ("minItems", "maxItems"),
            Some("object") => ("minProperties", "maxProperties"),
            _ => ("minLength", "maxLength"),
        }
    }

    /// The kind of value, besides `null`.
    fn kind(&self) -> Option<&str> {
        match self.0.get("type")? {
            Value::String(kind) => Some(kind),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            _ => None,
        }
    }
}
