//! The operations of a document become tools.

use super::arguments::ArgumentNames;
use super::choice::{Choice, Namespaces, OperationInfo};
use super::document::{Document, Node, Version, below};
use super::names::{Unnamed, tool_names};
use super::operation::{Location, Operation, Parameter, Response, SecurityRequirement};
use super::parameters::{ReadParameter, declared, is_own, read_parameter};
use super::request_body::{ReadBody, is_json, media_types, read_body, schema_place};
use super::schema::SchemaWriter;
use super::schema_parts::Direction;
use super::{OpenApiIssue, OpenApiLimits};
use http::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolkit_core::schema::nearest;
use toolkit_core::tool::ToolSource;
use toolkit_core::{ToolDefinition, ToolMetadata, ToolName, ToolTag};
use toolkit_foreign::{SchemaLimits, checked_parameters, checked_schema};

/// The members of a path that are operations.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The deepest levels of a schema that are tried until it is small enough.
const LEVELS: [usize; 8] = [usize::MAX, 12, 8, 6, 4, 3, 2, 1];

/// The maximum nesting of a schema, in levels of JSON.
const DEEPEST_JSON: usize = 120;

/// The reason why an operation cannot be read, with its place.
pub(super) struct OperationFault {
    place: String,
    reason: String,
}

impl OperationFault {
    pub(super) fn new(place: &str, reason: impl Into<String>) -> Self {
        Self { place: place.to_owned(), reason: reason.into() }
    }
}

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

/// An operation that was found in the document.
struct FoundOperation<'d> {
    path: &'d str,
    path_item: Node<'d>,
    method: Method,
    node: Node<'d>,
    /// The `operationId`, or the method and the path.
    id: String,
}

/// Reads the operations of a document.
pub(super) struct Reader<'d> {
    document: &'d Document,
    settings: &'d ReaderSettings,
    issues: BTreeSet<OpenApiIssue>,
}

