//! Reads the tool choice of requests, and writes it again.

use super::{RequestCodec, RequestFormat, received_definitions};
use crate::definitions::EncodedToolConfig;
use crate::definitions::tool_config::ChoiceCodec;
use crate::json::fields::camel;
use crate::json::{WireError, unknown_fields};
use serde_json::{Map, Value};
use toolkit_core::call::{ProviderExtras, ToolConfig};
use toolkit_core::name::WireNames;

/// Parses a tool config. If [`ToolConfig`] cannot express it completely, all received fields become provider
/// extras.
pub(super) fn parse_tool_config(
    codec: &dyn RequestCodec,
    request: &Map<String, Value>,
    names: &WireNames,
) -> Result<ToolConfig, WireError> {
    let mut config = codec.parse_config(request, names)?;
    let written = codec.encode_tool_config(&config, names).fields;
    let mut received = Map::new();
    for (name, value) in request {
        let is_config = written.contains_key(name) || written.contains_key(&*camel(name));
        if is_config && !value.is_null() {
            received.insert(name.clone(), value.clone());
        }
    }
    if !unsupported(codec, &received, &config, names).is_empty() {
        config.extras = ProviderExtras::new(codec.facts().name, received);
    }
    Ok(config)
}

/// Encodes a tool config that was read from a request, or returns `None` for any other.
///
/// Fields of the same API are written again, and fields of another API are reported as lost.
pub(crate) fn encode_received_config(
    codec: &dyn ChoiceCodec,
    wanted: &ToolConfig,
    names: &WireNames,
) -> Option<EncodedToolConfig> {
    let (api, received) = wanted.extras.origin()?;
    let origin = RequestFormat::named(api)?;
    let meaning = origin.parse_config(received, names).ok()?;
    let is_same_api = api == codec.facts().name;
    let is_same = (&wanted.choice, wanted.parallel, &wanted.custom)
        == (&meaning.choice, meaning.parallel, &meaning.custom);
    if is_same_api && is_same {
        // Unchanged in meaning, so the fields are written as received.
        return Some(EncodedToolConfig::new(received.clone()));
    }
    let mut encoded = codec.encode_tool_config(wanted, names);
    let unsupported = unsupported(origin, received, &meaning, names);
    if is_same_api {
        unknown_fields::restore(&mut encoded.fields, &unsupported);
    } else {
        encoded.losses.extend(unknown_fields::losses(&unsupported, api, "/extras"));
    }
    Some(encoded)
}

/// Returns the fields of `received` that are missing when `meaning` is encoded, and the modes encoded with
/// another value.
fn unsupported(
    codec: &dyn RequestCodec,
    received: &Map<String, Value>,
    meaning: &ToolConfig,
    names: &WireNames,
) -> Map<String, Value> {
    let written = codec.encode_tool_config(meaning, names).fields;
    // OpenAI's Responses API also accepts the nested names of Chat Completions.
    let is_named = written.get("tool_choice").is_some_and(|choice| choice.get("name").is_some());
    let opaque: &[&str] = if is_named { &["function", "custom"] } else { &[] };
    received_definitions::difference(received, &written, opaque, is_other)
}

/// Returns whether a received value differs in meaning, not only in the spelling of a mode.
fn is_other(received: &Value, written: &Value) -> bool {
    match (received, written) {
        (Value::String(mode), Value::String(known)) => {
            mode != "MODE_UNSPECIFIED" && !mode.eq_ignore_ascii_case(known)
        }
        (Value::Array(received), Value::Array(written)) => received.len() != written.len(),
        // The choice of a hosted tool is read as any tool, and written as a string.
        (Value::Object(_), Value::String(_)) => true,
        _ => false,
    }
}
