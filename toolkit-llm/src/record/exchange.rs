//! One recorded model call.

use super::secrets::Secrets;
use crate::message::{Message, ModelResponse, store_details};
use crate::model::{ModelError, ModelErrorKind, ModelRequest};
use crate::stream::StreamEvent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::path::Path;
use toolkit_core::schema::schema_hash;

/// One line of a recording: a request and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// The digest of `request`, to compare recordings by hand. `Replay` does not read it.
    #[serde(default)]
    pub(super) fingerprint: String,
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) answer: RecordedAnswer,
}

/// A complete response, the deltas of a stream, or an error. A broken stream has deltas and an error.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RecordedAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Box<ModelResponse>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deltas: Option<Vec<StreamEvent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ModelError>,
}

pub(super) fn unusable(path: &Path, reason: impl Display) -> ModelError {
    let text = format!("the recording `{}` cannot be used: {reason}", path.display());
    ModelError::new(ModelErrorKind::Other, text)
}

/// Returns the JSON of a request to record, without secrets. The provider's own JSON of messages and the
/// durations of results are left out.
pub(super) fn recorded(request: &ModelRequest, secrets: &Secrets) -> serde_json::Result<Value> {
    let messages: Vec<Value> = request.messages.iter().map(message).collect::<Result<_, _>>()?;
    let mut tools = Map::new();
    for tool in request.tools.iter_definitions() {
        let definition = json!({"description": tool.description, "parameters": tool.parameters});
        tools.insert(tool.name.to_string(), definition);
    }
    let mut options = serde_json::to_value(&*request.options)?;
    if let Some(extra) = options.get_mut("extra") {
        Secrets::hide_fields(extra);
    }
    let mut recorded = json!({
        "instructions": request.instructions,
        "messages": messages,
        "tools": tools,
        "tool_config": request.tool_use,
        "options": options,
    });
    secrets.hide(&mut recorded);
    Ok(recorded)
}

fn message(message: &Message) -> serde_json::Result<Value> {
    let mut stored = message.clone();
    if let Message::Tool(message) = &mut stored {
        for result in &mut message.results {
            store_details(result, false);
        }
    }
    let mut json = serde_json::to_value(stored)?;
    if let Value::Object(members) = &mut json {
        members.shift_remove("native");
        if let Some(Value::Array(results)) = members.get_mut("results") {
            for result in results.iter_mut().filter_map(Value::as_object_mut) {
                result.shift_remove("duration");
            }
        }
    }
    Ok(json)
}

/// Returns the digest of a request, which finds its answer in a recording.
pub(super) fn fingerprint(request: &Value) -> String {
    schema_hash(request).chars().take(16).collect()
}
