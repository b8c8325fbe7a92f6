//! Decoding of arguments for tools with a schema supplied at run time.

use super::explain;
use super::members::{not_an_object, not_json};
use super::options::DecodeOptions;
use super::struct_args::{emit_coerced, relax, takes_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Json, object_in, rounded};
use crate::schema::{CompiledSchema, SchemaError};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A compiled schema to parse and validate the arguments of one tool.
#[derive(Debug)]
pub(crate) struct DynamicArgs {
    schema: CompiledSchema,
    takes_object: bool,
}

impl DynamicArgs {
    /// Checks and compiles `schema`.
    ///
    /// # Errors
    /// Returns every fault found in `schema`.
    pub(crate) fn new(schema: &Value) -> Result<Self, Vec<SchemaError>> {
        Ok(Self { schema: CompiledSchema::new(schema)?, takes_object: takes_object(schema) })
    }

    /// Parses `text` and validates the value with the compiled schema.
    ///
    /// If validation fails and `coerce` is set, near misses are coerced and the result is validated again. If
    /// the schema accepts objects, empty text counts as `{}`. So does `null`, unless the schema accepts
    /// `null` itself.
    ///
    /// # Errors
    /// The text is not JSON, a member is repeated, or the value violates the schema. The error lists all
    /// violations.
    pub(crate) fn read(
        &self,
        text: &str,
        schema: &Value,
        coerce: bool,
        context: Option<&ToolContext>,
    ) -> Result<Value, ToolError> {
        let (mut given, mut value) = self.parse(text, schema, coerce, context)?;
        let repeated = explain::repeated_inside(&given, "");
        if !repeated.is_empty() {
            return Err(ToolError::invalid_arguments(repeated));
        }
        if value.as_ref().is_ok_and(|value| self.schema.is_valid(value)) && lossy(&given, schema).is_empty() {
            return value;
        }
        if matches!(value, Ok(Value::Null)) && self.takes_object {
            value = Ok(Value::Object(Map::new()));
        }
        if coerce && let Some((coerced, of_text)) = self.coerce(text, value.as_ref().ok(), schema, context) {
            (value, given) = (Ok(coerced), Cow::Owned(of_text));
        }
        let value = value?;
        match (self.schema.is_valid(&value), lossy(&given, schema)) {
            (true, lossy) if lossy.is_empty() => Ok(value),
            (true, lossy) => Err(ToolError::invalid_arguments(lossy)),
            (false, _) => Err(self.refusal(schema, &value)),
        }
    }

    /// Parses `text` and returns it with the parsed value. If `coerce` is set, syntax errors are repaired first.
    ///
    /// The value is an error if a number is out of range: coercion may still turn the number into a string.
    fn parse<'t>(
        &self,
        text: &'t str,
        schema: &Value,
        coerce: bool,
        context: Option<&ToolContext>,
    ) -> Result<(Cow<'t, str>, Result<Value, ToolError>), ToolError> {
        let given = match serde_json::from_str(text) {
            Ok(value) => return Ok((text.into(), Ok(value))),
            Err(_) if self.takes_object && text.trim().is_empty() => {
                return Ok((text.into(), Ok(Value::Object(Map::new()))));
            }
            Err(_) if Json::parse(text).is_ok() => Cow::Borrowed(text),
            Err(error) if coerce && self.takes_object => {
                let object = object_in(text).filter(|object| Json::parse(object).is_ok());
                let object = object.ok_or_else(|| not_json(text, &error))?;
                explain::check_json(text, &DecodeOptions::strict(schema, context))?;
                object
            }
            Err(error) if self.takes_object => return Err(not_json(text, &error)),
            Err(error) => return Err(ToolError::invalid_json(error)),
        };
        let value = explain::parse_value(&given);
        Ok((given, value))
    }

    /// Coerces arguments refused by the validator. Returns the coerced value and its text, or `None` if no
    /// coercion applies.
    fn coerce(
        &self,
        text: &str,
        value: Option<&Value>,
        schema: &Value,
        context: Option<&ToolContext>,
    ) -> Option<(Value, String)> {
        if self.takes_object {
            let options = DecodeOptions::strict(schema, context);
            let (object, _) = relax(text, &options, |_| false).ok()?;
            // Coercion may parse an object inside of a string; its names have not been checked for repetition
            // yet.
            if !explain::repeated_inside(&object, "").is_empty() {
                return None;
            }
            let mut coerced = explain::coercions(schema, schema, &object, &mut |_| None);
            let coerced = coerced.pop().unwrap_or_else(|| object.clone());
            emit_coerced(&object, &coerced, &options);
            return Some((serde_json::from_str(&coerced).ok()?, coerced));
        }
        let inner = value?.as_str()?;
        let parsed = serde_json::from_str(inner).ok()?;
        self.schema.is_valid(&parsed).then(|| (parsed, inner.to_owned()))
    }

    fn refusal(&self, schema: &Value, value: &Value) -> ToolError {
        if schema.get("type").is_some_and(|kind| kind == "object") && !value.is_object() {
            return not_an_object(&value.to_string());
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
        let in_own_words = |violation: Violation| match violation.kind {
            ViolationKind::Unknown if value.get(&violation.path).is_some() => {
                explain::unknown(&violation.path, names())
            }
            _ => violation,
        };
        let mut violations: Vec<Violation> =
            self.schema.violations(value).into_iter().map(in_own_words).collect();
        if violations.is_empty() {
            let message = "the arguments do not conform to the schema";
            violations.push(Violation::new("", ViolationKind::Constraint, message));
        }
        ToolError::invalid_arguments(violations)
    }
}

/// Returns the schema violations of numbers in `text` that are rounded when stored in a [`Value`].
fn lossy(text: &str, schema: &Value) -> Vec<Violation> {
    Json::parse(text).map_or_else(|_| Vec::new(), |value| rounded(schema.into(), &value))
}

#[cfg(test)]
mod tests;
