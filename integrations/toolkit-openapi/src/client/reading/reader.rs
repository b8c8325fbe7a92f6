//! The operations of a document become tools.

use super::arguments::ArgumentsDraft;
use super::choice::{Choice, METHODS, Namespaces, OperationInfo};
use super::described_answers::{output_place, responses, written_schema};
use super::found_operation::{FoundOperation, description, info, metadata, security, unnamed};
use super::names::{Unnamed, tool_names};
use super::parameters::{Declared, declared, is_own, read_parameter};
use super::reduction::{Reduction, too_large};
use super::request_body::read_body;
use crate::client::document::{
    Budget, Document, Node, OpenApiIssue, OpenApiLimits, OperationFault, below, of_text, of_value,
};
use crate::client::operation::{
    Body, CredentialNames, Location, Operation, Parameter, SecurityRequirement, Serialization, Style,
};
use crate::client::schema::{Direction, HiddenMembers, SchemaWriter};
use http::Method;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use toolkit_core::foreign::{SchemaLimits, checked_parameters, checked_schema, shorten};
use toolkit_core::schema::__private::MAX_DEPTH;
use toolkit_core::schema::nearest;
use toolkit_core::{ToolDefinition, ToolName};

#[derive(Debug, Clone)]
pub(crate) struct OperationTool {
    pub(crate) definition: ToolDefinition,
    pub(crate) operation: Operation,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ReaderSettings {
    pub(crate) choice: Choice,
    pub(crate) namespaces: Namespaces,
    pub(crate) has_output_schemas: bool,
    pub(crate) limits: OpenApiLimits,
}

pub(crate) struct Reader<'d> {
    document: &'d Document,
    settings: &'d ReaderSettings,
    hidden: HiddenMembers<'d>,
    hidden_answers: HiddenMembers<'d>,
    credentials: Arc<CredentialNames>,
    budget: Budget,
    issues: BTreeSet<OpenApiIssue>,
}

impl<'d> Reader<'d> {
    /// Returns the chosen operations as tools of at most `values` values, and what could not be read.
    pub(crate) fn read(
        document: &'d Document,
        settings: &'d ReaderSettings,
        values: usize,
    ) -> (Vec<OperationTool>, Vec<OpenApiIssue>) {
        let mut reader = Self {
            document,
            settings,
            hidden: HiddenMembers::new(document, Direction::Request),
            hidden_answers: HiddenMembers::new(document, Direction::Answer),
            credentials: Arc::new(CredentialNames::new(document)),
            budget: Budget::new(values),
            issues: BTreeSet::new(),
        };
        let all = reader.find();
        let chosen = reader.choose(all);
        let unnamed: Vec<Unnamed> = chosen.iter().map(unnamed).collect();
        let names = tool_names(&unnamed, &settings.namespaces);
        let mut tools = Vec::new();
        for (index, (found, name)) in chosen.iter().zip(names).enumerate() {
            let tool = match name {
                Ok(name) => reader.tool(found, name),
                Err(error) => Err(OperationFault::new(&found.node.place, error.to_string())),
            };
            if reader.budget.is_spent() {
                reader.beyond(&found.node.place, &found.id, chosen.len() - index);
                break;
            }
            match tool {
                Ok(tool) => tools.push(tool),
                Err(OperationFault { place, reason }) => {
                    reader.issue(&place, format!("`{}` was left out: {reason}", found.id));
                }
            }
        }
        (tools, reader.issues.into_iter().collect())
    }

    /// Reports that `first` at `place` was left out, and all that follow it, `count` in number.
    fn beyond(&mut self, place: &str, first: &str, count: usize) {
        let limit = self.budget.limit;
        let first = shorten(first.to_owned(), 100);
        let message = format!(
            "`{first}` and all that follow it, {count} in number, were left out, because the tools have more than {limit} \
             values; choose operations with `only_operations` or `only_tags`, or raise `OpenApiLimits::values_per_byte` \
             and `values`"
        );
        self.issue(place, message);
    }

    /// Takes values for a part of an operation.
    ///
    /// # Errors
    /// They are not left.
    fn take(&mut self, values: usize) -> Result<(), OperationFault> {
        if self.budget.take(values) { Ok(()) } else { Err(spent()) }
    }

    fn issue(&mut self, place: &str, message: impl Into<String>) {
        self.issues.insert(OpenApiIssue::new(place, message));
    }

