//! The names of arguments: parameters and members of the body are side by side in one object.

use super::operation::{Body, Location};
use super::parameters::ReadParameter;
use super::request_body::ReadBody;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolkit_foreign::clean;

/// The arguments of one operation that have a name already.
#[derive(Debug, Default)]
pub(super) struct ArgumentNames(BTreeSet<String>);

impl ArgumentNames {
    /// Names the argument of a parameter. The first argument of a name keeps it, and another one is told apart by its
    /// place: `id` in the path, and `id_in_query`. Parameters are named in the order of [`Location`].
    pub(super) fn take(&mut self, name: &str, location: Location) -> String {
        let place = match location {
            Location::Path => "path",
            Location::Query | Location::QueryString => "query",
            Location::Header => "header",
            Location::Cookie => "cookie",
        };
        self.free(name, place)
    }

    /// Names the argument of a member of the body, or of the whole body.
    pub(super) fn take_of_body(&mut self, name: &str) -> String {
        self.free(name, "body")
    }

    fn free(&mut self, name: &str, place: &str) -> String {
        let mut argument = clean(name);
        if !self.0.insert(argument.clone()) {
            argument = format!("{argument}_in_{place}");
            while !self.0.insert(argument.clone()) {
                argument.push('_');
            }
        }
        argument
    }
}

/// The arguments of an operation, as one object.
#[derive(Default)]
pub(super) struct ToolArguments {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The members of an optional body, and those of them that are required beside any other.
    optional_body: Option<(Vec<String>, Vec<String>)>,
    choice: Option<(String, Value)>,
}

impl ToolArguments {
    pub(super) fn add(&mut self, read: &ReadParameter) {
        let argument = read.parameter.argument.clone();
        if read.is_required {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument, read.schema.clone());
    }

    pub(super) fn add_body(&mut self, read: ReadBody) -> Body {
        let ReadBody { body, properties, required, choice } = read;
        let members = properties.iter().map(|(argument, _)| argument.clone()).collect();
        self.properties.extend(properties);
        if body.is_required {
            self.required.extend(required);
        } else if !required.is_empty() {
            self.optional_body = Some((members, required));
        }
        self.choice = choice;
        body
    }

    /// Returns the schema of the arguments, with the definitions that it refers to.
    pub(super) fn schema(self, definitions: Map<String, Value>) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        if let Some((members, required)) = self.optional_body {
            let needs = |member: &String| {
                required.iter().filter(|needed| *needed != member).cloned().collect::<Vec<_>>()
            };
            let needs = members.iter().map(|member| (member.clone(), json!(needs(member))));
            let needs: Map<String, Value> = needs.filter(|(_, needed)| needed != &json!([])).collect();
            schema.insert("dependentRequired".to_owned(), needs.into());
        }
        schema.extend(self.choice);
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }
}
