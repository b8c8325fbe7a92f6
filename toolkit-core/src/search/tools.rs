//! The two search tools: `discover_tools` and `call_deferred`.

use super::catalog::Catalog;
use super::deferred::{DeferredCall, TARGET};
use super::index::ToolMatch;
use super::{CALL_DEFERRED, DISCOVER_TOOLS};
use crate::args::parse_value;
use crate::context::ToolContext;
use crate::definition::{Tool, ToolDefinition, ToolFuture, ToolMetadata, begin, check};
use crate::error::ToolError;
use crate::name::{Separator, ToolName};
use crate::output::ToolOutput;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The default number of matches of `discover_tools`.
const TOP_K: u64 = 10;

struct SearchTool {
    definition: ToolDefinition,
    catalog: Arc<Catalog>,
    run: for<'a> fn(&'a Catalog, &'a str, &'a ToolContext) -> ToolFuture<'a>,
    check: fn(&Catalog, &str, &ToolContext) -> Result<(), ToolError>,
}

impl Tool for SearchTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (self.run)(&self.catalog, arguments, context)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        let arguments = self.definition.normal_arguments(arguments, Some(context))?;
        (self.check)(&self.catalog, &arguments, context)
    }
}

pub(crate) fn search_tools(catalog: &Arc<Catalog>) -> [Arc<dyn Tool>; 2] {
    let about = format!(
        "Calls a tool that is not in your list. Find it with {DISCOVER_TOOLS} first; then give its name as \
         {TARGET} and its own arguments beside that, as in {{\"{TARGET}\": \"search\", \"query\": \"crabs\"}}."
    );
    let parameters = json!({
        "type": "object",
        "properties": {TARGET: {"type": "string", "description": "The name of the tool"}},
        "required": [TARGET],
        "additionalProperties": true,
    });
    let call = search_definition(CALL_DEFERRED, about, parameters);
    let mut about =
        "Finds tools, also those that are not in your list. The exact name of a tool gives its full \
                 schema; other words are looked for in names, descriptions, tags, parameters and hints."
            .to_owned();
    // Only the description of `discover_tools` has the list; that of `call_deferred` refers to it.
    let list = catalog.list();
    if !list.is_empty() {
        about.push_str(&format!("\n\n{list}"));
    }
    let parameters = json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "The name of a tool, or words that say what you need to do",
                "minLength": 1,
                "pattern": r"\S",
            },
            "top_k": {
                "type": "integer",
                "description": "How many tools you want at most",
                "minimum": 1,
                "default": TOP_K,
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let metadata = ToolMetadata::default().with_read_only(true).with_idempotent(true).with_open_world(false);
    let discover = search_definition(DISCOVER_TOOLS, about, parameters);
    [
        Arc::new(SearchTool {
            definition: call,
            catalog: catalog.clone(),
            run: call_deferred,
            check: check_target,
        }),
        Arc::new(SearchTool {
            definition: discover.with_metadata(metadata),
            catalog: catalog.clone(),
            run: |catalog, arguments, _| ToolFuture::ready(discover_tools(catalog, arguments)),
            check: |_, _, _| Ok(()),
        }),
    ]
}

fn search_definition(name: &str, description: String, parameters: Value) -> ToolDefinition {
    ToolDefinition::new(ToolName::unchecked(None, name, Separator::default()), description, parameters)
}

/// A tool found by `discover_tools`, as JSON for the model.
#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    description: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    deferred: bool,
    /// The parameter schema, if the tool is deferred or the model searched for its exact name.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

fn discover_tools(catalog: &Catalog, arguments: &str) -> Result<ToolOutput, ToolError> {
    let arguments = parse_value(arguments)?;
    let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    let limit = arguments.get("top_k").and_then(Value::as_u64).unwrap_or(TOP_K);
    let top_k = usize::try_from(limit).unwrap_or(usize::MAX);
    let Catalog { index, options, names, call_reason } = catalog;
    let mut found = Vec::new();
    for ToolMatch { tool, score, is_exact } in index.find(names.unspell(query), top_k, options) {
        let definition = tool.definition();
        let deferred = definition.metadata.defer;
        let mut parameters = None;
        if deferred || is_exact {
            parameters = Some(definition.published(*call_reason).into_owned().parameters);
        }
        found.push(json!(Found {
            name: names.spell(definition.name.as_str()),
            description: &definition.description,
            score: (score * 100.0).round() / 100.0,
            namespace: definition.name.namespace(),
            deferred,
            parameters,
        }));
    }
    ToolOutput::json(&found).map_err(ToolError::invalid_output)
}

/// Returns the target of a `call_deferred` call and its arguments.
fn target<'a>(catalog: &'a Catalog, arguments: &str) -> Result<(&'a Arc<dyn Tool>, String), ToolError> {
    let call = DeferredCall::read(arguments)?;
    let tool = catalog.deferred(&call.target)?;
    // The call reason has already been removed.
    let arguments = call.arguments_for(&**tool, false);
    Ok((tool, arguments))
}

fn check_target(catalog: &Catalog, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
    let (tool, arguments) = target(catalog, arguments)?;
    check(&**tool, &arguments, context)
}

/// Runs `call_deferred`. The registry and the dispatcher do not need it: they find and call the deferred
/// tool directly.
fn call_deferred<'a>(catalog: &'a Catalog, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
    let run = async move {
        let (tool, arguments) = target(catalog, arguments)?;
        begin(&**tool, &arguments, context).await
    };
    ToolFuture::new(run)
}
