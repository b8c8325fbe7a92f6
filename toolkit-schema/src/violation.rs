//! One way in which the arguments of a call are wrong.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How many characters of a name or value from the model a message repeats.
const QUOTED: usize = 60;

/// How many characters the message of one violation has at most.
const LONGEST: usize = 1_000;

/// One way in which the arguments of a call are wrong. Its text is written for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// Where: the parameter, and the place inside its value, as in `filters[2].max`. Empty if the
    /// arguments as a whole are meant.
    pub path: String,
    /// What kind of fault.
    pub kind: ViolationKind,
    /// What is wrong and what would be right, without the path.
    pub message: String,
}

/// The kinds of [`Violation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// The arguments are JSON, but not an object.
    NotAnObject,
    /// A required parameter is absent.
    Missing,
    /// There is no such parameter.
    Unknown,
    /// The parameter is given twice.
    Duplicate,
    /// The value does not fit the parameter's type.
    WrongType,
    /// The value is of the right type, but outside what is allowed.
    Constraint,
}

impl Violation {
    /// A fault at `path`. A very long message is cut: schemas come from elsewhere too.
    #[must_use]
    pub fn new(path: impl Into<String>, kind: ViolationKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = if message.len() > LONGEST { shorten_to(&message, LONGEST) } else { message };
        Self { path: path.into(), kind, message }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", shorten(&self.path), self.message)
        }
    }
}

/// At most 60 characters of `text`, and a sign where more was cut.
pub fn shorten(text: &str) -> String {
    shorten_to(text, QUOTED)
}

/// At most so many characters of `text`, and a sign where more was cut.
pub fn shorten_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