    fn find(&mut self) -> Vec<FoundOperation<'d>> {
        let mut all = Vec::new();
        // A path may be a reference to the operations of another one.
        let mut budget = Budget::new(self.budget.limit);
        let paths = self.document.root().members("paths");
        if paths.is_empty() {
            self.issue("", without_paths(self.document));
        }
        let count = paths.len();
        for (index, (path, item)) in paths.into_iter().enumerate() {
            if !path.starts_with('/') {
                if !path.starts_with("x-") {
                    self.issue(&item.place, "was left out: a path begins with `/`");
                }
                continue;
            }
            let place = item.place.clone();
            match self.resolved_path(item) {
                Ok(path_item) => self.add_operations(path, &path_item, &mut budget, &mut all),
                Err(reason) => self.issue(&place, format!("the path was left out: {reason}")),
            }
            if budget.is_spent() {
                self.beyond(&place, path, count - index);
                break;
            }
        }
        all
    }

    /// Resolves a path item, whose operations may stand beside its reference.
    fn resolved_path(&self, item: Node<'d>) -> Result<Node<'d>, String> {
        let has_operations = METHODS.iter().any(|method| item.value.get(method).is_some());
        if has_operations { Ok(item) } else { self.document.resolve(item) }
    }

    fn add_operations(
        &mut self,
        path: &'d str,
        path_item: &Node<'d>,
        budget: &mut Budget,
        all: &mut Vec<FoundOperation<'d>>,
    ) {
        let mut operations: Vec<(String, Node<'d>)> = Vec::new();
        for (member, value) in path_item.value.as_object().into_iter().flatten() {
            if METHODS.contains(&member.as_str()) {
                let node = Node { value, place: below(&path_item.place, member) };
                operations.push((member.to_ascii_uppercase(), node));
            }
        }
        for (method, node) in path_item.members("additionalOperations") {
            operations.push((method.to_owned(), node));
        }
        for (method_name, operation) in operations {
            let Ok(method) = Method::from_bytes(method_name.as_bytes()) else {
                self.issue(&operation.place, "was left out: the method is illegal");
                continue;
            };
            let place = operation.place.clone();
            let node = match self.document.resolve(operation) {
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
            let id = match node.text("operationId") {
                Some(id) if !id.trim().is_empty() => id.to_owned(),
                _ => format!("{method} {path}"),
            };
            let found = FoundOperation { path, path_item: path_item.clone(), method, node, id };
            if !budget.take(found.cost()) {
                return;
            }
            all.push(found);
        }
    }

    /// Returns the operations that the program chose. An unknown name is an issue.
    fn choose(&mut self, all: Vec<FoundOperation<'d>>) -> Vec<FoundOperation<'d>> {
        let known: Vec<OperationInfo<'_>> = all.iter().map(info).collect();
        self.issues.extend(self.settings.choice.unknown(&known));
        let mut chosen = Vec::new();
        for found in all {
            let is_disabled =
                found.node.value.pointer("/x-speakeasy-mcp/disabled") == Some(&Value::Bool(true));
            if !is_disabled && self.settings.choice.includes(&info(&found)) {
                chosen.push(found);
            }
        }
        chosen
    }

    fn tool(&mut self, found: &FoundOperation<'d>, name: ToolName) -> Result<OperationTool, OperationFault> {
        self.take(found.cost())?;
        let declared = declared(self.document, &found.path_item, &found.node)?;
        self.take(declared.len())?;
        let mut cost = 0;
        let mut reached = usize::MAX;
        let mut reductions = Reduction::all(&self.settings.limits);
        let (schema, request) = loop {
            // A cut below all levels that were reached would change nothing.
            let Some(reduction) = reductions.find(|reduction| reduction.deepest <= reached) else {
                self.take(cost)?;
                return Err(OperationFault::new(&found.node.place, too_large()));
            };
            let mut writer = self.writer(reduction.deepest);
            writer.description = reduction.description;
            let mut arguments = ArgumentsDraft::new(writer, reduction.kept);
            let request = self.request(found, &declared, &mut arguments)?;
            let schema = arguments.finish(self.settings.limits.schema_bytes);
            cost = cost.max(arguments.writer.meter.cost());
            reached = arguments.writer.reached.saturating_sub(1);
            if let Some(schema) = schema {
                if arguments.writer.is_cut || arguments.left_out > 0 {
                    let message = reduction.message(arguments.left_out, &self.settings.limits);
                    self.issue(&found.node.place, message);
                }
                self.issues.append(&mut arguments.writer.issues);
                break (schema, request);
            }
        };
        self.take(cost.max(schema.values().map(of_value).sum()))?;
        let operation = self.operation(found, request)?;
        let limits = SchemaLimits { bytes: usize::MAX, depth: MAX_DEPTH };
        let mut notes = Vec::new();
        let parameters = match checked_parameters(schema, limits, &mut notes) {
            Ok(parameters) => parameters,
            Err((_, reason)) => return Err(OperationFault::new(&found.node.place, reason)),
        };
        for (_, message) in notes {
            self.issue(&found.node.place, message);
        }
        let mut writer = self.writer(0);
        let description = description(found, &mut writer);
        self.take(writer.meter.cost())?;
        self.issues.append(&mut writer.issues);
        let mut definition =
            ToolDefinition::new(name, description, parameters).with_metadata(metadata(found));
        if self.settings.has_output_schemas
            && let Some(schema) = self.output_schema(&operation)?
        {
            definition = definition.with_output_schema(schema);
        }
        Ok(OperationTool { definition, operation })
    }

    fn writer(&self, deepest: usize) -> SchemaWriter<'d> {
        SchemaWriter::new(self.hidden.clone(), &self.settings.limits, deepest)
    }

    /// Reads the parameters and the body of an operation, until they exceed the limit.
    fn request(
        &mut self,
        found: &FoundOperation<'d>,
        declared: &[Declared<'d>],
        arguments: &mut ArgumentsDraft<'d>,
    ) -> Result<RequestParts, OperationFault> {
        let names: HashSet<&str> = found.path_names().collect();
        let mut sent: Vec<&Declared<'_>> = Vec::new();
        for parameter in declared {
            let is_of_body = matches!(parameter.location, "body" | "formData");
            let is_lost = parameter.location == "path" && !names.contains(parameter.name);
            if !is_of_body && !is_lost && !is_own(&self.credentials, parameter) {
                sent.push(parameter);
            }
        }
        let order = ["path", "query", "querystring", "header", "cookie"];
        sent.sort_by_key(|parameter| order.iter().position(|location| *location == parameter.location));
        let mut parameters = Vec::new();
        for parameter in sent {
            if arguments.writer.meter.is_full() {
                break;
            }
            let is_required = parameter.node.flag("required") || parameter.location == "path";
            if arguments.keeps(is_required, std::slice::from_ref(&parameter.node)) {
                parameters.push(read_parameter(parameter, arguments)?);
            }
        }
        self.add_undeclared(found, arguments, &mut parameters);
        Ok(RequestParts { parameters, body: read_body(&found.node, declared, arguments)? })
    }

    fn operation(
        &mut self,
        found: &FoundOperation<'d>,
        RequestParts { parameters, body }: RequestParts,
    ) -> Result<Operation, OperationFault> {
        let document = self.document;
        let security = security(document, &found.node);
        let server = document.server_of(&found.node).or_else(|| document.server_of(&found.path_item));
        let mut cost = of_text(server.as_ref().map_or(0, String::len));
        for way in &security {
            cost += 1 + way.iter().map(SecurityRequirement::cost).sum::<usize>();
        }
        self.take(cost)?;
        Ok(Operation {
            id: found.id.clone(),
            method: found.method.clone(),
            path: found.sent_path().to_owned(),
            server,
            parameters,
            body,
            responses: responses(document, found, &mut self.budget, &mut self.issues).ok_or_else(spent)?,
            security,
            credentials: self.credentials.clone(),
        })
    }

    fn add_undeclared(
        &mut self,
        found: &FoundOperation<'d>,
        arguments: &mut ArgumentsDraft<'d>,
        parameters: &mut Vec<Parameter>,
    ) {
        let mut known: HashSet<String> = HashSet::new();
        for parameter in parameters.iter() {
            if parameter.location == Location::Path {
                known.insert(parameter.name.clone());
            }
        }
        for name in found.path_names() {
            if arguments.writer.meter.is_full() || !known.insert(name.to_owned()) {
                continue;
            }
            let message = format!("the parameter `{name}` of the path is not declared, so it is any text");
            self.issue(&found.node.place, message);
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

    /// Returns the schema of the first successful answer in JSON, within the limit.
    fn output_schema(&mut self, operation: &Operation) -> Result<Option<Value>, OperationFault> {
        let Some(place) = output_place(operation) else { return Ok(None) };
        let mut writer = SchemaWriter::new(self.hidden_answers.clone(), &self.settings.limits, usize::MAX);
        let Some(schema) = written_schema(place, &mut writer) else {
            self.take(writer.meter.cost())?;
            return Ok(None);
        };
        self.take(writer.meter.cost().max(of_value(&schema)))?;
        let limits = SchemaLimits { bytes: self.settings.limits.schema_bytes, depth: MAX_DEPTH };
        Ok(checked_schema(schema, limits, &mut Vec::new()).ok())
    }
}

fn without_paths(document: &Document) -> String {
    let members = document.root().value.as_object();
    let names = members.into_iter().flatten().map(|(name, _)| name.as_str());
    let advice = match nearest("paths", names).first() {
        Some(near) if *near != "paths" => format!("; rename `{near}` to `paths`"),
        _ => String::new(),
    };
    format!("The document has no operations under `paths`, so it gives no tools{advice}")
}

/// What the arguments of an operation become.
struct RequestParts {
    parameters: Vec<Parameter>,
    body: Option<Body>,
}

/// Returns the fault of an operation without values left. One issue names all of them.
fn spent() -> OperationFault {
    OperationFault::new("", "")
}
