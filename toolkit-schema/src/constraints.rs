//! Adds constraints to schemas.

use crate::keywords::Keywords;
use crate::marks::AUTHORED;
use crate::types::types;
use schemars::Schema;
use serde_json::{Map, Value};

/// A number that a schema can have as a bound.
///
/// Integers have at most 64 bits, as in JSON values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a bound of a number",
    label = "`range` and `multiple_of` need numbers",
    note = "write the bound as a float or an integer of at most 64 bits"
)]
pub trait Bound: Into<Value> {}

macro_rules! bounds {
    ($($ty:ty)*) => {$(
        impl Bound for $ty {}
    )*};
}

bounds! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 Value }

/// Adds constraints to the schema of a parameter or field.
///
/// The model gets this schema, and arguments are checked against it. Generated code calls the methods for
/// attributes such as `#[param(range = …, length = …)]`.
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
    /// Adds keywords to `schema`.
    pub fn new(schema: &'a mut Map<String, Value>) -> Self {
        Self(schema)
    }

    /// Adds keywords to a generated schema, in which `true` becomes an object.
    pub fn of(schema: &'a mut Schema) -> Self {
        Self(schema.ensure_object())
    }

    /// Sets the least allowed number.
    pub fn minimum(&mut self, bound: impl Bound) {
        self.set("minimum", bound);
    }

    /// Sets the greatest allowed number.
    pub fn maximum(&mut self, bound: impl Bound) {
        self.set("maximum", bound);
    }

    /// Sets the exclusive upper bound of a number.
    pub fn exclusive_maximum(&mut self, bound: impl Bound) {
        self.set("exclusiveMaximum", bound);
    }

    /// Sets the divisor `step`: only multiples of `step` are allowed.
    pub fn multiple_of(&mut self, step: impl Bound) {
        self.set("multipleOf", step);
    }

    /// Sets the minimum number of characters, items or members.
    pub fn min_length(&mut self, least: u64) {
        self.set(self.length_keywords().0, least);
    }

    /// Sets the maximum number of characters, items or members.
    pub fn max_length(&mut self, most: u64) {
        self.set(self.length_keywords().1, most);
    }

    /// Sets the regular expression, which may match anywhere in the string.
    pub fn pattern(&mut self, pattern: &str) {
        self.set("pattern", pattern);
    }

    /// Sets the format of the string, such as `email`.
    pub fn format(&mut self, format: &str) {
        self.set("format", format);
    }

    /// Sets the allowed values.
    pub fn one_of<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("enum", values.into_iter().map(Into::into).collect::<Vec<Value>>());
        self.set(AUTHORED, true);
    }

    /// Sets examples of valid values.
    pub fn examples<T: Into<Value>>(&mut self, values: impl IntoIterator<Item = T>) {
        self.set("examples", values.into_iter().map(Into::into).collect::<Vec<Value>>());
    }

    /// Marks the parameter as deprecated, so that models avoid it.
    pub fn deprecated(&mut self) {
        self.set("deprecated", true);
    }

    /// Allows only `null` in `content`, the property with the data of an adjacently tagged enum.
    ///
    /// Generated code calls this for each unit variant.
    pub fn no_data(&mut self, content: &str) {
        if let Some(Value::Object(properties)) = self.0.get_mut("properties") {
            properties.set(content, serde_json::json!({"type": "null"}));
        }
    }

    /// Adds constraints to the items of a list or the values of a map, if they have a schema.
    pub fn items(&mut self, constrain: impl FnOnce(&mut Constraints<'_>)) {
        let keyword = if self.type_name() == Some("object") { "additionalProperties" } else { "items" };
        if let Some(Value::Object(items)) = self.0.get_mut(keyword) {
            constrain(&mut Constraints(items));
        }
    }

    fn set(&mut self, keyword: &str, value: impl Into<Value>) {
        self.0.set(keyword, value.into());
    }

    fn length_keywords(&self) -> (&'static str, &'static str) {
        match self.type_name() {
            Some("array") => ("minItems", "maxItems"),
            Some("object") => ("minProperties", "maxProperties"),
            _ => ("minLength", "maxLength"),
        }
    }

    /// Returns the first name in `type` other than `null`.
    fn type_name(&self) -> Option<&str> {
        types(self.0.get("type")).find(|name| *name != "null")
    }
}
