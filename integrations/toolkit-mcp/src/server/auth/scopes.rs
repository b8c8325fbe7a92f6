//! The scopes that tools need, in their metadata.

use serde_json::Value;
use toolkit_core::ToolDefinition;

/// Returns the scopes that a tool needs, separated by spaces.
pub(crate) fn scopes_of(definition: &ToolDefinition) -> Option<&str> {
    definition.metadata.meta.get("scopes").and_then(Value::as_str)
}

pub(crate) fn is_granted(definition: &ToolDefinition, granted: impl FnOnce() -> String) -> bool {
    let Some(needed) = scopes_of(definition) else { return true };
    let scopes = granted();
    for scope in needed.split_whitespace() {
        if !scopes.split_whitespace().any(|granted| granted == scope) {
            return false;
        }
    }
    true
}
