//! Decoding of arguments for tools with a schema supplied at run time.

use super::explain;
use super::members::{mend, not_an_object, not_json};
use super::options::DecodeOptions;
use super::struct_args::{emit_coerced, relax, takes_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::{CompiledSchema, SchemaError};
use serde_json::{Map, Value};

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
        let mut mended = None;
        let mut value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if self.takes_object && text.trim().is_empty() => Value::Object(Map::new()),
            Err(error) if coerce && self.takes_object => {
                let mended = mended.insert(mend(text).ok_or_else(|| not_json(&error))?);
                explain::check_json(text, &DecodeOptions::strict(schema, context))?;
                serde_json::from_str(mended).map_err(|_| not_json(&error))?
            }
            Err(error) if self.takes_object => return Err(not_json(&error)),
            Err(error) => return Err(ToolError::invalid_json(error)),
        };
        let repeated = explain::repeated_inside(mended.as_deref().unwrap_or(text), "");
        if !repeated.is_empty() {
            return Err(ToolError::invalid_arguments(repeated));
        }
        if self.schema.is_valid(&value) {
            return Ok(value);
        }
        if value.is_null() && self.takes_object {
            value = Value::Object(Map::new());
        }
        if coerce && let Some(coerced) = self.coerce(text, &value, schema, context) {
            value = coerced;
        }
        if self.schema.is_valid(&value) { Ok(value) } else { Err(self.refusal(schema, &value)) }
    }

    /// Coerces arguments refused by the validator. Returns `None` if no coercion applies.
    fn coerce(
        &self,
        text: &str,
        value: &Value,
        schema: &Value,
        context: Option<&ToolContext>,
    ) -> Option<Value> {
        if self.takes_object {
            let options = DecodeOptions::strict(schema, context);
            let (object, _) = relax(text, &options, |_| false).ok()?;
            // Coercion may parse an object inside of a string; its names have not been checked for repetition
            // yet.
            if !explain::repeated_inside(&object, "").is_empty() {
                return None;
            }
            let mut coerced = explain::coercions(schema, schema, &object, &mut |_| false);
            let coerced = coerced.pop().unwrap_or_else(|| object.clone());
            emit_coerced(&object, &coerced, &options);
            return serde_json::from_str(&coerced).ok();
        }
        let inner = serde_json::from_str(value.as_str()?).ok()?;
        self.schema.is_valid(&inner).then_some(inner)
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

#[cfg(test)]
mod tests;
