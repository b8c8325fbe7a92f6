//! Validation by the `jsonschema` crate, for schemas supplied at run time.
//!
//! Only the crate's validator decides whether a value is valid. The messages come from
//! [`violations`](crate::violations).

use crate::check::{Checks, DEEPEST_VALUE, TOO_COMPLEX};
use crate::fault::{TOO_DEEP, faults, is_too_deep, nests_deeper};
use crate::format;
use crate::violation::{Violation, ViolationKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::fmt;

/// Formats that the validator would check and the contract does not.
const UNCHECKED_FORMATS: [&str; 7] =
    ["idn-email", "idn-hostname", "iri", "iri-reference", "regex", "relative-json-pointer", "uri-template"];

/// The maximum length, in characters, of a message from the schema compiler.
const LONGEST: usize = 500;

/// A schema, checked and compiled for validation.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::CompiledSchema;
///
/// let schema = CompiledSchema::new(&json!({"type": "array", "items": {"not": {"type": "null"}}})).unwrap();
/// assert!(schema.is_valid(&json!([1])));
/// let found = schema.violations(&json!([null]));
/// assert_eq!(found[0].to_string(), "`[0]`: expected anything else than null, got null");
/// ```
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    validator: Validator,
}

/// A mistake in a schema.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// The position in the schema, such as `#/properties/city/type`.
    pub path: String,
    /// A description of the mistake.
    pub message: String,
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

impl std::error::Error for SchemaError {}

impl CompiledSchema {
    /// Checks and compiles a schema.
    ///
    /// The schema is checked against the meta-schema named by `$schema`, by default draft 2020-12. No
    /// document is ever fetched. Formats such as `date` and `email` are checked as in the arguments of all tools.
    ///
    /// # Errors
    /// Returns all mistakes in the schema. A schema nested too deep is refused, because the validator could
    /// exhaust the stack.
    pub fn new(schema: &Value) -> Result<Self, Vec<SchemaError>> {
        if is_too_deep(schema) {
            return Err(vec![SchemaError { path: "#".to_owned(), message: TOO_DEEP.to_owned() }]);
        }
        // With checks of its own, the validator could choose another branch of a `oneOf` than the contract.
        let mut options = jsonschema::options().offline().should_validate_formats(true);
        for (name, check) in format::checks() {
            options = options.with_format(name, check);
        }
        for name in UNCHECKED_FORMATS {
            options = options.with_format(name, |_: &str| true);
        }
        options
            .build(schema)
            .map(|validator| Self { schema: schema.clone(), validator })
            .map_err(|error| schema_errors(schema, &error))
    }

    /// Returns whether the value is valid. A value nested deeper than 127 levels is not: the validator could exhaust the
    /// stack.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        !nests_deeper(value, DEEPEST_VALUE) && self.validator.is_valid(value)
    }

    /// Returns up to 64 violations of the schema by `value`. The list is empty if `value` is valid.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if nests_deeper(value, DEEPEST_VALUE) {
            return vec![Violation::new("", ViolationKind::Constraint, TOO_COMPLEX)];
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let found = Checks::foreign(&self.schema).violations_in_text(&self.schema, &value.to_string());
        if found.is_empty() {
            let message = "the value does not conform to the schema";
            return vec![Violation::new("", ViolationKind::Constraint, message)];
        }
        found
    }
}

/// Returns the mistakes in a schema that does not compile: its faults, or else the `error` of the compiler.
fn schema_errors(schema: &Value, error: &ValidationError<'_>) -> Vec<SchemaError> {
    let mut found = faults(schema, true);
    if found.is_empty() {
        let message = error.masked().to_string().chars().take(LONGEST).collect();
        found.push((format!("#{}", error.instance_path()), message));
    }
    found.into_iter().map(|(path, message)| SchemaError { path, message }).collect()
}

#[cfg(test)]
mod tests;
