//! The normal form of a value.

use crate::check::Checks;
use crate::json::{Json, Kind, budget, quoted};
use crate::order::sort_by;
use crate::properties::{item_schema, member_schemas};
use crate::types::has_name;
use serde_json::Value;

/// Returns the JSON text of `value` without unpublished members, and with defaults of absent members.
///
/// Everything else keeps its text, as do values below an untagged union, which could otherwise belong to
/// another branch.
pub(crate) fn normal<'a>(checks: &Checks<'a>, schema: &'a Value, value: &Json<'_>) -> String {
    let mut form = NormalForm { checks, left: budget(value), written: String::new() };
    form.write(&[schema], value);
    form.written
}

struct NormalForm<'a, 'c> {
    checks: &'c Checks<'a>,
    /// The number of schemas that may still be applied, after which the rest stays unchanged.
    left: usize,
    written: String,
}

impl<'a> NormalForm<'a, '_> {
    fn write(&mut self, schemas: &[&'a Value], value: &Json<'_>) {
        let is_leaf = !matches!(value.kind, Kind::Object(_) | Kind::Array(_));
        if is_leaf || self.left == 0 {
            return self.written.push_str(value.text);
        }
        let checks = self.checks;
        let mut parts = Vec::new();
        for schema in schemas {
            parts.extend(checks.parts(schema, value, &mut self.left));
        }
        if parts.iter().any(|part| is_untagged(part)) {
            return self.written.push_str(value.text);
        }
        match &value.kind {
            Kind::Object(members) => {
                let is_listed = is_listed(&parts);
                self.written.push('{');
                let start = self.written.len();
                for (name, member) in members {
                    let is_published = !is_listed || parts.iter().any(|part| publishes(part, name));
                    if is_published && !self.is_absent(&parts, name, member) {
                        self.member(&parts, name, member, start);
                    }
                }
                for (name, default) in defaults(&parts, members) {
                    self.default(&parts, name, default, start);
                }
                self.written.push('}');
            }
            Kind::Array(items) => {
                self.written.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.written.push_str(if index > 0 { "," } else { "" });
                    let schemas: Vec<&'a Value> =
                        parts.iter().filter_map(|part| item_schema(part, index)).collect();
                    self.write(&schemas, item);
                }
                self.written.push(']');
            }
            _ => {}
        }
    }

    /// Returns whether a member is `null`, which its schema refuses, and so counts as absent.
    fn is_absent(&mut self, parts: &[&'a Value], name: &str, member: &Json<'_>) -> bool {
        if !matches!(member.kind, Kind::Null) || is_required(parts, name) {
            return false;
        }
        for part in parts {
            let (named, _) = member_schemas(part, name);
            for schema in named {
                if !self.checks.fits(schema, member, &mut self.left, 0) {
                    return true;
                }
            }
        }
        false
    }

    /// Writes the default of an absent member, if it is in normal form. The type would otherwise fill in
    /// other defaults.
    fn default(&mut self, parts: &[&'a Value], name: &str, default: &Value, start: usize) {
        let text = default.to_string();
        let Ok(value) = Json::parse(&text) else { return };
        let before = self.written.len();
        self.member(parts, name, &value, start);
        if !self.written.ends_with(&text) {
            self.written.truncate(before);
        }
    }

    fn member(&mut self, parts: &[&'a Value], name: &str, member: &Json<'_>, start: usize) {
        let separator = if self.written.len() > start { "," } else { "" };
        self.written.extend([separator, &quoted(name), ":"]);
        let mut schemas: Vec<&'a Value> = Vec::new();
        for part in parts {
            let (named, other) = member_schemas(part, name);
            schemas.extend(named.into_iter().chain(other));
        }
        self.write(&schemas, member);
    }
}

/// Returns whether only the structure of a value tells its branch.
pub(crate) fn is_untagged(schema: &Value) -> bool {
    let Some(branches) = schema.get("anyOf").and_then(Value::as_array) else { return false };
    branches.iter().filter(|branch| !is_plain_type(branch, "null")).count() > 1
}

/// Returns whether a schema has one type, called `name`.
fn is_plain_type(schema: &Value, name: &str) -> bool {
    schema.get("type").is_some_and(|kind| kind == name)
}

fn is_required(parts: &[&Value], name: &str) -> bool {
    parts.iter().any(|part| has_name(part.get("required"), name))
}

/// Returns the default of each absent optional property, by name.
fn defaults<'a>(
    parts: &[&'a Value],
    members: &[(impl AsRef<str>, Json<'_>)],
) -> Vec<(&'a String, &'a Value)> {
    let mut defaults = Vec::new();
    for part in parts {
        let properties = part.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let Some(default) = property.get("default") else { continue };
            let is_given = members.iter().any(|(given, _)| given.as_ref() == name);
            if !default.is_null() && !is_given && !is_required(parts, name) {
                defaults.push((name, default));
            }
        }
    }
    // The default of the last part counts.
    defaults.reverse();
    sort_by(&mut defaults, |(one, _), (other, _)| one.cmp(other));
    defaults.dedup_by_key(|(name, _)| *name);
    defaults
}

/// Returns whether schemas list an object's members. Without any listed member it has none, and only a schema
/// without a type takes any value.
pub(crate) fn is_listed(parts: &[&Value]) -> bool {
    let lists = ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];
    for part in parts {
        if is_plain_type(part, "object") || lists.iter().any(|keyword| part.get(keyword).is_some()) {
            return true;
        }
    }
    false
}

pub(crate) fn publishes(schema: &Value, name: &str) -> bool {
    let (named, other) = member_schemas(schema, name);
    let rest = other.or_else(|| schema.get("unevaluatedProperties"));
    !named.is_empty() || rest.is_some_and(|rest| rest != &Value::Bool(false))
}
