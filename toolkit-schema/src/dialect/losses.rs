//! Losses of a conversion.

use crate::index::Names;
use std::fmt;

/// A constraint that a provider's dialect cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// The position of the schema with the constraint, as a JSON pointer.
    pub path: String,
    /// The removed keyword.
    pub keyword: String,
    /// The cause of the loss, and where the constraint is stated instead, if anywhere.
    pub reason: String,
}

impl SchemaLoss {
    /// Creates a loss of `keyword` at `path`, a JSON pointer.
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

/// Collects at most one loss for each keyword of each schema.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) list: Vec<SchemaLoss>,
    seen: Names<'static>,
    /// The first loss that made the schema stricter.
    pub(super) narrowed: Option<SchemaLoss>,
}

impl Losses {
    /// Adds a loss after which the schema accepts more values.
    ///
    /// The tool still checks these.
    pub(super) fn widen(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        if self.seen.add(format!("{keyword}\n{path}").into()) {
            self.list.push(SchemaLoss::new(path, keyword, reason));
        }
    }

    /// Adds a loss after which the schema accepts fewer values.
    ///
    /// A model bound to it cannot send some values that the tool accepts.
    pub(super) fn narrow(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        let reason = reason.into();
        self.narrowed.get_or_insert_with(|| SchemaLoss::new(path, keyword, reason.as_str()));
        self.widen(path, keyword, reason);
    }
}
