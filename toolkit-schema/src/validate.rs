//! Validation against schemas known only at run time, by the `jsonschema` crate.
//!
//! The validator alone decides. Its findings are reported in the words of [`violations`](crate::violations).

use crate::check::{MOST, mismatch, missing, no_such_property, path};
use crate::describe::{describe_for, describe_in};
use crate::keyword::Keyword;
use crate::reference::escape;
use crate::violation::{Violation, ViolationKind};
use crate::words::{phrase, shorten};
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ReferencingError, ValidationError, Validator};
use serde_json::{Value, json};
use std::fmt;

/// Characters that a message of the compiler has at most.
const LONGEST: usize = 500;

/// A schema that was checked and compiled for validation.
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// The place in the schema, as in `#/properties/city/type`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

impl std::error::Error for SchemaError {}

impl CompiledSchema {
    /// Checks a schema against the meta-schema that its `$schema` names, by default draft 2020-12, and
    /// compiles it. Nothing is ever fetched.
    ///
    /// # Errors
    /// Every mistake in the schema.
    pub fn new(schema: &Value) -> Result<Self, Vec<SchemaError>> {
        match jsonschema::options().offline().build(schema) {
            Ok(validator) => Ok(Self { schema: schema.clone(), validator }),
            Err(error) => Err(schema_errors(schema, &error)),
        }
    }

    /// Returns whether the value is valid.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Returns every violation by a value, 64 at most; none if it is valid.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut report = Report { schema: &self.schema, found: Vec::new() };
        self.validator.iter_errors(value).take(MOST).for_each(|error| report.add(&error));
        report.found.sort_by_key(|violation| violation.kind == ViolationKind::Missing);
        report.found.iter_mut().for_each(|violation| violation.path = path("", value, &violation.path));
        report.found
    }
}

/// Returns the findings of the meta-schema; without any, the error of the compiler, as of a wrong reference.
fn schema_errors(schema: &Value, error: &ValidationError<'_>) -> Vec<SchemaError> {
    let mut report = Report { schema: &Value::Null, found: Vec::new() };
    if let Ok(meta) = jsonschema::meta::validator_for(schema) {
        meta.iter_errors(schema).take(MOST).for_each(|error| report.add(&error));
    }
    if report.found.is_empty() {
        return vec![compiler_error(schema, error)];
    }
    let found = report.found.into_iter();
    found.map(|Violation { path, message, .. }| SchemaError { path: format!("#{path}"), message }).collect()
}

fn compiler_error(schema: &Value, error: &ValidationError<'_>) -> SchemaError {
    let (reference, message) = match error.kind() {
        Kind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            let message = "another document, and nothing is fetched; put what is referred to into `$defs`";
            (Some(uri.as_str()), format!("`{}` is {message}", shorten(uri)))
        }
        Kind::Referencing(ReferencingError::PointerToNowhere { pointer }) => {
            (Some(pointer.as_str()), format!("there is no `#{}`", shorten(pointer)))
        }
        Kind::Referencing(ReferencingError::UnknownSpecification { specification }) => {
            (None, format!("`{}` is no known draft of JSON Schema", shorten(specification)))
        }
        Kind::Format { format } => {
            (None, format!("{} is no {format}", shorten(&error.instance().to_string())))
        }
        _ => (None, error.masked().to_string().chars().take(LONGEST).collect()),
    };
    let found = reference.and_then(|reference| find_reference(schema, reference));
    let path = found.unwrap_or_else(|| error.instance_path().as_str().to_owned());
    SchemaError { path: format!("#{path}"), message }
}

/// Returns the JSON pointer to a reference that the compiler has made absolute.
fn find_reference(schema: &Value, target: &str) -> Option<String> {
    let is_it = |reference: &str| {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let wanted = if document.is_empty() { fragment } else { document };
        !wanted.is_empty() && target.ends_with(wanted)
    };
    if schema.get("$ref").and_then(Value::as_str).is_some_and(is_it) {
        return Some("/$ref".to_owned());
    }
    let inside = |token: &str, inner: &Value| Some(below("", token) + &find_reference(inner, target)?);
    match schema {
        Value::Object(members) => members.iter().find_map(|(name, inner)| inside(name, inner)),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, inner)| inside(&index.to_string(), inner))
        }
        _ => None,
    }
}

fn below(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", escape(token))
}

/// Collects the findings of the validator as violations whose paths are JSON pointers.
struct Report<'a> {
    schema: &'a Value,
    found: Vec<Violation>,
}

