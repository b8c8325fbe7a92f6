//! The request fields for tool choice and parallel tool calls.

use crate::facts::Api;
use crate::fields::{Fields, camel};
use crate::{ApiFormat, WireError, kept};
use serde_json::{Map, Value};
use toolkit_core::call::{ProviderExtras, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_schema::SchemaLoss;

/// Reads and writes the request fields for tool choice and parallel tool calls.
pub(crate) trait ChoiceCodec: Api {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig;

    fn parse_tool_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError>;
}

/// The encoded form of a [`ToolConfig`](toolkit_core::ToolConfig): request fields, and the settings that were
/// lost.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedToolConfig {
    /// The fields to set in the request.
    pub fields: Map<String, Value>,
    /// The settings lost because the API cannot express them. Their paths start at the `ToolConfig`, as in
    /// `/parallel`.
    pub losses: Vec<SchemaLoss>,
}

impl EncodedToolConfig {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, losses: Vec::new() }
    }

    /// Adds the loss of `setting`, which the API cannot express.
    pub(super) fn lose(mut self, path: &str, setting: &str, reason: &str) -> Self {
        self.losses.push(SchemaLoss::new(path, setting, reason));
        self
    }
}

/// Encodes a tool config. Fields that were read from the same API are written again, and fields of another
/// API are reported as lost.
pub(crate) fn encode(codec: &dyn ChoiceCodec, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
    let mut encoded = codec.encode_tool_config(wanted, names);
    let Some((api, received)) = wanted.extras.origin() else { return encoded };
    let origin = api
        .parse::<ApiFormat>()
        .ok()
        .filter(|format| format.name() == api)
        .map(|format| -> &dyn ChoiceCodec { format.codec() });
    let meaning = origin.and_then(|origin| origin.parse_tool_config(received, names).ok());
    if api != codec.facts().name {
        let lost = match (origin, meaning) {
            (Some(origin), Some(meaning)) => unsaid(origin, received, &meaning, names),
            _ => received.clone(),
        };
        encoded.losses.extend(kept::losses(&lost, api, "/extras"));
        return encoded;
    }
    match meaning {
        // The program has not changed the meaning, so the fields are written as they were read.
        Some(same) if has_meaning(wanted, &same) => EncodedToolConfig::new(received.clone()),
        Some(other) => {
            kept::restore(&mut encoded.fields, &unsaid(codec, received, &other, names));
            encoded
        }
        None => encoded,
    }
}

/// Returns whether both configs have the same meaning. Provider extras are not compared.
fn has_meaning(config: &ToolConfig, other: &ToolConfig) -> bool {
    (&config.choice, config.parallel, &config.custom) == (&other.choice, other.parallel, &other.custom)
}

/// Parses a tool config. If [`ToolConfig`](toolkit_core::ToolConfig) cannot express some of the fields, all received
/// fields become provider extras.
pub(crate) fn parse(
    codec: &dyn ChoiceCodec,
    request: &Map<String, Value>,
    names: &WireNames,
) -> Result<ToolConfig, WireError> {
    let mut config = codec.parse_tool_config(request, names)?;
    let written = codec.encode_tool_config(&config, names).fields;
    let is_config = |name: &str| written.contains_key(name) || written.contains_key(&*camel(name));
    let received = crate::fields::only(request, |name, value| is_config(name) && !value.is_null());
    if !unsaid(codec, &received, &config, names).is_empty() {
        config.extras = ProviderExtras::new(codec.facts().name, received);
    }
    Ok(config)
}

/// Returns the fields of `received` that are not expressed by the config `meaning`. These are fields missing
/// when `meaning` is encoded, and modes that are encoded with another value.
fn unsaid(
    codec: &dyn ChoiceCodec,
    received: &Map<String, Value>,
    meaning: &ToolConfig,
    names: &WireNames,
) -> Map<String, Value> {
    let written = codec.encode_tool_config(meaning, names).fields;
    // OpenAI's Responses API also accepts the nested names of Chat Completions.
    let is_named = written.get("tool_choice").is_some_and(|choice| choice.get("name").is_some());
    let opaque: &[&str] = if is_named { &["function", "custom"] } else { &[] };
    kept::difference(received, &written, opaque, is_other)
}

/// Returns whether a received value differs in meaning from the written value. Differences in the spelling of a mode do
/// not count.
fn is_other(received: &Value, written: &Value) -> bool {
    match (received, written) {
        (Value::String(mode), Value::String(known)) => {
            mode != "MODE_UNSPECIFIED" && !mode.eq_ignore_ascii_case(known)
        }
        (Value::Array(received), Value::Array(written)) => received.len() != written.len(),
        // The choice of a hosted tool is read as the choice of any tool, and written as a string.
        (Value::Object(_), Value::String(_)) => true,
        _ => false,
    }
}
