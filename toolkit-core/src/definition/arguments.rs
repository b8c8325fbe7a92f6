//! Transformed arguments: translation between the model's and the tool's names.

mod definitions;
mod errors;
mod parts;
mod schema;
mod secrets;
mod text;

use super::argument::Supply;
use super::lane::LaneArgument;
use super::{ArgumentTransform, ToolDefinition};
use crate::args::Aliases;
use crate::error::{BuildError, BuildProblem, ToolFault, nearest, one_of};
use crate::schema::__private::Contract;
use crate::schema::{SchemaRef, describe};
use parts::{accepts, argument_names, demands, is_required, takes_any_name};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The checked transforms of the arguments.
pub(super) struct Arguments {
    changes: Changes,
    /// All argument names declared by the tool.
    names: BTreeSet<String>,
}

/// Transforms, at most one for each argument.
struct Changes(Vec<ArgumentTransform>);

impl Changes {
    /// Returns the transform for the tool's name `argument`.
    fn of(&self, argument: &str) -> Option<&ArgumentTransform> {
        self.0.iter().find(|change| change.argument == argument)
    }

    /// Returns the transform for the model's name `name`.
    fn shown(&self, name: &str) -> Option<&ArgumentTransform> {
        self.0.iter().find(|change| change.shown_as() == Some(name))
    }

    /// Returns the model's name for `argument`, unless it is hidden.
    fn shown_as<'n>(&'n self, argument: &'n str) -> Option<&'n str> {
        self.of(argument).map_or(Some(argument), ArgumentTransform::shown_as)
    }
}

impl Arguments {
    /// Checks the transforms, and applies them to the schema.
    pub(super) fn new(
        definition: &ToolDefinition,
        transforms: Vec<ArgumentTransform>,
    ) -> Result<(Self, Value), BuildError> {
        let root = &definition.parameters;
        let declared = argument_names(root);
        let mut problems = Vec::new();
        let mut changed = BTreeSet::new();
        for transform in &transforms {
            let argument = transform.argument.as_str();
            for message in faults(definition, &declared, transform) {
                problems.push(invalid_transform(definition, argument, message));
            }
            if !changed.insert(argument) {
                let message = "it is changed twice; say all in one place";
                problems.push(invalid_transform(definition, argument, message));
            }
        }
        let changes = Changes(transforms);
        let mut takers = BTreeMap::new();
        for name in &declared {
            if let Some(shown) = changes.shown_as(name)
                && let Some(other) = takers.insert(shown, *name)
            {
                let (moved, there) = if *name == shown { (other, *name) } else { (*name, other) };
                let message =
                    format!("argument `{there}` is shown as `{shown}` already; choose another name");
                problems.push(invalid_transform(definition, moved, message));
            }
        }
        if definition.contract().is_ok_and(Contract::is_of_type) && takes_any_name(root) {
            let message = "the arguments type takes any name, so it may know this argument by an alias; take the \
                           other names in a map of its own, without `flatten`";
            for change in &changes.0 {
                if change.hidden {
                    problems.push(invalid_transform(definition, &change.argument, message));
                }
            }
        }
        BuildError::unless_empty(problems)?;
        let schema = schema::transformed(root, &changes)
            .map_err(|(argument, message)| invalid_transform(definition, &argument, message))?;
        Ok((Self { changes, names: declared.into_iter().map(str::to_owned).collect() }, schema))
    }

    /// Applies the transforms to another schema of the arguments. If they do not fit, returns `fallback`.
    pub(super) fn adapt_schema(&self, schema: &Value, fallback: &Value) -> Value {
        schema::transformed(schema, &self.changes).unwrap_or_else(|_| fallback.clone())
    }

    pub(super) fn computes(&self) -> bool {
        self.changes.0.iter().any(|change| matches!(change.supply, Some(Supply::Computed(_))))
    }

    pub(super) fn differ(&self) -> bool {
        self.changes.0.iter().any(ArgumentTransform::is_renamed)
    }

    /// Converts `arguments` to the model's names and drops hidden ones.
    pub(super) fn as_shown(&self, arguments: Value) -> Value {
        let Value::Object(members) = arguments else { return arguments };
        let mut shown = Map::new();
        for (name, value) in members {
            if let Some(name) = self.changes.shown_as(&name) {
                shown.insert(name.to_owned(), value);
            }
        }
        Value::Object(shown)
    }

    /// Returns the lane argument after the transforms of `definition`.
    pub(super) fn adapt_lane(&self, definition: &ToolDefinition) -> Option<LaneArgument> {
        let argument = definition.lane_argument()?;
        let Some(change) = argument.shown_as.as_deref().and_then(|name| self.changes.of(name)) else {
            return Some(argument);
        };
        let name = change.argument.as_str();
        let property = definition.parameters.get("properties").and_then(|names| names.get(name));
        let default = match (&change.supply, argument.default) {
            (Some(Supply::Fixed(value)), _) => normal(definition, property, value),
            // The published schema lacks a hidden argument, so the tool's default comes from the original
            // schema.
            (None, None) if change.hidden => {
                let default = property.and_then(|property| property.get("default"));
                default.and_then(|default| normal(definition, property, default))
            }
            (_, default) => default,
        };
        Some(LaneArgument { shown_as: change.shown_as().map(str::to_owned), default, ..argument })
    }

