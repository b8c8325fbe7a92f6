//! The operations of a document become tools.

use super::arguments::ArgumentsDraft;
use super::choice::{Choice, Namespaces};
use super::credential_names::CredentialNames;
use super::document::{Document, Node, Version, below};
use super::found::{FoundOperation, description, info, metadata, security, unnamed};
use super::issue::OperationFault;
use super::names::{Unnamed, tool_names};
use super::operation::{Location, Operation, Parameter, Response, Serialization, Style};
use super::parameters::{Declared, declared, is_own, read_parameter};
use super::readable::readable;
use super::request::media_kind::BodyKind;
use super::request_body::{media_types, read_body};
use super::schema::SchemaWriter;
use super::schema_parts::Direction;
use super::{OpenApiIssue, OpenApiLimits};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use toolkit_core::schema::nearest;
use toolkit_core::{ToolDefinition, ToolName};
use toolkit_foreign::{SchemaLimits, checked_parameters, checked_schema};

/// The members of a path that are operations.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The deepest levels of a schema that are tried until it is small enough.
const LEVELS: [usize; 7] = [usize::MAX, 8, 6, 4, 3, 2, 1];

/// The maximum nesting of a schema, in levels of JSON.
const DEEPEST_JSON: usize = 120;

/// An operation as a tool.
#[derive(Debug, Clone)]
pub(super) struct OperationTool {
    pub(super) definition: ToolDefinition,
    pub(super) operation: Operation,
}

/// The settings of a program for the tools of a document.
#[derive(Debug, Clone, Default)]
pub(super) struct ReaderSettings {
    pub(super) choice: Choice,
    pub(super) namespaces: Namespaces,
    pub(super) has_output_schemas: bool,
    pub(super) limits: OpenApiLimits,
}

/// Reads the operations of a document.
pub(super) struct Reader<'d> {
    document: &'d Document,
    settings: &'d ReaderSettings,
    credentials: Arc<CredentialNames>,
    issues: BTreeSet<OpenApiIssue>,
}

impl<'d> Reader<'d> {
    /// Returns the chosen operations of a document as tools, and what could not be read.
    pub(super) fn read(
        document: &'d Document,
        settings: &'d ReaderSettings,
    ) -> (Vec<OperationTool>, Vec<OpenApiIssue>) {
        let credentials = Arc::new(CredentialNames::of(document));
        let mut reader = Self { document, settings, credentials, issues: BTreeSet::new() };
        let all = reader.find();
        let chosen = reader.choose(all);
        let unnamed: Vec<Unnamed> = chosen.iter().map(unnamed).collect();
        let names = tool_names(&unnamed, &settings.namespaces);
        let mut tools = Vec::new();
        for (found, name) in chosen.iter().zip(names) {
            let name = name.map_err(|error| OperationFault::new(&found.node.place, error.to_string()));
            match name.and_then(|name| reader.tool(found, name)) {
                Ok(tool) => tools.push(tool),
                Err(OperationFault { place, reason }) => {
                    reader.issue(&place, format!("`{}` was left out: {reason}", found.id));
                }
            }
        }
        (tools, reader.issues.into_iter().collect())
    }

    fn issue(&mut self, place: &str, message: impl Into<String>) {
        self.issues.insert(OpenApiIssue::new(place, message));
    }

