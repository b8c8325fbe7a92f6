//! `list`: the tools, by namespace.

use crate::desk::Desk;
use crate::exit::Failure;
use crate::facts::{hints, labels, summary, tokens};
use crate::screen::FAINT;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use toolkit_core::{ToolDefinition, ToolTag};

/// A tool with the reason why it is disabled.
type Listed<'a> = (&'a ToolDefinition, Option<&'a str>);

pub(crate) fn list(desk: &Desk) -> Result<(), Failure> {
    let registry = desk.dispatcher.registry();
    let mut listed: Vec<Listed<'_>> = Vec::new();
    for definition in registry.iter_definitions() {
        listed.push((definition, None));
    }
    for (tool, reason) in registry.disabled() {
        listed.push((tool.definition(), Some(reason)));
    }
    listed.sort_by_key(|(definition, _)| definition.name.as_str());
    let mut sum = 0;
    for (definition, reason) in &listed {
        if reason.is_none() && !definition.metadata.defer {
            sum += tokens(definition);
        }
    }
    if desk.screen.is_json {
        let tools: Vec<Value> =
            listed.iter().map(|(definition, reason)| entry(definition, *reason)).collect();
        desk.screen.json(&json!({"tools": tools, "tokens": sum}))?;
        return Ok(());
    }
    let mut by_namespace: BTreeMap<Option<&str>, Vec<Listed<'_>>> = BTreeMap::new();
    for tool in listed {
        by_namespace.entry(tool.0.name.namespace()).or_default().push(tool);
    }
    let mut count = 0;
    for (namespace, tools) in &by_namespace {
        if let Some(namespace) = namespace {
            desk.screen.heading(0, namespace, &[])?;
        }
        let indent = if namespace.is_some() { 2 } else { 0 };
        for (definition, reason) in tools {
            write(desk, indent, definition, *reason)?;
        }
        count += tools.len();
    }
    let noun = if count == 1 { "tool" } else { "tools" };
    desk.screen.line(format_args!("{FAINT}{count} {noun}, about {sum} tokens in a request{FAINT:#}"))?;
    Ok(())
}

fn write(
    desk: &Desk,
    indent: usize,
    definition: &ToolDefinition,
    reason: Option<&str>,
) -> Result<(), Failure> {
    let mut notes = labels(definition);
    notes.push(format!("{} tokens", tokens(definition)));
    desk.screen.heading(indent, definition.name.as_str(), &notes)?;
    desk.screen.paragraph(indent + 4, summary(definition))?;
    if let Some(reason) = reason {
        desk.screen.paragraph(indent + 4, &format!("disabled: {reason}"))?;
    }
    Ok(())
}

fn entry(definition: &ToolDefinition, reason: Option<&str>) -> Value {
    let mut given = Map::new();
    for (key, _, hint) in hints(definition) {
        if let Some(hint) = hint {
            given.insert(key.to_owned(), hint.into());
        }
    }
    let tags: Vec<&str> = definition.metadata.tags.iter().map(ToolTag::as_str).collect();
    json!({
        "name": definition.name.as_str(),
        "namespace": definition.name.namespace(),
        "title": definition.metadata.title,
        "description": definition.description,
        "tags": tags,
        "hints": given,
        "deferred": definition.metadata.defer,
        "disabled": reason,
        "tokens": tokens(definition),
    })
}