    /// Removes the aliases of renamed or hidden arguments, and those now used as names.
    pub(super) fn adapt_aliases(&self, aliases: &mut Aliases) {
        aliases.retain(|alias, argument| !self.is_name(alias) && !self.is_renamed(argument));
    }

    /// Returns whether the tool or the model has an argument called `name`.
    fn is_name(&self, name: &str) -> bool {
        self.names.contains(name) || self.changes.shown(name).is_some()
    }

    fn is_renamed(&self, argument: &str) -> bool {
        self.changes.of(argument).is_some_and(ArgumentTransform::is_renamed)
    }

    /// Returns whether the tool's argument `name` is renamed or hidden.
    fn is_hidden(&self, name: &str) -> bool {
        self.names.contains(name) && self.is_renamed(name)
    }

    fn shown(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter_map(|name| self.changes.shown_as(name))
    }
}

impl ArgumentTransform {
    /// Returns the model's name, unless it is hidden.
    fn shown_as(&self) -> Option<&str> {
        if self.hidden { None } else { Some(self.name.as_ref().unwrap_or(&self.argument)) }
    }

    fn is_renamed(&self) -> bool {
        self.shown_as() != Some(self.argument.as_str())
    }

    /// Converts `property`, the tool's schema of an argument, for the model.
    fn describe(&self, property: Value) -> Value {
        let mut shown = match property {
            Value::Object(property) => property,
            Value::Bool(true) => Map::new(),
            other => return other,
        };
        if let Some(description) = &self.description {
            shown.insert("description".to_owned(), description.as_str().into());
        }
        match &self.supply {
            Some(Supply::Fixed(value)) => drop(shown.insert("default".to_owned(), value.clone())),
            Some(Supply::Computed(_)) => drop(shown.shift_remove("default")),
            None if self.required => drop(shown.shift_remove("default")),
            None => {}
        }
        Value::Object(shown)
    }
}

/// Returns a value in the normal form, with its inner defaults.
fn normal(definition: &ToolDefinition, property: Option<&Value>, value: &Value) -> Option<Value> {
    let schema = SchemaRef::new(&definition.parameters, property.unwrap_or(&Value::Null));
    let text = value.to_string();
    definition.contract().ok()?.normal(schema, &text).parse().ok()
}

fn takes(root: &Value, argument: &str, value: &Value) -> bool {
    demands(root, argument).into_iter().all(|schema| accepts(root, schema, value))
}

fn invalid_transform(
    definition: &ToolDefinition,
    argument: &str,
    message: impl Into<String>,
) -> BuildProblem {
    let fault = ToolFault::InvalidTransform { argument: argument.to_owned(), message: message.into() };
    definition.problem(fault)
}

fn faults(definition: &ToolDefinition, names: &BTreeSet<&str>, transform: &ArgumentTransform) -> Vec<String> {
    let ToolDefinition { parameters: root, metadata, .. } = definition;
    let ArgumentTransform { argument, name, description, supply, required, hidden, .. } = transform;
    if !names.contains(argument.as_str()) {
        let close = nearest(argument, names.iter().copied());
        return vec![match (close.as_slice(), names.is_empty()) {
            (_, true) => "the tool has no arguments".to_owned(),
            ([], _) => "the tool has no such argument".to_owned(),
            (close, _) => format!("the tool has no such argument; did you mean {}?", one_of(close)),
        }];
    }
    let mut faults = Vec::new();
    if *hidden && (name.is_some() || description.is_some() || *required) {
        faults.push(
            "it is hidden, so the model sees neither name nor description and cannot give it".to_owned(),
        );
    }
    if name.as_deref() == Some("") {
        faults.push("its name must not be empty".to_owned());
    }
    if !*hidden && *required && supply.is_some() {
        faults.push("what is required has no default".to_owned());
    }
    if *hidden && supply.is_none() && is_required(root, argument) {
        faults.push("the tool cannot do without; give it a value with `fixed` or `computed`".to_owned());
    }
    let is_computed = matches!(supply, Some(Supply::Computed(_)));
    if *hidden && is_computed && metadata.lane.as_ref() == Some(argument) {
        faults.push("it is the lane of the tool, so its value must be known before the call runs".to_owned());
    }
    if let Some(Supply::Fixed(value)) = supply
        && !takes(root, argument, value)
    {
        // The value may be a secret.
        let mut message = "the tool does not take this value".to_owned();
        if let Some(demand) = demands(root, argument).into_iter().find(|schema| !accepts(root, schema, value))
            && let Some(expected) = describe(SchemaRef::new(root, demand))
        {
            message.push_str(&format!("; it must be {expected}"));
        }
        faults.push(message);
    }
    faults
}
