//! A writer of constraints into schemas.

use crate::types::types;
use schemars::Schema;
use serde_json::{Map, Value};

/// Marks an `enum` that is a constraint, not the list of a type's variants, until the schema is tidied.
pub(crate) const ONE_OF: &str = "x-one-of";

/// Writes constraints into the schema of a parameter or a field. Calls are checked against the schema, so the
/// two cannot differ.
///
/// Generated code makes these calls from `#[param(range = …, length = …)]` and so on.
///
/// ```
/// use toolkit_schema::Constraints;
///
/// let mut schema = serde_json::json!({"type": ["array", "null"]});
/// Constraints::new(schema.as_object_mut().unwrap()).max_length(3);
/// assert_eq!(schema["maxItems"], 3);
/// ```
#[derive(Debug)]
pub struct Constraints<'a>(&'a mut Map<String, Value>);

impl<'a> Constraints<'a> {
    /// Creates a writer into the keywords of a schema.
    pub fn new(schema: &'a mut Map<String, Value>) -> Self {
        Self(schema)
    }

    /// Creates a writer into a generated schema; `true` becomes an object.
    pub fn of(schema: &'a mut Schema) -> Self {
        Self(schema.ensure_object())
    }

    /// Sets the least number.
    pub fn minimum(&mut self, bound: impl Into<Value>) {
        self.set("minimum", bound);
    }

    /// Sets the greatest number.
    pub fn maximum(&mut self, bound: impl Into<Value>) {
        self.set("maximum", bound);
    }

    /// Sets the number above all allowed numbers.
    pub fn exclusive_maximum(&mut self, bound: impl Into<Value>) {
        self.set("exclusiveMaximum", bound);
    }

    /// Sets the number whose multiples are allowed.
    pub fn multiple_of(&mut self, step: impl Into<Value>) {
        self.set("multipleOf", step);
    }

    /// Sets the least number of characters of a string, items of a list, or members of a map.
    pub fn min_length(&mut self, least: u64) {
        self.set(self.length_keywords().0, least);
    }

    /// Sets the greatest number of characters of a string, items of a list, or members of a map.
    pub fn max_length(&mut self, most: u64) {
        self.set(self.length_keywords().1, most);
    }

    /// Sets the regular expression to match somewhere in the string.
    pub fn pattern(&mut self, pattern: &str) {
        self.set("pattern", pattern);
    }

    /// Sets the format of the string, as in `email`.
    pub fn format(&mut self, format: &str) {
        self.set("format", format);
    }

    /// Sets the allowed values.
    pub fn one_of<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("enum", values.into_iter().map(Into::into).collect::<Vec<Value>>());
        self.set(ONE_OF, true);
    }

    /// Sets examples of valid values.
    pub fn examples<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("examples", values.into_iter().map(Into::into).collect::<Vec<Value>>());
    }

    /// Tells the model to avoid the parameter.
    pub fn deprecated(&mut self) {
        self.set("deprecated", true);
    }

    /// Sets the content of a unit variant, beside whose tag data would stand under this name, to `null`.
    pub fn no_data(&mut self, content: &str) {
        if let Some(Value::Object(properties)) = self.0.get_mut("properties") {
            properties.insert(content.to_owned(), serde_json::json!({"type": "null"}));
        }
    }

    /// Sets constraints of each item of a list, or of each value of a map.
    pub fn items(&mut self, constrain: impl FnOnce(&mut Constraints<'_>)) {
        let keyword = if self.type_name() == Some("object") { "additionalProperties" } else { "items" };
        if let Some(Value::Object(items)) = self.0.get_mut(keyword) {
            constrain(&mut Constraints(items));
        }
    }

    fn set(&mut self, keyword: &str, value: impl Into<Value>) {
        self.0.insert(keyword.to_owned(), value.into());
    }

    fn length_keywords(&self) -> (&'static str, &'static str) {
        match self.type_name() {
            Some("array") => ("minItems", "maxItems"),
            Some("object") => ("minProperties", "maxProperties"),
            _ => ("minLength", "maxLength"),
        }
    }

    /// Returns the type of the values, besides `null`.
    fn type_name(&self) -> Option<&str> {
        types(self.0.get("type")).find(|name| *name != "null")
    }
}
