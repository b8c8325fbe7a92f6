//! The tools: a list, one tool with what each API gets of it, and its calls.

use crate::page_answer::{Refused, json_answer, refusal};
use crate::page_guard::may;
use crate::page_rights::PageRights;
use crate::served_page::Served;
use crate::text_cut::cut;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use toolkit_core::definition::ToolSource;
use toolkit_core::output::serde::tool_output;
use toolkit_core::registry::RegistrySource;
use toolkit_core::{ToolCall, ToolDefinition, ToolError, ToolOutput, ToolRegistry, ToolTag};
use toolkit_llm::{ApiFormat, DefinitionOptions};

/// Longer results are cut, in bytes of JSON.
const LONGEST_RESULT: usize = 1 << 20;

type Answer = Result<Response, Refused>;

pub(crate) async fn list(State(served): State<Served>) -> Response {
    let registry = served.dispatcher.registry();
    let mut tools = Vec::new();
    for tool in registry.iter() {
        tools.push(summary(tool.definition(), None));
    }
    for (tool, reason) in registry.disabled() {
        tools.push(summary(tool.definition(), Some(reason)));
    }
    tools.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    json_answer(&json!({"tools": tools}))
}

fn summary(definition: &ToolDefinition, disabled: Option<&str>) -> Value {
    json!({
        "name": definition.name.as_str(),
        "namespace": definition.name.namespace(),
        "summary": definition.description.lines().next().unwrap_or_default(),
        "disabled": disabled,
        "read_only": definition.metadata.read_only,
        "tokens": tokens(&json!([definition.name.as_str(), definition.description, definition.parameters])),
    })
}

/// Estimates tokens: one for four ASCII characters or one other character.
fn tokens(value: &Value) -> usize {
    let text = value.to_string();
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii.div_ceil(4) + text.chars().count() - ascii
}

/// Answers a tool with its documentation, its schema, and what each API gets of it.
pub(crate) async fn show(State(served): State<Served>, Path(name): Path<String>) -> Response {
    let registry = served.dispatcher.registry();
    let Some(tool) = registry.get_any(&name) else {
        return refusal(StatusCode::NOT_FOUND, "there is no such tool");
    };
    let definition = tool.definition();
    let metadata = &definition.metadata;
    let mut apis = Vec::new();
    for format in ApiFormat::ALL {
        apis.push(of_api(&registry, definition, *format));
    }
    let mut shown = summary(definition, registry.disabled_reason(&name));
    shown["description"] = json!(definition.description);
    shown["parameters"] = json!(definition.parameters);
    shown["apis"] = json!(apis);
    shown["source"] = json!(source(metadata.source));
    shown["source_details"] = json!(metadata.source_detail);
    shown["facts"] = json!({
        "destructive": metadata.destructive,
        "idempotent": metadata.idempotent,
        "open world": metadata.open_world,
        "deferred": metadata.defer,
        "exclusive": metadata.exclusive,
        "blocking": metadata.blocking,
        "lane": metadata.lane,
        "calls at once": metadata.max_concurrency,
        "retries": metadata.retries,
        "time limit": metadata.timeout.map(|limit| format!("{limit:?}")),
        "tags": metadata.tags.iter().map(ToolTag::as_str).collect::<Vec<_>>().join(", "),
    });
    json_answer(&shown)
}

fn of_api(registry: &ToolRegistry, definition: &ToolDefinition, format: ApiFormat) -> Value {
    let names = registry.wire_names(&format);
    let encoded = format.encode_definitions([definition], &names, &DefinitionOptions::default());
    let json = encoded.to_value();
    let report = encoded.report();
    let mut losses = Vec::new();
    for lost in &report.losses {
        losses
            .push(json!({"path": lost.loss.path, "keyword": lost.loss.keyword, "reason": lost.loss.reason}));
    }
    let limits: Vec<String> = report.limits.iter().map(ToString::to_string).collect();
    let not_strict: Vec<&str> = report.not_strict.iter().map(|tool| tool.reason.as_str()).collect();
    json!({
        "name": format.name(),
        "tokens": tokens(&json),
        "json": json,
        "losses": losses,
        "limits": limits,
        "not_strict": not_strict,
    })
}