impl<'d> Reader<'d> {
    /// Returns the chosen operations of a document as tools, and what could not be read.
    pub(super) fn read(
        document: &'d Document,
        settings: &'d ReaderSettings,
    ) -> (Vec<OperationTool>, Vec<OpenApiIssue>) {
        let mut reader = Self { document, settings, issues: BTreeSet::new() };
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
                    reader.issue(&place, format!("`{}` was left out: {reason}", found.id))
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
        let mut levels = LEVELS.into_iter();
        let (operation, parameters) = loop {
            let Some(level) = levels.next() else {
                let reason = "its parameters are larger than the limit even without their members";
                return Err(OperationFault::new(&found.node.place, reason));
            };
            let mut writer = self.writer(Direction::Request, level);
            let (operation, parameters) = self.operation(found, &mut writer)?;
            if is_at_most(&parameters, self.settings.limits.schema_bytes) {
                if writer.is_cut {
                    let message = "its parameters are larger than the limit, so deep schemas were replaced by their types";
                    self.issue(&found.node.place, message);
                }
                self.issues.append(&mut writer.issues);
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
        let description = self.description(found);
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
        writer: &mut SchemaWriter<'d>,
    ) -> Result<(Operation, Map<String, Value>), OperationFault> {
        let mut names = ArgumentNames::default();
        let mut arguments = ToolArguments::default();
        let declared = declared(self.document, &found.path_item, &found.node)?;
        let mut sent: Vec<_> =
            declared.iter().filter(|parameter| !matches!(parameter.location, "body" | "formData")).collect();
        let order = ["path", "query", "querystring", "header", "cookie"];
        sent.sort_by_key(|parameter| order.iter().position(|location| *location == parameter.location));
        let mut parameters = Vec::new();
        for parameter in sent {
            let is_lost =
                parameter.location == "path" && !found.path.contains(&format!("{{{}}}", parameter.name));
            if is_lost || is_own(self.document, parameter) {
                continue;
            }
            let read = read_parameter(self.document, parameter, &mut names, writer)?;
            arguments.add(&read);
            parameters.push(read.parameter);
        }
        self.add_undeclared(found, &mut names, &mut arguments, &mut parameters);
        let body = read_body(self.document, &found.node, &declared, &mut names, writer)?;
        let body = body.map(|body| arguments.add_body(body));
        let operation = Operation {
            id: found.id.clone(),
            method: found.method.clone(),
            path: found.path.to_owned(),
            server: self
                .document
                .server_of(&found.node)
                .or_else(|| self.document.server_of(&found.path_item)),
            parameters,
            body,
            responses: self.responses(found),
            security: security(self.document, &found.node),
        };
        Ok((operation, arguments.schema(writer.definitions())))
    }

    /// Adds the parameters that are in the path and not declared.
    fn add_undeclared(
        &mut self,
        found: &FoundOperation<'d>,
        names: &mut ArgumentNames,
        arguments: &mut ToolArguments,
        parameters: &mut Vec<Parameter>,
    ) {
        let parts = found.path.split('{').skip(1).filter_map(|part| part.split_once('}'));
        for (name, _) in parts {
            if parameters.iter().any(|known| known.location == Location::Path && known.name == name) {
                continue;
            }
            let message = format!("the parameter `{name}` of the path is not declared, so it is any text");
            self.issue(&found.node.place, message);
            let node = json!({"explode": false});
            let serialization =
                super::parameters::style(&Node { value: &node, place: String::new() }, Location::Path);
            let argument = names.take(name, Location::Path);
            let parameter =
                Parameter { argument, name: name.to_owned(), location: Location::Path, serialization };
            let read = ReadParameter { parameter, schema: json!({"type": "string"}), is_required: true };
            arguments.add(&read);
            parameters.push(read.parameter);
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
                    description: super::readable::readable(
                        response.text("description").unwrap_or_default(),
                        200,
                    ),
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
        let contents = response.members("content").into_iter();
        contents.map(|(media_type, media)| (media_type.to_owned(), schema_place(&media))).collect()
    }

    fn description(&mut self, found: &FoundOperation<'d>) -> String {
        let FoundOperation { node, .. } = found;
        let mut writer = self.writer(Direction::Request, 0);
        let own = node.value.pointer("/x-speakeasy-mcp/description").and_then(Value::as_str);
        let mut text =
            |name: &str| writer.text(own.or_else(|| node.text(name)).unwrap_or_default(), &node.place);
        let summary = text("summary");
        let description = text("description");
        self.issues.append(&mut writer.issues);
        let words = |text: &str| text.trim_end_matches('.').to_lowercase();
        let mut about = if words(&description).starts_with(&words(&summary)) {
            description
        } else if description.is_empty() || words(&summary).starts_with(&words(&description)) {
            summary
        } else {
            let mark = if summary.ends_with(['.', '!', '?']) { "" } else { "." };
            super::readable::readable(
                &format!("{summary}{mark}\n{description}"),
                self.settings.limits.description,
            )
        };
        if about.is_empty() {
            about = format!("{} {}", found.method, found.path);
        }
        if node.flag("deprecated") { format!("Deprecated. {about}") } else { about }
    }

    /// Returns the schema of the first successful answer in JSON.
    fn output_schema(&self, operation: &Operation) -> Option<Value> {
        let successes = operation.responses.iter().filter(|response| response.status.starts_with('2'));
        let mut contents = successes.flat_map(|response| &response.content);
        let (_, place) = contents.find(|(media_type, _)| is_json(media_type))?;
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
        let definitions = writer.definitions();
        if let Value::Object(keywords) = &mut schema
            && !definitions.is_empty()
        {
            keywords.insert("$defs".to_owned(), definitions.into());
        }
        Some(schema)
    }
}

/// The arguments of an operation, as one object.
#[derive(Default)]
struct ToolArguments {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The members of an optional body, and those of them that are required beside any other.
    optional_body: Option<(Vec<String>, Vec<String>)>,
    choice: Option<(String, Value)>,
}

impl ToolArguments {
    fn add(&mut self, read: &ReadParameter) {
        let argument = read.parameter.argument.clone();
        if read.is_required {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument, read.schema.clone());
    }

    fn add_body(&mut self, read: ReadBody) -> super::operation::Body {
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

    fn schema(self, definitions: Map<String, Value>) -> Map<String, Value> {
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

fn info<'f>(found: &'f FoundOperation<'_>) -> OperationInfo<'f> {
    OperationInfo { id: &found.id, method: found.method.as_str(), path: found.path, object: found.node.value }
}

fn unnamed(found: &FoundOperation<'_>) -> Unnamed {
    let key = format!("{} {}", found.method.as_str().to_ascii_lowercase(), found.path);
    let own = found.node.value.pointer("/x-speakeasy-mcp/name").and_then(Value::as_str);
    let id = own.or_else(|| found.node.text("operationId").filter(|id| !id.trim().is_empty()));
    Unnamed { id: id.unwrap_or(&key).to_owned(), tag: info(found).tags().next().map(str::to_owned), key }
}

fn security(document: &Document, operation: &Node<'_>) -> Vec<Vec<SecurityRequirement>> {
    let own = operation.value.get("security").or_else(|| document.root().value.get("security"));
    let ways = own.and_then(Value::as_array).into_iter().flatten();
    let requirement = |(scheme, scopes): (&String, &Value)| {
        let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
        SecurityRequirement { scheme: scheme.clone(), scopes: scopes.map(str::to_owned).collect() }
    };
    ways.map(|way| way.as_object().into_iter().flatten().map(requirement).collect()).collect()
}

/// Returns the metadata of a tool, with the hints that the method gives (RFC 9110, 9.2).
fn metadata(found: &FoundOperation<'_>) -> ToolMetadata {
    let is_safe = matches!(found.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY");
    let is_deletion = found.method == Method::DELETE;
    let is_idempotent = is_safe || is_deletion || found.method == Method::PUT;
    let mut metadata = ToolMetadata::default().with_tags(info(found).tags().map(toolkit_foreign::clean));
    let scopes = found.node.value.pointer("/x-speakeasy-mcp/scopes").and_then(Value::as_array);
    metadata = metadata.with_tags(scopes.into_iter().flatten().filter_map(Value::as_str));
    metadata.tags.insert(ToolTag::Network);
    if is_safe {
        metadata.tags.insert(ToolTag::ReadOnly);
    }
    if is_deletion {
        metadata.tags.insert(ToolTag::Destructive);
    }
    metadata.read_only = Some(is_safe);
    metadata.destructive = if is_safe { Some(false) } else { is_deletion.then_some(true) };
    metadata.idempotent = is_idempotent.then_some(true);
    metadata.open_world = Some(true);
    metadata.is_async = true;
    metadata.source = ToolSource::OpenApi;
    metadata.source_detail = format!("{} {}", found.method, found.path);
    metadata
}

/// Returns whether a schema has at most this size, in bytes of compact JSON.
fn is_at_most(schema: &Map<String, Value>, bytes: usize) -> bool {
    serde_json::to_string(schema).is_ok_and(|text| text.len() <= bytes)
}
