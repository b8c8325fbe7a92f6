//! Issues: reports about changed and rejected tools of a tool list.

use super::foreign_text::shorten;
use std::fmt;

const LONGEST: usize = 512;

/// A report about one changed or rejected tool of a tool list.
///
/// ```
/// use toolkit_core::foreign::{ToolIssue, ToolIssueKind};
///
/// let issue = ToolIssue::new("search", ToolIssueKind::Schema, "was left out: its schema is too large");
/// assert_eq!(issue.tool, "search");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolIssue {
    /// The tool's name in at most 128 characters, or empty if the issue concerns the whole list.
    pub tool: String,
    /// What is wrong.
    pub kind: ToolIssueKind,
    /// The fault and the consequence, in at most 512 characters.
    pub message: String,
}

/// The kind of a [`ToolIssue`]. Except for the kinds that say otherwise, the tool is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ToolIssueKind {
    /// The entry is not a tool, for instance without a required field.
    Malformed,
    /// The name has illegal characters; the tool gets a legal one.
    Renamed,
    /// The name cannot be made legal.
    IllegalName,
    /// An earlier tool of the list has the same name.
    Duplicate,
    /// The description was cut, or invisible characters were removed from a text; the tool is registered.
    ///
    /// A pattern with such characters was removed as a whole.
    Description,
    /// A schema is too large, too deep or invalid, or has invisible characters in a name or choice.
    ///
    /// If only the output schema is at fault, the tool is registered without it.
    Schema,
    /// A schema refers to another document. References are never fetched.
    RemoteReference,
    /// The tool runs only as a task (`taskSupport`), which the client does not support.
    Task,
    /// The tool is only for the server's own page in the client (`_meta.ui.visibility`).
    App,
    /// The server lists more tools than allowed. The rest is left out.
    TooMany,
    /// The tool is new, or differs from the approved definition, and waits for approval.
    Unapproved,
}

impl ToolIssue {
    /// Creates an issue, and shortens the name to 128 characters, the message to 512.
    #[must_use]
    pub fn new(tool: &str, kind: ToolIssueKind, message: impl Into<String>) -> Self {
        Self { tool: tool.chars().take(128).collect(), kind, message: shorten(message.into(), LONGEST) }
    }
}

impl fmt::Display for ToolIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tool.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "Tool `{}` {}", self.tool, self.message)
        }
    }
}
