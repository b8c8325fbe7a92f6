//! Arguments decoded as one struct: the parameter of a closure, or of a function with `flatten`.
//!
//! The text is deserialized directly. Only if that fails, or the schema constrains more than the type, each member is
//! checked by itself with [`explain`](super::explain), against the schema in place of slots.

use super::explain::{self, Report};
use super::fields::fields_of;
use super::members::{Member, with_members};
use super::options::DecodeOptions;
use super::param::{Fill, Param, ToolParams};
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Scope, argument_schema_of, check};
use crate::schema::{SchemaRef, violations};
use serde::de::Error as _;
use serde_json::{Map, Value};

/// Facts about an arguments type beyond its schema.
#[derive(Debug, Clone, Copy)]
pub struct ObjectInfo {
    /// The names of fields and aliases; `None` if the type accepts any name.
    fields: Option<&'static [&'static str]>,
    /// Whether the type ignores unknown names; the schema then decides on them.
    closable: bool,
    /// Whether the schema constrains more than the type does.
    has_constraints: bool,
}

impl ObjectInfo {
    /// Returns the schema of a type and its facts; `None` if the type is not written as an object.
    pub(crate) fn of<T: ToolParams>() -> Option<(Value, Self)> {
        let (mut schema, has_constraints) = argument_schema_of::<T>();
        if !is_object(&schema) {
            return None;
        }
        if let Value::Object(root) = &mut schema {
            // The tool's description counts, not that of the arguments type.
            root.shift_remove("description");
        }
        // A tagged enum has the fields of its tag and content, not those of its variants.
        let is_enum = ["oneOf", "anyOf"].iter().any(|keyword| schema.get(*keyword).is_some());
        let fields = fields_of::<T>().filter(|_| !is_enum);
        let mut closable = fields.is_some();
        if let (true, Value::Object(root)) = (closable, &mut schema) {
            root.entry("properties").or_insert_with(|| Map::new().into());
            closable = !root.contains_key("additionalProperties");
        }
        Some((schema, Self { fields, closable, has_constraints }))
    }

    /// Makes the schema forbid names ignored by the type, or allow them again.
    pub(crate) fn close(&self, schema: &mut Value, closed: bool) {
        if self.closable {
            close(schema, closed);
        }
    }

    /// Returns whether the type lacks a name and would ignore it.
    fn is_unknown(&self, name: &str, options: &DecodeOptions<'_>) -> bool {
        options.refuse_unknown && self.fields.is_some_and(|fields| !fields.contains(&name))
    }

    /// Returns whether decoded arguments satisfy the rules beyond the type.
    fn conforms(&self, text: &str, options: &DecodeOptions<'_>) -> bool {
        let closed = self.closable && options.refuse_unknown;
        (!closed || all_names(text, |name| !self.is_unknown(name, options)))
            && self.broken(text, options).is_empty()
    }

    fn broken(&self, text: &str, options: &DecodeOptions<'_>) -> Vec<Violation> {
        let value = if self.has_constraints { serde_json::from_str::<Value>(text).ok() } else { None };
        let broken =
            value.map(|value| check(options.schema.into(), &value, Some(text), "", Scope::Constraints));
        broken.unwrap_or_default()
    }
}

/// Makes an object schema forbid additional members, or allow them again.
pub(crate) fn close(schema: &mut Value, closed: bool) {
    let Value::Object(root) = schema else { return };
    if closed {
        root.insert("additionalProperties".to_owned(), false.into());
    } else {
        root.shift_remove("additionalProperties");
    }
}

/// Returns the schema of an arguments type, and its facts.
#[must_use]
pub fn struct_args<T: ToolParams>() -> (Value, ObjectInfo) {
    ObjectInfo::of::<T>().unwrap_or_else(|| {
        let (schema, has_constraints) = argument_schema_of::<T>();
        (schema, ObjectInfo { fields: None, closable: false, has_constraints })
    })
}

/// Decodes the arguments as one type, with the coercion and the messages of [`decode`](super::decode()).
pub(crate) fn decode_struct<T: ToolParams>(
    text: &str,
    info: &ObjectInfo,
    options: &DecodeOptions<'_>,
) -> Result<T, ToolError> {
    // Derived types deserialize from arrays too; their schema allows only objects.
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
        && info.conforms(text, options)
    {
        return Ok(value);
    }
    let relaxed = relax(text, options, |name| !info.is_unknown(name, options))?;
    match serde_json::from_str(&relaxed.text) {
        Ok(value) => relaxed.accept(info, options).map(|()| value),
        Err(error) => Err(relaxed.refuse(options, &error)),
    }
}

/// Coerced arguments as the text of an object, with the violations found.
pub(crate) struct Relaxed {
    pub(crate) text: String,
    /// For violations of values, the type has the last word.
    report: Report,
    /// The given names.
    names: Vec<String>,
}

/// Coerces arguments to their schema. Members outside of its properties are kept as they are if `keep` says so.
///
/// # Errors
/// The arguments are not a JSON object.
#[cold]
pub(crate) fn relax(
    text: &str,
    options: &DecodeOptions<'_>,
    keep: impl Fn(&str) -> bool,
) -> Result<Relaxed, ToolError> {
    with_members(text, |members| relax_members(members, options, keep))
}

