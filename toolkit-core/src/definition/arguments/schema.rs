//! The schema of transformed arguments.

use super::super::ArgumentTransform;
use super::Changes;
use super::definitions::{forget_unused, redirect};
use super::parts::{MOST_REFERENCES, Parts, strings, target};
use serde_json::{Map, Value};

/// Returns the schema of the transformed arguments. Fails with an argument name and a message if a
/// condition mentions a changed argument.
pub(super) fn transformed(root: &Value, changes: &Changes) -> Result<Value, (String, String)> {
    let Value::Object(keywords) = root else { return Ok(root.clone()) };
    let view = View { root, changes };
    let mut shown = view.part(keywords.clone(), MOST_REFERENCES)?;
    for change in &changes.0 {
        if change.required
            && let Some(name) = change.shown_as()
        {
            add_required(&mut shown, name);
        }
    }
    redirect(root, &mut shown, changes);
    if changes.0.iter().any(|change| change.hidden) {
        forget_unused(&mut shown);
    }
    Ok(Value::Object(shown))
}

struct View<'a> {
    root: &'a Value,
    changes: &'a Changes,
}

impl View<'_> {
    /// Returns the changed argument that `schema` mentions, if `wanted` accepts its transform.
    fn mentioned(&self, schema: &Value, wanted: impl Fn(&ArgumentTransform) -> bool) -> Option<&str> {
        let mut names = Vec::new();
        for part in Parts::of(self.root, schema) {
            for keyword in ["properties", "dependentSchemas", "dependentRequired"] {
                if let Some(Value::Object(named)) = part.schema.get(keyword) {
                    names.extend(named.keys().map(String::as_str));
                }
            }
            names.extend(strings(part.schema.get("required")));
        }
        for name in names {
            if let Some(change) = self.changes.of(name)
                && wanted(change)
            {
                return Some(&change.argument);
            }
        }
        None
    }

    /// Transforms a schema of the arguments object. `references` is the number left to follow.
    fn part(
        &self,
        schema: Map<String, Value>,
        references: usize,
    ) -> Result<Map<String, Value>, (String, String)> {
        let (schema, references) = self.followed(schema, references);
        let is_supplied = |change: &ArgumentTransform| change.hidden || change.supply.is_some();
        let mut shown = Map::new();
        for (keyword, value) in schema {
            let value = match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => self.properties(named),
                ("required", Value::Array(names)) => match self.required(&names) {
                    Value::Array(names) if names.is_empty() => continue,
                    names => names,
                },
                ("allOf", Value::Array(parts)) => {
                    let parts = parts.into_iter().map(|part| self.schema(part, references));
                    parts.collect::<Result<Vec<_>, _>>()?.into()
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    let mut shown_branches = Vec::with_capacity(branches.len());
                    for branch in branches {
                        self.unless_mentioned(&keyword, &branch, is_supplied)?;
                        shown_branches.push(self.schema(branch, references)?);
                    }
                    shown_branches.into()
                }
                ("if" | "then" | "else" | "not", schema) => {
                    self.unless_mentioned(&keyword, &schema, is_supplied)?;
                    self.schema(schema, references)?
                }
                ("dependentRequired" | "dependentSchemas", named) => {
                    let dependent = Value::from_iter([(keyword.as_str(), named.clone())]);
                    self.unless_mentioned(&keyword, &dependent, |it| it.is_renamed() || is_supplied(it))?;
                    named
                }
                // These keywords refer to the names or the number of the tool's own arguments.
                ("propertyNames" | "minProperties" | "maxProperties", _) if !self.changes.0.is_empty() => {
                    continue;
                }
                (_, value) => value,
            };
            shown.insert(keyword, value);
        }
        Ok(shown)
    }

    /// Fails if a condition mentions an argument with an accepted transform: its meaning for the model is
    /// unclear.
    fn unless_mentioned(
        &self,
        keyword: &str,
        schema: &Value,
        wanted: impl Fn(&ArgumentTransform) -> bool,
    ) -> Result<(), (String, String)> {
        match self.mentioned(schema, wanted) {
            Some(argument) => Err((
                argument.to_owned(),
                format!("the schema mentions it under `{keyword}`; write a tool that calls this tool"),
            )),
            None => Ok(()),
        }
    }

    fn schema(&self, schema: Value, references: usize) -> Result<Value, (String, String)> {
        match schema {
            Value::Object(keywords) => self.part(keywords, references).map(Value::Object),
            other => Ok(other),
        }
    }

    /// Replaces a `$ref` by its target if this mentions a transformed argument.
    ///
    /// The definition stays, as other objects may share it. Also returns the references left to follow.
    fn followed(&self, mut schema: Map<String, Value>, references: usize) -> (Map<String, Value>, usize) {
        let Some(left) = references.checked_sub(1) else { return (schema, references) };
        match target(self.root, &schema) {
            Some(Value::Object(target))
                if self.mentioned(&Value::Object(target.clone()), |_| true).is_some() =>
            {
                schema.shift_remove("$ref");
                if target.keys().any(|keyword| schema.contains_key(keyword)) {
                    if let Value::Array(all) =
                        schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new()))
                    {
                        all.push(target.clone().into());
                    }
                } else {
                    schema.extend(target.clone());
                }
                self.followed(schema, left)
            }
            _ => (schema, references),
        }
    }

    fn properties(&self, named: Map<String, Value>) -> Value {
        let mut shown = Map::new();
        for (name, property) in named {
            let Some(change) = self.changes.of(&name) else {
                shown.insert(name, property);
                continue;
            };
            if let Some(name) = change.shown_as() {
                shown.insert(name.to_owned(), change.describe(property));
            }
        }
        Value::Object(shown)
    }

    fn required(&self, names: &[Value]) -> Value {
        let mut required = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            let is_supplied = self.changes.of(name).is_some_and(|change| change.supply.is_some());
            if !is_supplied && let Some(shown) = self.changes.shown_as(name) {
                required.push(Value::from(shown));
            }
        }
        Value::Array(required)
    }
}

fn add_required(schema: &mut Map<String, Value>, name: &str) {
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()))
        && !required.iter().any(|known| known == name)
    {
        required.push(name.into());
    }
}
