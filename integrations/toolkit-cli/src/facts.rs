//! What a definition says about its tool, in a few words.

use serde_json::json;
use toolkit_core::ToolDefinition;

/// The hints that a tool gives about its effects, each with its name in JSON and its words.
pub(crate) fn hints(definition: &ToolDefinition) -> [(&'static str, &'static str, Option<bool>); 4] {
    let metadata = &definition.metadata;
    [
        ("read_only", "read-only", metadata.read_only),
        ("destructive", "destructive", metadata.destructive),
        ("idempotent", "idempotent", metadata.idempotent),
        ("open_world", "open world", metadata.open_world),
    ]
}

/// Returns the hints and tags as a reader sees them.
pub(crate) fn labels(definition: &ToolDefinition) -> Vec<String> {
    let mut labels = Vec::new();
    for (_, words, hint) in hints(definition) {
        if hint == Some(true) {
            labels.push(words.to_owned());
        }
    }
    for tag in &definition.metadata.tags {
        let label = tag.as_str().replace('_', "-");
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    if definition.metadata.defer {
        labels.push("deferred".to_owned());
    }
    labels
}

/// Estimates the tokens of a definition in a request: one for four ASCII characters or one other character.
pub(crate) fn tokens(definition: &ToolDefinition) -> usize {
    let published = json!({
        "name": definition.name.as_str(),
        "description": definition.description,
        "parameters": definition.parameters,
    });
    let text = published.to_string();
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii.div_ceil(4) + text.chars().count() - ascii
}

/// Returns the first line of a description.
pub(crate) fn summary(definition: &ToolDefinition) -> &str {
    definition.description.lines().next().unwrap_or_default()
}
