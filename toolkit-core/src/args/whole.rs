//! Arguments that are decoded as one type: the parameter of a closure.
//!
//! The text is decoded straight. Only if that fails, or the schema demands more, each member is looked
//! at by itself, with the means of [`explain`](super::explain) and the schema in place of slots.

use super::decode::Rules;
use super::explain::{self, Parameter, Report};
use super::fields::fields_of;
use super::members::{Member, with_members};
use super::param::{Decode, Fill, ToolParams};
use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Scope, argument_schema_of, check};
use crate::schema::{SchemaRef, violations};
use serde::de::Error as _;
use serde_json::{Map, Value};

/// What is known about the type besides its schema.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The names that the type answers to; `None` if it takes others too.
    fields: Option<&'static [&'static str]>,
    /// Whether the type itself says nothing about other names, and ignores them.
    closable: bool,
    /// Whether the schema demands more than decoding ensures.
    demanding: bool,
}

impl Shape {
    /// The schema of a type, and its shape; `None` if the type is not written as an object.
    pub(crate) fn of<T: ToolParams>() -> Option<(Value, Self)> {
        let (mut schema, demanding) = argument_schema_of::<T>();
        if !is_of_object(&schema) {
            return None;
        }
        if let Value::Object(root) = &mut schema {
            // The tool is described, not the type of its arguments.
            root.shift_remove("description");
        }
        // A choice that is written as an object tells the names of its tag and content, not those of its members.
        let is_choice = ["oneOf", "anyOf"].iter().any(|keyword| schema.get(*keyword).is_some());
        let fields = fields_of::<T>().filter(|_| !is_choice);
        let mut closable = fields.is_some();
        if let (true, Value::Object(root)) = (closable, &mut schema) {
            root.entry("properties").or_insert_with(|| Map::new().into());
            closable = !root.contains_key("additionalProperties");
        }
        Some((schema, Self { fields, closable, demanding }))
    }

    /// The same for any type. One that is not written as an object is decoded from whatever comes.
    pub(crate) fn of_any<T: ToolParams>() -> (Value, Self) {
        Self::of::<T>().unwrap_or_else(|| {
            let (schema, demanding) = argument_schema_of::<T>();
            (schema, Self { fields: None, closable: false, demanding })
        })
    }

    /// Has the schema forbid what the type would ignore, or takes that back.
    pub(crate) fn close(&self, schema: &mut Value, closed: bool) {
        if self.closable {
            close(schema, closed);
        }
    }

    /// Whether a name is one that the type does not have and would ignore.
    fn is_unknown(&self, name: &str, rules: &Rules<'_>) -> bool {
        rules.refuse_unknown && self.fields.is_some_and(|fields| !fields.contains(&name))
    }

    /// Whether arguments that were decoded keep to the rules that the type does not know.
    fn keeps_to(&self, text: &str, rules: &Rules<'_>) -> bool {
        let closed = self.closable && rules.refuse_unknown;
        (!closed || all_names(text, |name| !self.is_unknown(name, rules)))
            && self.broken(text, rules).is_empty()
    }

    fn broken(&self, text: &str, rules: &Rules<'_>) -> Vec<Violation> {
        let value = if self.demanding { serde_json::from_str::<Value>(text).ok() } else { None };
        let broken =
            value.map(|value| check(rules.schema.into(), &value, Some(text), "", Scope::Constraints));
        broken.unwrap_or_default()
    }
}

/// Has the schema of an object forbid members that it does not name, or takes that back.
pub(crate) fn close(schema: &mut Value, closed: bool) {
    let Value::Object(root) = schema else { return };
    if closed {
        root.insert("additionalProperties".to_owned(), false.into());
    } else {
        root.shift_remove("additionalProperties");
    }
}

/// The schema and the shape of a type whose fields are the arguments.
#[must_use]
pub fn whole<T: ToolParams>() -> (Value, Shape) {
    Shape::of_any::<T>()
}

/// Decodes the arguments as one type, with the leniency and the messages of [`decode`](super::decode).
pub(crate) fn decode_whole<T: Decode>(text: &str, shape: &Shape, rules: &Rules<'_>) -> Result<T, ToolError> {
    // A derived type takes an array too; its schema says that it is an object.
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
        && shape.keeps_to(text, rules)
    {
        return Ok(value);
    }
    let relaxed = relax(text, rules, |name| !shape.is_unknown(name, rules))?;
    match serde_json::from_str(&relaxed.text) {
        Ok(value) => relaxed.accept(shape, rules).map(|()| value),
        Err(error) => Err(relaxed.refuse(rules, &error)),
    }
}

