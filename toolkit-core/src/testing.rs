//! Snapshot tests for a program's tool definitions.
//!
//! Prompts are tuned to tool definitions, and callers rely on parameters and results. A test against a
//! recorded snapshot makes every change visible in code review. `toolkit_ai::testing` keeps the record in
//! a file.

use crate::definition::ToolDefinition;
use crate::registry::ToolRegistry;
use crate::schema::{Compatibility, SchemaDiff};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Serialize, Deserialize)]
struct Record {
    name: String,
    description: String,
    parameters: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    returns: Option<Value>,
}

impl From<&ToolDefinition> for Record {
    fn from(definition: &ToolDefinition) -> Self {
        Self {
            name: definition.name.to_string(),
            description: definition.description.clone(),
            parameters: definition.parameters.clone(),
            returns: definition.output_schema().cloned(),
        }
    }
}

/// Returns a record of all tools as indented JSON, sorted by name and with disabled tools.
#[must_use]
pub fn record(registry: &ToolRegistry) -> String {
    let records: Value = records(registry).values().map(|record| json!(record)).collect();
    format!("{records:#}\n")
}

/// Returns the changes of a registry since an earlier [record](record()).
///
/// ```
/// use toolkit_ai::{testing, ToolRegistry};
/// use toolkit_ai::schema::Compatibility;
///
/// let registry = ToolRegistry::new();
/// let recorded = r#"[{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}]"#;
/// let changes = testing::changes(recorded, &registry)?;
/// assert_eq!(changes.compatibility(), Compatibility::Breaking);
/// assert_eq!(changes.to_string(), "- tool `add` was removed");
/// assert!(testing::changes(&testing::record(&registry), &registry)?.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// `recorded` is not the JSON text of a record.
pub fn changes(recorded: &str, registry: &ToolRegistry) -> Result<ToolChanges, serde_json::Error> {
    let recorded: Vec<Record> = serde_json::from_str(recorded)?;
    let mut now = records(registry);
    let mut changes = Vec::new();
    for earlier in recorded {
        let tool = earlier.name.clone();
        let kinds = match now.remove(&tool) {
            Some(now) => compare(earlier, now),
            None => vec![ToolChangeKind::Removed],
        };
        for kind in kinds {
            changes.push(ToolChange { tool: tool.clone(), kind });
        }
    }
    for tool in now.into_keys() {
        changes.push(ToolChange { tool, kind: ToolChangeKind::Added });
    }
    Ok(ToolChanges(changes))
}

fn records(registry: &ToolRegistry) -> BTreeMap<String, Record> {
    let mut records = BTreeMap::new();
    for definition in registry.all_definitions() {
        let record = Record::from(definition);
        records.insert(record.name.clone(), record);
    }
    records
}

fn compare(earlier: Record, now: Record) -> Vec<ToolChangeKind> {
    let mut changes = Vec::new();
    if earlier.description != now.description {
        changes.push(ToolChangeKind::Description { old: earlier.description, new: now.description });
    }
    let diff = SchemaDiff::of_arguments(&earlier.parameters, &now.parameters);
    if !diff.is_empty() {
        changes.push(ToolChangeKind::Parameters { diff });
    }
    // Without an output schema, a tool may return any value.
    let [old, new] = [earlier.returns, now.returns].map(|schema| schema.unwrap_or(Value::Bool(true)));
    let diff = SchemaDiff::of_results(&old, &new);
    if !diff.is_empty() {
        changes.push(ToolChangeKind::Returns { diff });
    }
    changes
}

/// The changes of all tools since a record. `Display` writes them as a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChanges(Vec<ToolChange>);

/// One change of one tool since a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChange {
    /// The name of the tool.
    pub tool: String,
    /// The kind of change.
    pub kind: ToolChangeKind,
}

/// The kind of a [`ToolChange`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChangeKind {
    /// The tool is new.
    Added,
    /// The tool was removed.
    Removed,
    /// The description changed.
    #[non_exhaustive]
    Description {
        /// The recorded description.
        old: String,
        /// The current description.
        new: String,
    },
    /// The parameters changed.
    #[non_exhaustive]
    Parameters {
        /// The difference of the schemas.
        diff: SchemaDiff,
    },
    /// The output schema changed.
    #[non_exhaustive]
    Returns {
        /// The difference of the schemas.
        diff: SchemaDiff,
    },
}

impl ToolChanges {
    /// Returns the changes in the order of the record, followed by the new tools.
    #[must_use]
    pub fn changes(&self) -> &[ToolChange] {
        &self.0
    }

    /// Returns `true` if nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the least compatibility of all changes.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.0.iter().map(ToolChange::compatibility).max().unwrap_or_default()
    }
}

impl ToolChange {
    /// Returns whether code for the recorded tool still works.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        match &self.kind {
            ToolChangeKind::Added | ToolChangeKind::Description { .. } => Compatibility::Compatible,
            ToolChangeKind::Removed => Compatibility::Breaking,
            ToolChangeKind::Parameters { diff } | ToolChangeKind::Returns { diff } => diff.compatibility(),
        }
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = format!("- tool `{}`", self.tool);
        let (what, diff) = match &self.kind {
            ToolChangeKind::Added => return write!(f, "{tool} is new"),
            ToolChangeKind::Removed => return write!(f, "{tool} was removed"),
            ToolChangeKind::Description { old, new } => {
                return write!(f, "{tool}, description: was {old:?}\n  and is {new:?}");
            }
            ToolChangeKind::Parameters { diff } => ("parameters", diff),
            ToolChangeKind::Returns { diff } => ("result", diff),
        };
        let lines = diff.changes().iter().map(|change| format!("{tool}, {what}: {change}"));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl fmt::Display for ToolChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToolChange::to_string).collect::<Vec<_>>().join("\n"))
    }
}
