//! The choice of operations.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// An operation of a document, for choosing it.
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

/// The conditions that an operation must meet to become a tool.
#[derive(Clone, Default)]
pub(crate) struct Choice {
    conditions: Vec<Arc<Condition>>,
    /// The ids and tags that the program named.
    pub(crate) operations: Vec<String>,
    pub(crate) tags: Vec<String>,
}

impl Choice {
    pub(crate) fn add(&mut self, condition: impl Fn(&OperationInfo<'_>) -> bool + Send + Sync + 'static) {
        self.conditions.push(Arc::new(condition));
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

/// The namespaces of the tools of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Namespaces {
    /// The first tag of an operation is the namespace of its tool: `repos-list`. An operation without tags has none.
    #[default]
    Tags,
    /// All tools have this namespace.
    One(String),
    /// No tool has a namespace.
    None,
}
