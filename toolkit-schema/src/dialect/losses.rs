//! The losses of a conversion.

use std::collections::HashSet;
use std::fmt;

/// A demand that a provider's dialect cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// The schema that made the demand, as a JSON pointer.
    pub path: String,
    /// The keyword that was removed.
    pub keyword: String,
    /// The cause, and the replacement.
    pub reason: String,
}

impl SchemaLoss {
    /// Creates the loss of `keyword` at `path`, a JSON pointer.
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

/// Collects losses, one for each keyword of each schema.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) list: Vec<SchemaLoss>,
    seen: HashSet<(String, String)>,
    /// The first loss that forbids values which were allowed.
    pub(super) narrowed: Option<SchemaLoss>,
}

impl Losses {
    /// Adds a loss by which more values are allowed: the tool itself still checks them.
    pub(super) fn widen(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        if self.seen.insert((path.to_owned(), keyword.to_owned())) {
            self.list.push(SchemaLoss::new(path, keyword, reason));
        }
    }

    /// Adds a loss by which fewer values are allowed: a model held to the schema cannot send the others.
    pub(super) fn narrow(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        let reason = reason.into();
        self.narrowed.get_or_insert_with(|| SchemaLoss::new(path, keyword, reason.as_str()));
        self.widen(path, keyword, reason);
    }
}