/// Arguments as they may be meant, as the text of an object, and what seems to be wrong with them.
pub(crate) struct Relaxed {
    pub(crate) text: String,
    /// Of those about values the type is the better judge.
    report: Report,
    /// The names that were given.
    names: Vec<String>,
}

/// Reads arguments as they may be meant. Members that are no properties of the schema stay as they are
/// where `keep` says so.
///
/// # Errors
/// The text is not JSON, or has no members.
#[cold]
pub(crate) fn relax(
    text: &str,
    rules: &Rules<'_>,
    keep: impl Fn(&str) -> bool,
) -> Result<Relaxed, ToolError> {
    with_members(text, |members| relax_members(members, rules, keep))
}

fn relax_members(members: &[Member<'_>], rules: &Rules<'_>, keep: impl Fn(&str) -> bool) -> Relaxed {
    let none = Map::new();
    let properties = rules.schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_kept = |name: &String| !properties.contains_key(name) && keep(name);
    let (kept, others): (Vec<Member<'_>>, _) = members.iter().cloned().partition(|(name, _)| is_kept(name));
    // A member under another name of a property may be the one that seems to be missing.
    let required = rules.schema.get("required").and_then(Value::as_array).filter(|_| kept.is_empty());
    let is_required =
        |name: &String| required.is_some_and(|required| required.iter().any(|required| required == name));
    let params: Vec<Property<'_>> =
        properties.keys().map(|name| Property { name, required: is_required(name) }).collect();
    let mut values: Vec<Checked<'_>> = properties
        .values()
        .map(|property| Checked { root: rules.schema, schema: property, text: None })
        .collect();
    let mut slots: Vec<&mut dyn Fill> = values.iter_mut().map(|value| value as &mut dyn Fill).collect();
    let report = explain::fill_slots(&others, &params, rules, &mut slots);

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
    /// Whether a name was given twice, so that a value is lost.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn is_ambiguous(&self) -> bool {
        let mut names: Vec<&String> = self.names.iter().collect();
        names.sort_unstable();
        names.dedup();
        names.len() < self.names.len()
    }

    /// The type has taken the text; left are the rules that it does not know.
    fn accept(self, shape: &Shape, rules: &Rules<'_>) -> Result<(), ToolError> {
        let is_about_name = |violation: &Violation| {
            matches!(violation.kind, ViolationKind::Unknown | ViolationKind::Duplicate)
                && self.names.contains(&violation.path)
        };
        let names = self.report.violations.iter().filter(|violation| is_about_name(violation)).cloned();
        let mut report = Report::default();
        report.extend(names.chain(shape.broken(&self.text, rules)));
        report.finish()
    }

    /// The type has refused the text. What the schema shows to be wrong with it says more than `error`.
    fn refuse(mut self, rules: &Rules<'_>, error: &serde_json::Error) -> ToolError {
        if self.report.violations.is_empty() {
            self.report.extend(explain::wrong_value("", &self.text, rules, Some(rules.schema), error));
        }
        self.report.into_error()
    }
}

/// A property of the schema.
struct Property<'a> {
    name: &'a str,
    required: bool,
}

impl Parameter for Property<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn is_required(&self) -> bool {
        self.required
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name
    }
}

/// The place of a value that is compared with its schema, not decoded.
struct Checked<'a> {
    root: &'a Value,
    schema: &'a Value,
    /// The value, once there is one without faults.
    text: Option<String>,
}

impl Fill for Checked<'_> {
    fn fill(&mut self, text: &str) -> Result<usize, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        if !violations(SchemaRef::new(self.root, self.schema), &value).is_empty() {
            return Err(serde_json::Error::custom("it does not fit the schema"));
        }
        self.text = Some(text.to_owned());
        Ok(text.len())
    }
}

/// Whether the schema is that of an object, or of objects of several kinds.
fn is_of_object(schema: &Value) -> bool {
    object_among(schema, schema, 4, true)
}

#[cfg(feature = "jsonschema")]
/// Whether the schema takes objects, be it beside other values.
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

/// Whether `test` holds for the names of all members of an object.
fn all_names(object: &str, mut test: impl FnMut(&str) -> bool) -> bool {
    with_members(object, |members| members.iter().all(|(name, _)| test(name))).unwrap_or(false)
}
