//! Fields of received definitions and tool choices that exist in only one API, stored when they are read.
//!
//! The received JSON is parsed and written again, and the fields missing afterwards are stored. This needs no
//! list of fields that follows the provider's reference.

use super::RequestCodec;
use crate::definitions::declaration::{DefinitionEncoder, Spelling};
use crate::json::fields::{Fields, camel, set};
use crate::json::unknown_fields::ABSENT;
use serde_json::{Value, json};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;

/// The fields with schemas. They are not compared, because the dialects convert them.
const SCHEMAS: [&str; 6] =
    ["parameters", "input_schema", "parametersJsonSchema", "response", "responseJsonSchema", "output_schema"];

/// Stores the fields of `tool` that [`ToolDefinition`] cannot express in `meta`, under the name of the
/// format.
pub(super) fn store_unknown_fields(codec: &dyn RequestCodec, definition: &mut ToolDefinition, tool: &Fields) {
    let facts = codec.facts();
    let strict = definition.metadata.strict == Some(true);
    let names = WireNames::default();
    let dialect = facts.tools.dialect(strict, false);
    let how = Spelling { names: &names, strict, dialect, outputs: false, parameters: &names };
    // Not compared, so the codec need not convert the schemas.
    let no_parameters = json!({"type": "object", "properties": {}});
    let mut plain =
        ToolDefinition::new(definition.name.clone(), definition.description.as_str(), no_parameters);
    plain.kind = definition.kind.clone();
    plain.metadata = definition.metadata.clone();
    let written =
        codec.write_definition(&mut DefinitionEncoder { definition: &plain, how: &how, losses: Vec::new() });
    let Value::Object(written) = written else { return };
    let stored = difference(tool, &written, &SCHEMAS, |_, _| false);
    if !stored.is_empty() {
        set(&mut definition.metadata.meta, facts.name, stored);
    }
}

/// Returns the fields of `received` that `written` lacks, also inside of objects that both have.
///
/// The fields in `opaque` are not compared. `is_other` returns whether a received value differs in meaning.
pub(super) fn difference(
    received: &Fields,
    written: &Fields,
    opaque: &[&str],
    is_other: fn(&Value, &Value) -> bool,
) -> Fields {
    let mut stored = Fields::new();
    for (name, value) in received {
        let is_opaque = opaque.contains(&name.as_str()) || opaque.contains(&&*camel(name));
        let known = written.get(name).or_else(|| written.get(&*camel(name)));
        match (known, value) {
            (Some(known), Value::Null) if !known.is_null() => set(&mut stored, name, Value::Null),
            _ if is_opaque => {}
            (None, value) => set(&mut stored, name, value.clone()),
            (Some(Value::Object(known)), Value::Object(received)) => {
                let inner = difference(received, known, opaque, is_other);
                if !inner.is_empty() {
                    set(&mut stored, name, inner);
                }
            }
            (Some(known), value) if is_other(value, known) => set(&mut stored, name, value.clone()),
            _ => {}
        }
    }
    let mut absent = Vec::new();
    for name in ["description", "parameters", "strict"] {
        if written.contains_key(name) && !received.contains_key(name) {
            absent.push(name);
        }
    }
    if !absent.is_empty() {
        set(&mut stored, ABSENT, absent);
    }
    stored
}

#[cfg(test)]
mod tests;
