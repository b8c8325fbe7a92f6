//! Differences between two versions of a schema, and their effect on callers.

mod compare;

use crate::fault::too_deep;
use crate::hash::schema_hash;
use compare::changes;
use serde_json::Value;
use std::fmt;

/// The differences between two versions of a schema.
///
/// A change of **arguments** is breaking if the new version may refuse a valid call of the old version, or
/// interpret it differently. A change of **results** is breaking if the new version may return what the old
/// version could not.
///
/// Properties and items are compared one by one, behind references too: whether they were added or removed,
/// are required, or have another type. Any other changed keyword has an unknown effect and counts as
/// breaking.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::{Compatibility, SchemaDiff};
///
/// let old = json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let new = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}});
/// assert_eq!(SchemaDiff::of_arguments(&old, &new).compatibility(), Compatibility::Compatible);
///
/// let diff = SchemaDiff::of_arguments(&new, &old);
/// assert_eq!(diff.compatibility(), Compatibility::Breaking);
/// assert_eq!(diff.to_string(), "breaking at `#/properties/days`: the property is gone");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaDiff {
    changes: Vec<SchemaChange>,
}

/// The effect of a change on callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Compatibility {
    /// Nothing changed.
    #[default]
    Unchanged,
    /// Everything that was valid is still valid.
    Compatible,
    /// Something that was valid may be invalid.
    Breaking,
}

/// A difference between two versions of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaChange {
    /// The position, such as `#/properties/city`; `#` is the root.
    pub path: String,
    /// The kind of change.
    pub kind: SchemaChangeKind,
    /// The effect of the change.
    pub compatibility: Compatibility,
    /// An explanation, such as "the property is gone".
    pub why: String,
}

/// The kinds of [`SchemaChange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaChangeKind {
    /// An optional property was added.
    AddedOptional,
    /// A required property was added.
    AddedRequired,
    /// A property was removed.
    Removed,
    /// A property is required now.
    NewlyRequired,
    /// A property is optional now.
    NoLongerRequired,
    /// The type changed.
    TypeChanged,
    /// Another keyword changed, with unknown effect.
    Unknown,
    /// Only descriptions, examples or a default changed.
    Described,
}

/// The side of a tool that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Arguments,
    Results,
}

impl SchemaChangeKind {
    fn compatibility(self, side: Side) -> Compatibility {
        let breaks = match self {
            Self::Described | Self::AddedOptional => false,
            Self::TypeChanged | Self::Unknown | Self::Removed => true,
            Self::AddedRequired | Self::NewlyRequired => side == Side::Arguments,
            Self::NoLongerRequired => side == Side::Results,
        };
        if breaks { Compatibility::Breaking } else { Compatibility::Compatible }
    }
}

impl SchemaChange {
    fn new(path: &str, kind: SchemaChangeKind, side: Side, why: impl Into<String>) -> Self {
        Self { path: path.to_owned(), kind, compatibility: kind.compatibility(side), why: why.into() }
    }
}

impl SchemaDiff {
    /// Compares two versions of a parameter schema.
    #[must_use]
    pub fn of_arguments(old: &Value, new: &Value) -> Self {
        Self::between(old, new, Side::Arguments)
    }

    /// Compares two versions of an output schema.
    #[must_use]
    pub fn of_results(old: &Value, new: &Value) -> Self {
        Self::between(old, new, Side::Results)
    }

    fn between(old: &Value, new: &Value, side: Side) -> Self {
        // A comparison takes much stack for each level, and a hash little.
        let changes = match too_deep(old).or_else(|| too_deep(new)) {
            None => changes(old, new, side),
            Some(_) if schema_hash(old) == schema_hash(new) => Vec::new(),
            Some(message) => vec![SchemaChange::new("#", SchemaChangeKind::Unknown, side, message)],
        };
        Self { changes }
    }

    /// Returns all changes. Changed and removed properties have the older schema's order, and added ones come
    /// last.
    #[must_use]
    pub fn changes(&self) -> &[SchemaChange] {
        &self.changes
    }

    /// Returns whether there are no differences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the most severe effect of all changes.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        self.changes.iter().map(|change| change.compatibility).max().unwrap_or_default()
    }
}

impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unchanged => "unchanged",
            Self::Compatible => "compatible",
            Self::Breaking => "breaking",
        })
    }
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `{}`: {}", self.compatibility, self.path, self.why)
    }
}

/// Writes one line for each change.
impl fmt::Display for SchemaDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.changes.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests;
