//! Differences between two tool lists of a server.

use super::catalog::{Catalog, RemoteTool};
use serde_json::Value;
use std::fmt;
use toolkit_core::schema::SchemaDiff;
use toolkit_core::{ToolMetadata, ToolName};

/// The differences between two tool lists of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolListChange {
    /// The new tools, sorted.
    pub added: Vec<ToolName>,
    /// The removed tools, sorted.
    pub removed: Vec<ToolName>,
    /// The changed tools, sorted by name.
    pub changed: Vec<McpToolChange>,
}

/// The differences between two definitions of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpToolChange {
    /// Its name.
    pub tool: ToolName,
    /// The old and the new description, if changed.
    pub description: Option<(String, String)>,
    /// The differences of the parameters, if changed.
    ///
    /// The list is empty if the schemas differ only in keywords without meaning.
    pub parameters: Option<SchemaDiff>,
    /// The differences of the output schema, if changed.
    pub output: Option<SchemaDiff>,
    /// The changed settings: `title`, `read_only`, `destructive`, `idempotent`, `open_world`, `meta`.
    ///
    /// `other` stands for members of the [entry](crate::client::McpClient::listed_tool) that no definition
    /// has.
    pub settings: Vec<&'static str>,
    /// Whether the tool waits for [approval](crate::client::McpClient::approve), and cannot be called until
    /// then.
    pub is_blocked: bool,
}

impl ToolListChange {
    /// Returns `true` if the lists are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// Also counts a tool as changed that waits for approval in `new`, but not in `old`.
    pub(crate) fn between(old: &Catalog, new: &Catalog) -> Self {
        let mut change = Self {
            added: names_missing_in(old, new),
            removed: names_missing_in(new, old),
            changed: Vec::new(),
        };
        for (name, tool) in &new.tools {
            let Some(earlier) = old.tools.get(name) else { continue };
            let waiting = new.pending.get(name).filter(|waiting| old.pending.get(name) != Some(*waiting));
            let latest = waiting.unwrap_or(tool);
            if latest != earlier {
                change.changed.push(McpToolChange::between(earlier, latest, waiting.is_some()));
            }
        }
        change
    }
}

fn names_missing_in(other: &Catalog, catalog: &Catalog) -> Vec<ToolName> {
    let mut names = Vec::new();
    for (name, tool) in &catalog.tools {
        if !other.tools.contains_key(name) {
            names.push(tool.definition.name.clone());
        }
    }
    names
}

impl McpToolChange {
    fn between(old: &RemoteTool, new: &RemoteTool, is_blocked: bool) -> Self {
        let is_other = old.entry != new.entry && old.definition == new.definition;
        let old = &old.definition;
        let new = &new.definition;
        let mut change = Self {
            tool: new.name.clone(),
            description: None,
            parameters: None,
            output: None,
            settings: settings(&old.metadata, &new.metadata),
            is_blocked,
        };
        if old.description != new.description {
            change.description = Some((old.description.clone(), new.description.clone()));
        }
        if old.parameters != new.parameters {
            change.parameters = Some(SchemaDiff::of_arguments(&old.parameters, &new.parameters));
        }
        // A tool without an output schema may return any value.
        let [was, is] = [old, new].map(|tool| tool.output_schema().cloned().unwrap_or(Value::Bool(true)));
        if was != is {
            change.output = Some(SchemaDiff::of_results(&was, &is));
        }
        if is_other {
            change.settings.push("other");
        }
        change
    }
}

fn settings(old: &ToolMetadata, new: &ToolMetadata) -> Vec<&'static str> {
    let compared = [
        ("title", old.title == new.title),
        ("read_only", old.read_only == new.read_only),
        ("destructive", old.destructive == new.destructive),
        ("idempotent", old.idempotent == new.idempotent),
        ("open_world", old.open_world == new.open_world),
        ("meta", old.meta == new.meta),
    ];
    compared.into_iter().filter(|(_, is_equal)| !is_equal).map(|(name, _)| name).collect()
}

impl fmt::Display for ToolListChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.extend(self.added.iter().map(|tool| format!("- tool `{tool}` is new")));
        lines.extend(self.removed.iter().map(|tool| format!("- tool `{tool}` was removed")));
        lines.extend(self.changed.iter().map(McpToolChange::to_string));
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for McpToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = format!("- tool `{}`", self.tool);
        let mut lines = Vec::new();
        if let Some((old, new)) = &self.description {
            lines.push(format!("{tool}, description: was {old:?}\n  and is {new:?}"));
        }
        for (part, diff) in [("parameters", &self.parameters), ("result", &self.output)] {
            let Some(diff) = diff else { continue };
            if diff.is_empty() {
                lines.push(format!("{tool}, {part}: changed without effect on calls"));
            } else {
                lines.extend(diff.changes().iter().map(|change| format!("{tool}, {part}: {change}")));
            }
        }
        lines.extend(self.settings.iter().map(|name| format!("{tool}, `{name}` changed")));
        if self.is_blocked {
            lines.push(format!("{tool} waits for approval"));
        }
        f.write_str(&lines.join("\n"))
    }
}
