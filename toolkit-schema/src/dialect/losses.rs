//! Losses of a conversion: constraints missing from the converted schema.

use crate::index::Names;
use std::fmt;

/// A constraint lost in a conversion, because the provider's dialect cannot express it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// The position of the schema with the constraint, as a JSON pointer.
    pub path: String,
    /// The removed keyword.
    pub keyword: String,
    /// An explanation of the loss: its cause, and where the constraint is stated instead, if anywhere.
    pub reason: String,
}

impl SchemaLoss {
    /// Creates a loss of the keyword `keyword` in the schema at `path`, a JSON pointer.
    #[must_use]
    pub fn new(path: impl Into<String>, keyword: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), keyword: keyword.into(), reason: reason.into() }
    }
}

impl fmt::Display for SchemaLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.keyword, self.path, self.reason)
    }
}

/// Collects losses, and keeps at most one loss for each keyword of each schema.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) list: Vec<SchemaLoss>,
    seen: Names<'static>,
    /// The first loss that made the converted schema stricter than the original schema.
    pub(super) narrowed: Option<SchemaLoss>,
}

impl Losses {
    /// Adds a loss that makes the converted schema accept more values than the original schema.
    ///
    /// The tool itself still checks these values.
    pub(super) fn widen(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        if self.seen.add(format!("{keyword}\n{path}").into()) {
            self.list.push(SchemaLoss::new(path, keyword, reason));
        }
    }

    /// Adds a loss that makes the converted schema accept fewer values than the original schema.
    ///
    /// A model constrained to the converted schema cannot send some values that the tool accepts.
    pub(super) fn narrow(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        let reason = reason.into();
        self.narrowed.get_or_insert_with(|| SchemaLoss::new(path, keyword, reason.as_str()));
        self.widen(path, keyword, reason);
    }
}
