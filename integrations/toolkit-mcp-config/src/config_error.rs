//! Faults of a configuration, each with its place in the file.

use std::error::Error;
use std::fmt;

/// A place in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Place {
    pub(crate) fn at(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

/// A fault of a configuration. The message shows no values of the file, because they may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    server: String,
    place: Option<Place>,
    message: String,
}

impl ConfigError {
    /// Returns the server's name in the file; empty for a fault of the whole file.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the place in the file, if there is one.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// Returns the fault, and what to do about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn new(server: &str, place: Option<Place>, message: impl Into<String>) -> Self {
        Self { server: server.to_owned(), place, message: message.into() }
    }

    pub(crate) fn at(text: &str, offset: usize, server: &str, message: impl Into<String>) -> Self {
        Self::new(server, Some(Place::at(text, offset)), message)
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.server.is_empty() {
            write!(f, "MCP server `{}`: ", self.server)?;
        }
        f.write_str(&self.message)?;
        match self.place {
            Some(Place { line, column }) => write!(f, " (line {line}, column {column})"),
            None => Ok(()),
        }
    }
}

impl Error for ConfigError {}
