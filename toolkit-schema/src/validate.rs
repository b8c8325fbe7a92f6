//! Validating against schemas that are known only at run time, with the `jsonschema` crate.
//!
//! The validator alone decides. What it found is told in the words of [`faults`](super::faults).

use super::describe::{describe, describe_instead_of};
use super::faults::{Fault, MOST, Step, mismatch, missing, no_such_property};
use crate::{ViolationKind, shorten};
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ReferencingError, ValidationError, Validator};
use serde_json::{Map, Value};

/// How many characters of what the compiler says are repeated.
const LONGEST: usize = 500;

/// A schema that was checked and compiled.
#[derive(Debug)]
pub struct CompiledSchema(Validator);

/// What is wrong with a schema, and where, as in `#/properties/city/type`.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where in the schema, as in `#/properties/city/type`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl CompiledSchema {
    /// Checks a schema against the meta-schema that its `$schema` names, or draft 2020-12, and compiles
    /// it. Nothing is ever fetched.
    ///
    /// # Errors
    /// Everything that is wrong with the schema.
    pub fn new(schema: &Value) -> Result<Self, Vec<SchemaFault>> {
        jsonschema::options().offline().build(schema).map(Self).map_err(|error| wrong_schema(schema, &error))
    }

    /// Whether the value is valid.
    pub fn accepts(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Every fault of a value; none if it is valid. `schema` is the one that was compiled.
    pub fn faults(&self, schema: &Value, value: &Value) -> Vec<Fault> {
        let mut report = Report { schema, value, found: Vec::new() };
        self.0.iter_errors(value).take(MOST).for_each(|error| report.add(&error));
        report.found.sort_by_key(|fault| fault.kind == ViolationKind::Missing);
        report.found
    }
}

/// All that the meta-schema finds; else the error of the compiler, for instance of a reference.
fn wrong_schema(schema: &Value, error: &ValidationError<'_>) -> Vec<SchemaFault> {
    let mut report = Report { schema: &Value::Null, value: schema, found: Vec::new() };
    if let Ok(meta) = jsonschema::meta::validator_for(schema) {
        meta.iter_errors(schema).take(MOST).for_each(|error| report.add(&error));
    }
    if report.found.is_empty() {
        return vec![refused_by_compiler(schema, error)];
    }
    let fault = |fault: Fault| SchemaFault { path: pointer(&fault.steps), message: fault.message };
    report.found.into_iter().map(fault).collect()
}

fn refused_by_compiler(schema: &Value, error: &ValidationError<'_>) -> SchemaFault {
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
    let steps = reference.and_then(|reference| find_reference(schema, reference));
    let path = match steps {
        Some(steps) => pointer(&steps),
        None => format!("#{}", error.instance_path().as_str()),
    };
    SchemaFault { path, message }
}

/// Where a schema refers to something. The compiler has made the reference absolute, and does not say.
fn find_reference(schema: &Value, target: &str) -> Option<Vec<Step>> {
    let is_it = |reference: &str| {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let wanted = if document.is_empty() { fragment } else { document };
        !wanted.is_empty() && target.ends_with(wanted)
    };
    let inside = |step: Step, schema: &Value| {
        let mut steps = find_reference(schema, target)?;
        steps.insert(0, step);
        Some(steps)
    };
    match schema {
        Value::Object(members) if members.get("$ref").and_then(Value::as_str).is_some_and(is_it) => {
            Some(vec![Step::Key("$ref".to_owned())])
        }
        Value::Object(members) => {
            members.iter().find_map(|(name, member)| inside(Step::Key(name.clone()), member))
        }
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| inside(Step::Index(index), item))
        }
        _ => None,
    }
}

fn pointer(steps: &[Step]) -> String {
    steps.iter().fold("#".to_owned(), |path, step| match step {
        Step::Key(key) => format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Index(index) => format!("{path}/{index}"),
    })
}

/// Tells what the validator found.
struct Report<'a> {
    schema: &'a Value,
    value: &'a Value,
    found: Vec<Fault>,
}

