//! Decoding of arguments for tools with a schema supplied at run time.

use super::explain;
use super::members::{not_an_object, not_json};
use super::options::DecodeOptions;
use super::struct_args::{emit_coerced, relax, takes_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Json, Scope, TOO_COMPLEX, check, mend};
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
            // A number may be out of range.
            Err(_) if Json::parse(text).is_ok() => explain::parse_value(text)?,
            Err(error) if coerce && self.takes_object => {
                let mended = mended.insert(mend(text).ok_or_else(|| not_json(text, &error))?);
                explain::check_json(text, &DecodeOptions::strict(schema, context))?;
                Json::parse(mended).map_err(|_| not_json(text, &error))?;
                explain::parse_value(mended)?
            }
            Err(error) if self.takes_object => return Err(not_json(text, &error)),
            Err(error) => return Err(ToolError::invalid_json(error)),
        };
        let repeated = explain::repeated_inside(mended.as_deref().unwrap_or(text), "");
        if !repeated.is_empty() {
            return Err(ToolError::invalid_arguments(repeated));
        }
        let given = mended.as_deref().unwrap_or(text);
        if self.schema.is_valid(&value) && rounded(given, schema).is_empty() {
            return Ok(value);
        }
        let mut coerced_text = None;
        if value.is_null() && self.takes_object {
            value = Value::Object(Map::new());
        }
        if coerce && let Some((coerced, of_text)) = self.coerce(text, &value, schema, context) {
            value = coerced;
            coerced_text = Some(of_text);
        }
        let rounded = rounded(coerced_text.as_deref().unwrap_or(given), schema);
        match self.schema.is_valid(&value) {
            true if rounded.is_empty() => Ok(value),
            true => Err(ToolError::invalid_arguments(rounded)),
            false => Err(self.refusal(schema, &value)),
        }
    }

    /// Coerces arguments refused by the validator. Returns the coerced value and its text, or `None` if no
    /// coercion applies.
    fn coerce(
        &self,
        text: &str,
        value: &Value,
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
            let mut coerced = explain::coercions(schema, schema, &object, &mut |_| false);
            let coerced = coerced.pop().unwrap_or_else(|| object.clone());
            emit_coerced(&object, &coerced, &options);
            return Some((serde_json::from_str(&coerced).ok()?, coerced));
        }
        let inner = value.as_str()?;
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

/// Returns the violations of the schema by numbers that a [`Value`] rounds. The numbers are compared as they
/// are written in `text`.
fn rounded(text: &str, schema: &Value) -> Vec<Violation> {
    let Some(value) = Json::parse(text).ok().filter(|value| !value.is_exact()) else { return Vec::new() };
    let mut found = check(schema.into(), &value, "", Scope::Validator);
    found.retain(|violation| violation.message != TOO_COMPLEX);
    found
}

#[cfg(test)]
mod tests;