impl<'a> Report<'a> {
    fn add(&mut self, error: &ValidationError<'_>) {
        let here = error.instance_path().as_str();
        let properties = self.schema_of(error).and_then(|schema| schema.get("properties")?.as_object());
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let property = properties.and_then(|properties| properties.get(name));
                let expected = property.and_then(|property| describe_in(self.schema, property));
                self.push(below(here, name), ViolationKind::Missing, missing(expected));
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    let message = no_such_property(name, properties);
                    self.push(below(here, name), ViolationKind::Unknown, message);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.add_branch(error, context),
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().unwrap_or_default();
                let expected = self.expected(error).map(|expected| format!("; expected {expected}"));
                let message = format!("this name is not allowed{}", expected.unwrap_or_default());
                self.push(below(here, name), ViolationKind::Constraint, message);
            }
            Kind::FalseSchema => {
                self.push(here.to_owned(), ViolationKind::Constraint, "nothing may stand here".to_owned());
            }
            kind => {
                let is_type = matches!(kind, Kind::Type { .. });
                let kind = if is_type { ViolationKind::WrongType } else { ViolationKind::Constraint };
                let message = mismatch(self.expected(error), &error.instance().to_string());
                self.push(here.to_owned(), kind, message);
            }
        }
    }

    /// Reports the violations of the branch that the value resembles; without one, that no branch fits.
    fn add_branch(&mut self, error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>]) {
        let here = error.instance_path().as_str();
        let inside = |error: &ValidationError<'_>| {
            error.instance_path().as_str().get(here.len() + 1..).map(|inside| inside.contains('/'))
        };
        let is_tag = |error: &ValidationError<'_>| {
            matches!(error.kind(), Kind::Constant { .. }) && inside(error) == Some(false)
        };
        let closest = branches
            .iter()
            .filter(|errors| !errors.iter().any(is_tag))
            .map(|errors| {
                let mut report = Report { schema: self.schema, found: Vec::new() };
                errors.iter().for_each(|error| report.add(error));
                report.found
            })
            .filter(|found| found.iter().all(|violation| violation.path.len() > here.len()))
            .min_by_key(Vec::len);
        if let Some(found) = closest {
            self.found.extend(found);
            return;
        }
        let (schema, value) = (self.schema_of(error), error.instance());
        let expected = schema.and_then(|schema| describe_for(self.schema, schema, value)).or_else(|| {
            let mut words: Vec<String> =
                branches.iter().filter_map(|errors| self.expected(errors.first()?)).collect();
            words.dedup();
            (!words.is_empty()).then(|| words.join(" or "))
        });
        let message = mismatch(expected, &value.to_string());
        self.push(here.to_owned(), ViolationKind::WrongType, message);
    }

    /// Describes the expectation at an error, by the broken keyword and those beside it.
    fn expected(&self, error: &ValidationError<'_>) -> Option<String> {
        let keyword = error.kind().keyword();
        let schema = self.schema_of(error);
        let described = || {
            let mut plain = schema?.as_object()?.clone();
            plain.retain(|keyword, _| !matches!(keyword.as_str(), "$ref" | "anyOf" | "oneOf"));
            plain.get(keyword)?;
            describe_for(self.schema, &plain.into(), error.instance())
        };
        match error.kind() {
            Kind::Type { kind } => described().or_else(|| Some(type_in_words(kind))),
            Kind::Enum { options } => {
                described().or_else(|| describe_in(&Value::Null, &json!({"enum": **options})))
            }
            Kind::Constant { expected_value } => described().or_else(|| Some(expected_value.to_string())),
            Kind::Not { schema } => Some(format!("anything else than {}", describe_in(self.schema, schema)?)),
            Kind::OneOfMultipleValid { .. } => {
                Some("a value that fits exactly one of the alternatives".to_owned())
            }
            Kind::Contains => {
                let item = schema?.get("contains").and_then(|item| describe_in(self.schema, item));
                Some(format!("array with {} among its items", item.as_deref().unwrap_or("another value")))
            }
            Kind::UniqueItems => Some("array whose items differ".to_owned()),
            Kind::AdditionalItems { limit } => Some(format!("array of at most {limit} items")),
            Kind::UnevaluatedItems { .. } => Some("an array without its last items".to_owned()),
            kind => described().or_else(|| {
                let bound = schema.and_then(|schema| schema.get(keyword)).cloned();
                bound_in_words(keyword, &bound.or_else(|| bound_of(kind))?)
            }),
        }
    }

    /// Returns the schema that holds the keyword.
    fn schema_of(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let (parent, keyword) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent).filter(|schema| schema.get(keyword).is_some())
    }

    fn push(&mut self, pointer: String, kind: ViolationKind, message: String) {
        let violation = Violation::new(pointer, kind, message);
        let is_same = |known: &Violation| known.path == violation.path && known.message == violation.message;
        if self.found.len() < MOST && !self.found.iter().any(is_same) {
            self.found.push(violation);
        }
    }
}

fn type_in_words(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(name) => name.to_string(),
        TypeKind::Multiple(names) => {
            names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// Describes a bound in a schema without a type.
fn bound_in_words(keyword: &str, bound: &Value) -> Option<String> {
    let words = phrase(keyword, bound)?;
    let noun = match Keyword::find(keyword)?.types.first() {
        _ if keyword == "multipleOf" => return Some(words),
        Some(&"number") => "a number",
        Some(&"array") => "an array",
        Some(&"object") => "an object",
        _ => "a string",
    };
    let of = if words.starts_with("at ") { " of" } else { "" };
    Some(format!("{noun}{of} {words}"))
}

/// Returns the bound according to the validator, for a schema out of reach.
fn bound_of(kind: &Kind) -> Option<Value> {
    Some(match kind {
        Kind::Minimum { limit }
        | Kind::Maximum { limit }
        | Kind::ExclusiveMinimum { limit }
        | Kind::ExclusiveMaximum { limit } => limit.clone(),
        Kind::MinLength { limit }
        | Kind::MaxLength { limit }
        | Kind::MinItems { limit }
        | Kind::MaxItems { limit }
        | Kind::MinProperties { limit }
        | Kind::MaxProperties { limit } => json!(limit),
        Kind::MultipleOf { multiple_of } => json!(multiple_of),
        Kind::Pattern { pattern: text } | Kind::Format { format: text } => json!(text),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
