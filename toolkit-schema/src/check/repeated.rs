//! Repeated names in JSON objects, and integers that an untyped value cannot hold.

use super::branches::candidates;
use crate::discriminator::discriminator;
use crate::json::{Json, Kind, quoted};
use crate::keyword::{Keyword, Role, subschemas};
use crate::properties::{item_schema, member_schemas};
use crate::reference::{SchemaRef, resolve};
use crate::types::{fields, types};
use crate::violation::{Violation, ViolationKind};
use crate::words::value_in_words;
use serde_json::Value;
use std::collections::HashMap;
use std::ptr;

/// The maximum number of repeated names to report.
const MOST: usize = 64;

/// The maximum number of schemas to consider for one value.
const MOST_SCHEMAS: usize = 256;

/// The maximum number of bytes decoded to find out whether a Rust type ignores members. For a very large value, the
/// limit is four times its size.
const MOST_ASKED: usize = 1 << 20;

/// Returns a violation for each name that occurs more than once in an object, at every depth.
///
/// `at` is the path of the value. Repeated names are mistakes, because a map would silently keep only the last value.
#[must_use]
pub fn repeated_names(value: &Json<'_>, at: &str) -> Vec<Violation> {
    found(SchemaRef::from(&Value::Bool(true)), value, at, None, |_| false)
}

/// Returns a violation for each name that occurs more than once in an object, unless the Rust type ignores the name. Also
/// returns a violation for each integer that a [`Value`] would round, where the schema does not say the type.
///
/// A Rust type may ignore a member that the schema does not list. Such a name may be repeated. But names inside its
/// value are not always ignored, because the member may have an alias that is missing from the schema. In case of
/// doubt, `accepts` is called with changed texts of the value, and returns whether the Rust type can decode them.
///
/// If `accepts` is `None`, names repeated inside such a member are violations. The number of calls is limited. After
/// the last call, names repeated inside any further such member are violations as well.
#[must_use]
pub fn repeated_names_in(
    schema: SchemaRef<'_>,
    value: &Json<'_>,
    at: &str,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
) -> Vec<Violation> {
    found(schema, value, at, accepts, is_untyped)
}

/// Returns a violation for each integer that a [`Value`] would round, unless the schema accepts any `number` there.
#[must_use]
pub fn roundings(schema: SchemaRef<'_>, value: &Json<'_>) -> Vec<Violation> {
    if value.is_exact() {
        return Vec::new();
    }
    let mut found = found(schema, value, "", None, |parts| !parts.iter().any(|part| is_number(part)));
    found.retain(|violation| violation.kind != ViolationKind::Duplicate);
    found
}

fn found(
    schema: SchemaRef<'_>,
    value: &Json<'_>,
    at: &str,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
    rounds: fn(&[&Value]) -> bool,
) -> Vec<Violation> {
    let path = at.to_owned();
    let left = MOST_ASKED.max(4 * value.text.len());
    let mut names =
        Names { root: schema.root, text: value.text, accepts, left, rounds, path, found: Vec::new() };
    names.collect(&[schema.schema], value);
    names.found
}

struct Names<'a, 't> {
    root: &'a Value,
    /// The JSON text of the whole checked value.
    text: &'a str,
    accepts: Option<&'t mut dyn FnMut(&str) -> bool>,
    /// The number of bytes left to decode.
    left: usize,
    /// Whether an integer that a [`Value`] would round is a violation, by all schemas of the integer.
    rounds: fn(&[&Value]) -> bool,
    path: String,
    found: Vec<Violation>,
}

