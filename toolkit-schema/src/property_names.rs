//! Other names for properties, in schemas and values.

use crate::json::{Json, Kind, budget};
use crate::keyword::{Role, each_subschema, subschemas};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::{escape, referenced};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ptr;

/// Returns a property's new name, or `None` if it stays.
type NewName<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Renames properties in `schema`, also where rules and references name them.
pub fn rename_properties(schema: &mut Value, new_name: &NewName<'_>) {
    each_subschema(schema, &mut |keywords| rename_in_keywords(keywords, new_name));
}

fn rename_in_keywords(keywords: &mut Map<String, Value>, new_name: &NewName<'_>) {
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "dependentSchemas", Value::Object(named)) => rename_keys(named, new_name),
            ("dependentRequired", Value::Object(named)) => {
                rename_keys(named, new_name);
                for names in named.values_mut() {
                    rename_listed(names, new_name);
                }
            }
            ("required" | "propertyOrdering", names) => rename_listed(names, new_name),
            ("$ref", Value::String(reference)) => *reference = rename_in_pointer(reference, new_name),
            _ => {}
        }
    }
}

fn rename_keys(named: &mut Map<String, Value>, new_name: &NewName<'_>) {
    let renamed = std::mem::take(named).into_iter();
    named.extend(renamed.map(|(name, value)| (new_name(&name).unwrap_or(name), value)));
}

fn rename_listed(names: &mut Value, new_name: &NewName<'_>) {
    for name in names.as_array_mut().into_iter().flatten() {
        if let Some(new) = name.as_str().and_then(new_name) {
            *name = new.into();
        }
    }
}

/// Renames properties in a reference such as `#/properties/a/items`.
fn rename_in_pointer(pointer: &str, new_name: &NewName<'_>) -> String {
    let mut is_name = false;
    let mut tokens: Vec<Cow<'_, str>> = Vec::new();
    for token in pointer.split('/') {
        let new = if is_name { new_name(&token.replace("~1", "/").replace("~0", "~")) } else { None };
        is_name = !is_name && matches!(token, "properties" | "dependentSchemas");
        tokens.push(match new {
            Some(new) => escape(&new).into_owned().into(),
            None => Cow::Borrowed(token),
        });
    }
    tokens.join("/")
}

/// Renames the properties of `schema` in a JSON text, given by old or new name. Returns `None` if nothing
/// changes.
///
/// Members of a map keep their names.
#[must_use]
pub fn rename_members(schema: &Value, text: &str, new_name: &NewName<'_>) -> Option<String> {
    let mut value = Json::parse(text).ok()?;
    let left = budget(&value);
    let mut renaming = MemberRenaming { root: schema, new_name, left, is_changed: false };
    renaming.apply(vec![schema], &mut value);
    if renaming.is_changed { Some(value.compact()) } else { None }
}

fn declare(schemas: &[&Value], name: &str) -> bool {
    schemas.iter().any(|schema| property(schema, name).is_some())
}

struct MemberRenaming<'a> {
    root: &'a Value,
    new_name: &'a NewName<'a>,
    /// The number of schemas that may still be applied, after which the rest stays unchanged.
    left: usize,
    is_changed: bool,
}

impl<'a> MemberRenaming<'a> {
    fn apply(&mut self, schemas: Vec<&'a Value>, value: &mut Json<'_>) {
        match &mut value.kind {
            Kind::Array(items) => {
                let parts = self.all_parts(schemas);
                for (index, item) in items.iter_mut().enumerate() {
                    let of_item = parts.iter().filter_map(|part| item_schema(part, index)).collect();
                    self.apply(of_item, item);
                }
            }
            Kind::Object(members) => {
                let parts = self.all_parts(schemas);
                for (name, member) in members {
                    let new =
                        (self.new_name)(name).filter(|new| declare(&parts, name) || declare(&parts, new));
                    let declared = new.as_deref().filter(|new| declare(&parts, new)).unwrap_or(name);
                    let mut of_member = Vec::new();
                    for part in &parts {
                        let (named, other) = member_schemas(part, declared);
                        of_member.extend(named.into_iter().chain(other));
                    }
                    self.apply(of_member, member);
                    if let Some(new) = new {
                        *name = Cow::Owned(new);
                        self.is_changed = true;
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns `schemas` with all referenced and inner schemas for the same value.
    fn all_parts(&mut self, mut schemas: Vec<&'a Value>) -> Vec<&'a Value> {
        let mut parts: Vec<&Value> = Vec::new();
        while let Some(schema) = schemas.pop() {
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            if parts.iter().any(|part| ptr::eq(*part, schema)) {
                continue;
            }
            parts.push(schema);
            schemas.extend(referenced(self.root, schema));
            for inside in subschemas(schema) {
                if inside.role == Role::InPlace {
                    schemas.push(inside.schema);
                }
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "properties": {
                "$in": {"items": {"properties": {"$in": {}, "plain": {}}, "required": ["$in"]}},
                "map": {"additionalProperties": {"$ref": "#/$defs/tree"}},
                "any": {"anyOf": [{"type": "null"}, {"$ref": "#/properties/$in/items"}]},
            },
            "required": ["$in"],
            "dependentRequired": {"$in": ["$in"]},
            "$defs": {"tree": {"properties": {"$in": {"$ref": "#/$defs/tree"}}}},
        })
    }

    fn short(name: &str) -> Option<String> {
        (name == "$in").then(|| "_in".to_owned())
    }

    fn long(name: &str) -> Option<String> {
        (name == "_in").then(|| "$in".to_owned())
    }

    #[test]
    fn properties_are_renamed_wherever_a_schema_names_them() {
        let mut renamed = schema();
        rename_properties(&mut renamed, &short);
        let expected = schema().to_string().replace("$in", "_in");
        assert_eq!(renamed, serde_json::from_str::<Value>(&expected).unwrap());
        rename_properties(&mut renamed, &long);
        assert_eq!(renamed, schema());
    }

    #[test]
    fn members_are_renamed_where_they_are_properties() {
        let old = r#"{"$in":[{"$in":1.0,"plain":{"_in":2}}],"map":{"_in":{"$in":{"$in":{"a":[]}}}},"any":{"$in":"_in"}}"#;
        let new = r#"{"_in":[{"_in":1.0,"plain":{"_in":2}}],"map":{"_in":{"_in":{"_in":{"a":[]}}}},"any":{"_in":"_in"}}"#;
        assert_eq!(rename_members(&schema(), old, &short).as_deref(), Some(new));
        assert_eq!(rename_members(&schema(), new, &long).as_deref(), Some(old));
        assert_eq!(rename_members(&schema(), old, &long), None);
    }
}
