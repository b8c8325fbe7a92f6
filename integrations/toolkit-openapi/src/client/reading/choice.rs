//! The choice of operations.

use crate::client::document::OpenApiIssue;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The members of a path that are operations.
pub(super) const METHODS: [&str; 9] =
    ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Describes an operation, for choosing it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OperationInfo<'a> {
    /// The `operationId`, or the method and the path: `GET /users/{id}`.
    pub id: &'a str,
    /// The method in capital letters.
    pub method: &'a str,
    /// The path, with the names of parameters in braces.
    pub path: &'a str,
    /// The operation in the document, with its extensions (`x-…`).
    pub object: &'a Value,
}

impl<'a> OperationInfo<'a> {
    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let tags = self.object.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns whether the operation is deprecated.
    #[must_use]
    pub fn is_deprecated(&self) -> bool {
        self.object.get("deprecated") == Some(&Value::Bool(true))
    }
}

type Condition = dyn Fn(&OperationInfo<'_>) -> bool + Send + Sync;

#[derive(Clone, Default)]
pub(crate) struct Choice {
    conditions: Vec<Arc<Condition>>,
    /// The operations that the program chose or changed.
    pub(crate) operations: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) methods: Vec<String>,
    pub(crate) paths: Vec<String>,
}

impl Choice {
    pub(crate) fn add(&mut self, condition: impl Fn(&OperationInfo<'_>) -> bool + Send + Sync + 'static) {
        self.conditions.push(Arc::new(condition));
    }

    /// Returns the issues of unknown names.
    pub(super) fn unknown(&self, all: &[OperationInfo<'_>]) -> Vec<OpenApiIssue> {
        let mut issues = Vec::new();
        let ids: BTreeSet<&str> = all.iter().map(|operation| operation.id).collect();
        for id in self.operations.iter().filter(|id| !ids.contains(id.as_str())) {
            issues.push(OpenApiIssue::unknown("No operation has the id", id, ids.iter().copied()));
        }
        let tags: BTreeSet<&str> = all.iter().flat_map(OperationInfo::tags).collect();
        for tag in self.tags.iter().filter(|tag| !tags.contains(tag.as_str())) {
            issues.push(OpenApiIssue::unknown("No operation has the tag", tag, tags.iter().copied()));
        }
        // A filter may name methods that another document has.
        let methods: BTreeSet<&str> = all.iter().map(|operation| operation.method).chain(METHODS).collect();
        for method in &self.methods {
            if !methods.iter().any(|known| known.eq_ignore_ascii_case(method)) {
                issues.push(OpenApiIssue::unknown(
                    "No operation has the method",
                    method,
                    methods.iter().copied(),
                ));
            }
        }
        let paths: BTreeSet<&str> = all.iter().map(|operation| operation.path).collect();
        for start in &self.paths {
            if !paths.iter().any(|path| path.starts_with(start)) {
                issues.push(OpenApiIssue::unknown("No path begins with", start, paths.iter().copied()));
            }
        }
        issues
    }

    pub(super) fn includes(&self, operation: &OperationInfo<'_>) -> bool {
        self.conditions.iter().all(|condition| condition(operation))
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} conditions", self.conditions.len())
    }
}

/// Selects the namespaces of a document's tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Namespaces {
    /// The first tag of an operation is its tool's namespace: `repos-list`. An operation without tags has
    /// none.
    #[default]
    Tags,
    /// All tools have this namespace.
    One(String),
    /// No tool has a namespace.
    None,
}