impl<'a> Report<'a> {
    fn add(&mut self, error: &ValidationError<'_>) {
        let steps = steps(self.value, error.instance_path().as_str());
        let (schema, value) = (self.schema_of(error), error.instance());
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let property = properties.and_then(|properties| properties.get(name));
                let expected = property.and_then(|property| describe(self.schema, property));
                self.push(below(&steps, name), ViolationKind::Missing, missing(expected));
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    let message = no_such_property(name, properties);
                    self.push(below(&steps, name), ViolationKind::Unknown, message);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_branch(&steps, context, schema, value);
            }
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().unwrap_or_default().to_owned();
                let message = match self.expected(error) {
                    Some(expected) => format!("this name is not allowed; expected {expected}"),
                    None => "this name is not allowed".to_owned(),
                };
                self.push(below(&steps, &name), ViolationKind::Constraint, message);
            }
            Kind::FalseSchema => {
                self.push(steps, ViolationKind::Constraint, "nothing may stand here".to_owned());
            }
            Kind::Type { .. } => {
                let message = mismatch(self.expected(error), &value.to_string());
                self.push(steps, ViolationKind::WrongType, message);
            }
            _ => {
                let message = mismatch(self.expected(error), &value.to_string());
                self.push(steps, ViolationKind::Constraint, message);
            }
        }
    }

    /// The faults of the branch that is meant; if none is, only that none fits.
    fn add_branch(
        &mut self,
        here: &[Step],
        branches: &[Vec<ValidationError<'static>>],
        schema: Option<&Value>,
        value: &Value,
    ) {
        let faults_of = |errors: &Vec<ValidationError<'static>>| {
            let mut report = Report { schema: self.schema, value: self.value, found: Vec::new() };
            errors.iter().for_each(|error| report.add(error));
            report.found
        };
        let is_tag = |error: &ValidationError<'_>| {
            matches!(error.kind(), Kind::Constant { .. })
                && steps(self.value, error.instance_path().as_str()).len() == here.len() + 1
        };
        let meant = branches
            .iter()
            .filter(|errors| !errors.iter().any(is_tag))
            .map(faults_of)
            .filter(|found| found.iter().all(|fault| fault.steps.len() > here.len()))
            .min_by_key(Vec::len);
        match meant {
            Some(found) => self.found.extend(found),
            None => {
                let expected = schema.and_then(|schema| describe_instead_of(self.schema, schema, value));
                let expected = expected.or_else(|| self.any_of(branches));
                self.push(here.to_vec(), ViolationKind::WrongType, mismatch(expected, &value.to_string()));
            }
        }
    }

    fn any_of(&self, branches: &[Vec<ValidationError<'static>>]) -> Option<String> {
        let mut words: Vec<String> =
            branches.iter().filter_map(|errors| self.expected(errors.first()?)).collect();
        words.dedup();
        (!words.is_empty()).then(|| words.join(" or "))
    }

    /// What the schema expects where the error is; in its own words if they say what was broken.
    fn expected(&self, error: &ValidationError<'_>) -> Option<String> {
        let keyword = error.kind().keyword().to_owned();
        let plain = self.schema_of(error).and_then(Value::as_object).map(without_references);
        let described = plain
            .filter(|plain| plain.contains_key(&keyword))
            .and_then(|plain| describe_instead_of(self.schema, &plain.into(), error.instance()));
        match error.kind() {
            Kind::Type { kind } => described.or_else(|| Some(type_in_words(kind))),
            Kind::Enum { options } => described
                .or_else(|| describe(&Value::Null, &Value::from_iter([("enum", (**options).clone())]))),
            Kind::Not { schema } => {
                let what = describe(self.schema, schema)?;
                Some(format!("anything else than {what}"))
            }
            Kind::OneOfMultipleValid { .. } => {
                Some("a value that fits exactly one of the alternatives".to_owned())
            }
            Kind::Contains => {
                let item =
                    self.schema_of(error)?.get("contains").and_then(|item| describe(self.schema, item));
                Some(format!("array with {} among its items", item.as_deref().unwrap_or("another value")))
            }
            Kind::UniqueItems => Some("array whose items differ".to_owned()),
            Kind::AdditionalItems { limit } => Some(format!("array of at most {limit} items")),
            kind => described.or_else(|| bound_in_words(kind)),
        }
    }

    /// The schema that holds the keyword.
    fn schema_of(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let (parent, keyword) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent).filter(|schema| schema.get(keyword).is_some())
    }

    fn push(&mut self, steps: Vec<Step>, kind: ViolationKind, message: String) {
        let is_known = self.found.iter().any(|known| known.steps == steps && known.message == message);
        if self.found.len() < MOST && !is_known {
            self.found.push(Fault { steps, kind, message });
        }
    }
}

/// What stands beside a reference or a choice is described without it.
fn without_references(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut plain = schema.clone();
    plain.retain(|keyword, _| !matches!(keyword.as_str(), "$ref" | "anyOf" | "oneOf"));
    plain
}

fn type_in_words(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            kinds.join(" or ")
        }
    }
}

/// The words for a bound whose schema does not say what kind of value it bounds.
fn bound_in_words(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Constant { expected_value } => expected_value.to_string(),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("a string of at least {limit} characters"),
        Kind::MaxLength { limit } => format!("a string of at most {limit} characters"),
        Kind::Pattern { pattern } => format!("a string matching `{pattern}`"),
        Kind::Format { format } => format!("a string in the format {format}"),
        Kind::MinItems { limit } => format!("an array of at least {limit} items"),
        Kind::MaxItems { limit } => format!("an array of at most {limit} items"),
        Kind::MinProperties { limit } => format!("an object of at least {limit} members"),
        Kind::MaxProperties { limit } => format!("an object of at most {limit} members"),
        Kind::UnevaluatedItems { .. } => "an array without its last items".to_owned(),
        _ => return None,
    })
}

fn below(steps: &[Step], name: &str) -> Vec<Step> {
    steps.iter().cloned().chain([Step::Key(name.to_owned())]).collect()
}

/// A pointer as steps. Only the value shows whether `0` is an index or a name.
fn steps(value: &Value, pointer: &str) -> Vec<Step> {
    let mut value = Some(value);
    let segments = pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    segments
        .map(|segment| match (value, segment.parse()) {
            (Some(Value::Array(items)), Ok(index)) => {
                value = items.get(index);
                Step::Index(index)
            }
            _ => {
                value = value.and_then(|value| value.get(&segment));
                Step::Key(segment)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
