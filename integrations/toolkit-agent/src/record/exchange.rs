//! One question to a model and its answer, as they are written.

use super::secrets::Secrets;
use crate::message::Message;
use crate::model::{ModelDelta, ModelError, ModelRequest, ModelResponse};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit_core::schema::schema_hash;

/// One question to a model and its answer: a line of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// For people who compare recordings; it is not read.
    #[serde(default)]
    pub(super) fingerprint: String,
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) answer: Answer,
}

/// What a model has answered: whole, or in pieces, and what went wrong.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Box<ModelResponse>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pieces: Option<Vec<ModelDelta>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ModelError>,
}

/// What matters of a request: what a model reads. How long a tool took, and what only one provider reads, does not.
pub(super) fn written(request: &ModelRequest, secrets: &Secrets) -> serde_json::Result<Value> {
    let messages: Vec<Value> = request.messages.iter().map(message).collect::<Result<_, _>>()?;
    let tools: Map<String, Value> = request
        .tools
        .iter_definitions()
        .map(|tool| {
            let said = json!({"description": tool.description, "parameters": tool.parameters});
            (tool.name.to_string(), said)
        })
        .collect();
    let mut options = serde_json::to_value(&request.options)?;
    if let Some(Value::Object(extra)) = options.get_mut("extra") {
        secrets.hide_fields(extra);
    }
    let mut written = json!({
        "instructions": request.instructions,
        "messages": messages,
        "tools": tools,
        "tool_use": request.tool_use,
        "options": options,
    });
    secrets.hide(&mut written);
    Ok(written)
}

fn message(message: &Message) -> serde_json::Result<Value> {
    let mut written = serde_json::to_value(message)?;
    if let Value::Object(members) = &mut written {
        members.shift_remove("native");
        if let Some(Value::Array(results)) = members.get_mut("results") {
            results.iter_mut().filter_map(Value::as_object_mut).for_each(|result| {
                result.shift_remove("duration");
            });
        }
    }
    Ok(written)
}

/// A digest of a request, by which it is found again.
pub(super) fn fingerprint(request: &Value) -> String {
    schema_hash(request).chars().take(16).collect()
}
