//! The arguments of an operation: parameters and members of the body side by side in one object.

use super::reduction::Kept;
use crate::client::document::{Document, Node};
use crate::client::schema::SchemaWriter;
use serde_json::{Map, Value, json};
use toolkit_core::foreign::clean;

pub(super) struct ArgumentsDraft<'d> {
    pub(super) writer: SchemaWriter<'d>,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The members of an optional body, with whether they are required beside any other.
    optional_body: Vec<(String, bool)>,
    kept: Kept,
    pub(super) left_out: usize,
}

impl<'d> ArgumentsDraft<'d> {
    pub(super) fn new(writer: SchemaWriter<'d>, kept: Kept) -> Self {
        Self {
            writer,
            properties: Map::new(),
            required: Vec::new(),
            optional_body: Vec::new(),
            kept,
            left_out: 0,
        }
    }

    /// Returns whether a parameter or a member with the schemas `parts` becomes an argument.
    pub(super) fn keeps(&mut self, is_required: bool, parts: &[Node<'d>]) -> bool {
        let document = self.writer.document;
        let is_kept = match self.kept {
            Kept::All => true,
            Kept::Described => is_required || parts.iter().any(|part| has_description(document, part)),
            Kept::Required => is_required,
        };
        self.left_out += usize::from(!is_kept);
        is_kept
    }

    /// Adds an argument and returns its name. The first of a name keeps it, others add their place:
    /// `id_in_query`.
    pub(super) fn add(&mut self, name: &str, place: &str, schema: Value, is_required: bool) -> String {
        self.writer.meter.add(1, name.len());
        let mut argument = clean(name);
        if self.properties.contains_key(&argument) {
            argument = format!("{argument}_in_{place}");
        }
        while self.properties.contains_key(&argument) && self.writer.meter.add(0, 1) {
            argument.push('_');
        }
        if is_required {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument.clone(), schema);
        argument
    }

    pub(super) fn add_of_body(
        &mut self,
        name: &str,
        schema: Value,
        is_required: bool,
        has_body: bool,
    ) -> String {
        let argument = self.add(name, "body", schema, is_required && has_body);
        if !has_body {
            self.optional_body.push((argument.clone(), is_required));
        }
        argument
    }

    pub(super) fn schema(&mut self, node: &Node<'d>) -> Value {
        self.writer.schema(node, 1, None)
    }

    /// Returns the schema of all arguments, with its definitions; `None` if it exceeds `limit` bytes.
    pub(super) fn finish(&mut self, limit: usize) -> Option<Map<String, Value>> {
        let definitions = self.writer.definitions()?;
        let required = self.required_of_body().count();
        if !self.writer.meter.add(required * self.optional_body.len(), 0) {
            return None;
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), std::mem::take(&mut self.properties).into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        let dependent = self.dependent_required();
        if !dependent.is_empty() {
            schema.insert("dependentRequired".to_owned(), dependent.into());
        }
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        let is_small = serde_json::to_string(&schema).is_ok_and(|text| text.len() <= limit);
        if is_small { Some(schema) } else { None }
    }

    fn required_of_body(&self) -> impl Iterator<Item = &String> {
        self.optional_body.iter().filter(|(_, is_required)| *is_required).map(|(member, _)| member)
    }

    /// Returns the members of an optional body, each with the other members that it requires.
    fn dependent_required(&self) -> Map<String, Value> {
        let mut dependent = Map::new();
        for (member, _) in &self.optional_body {
            let mut others: Vec<&String> = self.required_of_body().collect();
            others.retain(|other| *other != member);
            if !others.is_empty() {
                dependent.insert(member.clone(), json!(others));
            }
        }
        dependent
    }
}

/// Returns whether a parameter or a member, or its schema, has a description.
fn has_description<'d>(document: &'d Document, part: &Node<'d>) -> bool {
    let schema = part.get("schema").unwrap_or_else(|| part.clone());
    let target = document.resolve(schema);
    part.text("description").is_some() || target.is_ok_and(|target| target.text("description").is_some())
}