fn source(source: ToolSource) -> &'static str {
    match source {
        ToolSource::Native => "a function of the program",
        ToolSource::Dynamic => "made at run time",
        ToolSource::Mcp => "a server of the Model Context Protocol",
        ToolSource::OpenApi => "an operation of an OpenAPI document",
        ToolSource::Agent => "an agent",
        _ => "another source",
    }
}

#[derive(serde::Deserialize)]
struct CallRequest {
    id: String,
    /// JSON text, as a model writes it.
    arguments: String,
}

fn read_call(name: String, body: &Bytes) -> Result<ToolCall, Refused> {
    match serde_json::from_slice(body) {
        Ok(CallRequest { id, arguments }) => Ok(ToolCall::new(id, name, arguments)),
        Err(error) => Err(Refused(StatusCode::BAD_REQUEST, format!("the request is no call: {error}"))),
    }
}

/// Checks arguments without a call, and answers what a model would read.
pub(crate) async fn check(
    State(served): State<Served>,
    Extension(rights): Extension<PageRights>,
    Path(name): Path<String>,
    body: Bytes,
) -> Answer {
    may(rights.may_call(), "call tools")?;
    let call = read_call(name, &body)?;
    Ok(match served.dispatcher.validate(&call) {
        Ok(()) => json_answer(&json!({"valid": true})),
        Err(error) => json_answer(&json!({"valid": false, "error": error_json(&error)})),
    })
}

/// Calls a tool through the program's rules. A reader who closes the request stops the call.
pub(crate) async fn call(
    State(served): State<Served>,
    Extension(rights): Extension<PageRights>,
    Path(name): Path<String>,
    body: Bytes,
) -> Answer {
    may(rights.may_call(), "call tools")?;
    let call = read_call(name, &body)?;
    let results = served.dispatcher.dispatch([call]).await;
    let Some(result) = results.first() else {
        return Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, "the call has no result".to_owned()));
    };
    let milliseconds = result.duration.as_secs_f64() * 1e3;
    let answer = match &result.outcome {
        Ok(output) => {
            let output = tool_output_json(output);
            json!({"output": output, "ran_ms": milliseconds, "text": cut(&result.to_text(), LONGEST_RESULT)})
        }
        Err(error) => json!({"error": error_json(error), "ran_ms": milliseconds}),
    };
    Ok(json_answer(&answer))
}

/// Returns the output as JSON, or `null` if it is too large for the page.
fn tool_output_json(output: &ToolOutput) -> Value {
    match tool_output::serialize(output, serde_json::value::Serializer) {
        Ok(value) if value.to_string().len() <= LONGEST_RESULT => value,
        _ => Value::Null,
    }
}

fn error_json(error: &ToolError) -> Value {
    let mut violations = Vec::new();
    for violation in error.violations() {
        violations.push(json!({"path": violation.path, "message": violation.message}));
    }
    json!({
        "kind": format!("{:?}", error.kind()),
        "message": cut(error.message(), LONGEST_RESULT),
        "violations": violations,
    })
}

#[derive(serde::Deserialize)]
struct StateRequest {
    enabled: bool,
    #[serde(default)]
    reason: String,
}

/// Enables a tool, or disables it with a reason that a model reads.
pub(crate) async fn set_state(
    State(served): State<Served>,
    Extension(rights): Extension<PageRights>,
    Path(name): Path<String>,
    body: Bytes,
) -> Answer {
    may(rights.may_decide(), "enable and disable tools")?;
    let request: StateRequest = serde_json::from_slice(&body)
        .map_err(|error| Refused(StatusCode::BAD_REQUEST, format!("the request is no state: {error}")))?;
    let RegistrySource::Live(live) = served.dispatcher.source() else {
        let message = "the tools of this program are fixed; a `LiveRegistry` changes while calls run";
        return Err(Refused(StatusCode::CONFLICT, message.to_owned()));
    };
    let changed = live.change(|registry| match request.enabled {
        true => registry.enable(&name),
        false => registry.disable(&name, &request.reason),
    });
    match changed {
        Ok(()) => Ok(json_answer(&json!({}))),
        Err(error) => Err(Refused(StatusCode::CONFLICT, error.to_string())),
    }
}
