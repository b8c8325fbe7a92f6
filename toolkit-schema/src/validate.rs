//! Validation by the `jsonschema` crate, for schemas supplied at run time.
//!
//! Only the crate's validator decides whether a value is valid. The messages come from
//! [`violations`](crate::violations).

use crate::check::{Checks, TOO_COMPLEX};
use crate::depth::{MAX_DEPTH, MAX_NESTED, nests_deeper};
use crate::fault::{faults, longest_chain, too_deep};
use crate::format;
use crate::keyword::{Role, subschemas};
use crate::reference::referenced;
use crate::violation::{Violation, ViolationKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ptr;

/// Formats that the validator would check and the contract does not.
const UNCHECKED_FORMATS: [&str; 7] =
    ["idn-email", "idn-hostname", "iri", "iri-reference", "regex", "relative-json-pointer", "uri-template"];

/// The number of references that the validator follows from schema to schema while it compiles.
const NESTED_REFERENCES: usize = 8;

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
    /// The maximum nesting depth of a value. The validator applies all schemas of a chain at each level of the value.
    deepest: usize,
}

/// A mistake in a schema.
#[derive(Clone, PartialEq, Eq)]
pub struct SchemaError {
    path: String,
    message: String,
}

impl SchemaError {
    /// Returns the position in the schema, such as `#/properties/city/type`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the description of the mistake.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
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
        let refused = too_deep(schema).or_else(|| nests_too_many(schema));
        if let Some(message) = refused {
            return Err(vec![SchemaError { path: "#".to_owned(), message }]);
        }
        // With checks of its own, the validator could choose another branch of a `oneOf` than the contract.
        let mut options = jsonschema::options().offline().should_validate_formats(true);
        for (name, check) in format::checks() {
            options = options.with_format(name, check);
        }
        for name in UNCHECKED_FORMATS {
            options = options.with_format(name, |_: &str| true);
        }
        let validator = options.build(schema).map_err(|error| schema_errors(schema, &error))?;
        let deepest = MAX_DEPTH.min(MAX_NESTED / longest_chain(schema));
        Ok(Self { schema: schema.clone(), validator, deepest })
    }

    /// Returns whether the value is valid. A value nested deeper than 127 levels is not, nor is one that would need more
    /// than 381 schemas inside one another: the validator could exhaust the stack.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        !nests_deeper(value, self.deepest) && self.validator.is_valid(value)
    }

    /// Returns up to 64 violations of the schema by `value`. The list is empty if `value` is valid.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if nests_deeper(value, self.deepest) {
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

/// Returns the message for a schema that would take too much of the stack to compile: the validator goes from reference to
/// reference, and compiles the schemas inside one another, each target once.
fn nests_too_many(schema: &Value) -> Option<String> {
    let nesting = || Nesting { root: schema, known: HashMap::new() };
    let is_deep = nesting().levels(schema, 0, NESTED_REFERENCES) > MAX_DEPTH;
    if !is_deep || nesting().of_all_targets() <= MAX_DEPTH {
        return None;
    }
    Some(format!(
        "the schema has more than {MAX_DEPTH} schemas inside one another, references followed; use fewer"
    ))
}

/// The number of schemas inside one another, behind references too.
struct Nesting<'a> {
    root: &'a Value,
    /// The numbers by the schema, and by the number of references that may still be followed.
    known: HashMap<(*const Value, usize), usize>,
}

impl<'a> Nesting<'a> {
    /// Returns the maximum number of schemas inside one another that begins with `schema`. `above` is the number of schemas
    /// around it. Above the limit, no more are counted.
    fn levels(&mut self, schema: &'a Value, above: usize, references: usize) -> usize {
        if above > MAX_DEPTH || !schema.is_object() {
            return 1;
        }
        let key = (ptr::from_ref(schema), references);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut inner = 0;
        for inside in subschemas(schema).filter(|inside| inside.role != Role::Definitions) {
            inner = inner.max(self.levels(inside.schema, above + 1, references));
        }
        if let Some(left) = references.checked_sub(1)
            && let Some(target) = referenced(self.root, schema)
        {
            inner = inner.max(self.levels(target, above + 1, left));
        }
        self.known.insert(key, 1 + inner);
        1 + inner
    }

    /// Returns the number of schemas inside one another in the whole schema and in all targets of references together. No
    /// chain of different targets has more.
    fn of_all_targets(&mut self) -> usize {
        let mut all = self.levels(self.root, 0, 0);
        let mut seen = HashSet::new();
        let mut open = vec![self.root];
        while let Some(schema) = open.pop() {
            open.extend(subschemas(schema).map(|inside| inside.schema));
            if let Some(target) = referenced(self.root, schema)
                && seen.insert(ptr::from_ref(target))
            {
                all += self.levels(target, 0, 0);
            }
        }
        all
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