    fn find(&mut self) -> Vec<FoundOperation<'d>> {
        let mut all = Vec::new();
        for (path, item) in self.document.root().members("paths") {
            if !path.starts_with('/') {
                if !path.starts_with("x-") {
                    self.issue(&item.place, "was left out: a path begins with `/`");
                }
                continue;
            }
            let place = item.place.clone();
            match self.resolved_path(item) {
                Ok(path_item) => self.add_operations(path, &path_item, &mut all),
                Err(reason) => self.issue(&place, format!("the path was left out: {reason}")),
            }
        }
        all
    }

    /// Resolves a path item, whose operations may stand beside its reference.
    fn resolved_path(&self, item: Node<'d>) -> Result<Node<'d>, String> {
        let has_operations = METHODS.iter().any(|method| item.value.get(method).is_some());
        if has_operations { Ok(item) } else { self.document.resolve(item) }
    }

    fn add_operations(&mut self, path: &'d str, path_item: &Node<'d>, all: &mut Vec<FoundOperation<'d>>) {
        let members = path_item.value.as_object().into_iter().flatten();
        let named = members.filter(|(member, _)| METHODS.contains(&member.as_str()));
        let mut operations: Vec<_> = named
            .map(|(method, value)| {
                (method.to_ascii_uppercase(), Node { value, place: below(&path_item.place, method) })
            })
            .collect();
        let additional = path_item.members("additionalOperations").into_iter();
        operations.extend(additional.map(|(method, node)| (method.to_owned(), node)));
        for (method, node) in operations {
            let Ok(method) = Method::from_bytes(method.as_bytes()) else {
                self.issue(&node.place, "was left out: the method is illegal");
                continue;
            };
            let place = node.place.clone();
            let node = match self.document.resolve(node) {
                Ok(node) => node,
                Err(reason) => {
                    self.issue(&place, format!("the operation was left out: {reason}"));
                    continue;
                }
            };
            if !node.value.is_object() {
                self.issue(&node.place, "was left out: an operation is an object");
                continue;
            }
            let own = node.text("operationId").filter(|id| !id.trim().is_empty());
            let id = own.map_or_else(|| format!("{method} {path}"), str::to_owned);
            all.push(FoundOperation { path, path_item: path_item.clone(), method, node, id });
        }
    }

    /// Returns the operations that the program chose. Chosen ids and tags that no operation has are issues.
    fn choose(&mut self, all: Vec<FoundOperation<'d>>) -> Vec<FoundOperation<'d>> {
        let Choice { operations, tags, .. } = &self.settings.choice;
        let known_tags: BTreeSet<&str> = all.iter().flat_map(|found| info(found).tags()).collect();
        let known_ids: BTreeSet<&str> = all.iter().map(|found| found.id.as_str()).collect();
        for (what, wanted, known) in [("id", operations, &known_ids), ("tag", tags, &known_tags)] {
            for name in wanted.iter().filter(|name| !known.contains(name.as_str())) {
                let near = nearest(name, known.iter().copied())
                    .first()
                    .map(|near| format!("; did you mean `{near}`?"));
                self.issue("", format!("No operation has the {what} `{name}`{}", near.unwrap_or_default()));
            }
        }
        let is_chosen = |found: &FoundOperation<'d>| {
            let is_disabled =
                found.node.value.pointer("/x-speakeasy-mcp/disabled") == Some(&Value::Bool(true));
            !is_disabled && self.settings.choice.includes(&info(found))
        };
        all.into_iter().filter(is_chosen).collect()
    }

    fn tool(&mut self, found: &FoundOperation<'d>, name: ToolName) -> Result<OperationTool, OperationFault> {
        let limit = self.settings.limits.schema_bytes;
        let mut levels = LEVELS.into_iter();
        let (operation, parameters) = loop {
            let Some(level) = levels.next() else {
                let reason = "its parameters are larger than the limit even without their members";
                return Err(OperationFault::new(&found.node.place, reason));
            };
            let mut arguments = ArgumentsDraft::new(self.writer(Direction::Request, level));
            let operation = self.operation(found, &mut arguments)?;
            if let Some(parameters) = arguments.finish(limit) {
                if arguments.writer.is_cut {
                    let message = "its parameters are larger than the limit, so deep schemas were replaced by their types";
                    self.issue(&found.node.place, message);
                }
                self.issues.append(&mut arguments.writer.issues);
                break (operation, parameters);
            }
        };
        let limits = SchemaLimits { bytes: usize::MAX, depth: DEEPEST_JSON };
        let mut notes = Vec::new();
        let parameters = checked_parameters(parameters, limits, &mut notes);
        let parameters = parameters.map_err(|(_, reason)| OperationFault::new(&found.node.place, reason))?;
        for (_, message) in notes {
            self.issue(&found.node.place, message);
        }
        let mut writer = self.writer(Direction::Request, 0);
        let description = description(found, &mut writer);
        self.issues.append(&mut writer.issues);
        let mut definition =
            ToolDefinition::new(name, description, parameters).with_metadata(metadata(found));
        if self.settings.has_output_schemas
            && let Some(schema) = self.output_schema(&operation)
        {
            definition = definition.with_output_schema(schema);
        }
        Ok(OperationTool { definition, operation })
    }

    fn writer(&self, direction: Direction, deepest: usize) -> SchemaWriter<'d> {
        SchemaWriter::new(self.document, direction, self.settings.limits.description, deepest)
    }

    fn operation(
        &mut self,
        found: &FoundOperation<'d>,
        arguments: &mut ArgumentsDraft<'d>,
    ) -> Result<Operation, OperationFault> {
        let document = self.document;
        let path = without_fragment(found.path);
        let declared = declared(document, &found.path_item, &found.node)?;
        let is_sent = |parameter: &&Declared<'_>| {
            let is_lost = || !path.contains(&format!("{{{}}}", parameter.name));
            let is_of_body = matches!(parameter.location, "body" | "formData");
            !(is_of_body || parameter.location == "path" && is_lost() || is_own(&self.credentials, parameter))
        };
        let mut sent: Vec<_> = declared.iter().filter(is_sent).collect();
        let order = ["path", "query", "querystring", "header", "cookie"];
        sent.sort_by_key(|parameter| order.iter().position(|location| *location == parameter.location));
        let mut parameters = Vec::new();
        for parameter in sent {
            parameters.push(read_parameter(parameter, arguments)?);
        }
        self.add_undeclared(path, &found.node.place, arguments, &mut parameters);
        let server = document.server_of(&found.node).or_else(|| document.server_of(&found.path_item));
        Ok(Operation {
            id: found.id.clone(),
            method: found.method.clone(),
            path: path.to_owned(),
            server,
            parameters,
            body: read_body(&found.node, &declared, arguments)?,
            responses: self.responses(found),
            security: security(document, &found.node),
            credentials: self.credentials.clone(),
        })
    }

    /// Adds the parameters that are in the path and not declared.
    fn add_undeclared(
        &mut self,
        path: &'d str,
        place: &str,
        arguments: &mut ArgumentsDraft<'d>,
        parameters: &mut Vec<Parameter>,
    ) {
        let parts = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
        for (name, _) in parts {
            if parameters.iter().any(|known| known.location == Location::Path && known.name == name) {
                continue;
            }
            let message = format!("the parameter `{name}` of the path is not declared, so it is any text");
            self.issue(place, message);
            let argument = arguments.add(name, "path", json!({"type": "string"}), true);
            let serialization =
                Serialization::Style { style: Style::Simple, explode: false, allow_reserved: false };
            parameters.push(Parameter {
                argument,
                name: name.to_owned(),
                location: Location::Path,
                serialization,
            });
        }
    }

    fn responses(&mut self, found: &FoundOperation<'d>) -> Vec<Response> {
        let mut responses = Vec::new();
        for (status, response) in found.node.members("responses") {
            if status.starts_with("x-") {
                continue;
            }
            let place = response.place.clone();
            match self.document.resolve(response) {
                Ok(response) => responses.push(Response {
                    status: status.to_owned(),
                    description: readable(response.text("description").unwrap_or_default(), 200),
                    content: self.content(found, &response),
                }),
                Err(reason) => self.issue(&place, format!("the answer is not known, because {reason}")),
            }
        }
        responses
    }

    fn content(&self, found: &FoundOperation<'d>, response: &Node<'d>) -> Vec<(String, Option<String>)> {
        if self.document.version() == Version::Swagger2 {
            let place = schema_place(response);
            let types = media_types(self.document, &found.node, "produces");
            let types = if types.is_empty() { vec!["application/json"] } else { types };
            return types.into_iter().map(|media_type| (media_type.to_owned(), place.clone())).collect();
        }
        let mut contents = Vec::new();
        for (media_type, media) in response.members("content") {
            let place = self.document.resolve(media).ok().and_then(|media| schema_place(&media));
            contents.push((media_type.to_owned(), place));
        }
        contents
    }

    /// Returns the schema of the first successful answer in JSON.
    fn output_schema(&self, operation: &Operation) -> Option<Value> {
        let successes = operation.responses.iter().filter(|response| response.status.starts_with('2'));
        let mut contents = successes.flat_map(|response| &response.content);
        let (_, place) = contents.find(|(media_type, _)| BodyKind::of(media_type) == BodyKind::Json)?;
        let schema = self.document.answer_schema(place.as_deref()?)?;
        let limits = SchemaLimits { bytes: self.settings.limits.schema_bytes, depth: DEEPEST_JSON };
        checked_schema(schema, limits, &mut Vec::new()).ok()
    }
}

impl Document {
    /// Returns the JSON Schema of an answer, with its own definitions. `place` is that of a [`Response`].
    pub(crate) fn answer_schema(&self, place: &str) -> Option<Value> {
        let node = self.at(place)?;
        let limits = OpenApiLimits::default();
        let mut writer = SchemaWriter::new(self, Direction::Answer, limits.description, usize::MAX);
        let mut schema = writer.schema(&node, 0, &BTreeSet::new());
        let definitions = writer.definitions(usize::MAX)?;
        if let Value::Object(keywords) = &mut schema
            && !definitions.is_empty()
        {
            keywords.insert("$defs".to_owned(), definitions.into());
        }
        Some(schema)
    }
}

/// Returns a path without its fragment, which is no part of a request. `#` in the name of a parameter begins none.
fn without_fragment(path: &str) -> &str {
    let mut is_name = false;
    let is_end = |c: char| {
        is_name = c == '{' || is_name && c != '}';
        c == '#' && !is_name
    };
    path.find(is_end).map_or(path, |end| &path[..end])
}

/// Returns the place of the schema of an answer, or of one of its media types.
fn schema_place(media: &Node<'_>) -> Option<String> {
    media.value.get("schema").map(|_| below(&media.place, "schema"))
}
