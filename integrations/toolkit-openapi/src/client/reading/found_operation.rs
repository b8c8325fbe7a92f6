//! An operation as it stands in the document, and what it says about its tool.

use super::choice::OperationInfo;
use super::names::Unnamed;
use crate::client::document::{Document, Node, of_text, of_value};
use crate::client::operation::SecurityRequirement;
use crate::client::schema::{SchemaWriter, readable};
use http::Method;
use serde_json::Value;
use toolkit_core::definition::ToolSource;
use toolkit_core::{ToolMetadata, ToolTag};

pub(super) struct FoundOperation<'d> {
    pub(super) path: &'d str,
    pub(super) path_item: Node<'d>,
    pub(super) method: Method,
    pub(super) node: Node<'d>,
    pub(super) id: String,
}

/// The number of values that an operation counts as, without its contents.
const OPERATION: usize = 16;

impl<'d> FoundOperation<'d> {
    /// Returns the operation's number of values, without its parameters, its body and its answers.
    pub(super) fn cost(&self) -> usize {
        let about = ["tags", "x-speakeasy-mcp"].iter().filter_map(|name| self.node.value.get(name));
        OPERATION + of_text(self.id.len() + self.path.len()) + about.map(of_value).sum::<usize>()
    }

    /// Returns the path without its fragment, which is no part of a request. `#` in the name of a parameter
    /// begins none.
    pub(super) fn sent_path(&self) -> &'d str {
        let mut is_name = false;
        for (index, byte) in self.path.bytes().enumerate() {
            is_name = byte == b'{' || is_name && byte != b'}';
            if byte == b'#' && !is_name {
                return &self.path[..index];
            }
        }
        self.path
    }

    pub(super) fn path_names(&self) -> impl Iterator<Item = &'d str> + use<'d> {
        self.sent_path().split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
    }
}

pub(super) fn info<'f>(found: &'f FoundOperation<'_>) -> OperationInfo<'f> {
    OperationInfo { id: &found.id, method: found.method.as_str(), path: found.path, object: found.node.value }
}

pub(super) fn unnamed(found: &FoundOperation<'_>) -> Unnamed {
    let key = format!("{} {}", found.method.as_str().to_ascii_lowercase(), found.path);
    let own = found.node.value.pointer("/x-speakeasy-mcp/name").and_then(Value::as_str);
    let operation_id = found.node.text("operationId").filter(|id| !id.trim().is_empty());
    let id = own.or(operation_id).unwrap_or(&key).to_owned();
    Unnamed { id, tag: info(found).tags().next().map(str::to_owned), key }
}

/// Returns a tool's description: its operation's summary and description, without repetitions.
pub(super) fn description(found: &FoundOperation<'_>, writer: &mut SchemaWriter<'_>) -> String {
    let node = &found.node;
    let own = node.value.pointer("/x-speakeasy-mcp/description").and_then(Value::as_str);
    let summary = writer.text(own.or(node.text("summary")).unwrap_or_default(), &node.place);
    let description = writer.text(own.or(node.text("description")).unwrap_or_default(), &node.place);
    let summary_words = summary.trim_end_matches('.').to_lowercase();
    let description_words = description.trim_end_matches('.').to_lowercase();
    let mut about = if description_words.starts_with(&summary_words) {
        description
    } else if description.is_empty() || summary_words.starts_with(&description_words) {
        summary
    } else {
        let mark = if summary.ends_with(['.', '!', '?']) { "" } else { "." };
        readable(&format!("{summary}{mark}\n{description}"), writer.description)
    };
    if about.is_empty() {
        about = format!("{} {}", found.method, found.path);
    }
    if node.flag("deprecated") { format!("Deprecated. {about}") } else { about }
}

pub(super) fn security(document: &Document, operation: &Node<'_>) -> Vec<Vec<SecurityRequirement>> {
    let own = operation.value.get("security").or_else(|| document.root().value.get("security"));
    let mut ways = Vec::new();
    for alternative in own.and_then(Value::as_array).into_iter().flatten() {
        let mut way = Vec::new();
        for (scheme, names) in alternative.as_object().into_iter().flatten() {
            let texts = names.as_array().into_iter().flatten().filter_map(Value::as_str);
            let scopes = texts.map(str::to_owned).collect();
            way.push(SecurityRequirement { scheme: scheme.clone(), scopes });
        }
        ways.push(way);
    }
    ways
}

/// Returns a tool's metadata, with the hints of the method (RFC 9110, 9.2).
pub(super) fn metadata(found: &FoundOperation<'_>) -> ToolMetadata {
    let is_safe = matches!(found.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY");
    let is_deletion = found.method == Method::DELETE;
    let is_idempotent = is_safe || is_deletion || found.method == Method::PUT;
    let mut metadata =
        ToolMetadata::default().with_tags(info(found).tags().map(toolkit_core::foreign::clean));
    let scopes = found.node.value.pointer("/x-speakeasy-mcp/scopes").and_then(Value::as_array);
    metadata = metadata.with_tags(scopes.into_iter().flatten().filter_map(Value::as_str));
    metadata.tags.insert(ToolTag::Network);
    if is_safe {
        metadata.tags.insert(ToolTag::ReadOnly);
        metadata.destructive = Some(false);
    }
    if is_deletion {
        metadata.tags.insert(ToolTag::Destructive);
        metadata.destructive = Some(true);
    }
    metadata.read_only = Some(is_safe);
    metadata.idempotent = if is_idempotent { Some(true) } else { None };
    metadata.open_world = Some(true);
    metadata.is_async = true;
    metadata.source = ToolSource::OpenApi;
    metadata.source_detail = format!("{} {}", found.method, found.path);
    metadata
}
