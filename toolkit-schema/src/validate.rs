//! Validation by the `jsonschema` crate, for schemas supplied at run time.
//!
//! Only its validator decides whether a value is valid. [`violations`](crate::violations) makes the messages.

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

/// Formats that only the validator would check.
const UNCHECKED_FORMATS: [&str; 7] =
    ["idn-email", "idn-hostname", "iri", "iri-reference", "regex", "relative-json-pointer", "uri-template"];

/// The references that the validator follows from schema to schema while compiling.
const NESTED_REFERENCES: usize = 8;

/// The maximum length in characters of a compiler's message.
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
    /// The maximum depth of a value, at each level of which the validator applies a whole chain of schemas.
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
    /// Checks the schema against the meta-schema named by `$schema`, by default draft 2020-12, and compiles
    /// it. Documents are never fetched. Formats such as `date` are checked as in all arguments.
    ///
    /// # Errors
    /// Returns all mistakes. A schema so deep that the validator could exhaust the stack is refused.
    pub fn new(schema: &Value) -> Result<Self, Vec<SchemaError>> {
        let refused = too_deep(schema).or_else(|| nests_too_many(schema));
        if let Some(message) = refused {
            return Err(vec![SchemaError { path: "#".to_owned(), message }]);
        }
        // With its own checks, the validator could choose another branch of a `oneOf` than the contract.
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

    /// Returns `false` for a value deeper than 127 levels, or one that needs over 381 nested schemas, because
    /// the validator could exhaust the stack.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        !nests_deeper(value, self.deepest) && self.validator.is_valid(value)
    }

    /// Returns up to 64 violations by `value`, none if it is valid.
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

/// Returns the message for a schema that takes too much stack to compile: the validator recurs through
/// references, and compiles each target once.
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

/// The number of nested schemas, behind references too.
struct Nesting<'a> {
    root: &'a Value,
    /// The numbers by schema and by the references that may still be followed.
    known: HashMap<(*const Value, usize), usize>,
}

impl<'a> Nesting<'a> {
    /// Returns the maximum nesting from `schema` on, with `above` schemas around it, up to the limit.
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

    /// Returns the nesting of the schema and all targets together, which no chain of different targets
    /// exceeds.
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

/// Returns the faults of a schema that does not compile, or else the compiler's `error`.
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