fn relax_members(
    members: &[Member<'_>],
    options: &DecodeOptions<'_>,
    keep: impl Fn(&str) -> bool,
) -> Relaxed {
    let none = Map::new();
    let properties = options.schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_kept = |name: &String| !properties.contains_key(name) && keep(name);
    let (kept, others): (Vec<Member<'_>>, _) = members.iter().cloned().partition(|(name, _)| is_kept(name));
    // A kept member may be an alias of a property that seems to be missing.
    let required = options.schema.get("required").and_then(Value::as_array).filter(|_| kept.is_empty());
    let is_required =
        |name: &String| required.is_some_and(|required| required.iter().any(|required| required == name));
    let params: Vec<Param<'_>> =
        properties.keys().map(|name| Param::property(name, is_required(name))).collect();
    let mut values: Vec<Checked<'_>> = properties
        .values()
        .map(|property| Checked { root: options.schema, schema: property, text: None })
        .collect();
    let mut slots: Vec<&mut dyn Fill> = values.iter_mut().map(|value| value as &mut dyn Fill).collect();
    let report = explain::fill_slots(&others, &params, options, &mut slots);

    let mut text = String::from("{");
    let mut write = |name: &str, value: &str| {
        let comma = if text.len() > 1 { "," } else { "" };
        text.push_str(&format!("{comma}{}:{value}", Value::from(name)));
    };
    for (name, value) in properties.keys().zip(&values) {
        let given = others.iter().find(|(other, _)| other == name).map(|(_, value)| value.get());
        let is_absent = given == Some("null") && !is_required(name);
        match (&value.text, given) {
            (Some(taken), _) => write(name, taken),
            (None, Some(given)) if !is_absent => write(name, given),
            _ => {}
        }
    }
    kept.iter().for_each(|(name, value)| write(name, value.get()));
    text.push('}');
    Relaxed { text, report, names: members.iter().map(|(name, _)| name.clone()).collect() }
}

impl Relaxed {
    /// Returns whether a name was given twice.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn is_ambiguous(&self) -> bool {
        let mut names: Vec<&String> = self.names.iter().collect();
        names.sort_unstable();
        names.dedup();
        names.len() < self.names.len()
    }

    /// Checks the rules beyond the type, after it accepted the text.
    fn accept(self, info: &ObjectInfo, options: &DecodeOptions<'_>) -> Result<(), ToolError> {
        let is_about_name = |violation: &Violation| {
            matches!(violation.kind, ViolationKind::Unknown | ViolationKind::Duplicate)
                && self.names.contains(&violation.path)
        };
        let names = self.report.violations.iter().filter(|violation| is_about_name(violation)).cloned();
        let mut report = Report::default();
        report.extend(names.chain(info.broken(&self.text, options)));
        report.finish()
    }

    /// Returns the error for a text refused by the type; the schema's faults say more than `error`.
    fn refuse(mut self, options: &DecodeOptions<'_>, error: &serde_json::Error) -> ToolError {
        if self.report.violations.is_empty() {
            self.report.extend(explain::wrong_value("", &self.text, options, Some(options.schema), error));
        }
        self.report.into_error()
    }
}

/// A slot with a check against the schema in place of decoding.
struct Checked<'a> {
    root: &'a Value,
    schema: &'a Value,
    /// The value's text, once there is one without faults.
    text: Option<String>,
}

impl Fill for Checked<'_> {
    fn fill(&mut self, text: &str) -> Result<usize, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        if !violations(SchemaRef::new(self.root, self.schema), &value).is_empty() {
            return Err(serde_json::Error::custom("it does not conform to the schema"));
        }
        self.text = Some(text.to_owned());
        Ok(text.len())
    }
}

/// Returns whether the schema accepts only objects.
fn is_object(schema: &Value) -> bool {
    object_among(schema, schema, 4, true)
}

/// Returns whether the schema accepts objects, possibly besides other values.
#[cfg(feature = "jsonschema")]
pub(crate) fn takes_object(schema: &Value) -> bool {
    object_among(schema, schema, 4, false)
}

fn object_among(root: &Value, schema: &Value, depth: usize, only: bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let within = |schema: &Value| object_among(root, schema, depth, only);
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object") && (!only || kinds.len() == 1),
        Some(kind) => kind == "object",
        None => {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
            let branches = list("anyOf").or_else(|| list("oneOf"));
            target.is_some_and(within)
                || branches
                    .is_some_and(|list| if only { list.iter().all(within) } else { list.iter().any(within) })
                || list("allOf").is_some_and(|list| list.iter().any(within))
                || schema.get("properties").is_some()
        }
    }
}

/// Returns whether `test` holds for the names of all members of an object.
fn all_names(object: &str, mut test: impl FnMut(&str) -> bool) -> bool {
    with_members(object, |members| members.iter().all(|(name, _)| test(name))).unwrap_or(false)
}
