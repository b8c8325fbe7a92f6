//! A violation of a schema by a value.

use crate::words::{shorten, shorten_to};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum length of a message in characters, because schemas of other servers may have very long
/// strings.
const LONGEST: usize = 1_000;

/// A mistake in a value, explained to the model.
///
/// ```
/// use toolkit_schema::{Violation, ViolationKind};
///
/// let violation = Violation::new("from", ViolationKind::Constraint, "must be before `to`");
/// assert_eq!(violation.to_string(), "`from`: must be before `to`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The path of the value, such as `filters[2].max`, or empty for the whole.
    pub path: String,
    /// The kind of violation.
    pub kind: ViolationKind,
    /// The mistake and the expected value, without the path.
    pub message: String,
}

/// The kinds of [`Violation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// The arguments are JSON, but not an object.
    NotAnObject,
    /// A required property is absent.
    Missing,
    /// The schema has no such property.
    Unknown,
    /// A property is given twice.
    Duplicate,
    /// The value has a wrong type.
    WrongType,
    /// The value has the right type, but violates another constraint, such as `maxLength`.
    Constraint,
}

impl Violation {
    /// Creates a violation, with the message shortened to 1,000 characters.
    #[must_use]
    pub fn new(path: impl Into<String>, kind: ViolationKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > LONGEST {
            message = shorten_to(&message, LONGEST);
        }
        Self { path: path.into(), kind, message }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "`{}`: {}", shorten(path), self.message),
        }
    }
}
