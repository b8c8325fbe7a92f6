//! The settings of a toolset.

use super::OpenApiTools;
use super::tool::OpenApiTool;
use crate::client::document::{Document, OpenApiLimits, TextRole, allowed, apply_overlay, parse_document};
use crate::client::reading::{Namespaces, OperationInfo, OperationTool, Reader, ReaderSettings};
use crate::client::service::{RequestSettings, Service, fetch_document};
use crate::error::{OpenApiError, OpenApiErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::definition::AdaptedTool;
use toolkit_core::{BuildError, Tool};

/// The default number of tools above which tool search is on.
const SEARCH_ABOVE: usize = 40;

type Adaptation = Box<dyn Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync>;

/// Configures an [`OpenApiTools`].
///
/// An operation must meet the conditions of all `only_…` methods.
///
/// ```
/// use toolkit_ai::{ArgumentTransform, ToolName, ToolProvider};
/// use toolkit_ai::openapi::client::{Namespaces, OpenApiTools};
///
/// # let document = r#"{"openapi": "3.1.0", "paths": {"/search": {"get": {"operationId": "search", "parameters": [
/// #     {"name": "q", "in": "query"}, {"name": "tenant", "in": "query"}]}, "delete": {"operationId": "clear"}}}}"#;
/// let toolset = OpenApiTools::builder()
///     .only_methods(["GET"])
///     .only(|operation| !operation.is_deprecated())
///     .namespaces(Namespaces::One("shop".to_owned()))
///     .adapt("search", |tool| {
///         tool.with_description("Finds products.").with_arguments([ArgumentTransform::new("tenant").fixed("acme")])
///     })
///     .read_document(document)?;
/// let [search] = &toolset.tools()[..] else { panic!("one tool") };
/// assert_eq!((search.name.as_str(), search.description.as_str()), ("shop-search", "Finds products."));
/// assert_eq!(search.parameters["properties"].as_object().map(|members| members.len()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct OpenApiToolsBuilder {
    pub(super) reader: ReaderSettings,
    /// The addresses and texts of further documents.
    documents: Vec<(String, String)>,
    overlays: Vec<String>,
    adaptations: Vec<(String, Adaptation)>,
    search_above: usize,
    pub(super) requests: RequestSettings,
}

impl Default for OpenApiToolsBuilder {
    fn default() -> Self {
        Self {
            reader: ReaderSettings::default(),
            documents: Vec::new(),
            overlays: Vec::new(),
            adaptations: Vec::new(),
            search_above: SEARCH_ABOVE,
            requests: RequestSettings::default(),
        }
    }
}

