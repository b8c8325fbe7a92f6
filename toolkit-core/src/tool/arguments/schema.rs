//! The schema of transformed arguments.

use super::super::ArgumentTransform;
use super::Changes;
use super::definitions::{forget_unused, redirect};
use super::parts::{MOST_REFERENCES, accepts, each_part, strings, target};
use serde_json::{Map, Value};

/// Returns the schema of the transformed arguments, for the model.
///
/// # Errors
/// Returns an argument name and a message if the argument's fixed value fits no variant of the schema.
pub(super) fn transformed(root: &Value, changes: &Changes) -> Result<Value, (String, String)> {
    let Value::Object(keywords) = root else { return Ok(root.clone()) };
    let view = View { root, changes };
    let mut shown = view.part(keywords.clone(), MOST_REFERENCES)?;
    let demanded = changes
        .0
        .iter()
        .filter(|change| change.required)
        .filter_map(|change| change.shown_as().map(str::to_owned));
    add_required(&mut shown, demanded);
    redirect(root, &mut shown, |name| changes.shown_as(name).map(str::to_owned));
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
    /// Returns whether the program supplies a value for an argument omitted by the model.
    fn is_given(&self, name: &str) -> bool {
        self.changes.of(name).is_some_and(|change| change.supply.is_some())
    }

    /// Returns whether `schema` mentions an argument with a transform accepted by `wanted`.
    fn speaks_of(&self, schema: &Value, wanted: impl Fn(&ArgumentTransform) -> bool) -> bool {
        let wanted = |name: &str| self.changes.of(name).is_some_and(&wanted);
        let mut found = false;
        each_part(self.root, schema, &mut |part, _| {
            let keys = ["properties", "dependentSchemas", "dependentRequired"]
                .iter()
                .filter_map(|keyword| part.get(*keyword)?.as_object());
            found |= keys.flat_map(Map::keys).any(|name| wanted(name));
            found |= strings(part.get("required")).any(wanted);
        });
        found
    }

    /// Returns whether `condition` mentions a hidden argument or an argument with a supplied value.
    fn is_undecided(&self, condition: &Value) -> bool {
        self.speaks_of(condition, |change| change.hidden || change.supply.is_some())
    }

    /// Transforms one schema of the arguments object. `references` is the number of references left to
    /// follow.
    fn part(
        &self,
        schema: Map<String, Value>,
        references: usize,
    ) -> Result<Map<String, Value>, (String, String)> {
        let (schema, references) = self.followed(schema, references);
        let undecided = schema.get("if").is_some_and(|condition| self.is_undecided(condition));
        let mut shown = Map::new();
        let mut required = Vec::new();
        let mut all_of = Vec::new();
        for (keyword, value) in schema {
            let value = match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => self.properties(named),
                ("required", Value::Array(names)) => self.required(&names),
                ("dependentRequired" | "dependentSchemas", Value::Object(named)) => {
                    let mut parts = Map::new();
                    for (name, consequence) in named {
                        let consequence = match &consequence {
                            Value::Array(needed) => self.required(needed),
                            _ => self.schema(consequence, references)?,
                        };
                        match self.changes.shown_as(&name) {
                            Some(name) => drop(parts.insert(name.to_owned(), consequence)),
                            None if !self.is_given(&name) => {}
                            // The program always supplies this argument, so the arguments that it requires are always
                            // required.
                            None if consequence.is_array() => {
                                required.extend(strings(Some(&consequence)).map(str::to_owned));
                            }
                            None => all_of.push(consequence),
                        }
                    }
                    parts.into()
                }
                ("allOf", Value::Array(parts)) => {
                    let parts = parts.into_iter().map(|part| self.schema(part, references));
                    parts.collect::<Result<Vec<_>, _>>()?.into()
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    let (keyword, branches) = self.branches(&keyword, branches, references)?;
                    if shown.contains_key(keyword) {
                        all_of.push(Value::from_iter([(keyword, branches)]));
                    } else {
                        shown.insert(keyword.to_owned(), branches);
                    }
                    continue;
                }
                ("if" | "then" | "else", _) if undecided => continue,
                ("not", condition) if self.is_undecided(&condition) => continue,
                ("if" | "then" | "else" | "not", schema) => self.schema(schema, references)?,
                // `propertyNames` refers to the tool's own names, so the keyword does not fit renamed
                // arguments.
                ("propertyNames", _) if self.changes.0.iter().any(ArgumentTransform::is_renamed) => continue,
                ("minProperties", least) => self.bound(least, |change| change.supply.is_some()),
                ("maxProperties", most) => {
                    self.bound(most, |change| change.hidden && change.supply.is_some())
                }
                (_, value) => value,
            };
            shown.insert(keyword, value);
        }
        add_required(&mut shown, required);
        if !all_of.is_empty()
            && let Value::Array(parts) = shown.entry("allOf").or_insert_with(|| Value::Array(Vec::new()))
        {
            parts.extend(all_of);
        }
        if shown.get("required").is_some_and(|required| required.as_array().is_some_and(Vec::is_empty)) {
            shown.shift_remove("required");
        }
        Ok(shown)
    }

    fn schema(&self, schema: Value, references: usize) -> Result<Value, (String, String)> {
        match schema {
            Value::Object(keywords) => self.part(keywords, references).map(Value::Object),
            other => Ok(other),
        }
    }

    /// Replaces a `$ref` by the target schema if the target mentions a transformed argument.
    ///
    /// The definition itself is not changed, because other objects may share the definition. The method also
    /// returns the number of references left to follow.
    fn followed(&self, mut schema: Map<String, Value>, references: usize) -> (Map<String, Value>, usize) {
        let Some(left) = references.checked_sub(1) else { return (schema, references) };
        match target(self.root, &schema) {
            Some(Value::Object(target)) if self.speaks_of(&Value::Object(target.clone()), |_| true) => {
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
        let shown = named.into_iter().filter_map(|(name, property)| match self.changes.of(&name) {
            Some(change) => Some((change.shown_as()?.to_owned(), change.describe(property))),
            None => Some((name, property)),
        });
        Value::Object(shown.collect())
    }

    fn required(&self, names: &[Value]) -> Value {
        let names = names.iter().filter_map(Value::as_str).filter(|name| !self.is_given(name));
        names.filter_map(|name| self.changes.shown_as(name)).collect()
    }

    /// Transforms the variants of `anyOf` or `oneOf`. Variants ruled out by a fixed value are dropped.
    ///
    /// Several variants may match if a variant mentions a hidden argument or an argument with a supplied
    /// value. In this case, `oneOf` becomes `anyOf`.
    fn branches(
        &self,
        keyword: &str,
        branches: Vec<Value>,
        references: usize,
    ) -> Result<(&'static str, Value), (String, String)> {
        let undecided = branches.iter().any(|branch| self.is_undecided(branch));
        let mut refused = None;
        let mut left = Vec::with_capacity(branches.len());
        for branch in branches {
            match self.changes.0.iter().find(|change| self.rules_out(change, &branch)) {
                Some(change) => refused = Some(change),
                None => left.push(self.schema(branch, references)?),
            }
        }
        if let (true, Some(change)) = (left.is_empty(), refused) {
            return Err((
                change.argument.clone(),
                "its value fits no variant that the tool takes".to_owned(),
            ));
        }
        let keyword = if undecided || keyword == "anyOf" { "anyOf" } else { "oneOf" };
        Ok((keyword, left.into()))
    }

    /// Returns whether the fixed value of a hidden argument rules out the variant `branch`.
    fn rules_out(&self, change: &ArgumentTransform, branch: &Value) -> bool {
        let Some(value) = change.only_value() else { return false };
        let mut refused = *branch == Value::Bool(false);
        each_part(self.root, branch, &mut |part, always| {
            let property = part.get("properties").and_then(|properties| properties.get(&change.argument));
            refused |= always && property.is_some_and(|property| !accepts(self.root, property, value));
        });
        refused
    }

    /// Reduces `bound`, a limit on the number of members, by one for each argument supplied by the program.
    /// `is_ours` selects these arguments.
    fn bound(&self, bound: Value, is_ours: impl Fn(&ArgumentTransform) -> bool) -> Value {
        let ours = self.changes.0.iter().filter(|change| is_ours(change)).count();
        match bound.as_u64() {
            Some(bound) => bound.saturating_sub(u64::try_from(ours).unwrap_or(u64::MAX)).into(),
            None => bound,
        }
    }
}

fn add_required(schema: &mut Map<String, Value>, names: impl IntoIterator<Item = String>) {
    for name in names {
        if let Value::Array(required) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()))
            && !required.iter().any(|known| *known == *name)
        {
            required.push(name.into());
        }
    }
}
