//! References in results.
//!
//! In the JSON of a result, the service reads a member `$ref` as the name of one of the result's parts. With
//! any other name, it refuses each request of the history.

use super::read::member;
use super::spelling::{get, key, list};
use serde_json::{Value, json};

/// Returns whether a member `$ref`, at any depth, is none of the `names` of parts.
///
/// Recursion is safe, because parsers limit the depth of the value.
pub(super) fn has_reference(value: &Value, names: &[String]) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_reference(value, names)),
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref")
                && names.iter().all(|name| reference != name.as_str())
            {
                return true;
            }
            members.iter().any(|(name, value)| name != "$ref" && has_reference(value, names))
        }
        _ => false,
    }
}

/// Writes values with such a member as text, in a result of a history.
pub(super) fn references_to_text(part: &mut Value) {
    let Some(part) = part.as_object_mut() else { return };
    let Some(field) = key(part, "functionResponse").map(str::to_owned) else { return };
    let Some(Value::Object(result)) = part.get_mut(&field) else { return };
    let mut names = Vec::new();
    for media in list(result, "parts").iter().filter_map(Value::as_object) {
        for field in ["inlineData", "fileData"] {
            let name = get(media, field).and_then(|data| member(data, "displayName"));
            names.extend(name.and_then(Value::as_str).map(str::to_owned));
        }
    }
    match result.get_mut("response") {
        Some(Value::Object(response)) if !response.contains_key("$ref") => {
            for value in response.values_mut().filter(|value| has_reference(value, &names)) {
                *value = value.to_string().into();
            }
        }
        Some(response) if has_reference(response, &names) => {
            *response = json!({"output": response.to_string()});
        }
        _ => {}
    }
}