impl<'a> Names<'a, '_> {
    /// Collects the names repeated in `value`. `schemas` contains all schemas that apply to `value`. Without any
    /// schema, every name is checked.
    fn collect(&mut self, schemas: &[&'a Value], value: &Json<'_>) {
        let here = self.path.len();
        match &value.kind {
            Kind::Object(members) => {
                let parts = self.parts(schemas, value);
                let reads_all = reads_all(&parts);
                let mut given: HashMap<&str, usize> = HashMap::with_capacity(members.len());
                for (name, member) in members {
                    self.path.extend([if here == 0 { "" } else { "." }, name]);
                    let of_member = parts.iter().map(|part| member_schemas(part, name));
                    let inside: Vec<&Value> = of_member
                        .flat_map(|(named, other)| named.into_iter().chain(other))
                        .filter(|schema| *schema != &Value::Bool(false))
                        .collect();
                    if reads_all || !inside.is_empty() {
                        let times = given.entry(name).or_default();
                        *times += 1;
                        if *times == 2 && self.found.len() < MOST {
                            let message = "given twice; give it once";
                            self.found.push(Violation::new(
                                self.path.as_str(),
                                ViolationKind::Duplicate,
                                message,
                            ));
                        }
                        self.collect(&inside, member);
                    } else {
                        if self.found.len() < MOST {
                            let open = SchemaRef::from(&Value::Bool(true));
                            let repeated = found(open, member, &self.path, None, self.rounds);
                            if !repeated.is_empty() && !self.ignores(name, member) {
                                self.found.extend(repeated);
                            }
                        }
                    }
                    self.path.truncate(here);
                }
            }
            Kind::Array(items) => {
                let parts = self.parts(schemas, value);
                for (index, item) in items.iter().enumerate() {
                    // An array may be decoded as a struct, with the items in the order of the fields.
                    let of_item = |part: &&'a Value| {
                        item_schema(part, index).or_else(|| fields(part)?.values().nth(index))
                    };
                    let inside: Vec<&Value> = parts.iter().filter_map(of_item).collect();
                    self.path.push_str(&format!("[{index}]"));
                    self.collect(&inside, item);
                    self.path.truncate(here);
                }
            }
            Kind::Number
                if self.found.len() < MOST
                    && value.is_other_integer()
                    && (self.rounds)(&self.parts(schemas, value)) =>
            {
                let got = value_in_words(value.text);
                let message = format!("expected integer of at most 64 bits, got {got}");
                self.found.push(Violation::new(self.path.as_str(), ViolationKind::Constraint, message));
            }
            _ => {}
        }
    }

    /// Returns all schemas that apply to `value`: the targets of references in `schemas`, and their branches and
    /// `allOf` parts.
    fn parts(&self, schemas: &[&'a Value], value: &Json<'_>) -> Vec<&'a Value> {
        let mut parts: Vec<&'a Value> = Vec::new();
        let mut open: Vec<&'a Value> = schemas.to_vec();
        while let Some(schema) = open.pop().filter(|_| parts.len() < MOST_SCHEMAS) {
            let Some(own) = resolve(self.root, schema) else { continue };
            if parts.iter().any(|part| ptr::eq(*part, own)) {
                continue;
            }
            parts.push(own);
            for inside in subschemas(own).filter(|inside| inside.role == Role::InPlace) {
                if !matches!(inside.keyword, "anyOf" | "oneOf" | "not" | "if") {
                    open.push(inside.schema);
                }
            }
            for keyword in ["anyOf", "oneOf"] {
                let Some(branches) = own.get(keyword).and_then(Value::as_array) else { continue };
                let choice = discriminator(self.root, branches);
                let fitting = candidates(self.root, branches, choice.as_ref(), value);
                match fitting.is_empty() {
                    true => open.extend(branches),
                    false => open.extend(fitting),
                }
            }
        }
        parts
    }

    /// Returns whether the Rust type ignores a member. To test this, the decoder receives the member twice, with
    /// arbitrary values.
    fn ignores(&mut self, name: &str, member: &Json<'_>) -> bool {
        let start = member.text.as_ptr().addr().checked_sub(self.text.as_ptr().addr());
        let around =
            start.and_then(|start| self.text.get(..start).zip(self.text.get(start + member.text.len()..)));
        let (Some((before, after)), Some(accepts)) = (around, &mut self.accepts) else { return false };
        let Some(left) = self.left.checked_sub(self.text.len()) else { return false };
        self.left = left;
        accepts(&format!(r#"{before}true,{}:"\u0001"{after}"#, quoted(name)))
    }
}

/// Returns whether a type such as [`Value`] may read a number. `parts` contains all schemas of the number. A type that
/// accepts any `number` rounds it anyway.
fn is_untyped(parts: &[&Value]) -> bool {
    const SAY_TYPE: [&str; 6] = ["type", "enum", "const", "anyOf", "oneOf", "allOf"];
    let is_open = |part: &Value| !SAY_TYPE.iter().any(|keyword| part.get(keyword).is_some());
    (parts.is_empty() || parts.iter().any(|part| is_open(part))) && !parts.iter().any(|part| is_number(part))
}

fn is_number(part: &Value) -> bool {
    types(part.get("type")).any(|name| name == "number")
}

/// Returns whether a Rust type reads every member of an object. `parts` contains all schemas of the object.
///
/// The schema of a map has `additionalProperties`, and a type such as `Value` has no constraints. An object schema
/// without any properties may belong to such a type, too.
fn reads_all(parts: &[&Value]) -> bool {
    let has = |part: &Value, keyword: &str| part.get(keyword).is_some();
    let is_untyped = |part: &Value| match part.as_object() {
        Some(keywords) => keywords.keys().all(|name| Keyword::is_annotation(name)),
        None => part == &Value::Bool(true),
    };
    let reads_others = |part: &Value| {
        is_untyped(part) || part.get("unevaluatedProperties").is_some_and(|it| it != &Value::Bool(false))
    };
    let may_be_object =
        |part: &Value| types(part.get("type")).all(|name| name == "object") || !has(part, "type");
    parts.iter().any(|part| reads_others(part))
        || !parts.iter().any(|part| {
            has(part, "properties") || has(part, "patternProperties") || has(part, "additionalProperties")
        }) && parts.iter().all(|part| may_be_object(part))
}
