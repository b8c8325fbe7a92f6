//! What a conversion could not say.

use super::SchemaLoss;
use std::collections::HashSet;

/// Collects losses; the same one is told once.
#[derive(Debug, Default)]
pub(super) struct Losses {
    list: Vec<SchemaLoss>,
    told: HashSet<(String, String)>,
    narrowed: Option<SchemaLoss>,
}

impl Losses {
    /// What is written allows more than what was meant: the tool itself still checks.
    pub(super) fn widen(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        self.add(SchemaLoss::new(path, keyword, reason));
    }

    /// What is written forbids values that were meant to be allowed: a model that is held to it cannot
    /// say them.
    pub(super) fn narrow(&mut self, path: &str, keyword: &str, reason: impl Into<String>) {
        let loss = SchemaLoss::new(path, keyword, reason);
        self.narrowed.get_or_insert_with(|| loss.clone());
        self.add(loss);
    }

    fn add(&mut self, loss: SchemaLoss) {
        if self.told.insert((loss.path.clone(), loss.keyword.clone())) {
            self.list.push(loss);
        }
    }

    /// The losses, and the first that forbids what was meant to be allowed.
    pub(super) fn into_parts(self) -> (Vec<SchemaLoss>, Option<SchemaLoss>) {
        (self.list, self.narrowed)
    }
}
