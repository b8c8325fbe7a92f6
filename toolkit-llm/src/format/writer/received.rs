//! The losses of results that were read from a request of another API.

use super::common_fields::{FIELDS, is_empty};
use crate::codec::Codec;
use crate::facts::ApiFormat;
use crate::translate::RECEIVED;
use serde_json::Value;
use std::collections::BTreeSet;
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_schema::SchemaLoss;

/// Returns a loss for each field of a result that only the other API has. `index` is the index of the result.
pub(super) fn result_losses(codec: &dyn Codec, result: &ToolResult, index: usize) -> Vec<SchemaLoss> {
    let Some((api, extras)) = result.extras.origin() else { return Vec::new() };
    let Some(received) = extras.get(RECEIVED) else { return Vec::new() };
    let Ok(format) = api.parse::<ApiFormat>() else { return Vec::new() };
    if api == codec.facts().name {
        return Vec::new();
    }
    let plain = result.clone().with_extras(ProviderExtras::default());
    let mut written = BTreeSet::new();
    let mut fields = BTreeSet::new();
    field_names(&format.encode_results(&[plain]).into(), &mut written);
    field_names(received, &mut fields);
    let reason = format!("only the API `{format}` has such a field in results");
    let mut losses = Vec::new();
    for name in fields.difference(&written).map(String::as_str) {
        if !FIELDS.contains(&name) && !MARKS.contains(&name) {
            losses.push(SchemaLoss::new(format!("/{index}/{name}"), name, reason.as_str()));
        }
    }
    losses
}

/// The fields that say nothing to the model.
const MARKS: [&str; 4] = ["is_error", "prompt_cache_breakpoint", "toolset_name", "caller"];

/// Adds the names of all fields with a value. Contents of an unknown type are written as JSON in a text.
fn field_names(json: &Value, names: &mut BTreeSet<String>) {
    match json {
        Value::String(text) if text.starts_with('{') => {
            if let Ok(json @ Value::Object(_)) = serde_json::from_str(text) {
                field_names(&json, names);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| field_names(value, names)),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !is_empty(value)) {
                names.insert(name.clone());
                field_names(value, names);
            }
        }
        _ => {}
    }
}
