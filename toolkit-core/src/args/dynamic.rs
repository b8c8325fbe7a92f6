//! Arguments that a schema known only at run time judges.

use super::decode::Rules;
use super::explain;
use super::members::{not_an_object, not_json, with_members};
use super::whole::{self, takes_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::{CompiledSchema, SchemaError};
use serde_json::{Map, Value};

/// Reads the arguments of calls and has the validator judge them.
#[derive(Debug)]
pub(crate) struct DynamicArgs {
    schema: CompiledSchema,
    takes_object: bool,
}

impl DynamicArgs {
    /// Checks and compiles the schema.
    ///
    /// # Errors
    /// Everything that is wrong with the schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, Vec<SchemaError>> {
        Ok(Self { schema: CompiledSchema::new(schema)?, takes_object: takes_object(schema) })
    }

    /// The arguments, if the validator accepts them. Where objects are accepted, nothing is an object
    /// without members, and so is `null` if it is not accepted itself. With `coerce`, what was refused is
    /// tried as what may be meant.
    ///
    /// # Errors
    /// The text is not JSON, or everything that is wrong with the arguments.
    pub(crate) fn read(
        &self,
        text: &str,
        schema: &Value,
        coerce: bool,
        context: Option<&ToolContext>,
    ) -> Result<Value, ToolError> {
        let mut value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if self.takes_object && text.trim().is_empty() => Value::Object(Map::new()),
            Err(error) if self.takes_object => return Err(not_json(&error)),
            Err(error) => return Err(ToolError::invalid_json(error)),
        };
        let doubled = doubled_members(text, &value);
        if !doubled.is_empty() {
            return Err(ToolError::invalid_arguments(doubled));
        }
        if self.schema.is_valid(&value) {
            return Ok(value);
        }
        if value.is_null() && self.takes_object {
            value = Value::Object(Map::new());
        }
        if coerce && let Some(meant) = self.meant(text, &value, schema, context) {
            value = meant;
        }
        if self.schema.is_valid(&value) { Ok(value) } else { Err(self.refusal(schema, &value)) }
    }

    /// What may be meant by arguments that were refused.
    fn meant(
        &self,
        text: &str,
        value: &Value,
        schema: &Value,
        context: Option<&ToolContext>,
    ) -> Option<Value> {
        if self.takes_object {
            let rules = Rules { schema, demanding: &[], refuse_unknown: true, coerce: true, context };
            let relaxed = whole::relax(text, &rules, |_| true).ok()?;
            return if relaxed.is_ambiguous() { None } else { serde_json::from_str(&relaxed.text).ok() };
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
            let message = "the arguments do not fit the schema";
            violations.push(Violation::new("", ViolationKind::Constraint, message));
        }
        ToolError::invalid_arguments(violations)
    }
}

/// A violation for each name that an object has twice: of the values, all but the last would be lost.
fn doubled_members(text: &str, value: &Value) -> Vec<Violation> {
    let Some(members) = value.as_object() else { return Vec::new() };
    let doubled = with_members(text, |all| {
        let mut names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        if names.len() == members.len() {
            return Vec::new();
        }
        names.sort_unstable();
        let twice = names.windows(2).filter_map(|pair| pair.first().filter(|name| pair.last() == Some(name)));
        let mut twice: Vec<&str> = twice.copied().collect();
        twice.dedup();
        twice.into_iter().map(explain::given_twice).collect()
    });
    doubled.unwrap_or_default()
}

#[cfg(test)]
mod tests;