impl OpenApiToolsBuilder {
    /// Takes only operations with one of these tags.
    ///
    /// An unused tag is an issue.
    pub fn only_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        let tags: Vec<String> = tags.into_iter().map(Into::into).collect();
        self.reader.choice.tags.extend(tags.iter().cloned());
        self.only(move |operation| has_any_tag(operation, &tags))
    }

    /// Takes only the operations with these ids: an `operationId`, or as in `GET /users/{id}`.
    ///
    /// An unknown id is an issue.
    pub fn only_operations<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        let ids: BTreeSet<String> = ids.into_iter().map(Into::into).collect();
        self.reader.choice.operations.extend(ids.iter().cloned());
        self.only(move |operation| ids.contains(operation.id))
    }

    /// Takes only operations with one of these methods, in any letter case.
    ///
    /// An unknown method is an issue.
    pub fn only_methods<T: Into<String>>(mut self, methods: impl IntoIterator<Item = T>) -> Self {
        let methods: Vec<String> = methods.into_iter().map(Into::into).collect();
        self.reader.choice.methods.extend(methods.iter().cloned());
        self.only(move |operation| methods.iter().any(|method| method.eq_ignore_ascii_case(operation.method)))
    }

    /// Takes only operations whose path begins with one of these texts: `/order` takes `/orders`, too, and
    /// `/order/` does not.
    ///
    /// A text that matches no path is an issue.
    pub fn only_paths<T: Into<String>>(mut self, starts: impl IntoIterator<Item = T>) -> Self {
        let starts: Vec<String> = starts.into_iter().map(Into::into).collect();
        self.reader.choice.paths.extend(starts.iter().cloned());
        self.only(move |operation| starts.iter().any(|start| operation.path.starts_with(start)))
    }

    /// Takes only operations that meet a condition.
    pub fn only(mut self, condition: impl Fn(&OperationInfo<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.reader.choice.add(condition);
        self
    }

    /// Sets the namespaces of the tools; [`Namespaces::Tags`] by default.
    pub fn namespaces(mut self, namespaces: Namespaces) -> Self {
        self.reader.namespaces = namespaces;
        self
    }

    /// Changes the name, description, metadata or arguments of an operation's tool.
    ///
    /// See [`AdaptedTool`]. An unknown id is an issue.
    pub fn adapt(
        mut self,
        operation: impl Into<String>,
        change: impl Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let operation = operation.into();
        self.reader.choice.operations.push(operation.clone());
        self.adaptations.push((operation, Box::new(change)));
        self
    }

    /// Applies an overlay (OpenAPI Overlay Specification 1, in JSON or YAML) to the document.
    ///
    /// Overlays apply in their order. Paths may have names, indices, wildcards, descendants, and filters that
    /// compare for equality.
    pub fn overlay(mut self, text: impl Into<String>) -> Self {
        self.overlays.push(text.into());
        self
    }

    /// Adds a document that references name by its address.
    ///
    /// Nothing is fetched: references to other documents are refused.
    pub fn document(mut self, address: impl Into<String>, text: impl Into<String>) -> Self {
        self.documents.push((address.into(), text.into()));
        self
    }

    /// Gives each definition an output schema, from the operation's first successful answer.
    ///
    /// Off by default, to save memory. Answers are checked in any case.
    pub fn output_schemas(mut self) -> Self {
        self.reader.has_output_schemas = true;
        self
    }

    /// Sets the number of tools above which [`registry`](OpenApiTools::registry) turns tool search on; 40 by
    /// default.
    pub fn tool_search_above(mut self, tools: usize) -> Self {
        self.search_above = tools;
        self
    }

    /// Sets the limits of the document and of the definitions.
    pub fn document_limits(mut self, limits: OpenApiLimits) -> Self {
        self.reader.limits = limits;
        self
    }

    /// Reads a document in JSON, or in YAML with the feature `yaml`.
    ///
    /// # Errors
    /// The document is too large or not OpenAPI, an overlay cannot be applied, an adapted tool is faulty, or
    /// a secret does not fit its scheme. A fault of an operation is an [issue](OpenApiTools::issues).
    pub fn read_document(self, text: &str) -> Result<OpenApiTools, OpenApiError> {
        self.read(text, "")
    }

    /// Reads the document in a file.
    ///
    /// # Errors
    /// The file cannot be read, or those of [`read_document`](Self::read_document).
    pub fn read_file(self, path: impl AsRef<Path>) -> Result<OpenApiTools, OpenApiError> {
        let path = path.as_ref();
        let limit = self.reader.limits.document_bytes;
        let length = fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
        if usize::try_from(length).is_ok_and(|length| length > limit) {
            return Err(OpenApiError::too_long(TextRole::Document, length, limit));
        }
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        self.read_document(&text)
    }

    /// Fetches the document from an address, to which its relative server URLs refer.
    ///
    /// # Errors
    /// The document cannot be fetched, or those of [`read_document`](Self::read_document).
    pub async fn read_address(self, address: &str) -> Result<OpenApiTools, OpenApiError> {
        let text = fetch_document(address, &self.requests, self.reader.limits.document_bytes).await?;
        self.read(&text, address)
    }

    /// Reads a document that came from an address.
    pub(crate) fn read(self, text: &str, address: &str) -> Result<OpenApiTools, OpenApiError> {
        let limits = &self.reader.limits;
        let mut root = parse_document(text, TextRole::Document, limits)?;
        for overlay in &self.overlays {
            apply_overlay(&mut root, overlay, limits)?;
        }
        let document = Arc::new(Document::new(root, address, &self.documents, limits)?);
        let given = self.documents.iter().map(|(_, text)| text).chain(&self.overlays);
        let bytes = text.len() + given.map(String::len).sum::<usize>();
        let mut issues = self.requests.credentials.check(&document)?;
        let (operations, of_document) =
            Reader::read(&document, &self.reader, allowed(&self.reader.limits, bytes));
        issues.extend(of_document);
        let service = Arc::new(Service::new(document, self.requests)?);
        let has_search = operations.len() > self.search_above;
        let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(operations.len());
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for OperationTool { mut definition, operation } in operations {
            definition.metadata.defer = has_search;
            let tool = OpenApiTool { definition, operation, service: service.clone() };
            let adapted = adapted(&self.adaptations, tool)?;
            by_name.insert(adapted.definition().name.to_string(), tools.len());
            tools.push(adapted);
        }
        Ok(OpenApiTools { tools, by_name, issues, has_search })
    }
}

fn has_any_tag(operation: &OperationInfo<'_>, tags: &[String]) -> bool {
    for tag in operation.tags() {
        if tags.iter().any(|chosen| chosen == tag) {
            return true;
        }
    }
    false
}

fn unreadable(path: &Path, error: &io::Error) -> OpenApiError {
    let message = format!("the document `{}` cannot be read: {error}", path.display());
    OpenApiError::new(OpenApiErrorKind::File, message)
}

fn adapted(adaptations: &[(String, Adaptation)], tool: OpenApiTool) -> Result<Arc<dyn Tool>, BuildError> {
    let id = tool.operation.id.clone();
    let mut changes = adaptations.iter().filter(|(operation, _)| *operation == id).peekable();
    if changes.peek().is_none() {
        return Ok(Arc::new(tool));
    }
    let mut tool = AdaptedTool::new(tool);
    for (_, change) in changes {
        tool = change(tool)?;
    }
    Ok(Arc::new(tool))
}

impl fmt::Debug for OpenApiToolsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiToolsBuilder").field("reader", &self.reader).finish_non_exhaustive()
    }
}
