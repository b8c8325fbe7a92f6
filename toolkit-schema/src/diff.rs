//! How two versions of a schema differ, and whether who knows the older one notices.

mod compare;
mod disjoint;
mod keywords;

use serde_json::Value;
use std::fmt;

/// How two versions of a schema differ: every change with its place, and whether it breaks anything.
///
/// A change of **arguments** is breaking if a call that was right before may be refused now, or mean
/// something else. A change of **results** is breaking if a result may look as no result looked before.
/// Where that cannot be decided, as between two patterns, a change counts as breaking.
///
/// References are followed, and the order of keywords, properties and variants does not matter.
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

/// Whether a change is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Compatibility {
    /// Nothing changed.
    #[default]
    Unchanged,
    /// What was right before still is.
    Compatible,
    /// What was right before may be wrong now.
    Breaking,
}

/// One change of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaChange {
    /// Where, as in `#/properties/city`; `#` is the whole.
    pub path: String,
    /// What kind of change.
    pub kind: SchemaChangeKind,
    /// Whether it is noticed.
    pub compatibility: Compatibility,
    /// What changed, in words.
    pub why: String,
}

/// What kind of change a [`SchemaChange`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaChangeKind {
    /// A property that may be left out was added.
    AddedOptional,
    /// A property that must be there was added.
    AddedRequired,
    /// A property is gone.
    Removed,
    /// A property must be there now.
    NewlyRequired,
    /// A property may be left out now.
    NoLongerRequired,
    /// The type is another one: neither holds all that the other does.
    TypeChanged,
    /// Fewer values are accepted.
    Narrowed,
    /// More values are accepted.
    Widened,
    /// Other values are accepted, or it cannot be said which.
    Altered,
    /// Texts, examples or a default changed, and not what is accepted.
    Described,
}

/// Whose schema it is.
#[derive(Debug, Clone, Copy)]
enum Role {
    Arguments,
    Results,
}

impl SchemaChangeKind {
    const fn compatibility(self, role: Role) -> Compatibility {
        let breaks = match self {
            Self::Described | Self::AddedOptional => false,
            Self::TypeChanged | Self::Altered | Self::Removed => true,
            Self::AddedRequired | Self::NewlyRequired | Self::Narrowed => matches!(role, Role::Arguments),
            Self::NoLongerRequired | Self::Widened => matches!(role, Role::Results),
        };
        if breaks { Compatibility::Breaking } else { Compatibility::Compatible }
    }
}

impl SchemaDiff {
    /// The changes between two versions of what a tool takes.
    #[must_use]
    pub fn of_arguments(old: &Value, new: &Value) -> Self {
        Self::between(old, new, Role::Arguments)
    }

    /// The changes between two versions of what a tool returns.
    #[must_use]
    pub fn of_results(old: &Value, new: &Value) -> Self {
        Self::between(old, new, Role::Results)
    }

    fn between(old: &Value, new: &Value, role: Role) -> Self {
        let found = compare::changes(old, new).into_iter();
        let changes = found.map(|compare::Found { path, kind, why }| SchemaChange {
            path,
            kind,
            compatibility: kind.compatibility(role),
            why,
        });
        Self { changes: changes.collect() }
    }

    /// Every change, in the order of the older schema.
    #[must_use]
    pub fn changes(&self) -> &[SchemaChange] {
        &self.changes
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The worst of all changes.
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

/// One line for each change.
impl fmt::Display for SchemaDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, change) in self.changes.iter().enumerate() {
            let end = if index > 0 { "\n" } else { "" };
            write!(f, "{end}{change}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
