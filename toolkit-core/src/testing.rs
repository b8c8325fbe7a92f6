//! Snapshots of a program's tools, for its own tests.
//!
//! Prompts are tuned to tool definitions, and callers rely on parameters and results. A test with a record of the
//! definitions shows every change in a review. `toolkit::testing` keeps the record in a file.

use crate::registry::ToolRegistry;
use crate::schema::{Compatibility, SchemaDiff};
use crate::tool::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The published parts of a tool.
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

/// Returns a record of all tools, disabled ones too: indented JSON, sorted by name.
#[must_use]
pub fn record(registry: &ToolRegistry) -> String {
    let records: Value = records(registry).values().map(|record| json!(record)).collect();
    format!("{records:#}\n")
}

/// Returns the changes since a [record](record()) was made.
///
/// ```
/// use toolkit::{testing, ToolRegistry};
/// use toolkit::schema::Compatibility;
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
/// `recorded` is not a record.
pub fn changes(recorded: &str, registry: &ToolRegistry) -> Result<ToolChanges, serde_json::Error> {
    let recorded: Vec<Record> = serde_json::from_str(recorded)?;
    let mut now = records(registry);
    let mut changes = Vec::new();
    for earlier in recorded {
        match now.remove(&earlier.name) {
            Some(now) => compare(earlier, now, &mut changes),
            None => changes.push(ToolChange::Removed { tool: earlier.name }),
        }
    }
    changes.extend(now.into_keys().map(|tool| ToolChange::Added { tool }));
    Ok(ToolChanges(changes))
}

fn records(registry: &ToolRegistry) -> BTreeMap<String, Record> {
    let records = registry.all_definitions().map(Record::from);
    records.map(|record| (record.name.clone(), record)).collect()
}

fn compare(earlier: Record, now: Record, changes: &mut Vec<ToolChange>) {
    let tool = || earlier.name.clone();
    if earlier.description != now.description {
        let (old, new) = (earlier.description.clone(), now.description);
        changes.push(ToolChange::Description { tool: tool(), old, new });
    }
    let parameters = SchemaDiff::of_arguments(&earlier.parameters, &now.parameters);
    if !parameters.is_empty() {
        changes.push(ToolChange::Parameters { tool: tool(), diff: parameters });
    }
    // Without a schema, any value may be returned.
    let [old, new] =
        [&earlier.returns, &now.returns].map(|schema| schema.clone().unwrap_or(Value::Bool(true)));
    let returns = SchemaDiff::of_results(&old, &new);
    if !returns.is_empty() {
        changes.push(ToolChange::Returns { tool: tool(), diff: returns });
    }
}

/// The changes since a record. `Display` writes a line for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChanges(Vec<ToolChange>);

/// One change of a tool since its record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChange {
    /// The tool is new.
    Added {
        /// The tool's name.
        tool: String,
    },
    /// The tool was removed.
    Removed {
        /// The tool's name.
        tool: String,
    },
    /// The description changed.
    Description {
        /// The tool's name.
        tool: String,
        /// The recorded description.
        old: String,
        /// The current description.
        new: String,
    },
    /// The parameters changed.
    Parameters {
        /// The tool's name.
        tool: String,
        /// The changes of the schema.
        diff: SchemaDiff,
    },
    /// The result's schema changed.
    Returns {
        /// The tool's name.
        tool: String,
        /// The changes of the schema.
        diff: SchemaDiff,
    },
}

impl ToolChanges {
    /// Returns the changes, in the order of the record; new tools come last.
    #[must_use]
    pub fn changes(&self) -> &[ToolChange] {
        &self.0
    }

    /// Returns whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the compatibility of the worst change.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.0.iter().map(ToolChange::compatibility).max().unwrap_or_default()
    }
}

impl ToolChange {
    /// Returns whether callers of the recorded tool are affected.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        match self {
            Self::Added { .. } | Self::Description { .. } => Compatibility::Compatible,
            Self::Removed { .. } => Compatibility::Breaking,
            Self::Parameters { diff, .. } | Self::Returns { diff, .. } => diff.compatibility(),
        }
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, what, diff) = match self {
            Self::Added { tool } => return write!(f, "- tool `{tool}` is new"),
            Self::Removed { tool } => return write!(f, "- tool `{tool}` was removed"),
            Self::Description { tool, old, new } => {
                return write!(f, "- tool `{tool}`, description: was {old:?}\n  and is {new:?}");
            }
            Self::Parameters { tool, diff } => (tool, "parameters", diff),
            Self::Returns { tool, diff } => (tool, "result", diff),
        };
        for (index, change) in diff.changes().iter().enumerate() {
            let end = if index > 0 { "\n" } else { "" };
            write!(f, "{end}- tool `{tool}`, {what}: {change}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ToolChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, change) in self.0.iter().enumerate() {
            let end = if index > 0 { "\n" } else { "" };
            write!(f, "{end}{change}")?;
        }
        Ok(())
    }
}
