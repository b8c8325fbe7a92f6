//! Overlays: changes of a document in another document (OpenAPI Overlay Specification 1).

use super::json_path::JsonPath;
use super::limits::OpenApiLimits;
use super::parse::{TextRole, parse_document};
use super::plain;
use crate::error::{OpenApiError, OpenApiErrorKind};
use serde_json::Value;

/// Applies the actions of an overlay to a document, in their order.
///
/// # Errors
/// The text is no overlay, or the path of an action is not understood. The document may then be changed in
/// part.
pub(crate) fn apply_overlay(
    document: &mut Value,
    text: &str,
    limits: &OpenApiLimits,
) -> Result<(), OpenApiError> {
    let overlay = parse_document(text, TextRole::Overlay, limits)?;
    let version = overlay.get("overlay").map(plain).unwrap_or_default();
    let Some(Value::Array(actions)) = overlay.get("actions").filter(|_| version.starts_with("1.")) else {
        return Err(faulty("needs `overlay: 1.0.0` and a list of `actions`"));
    };
    for (index, action) in actions.iter().enumerate() {
        if let Err(reason) = apply(document, action) {
            return Err(faulty(&format!("cannot be applied: action {index} {reason}")));
        }
    }
    Ok(())
}

fn faulty(fault: &str) -> OpenApiError {
    OpenApiError::new(OpenApiErrorKind::Overlay, format!("the overlay {fault}"))
}

fn apply(document: &mut Value, action: &Value) -> Result<(), String> {
    let target = action.get("target").and_then(Value::as_str).ok_or("has no `target`")?;
    let places = JsonPath::parse(target)?.places(document);
    if action.get("remove") == Some(&Value::Bool(true)) {
        // Later items of a list are removed first, so that the places of the others stay.
        for place in places.iter().rev() {
            remove(document, place);
        }
    } else if let Some(update) = action.get("update") {
        for place in places {
            if let Some(target) = document.pointer_mut(&place) {
                merge(target, update);
            }
        }
    }
    Ok(())
}

fn remove(document: &mut Value, place: &str) {
    let Some((around, last)) = place.rsplit_once('/') else { return };
    let last = last.replace("~1", "/").replace("~0", "~");
    match document.pointer_mut(around) {
        Some(Value::Object(members)) => drop(members.shift_remove(&last)),
        Some(Value::Array(items)) => {
            if let Ok(index) = last.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// Merges an update: objects member by member, lists by appending the update, everything else by replacing.
fn merge(target: &mut Value, update: &Value) {
    match (target, update) {
        (Value::Object(members), Value::Object(updates)) => {
            for (name, update) in updates {
                match members.get_mut(name) {
                    Some(member) => merge(member, update),
                    None => drop(members.insert(name.clone(), update.clone())),
                }
            }
        }
        (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
        (Value::Array(items), item) => items.push(item.clone()),
        (target, update) => *target = update.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_update_and_remove_in_their_order() {
        let mut document = json!({
            "paths": {"/a": {"get": {"summary": "Old.", "tags": ["x"], "parameters": [{"name": "p"}, {"name": "q"}]}}},
        });
        let overlay = json!({
            "overlay": "1.0.0", "info": {"title": "O", "version": "1"},
            "actions": [
                {"target": "$.paths.*.get", "update": {"summary": "New.", "tags": ["y"], "x-speakeasy-mcp": {"name": "a"}}},
                {"target": "$.paths.*.get.parameters[?@.name == 'p']", "remove": true},
                {"target": "$.paths.*.get.parameters", "update": {"name": "r"}},
                {"target": "$.nothing", "remove": true},
            ],
        });
        apply_overlay(&mut document, &overlay.to_string(), &OpenApiLimits::default()).unwrap();
        let expected = json!({
            "summary": "New.", "tags": ["x", "y"], "parameters": [{"name": "q"}, {"name": "r"}],
            "x-speakeasy-mcp": {"name": "a"},
        });
        assert_eq!(document["paths"]["/a"]["get"], expected);
        for (overlay, part) in [
            (json!({"openapi": "3.1.0"}), "needs `overlay: 1.0.0`"),
            (json!({"overlay": "1.0.0", "actions": [{"remove": true}]}), "action 0 has no `target`"),
            (json!({"overlay": "1.0.0", "actions": [{"target": "paths"}]}), "not understood"),
        ] {
            let error = apply_overlay(&mut document, &overlay.to_string(), &OpenApiLimits::default());
            assert!(error.unwrap_err().to_string().contains(part), "{overlay}");
        }
    }
}
