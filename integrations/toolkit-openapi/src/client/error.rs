//! Errors of a program that reads a document.

use std::{fmt, io};
use toolkit_core::error::BuildError;

/// The error of a document that cannot become tools at all.
///
/// A fault in a single operation is an [`OpenApiIssue`](super::OpenApiIssue) instead.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The file cannot be read.
    File(io::Error),
    /// The text is longer than the limit, or has more values than allowed.
    TooLarge(String),
    /// The text is neither JSON nor YAML, or YAML without the feature `yaml`.
    Syntax(String),
    /// The text is no document of OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0.
    Document(String),
    /// The overlay is no document of Overlay 1, or an action of it cannot be applied.
    Overlay(String),
    /// An adapted tool is faulty.
    Tool(BuildError),
    /// The document cannot be fetched, or a setting of the requests is not legal.
    Request(String),
}

impl fmt::Display for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => write!(f, "the document cannot be read: {error}"),
            Self::TooLarge(message) | Self::Syntax(message) | Self::Document(message) => {
                write!(f, "the document {message}")
            }
            Self::Overlay(message) => write!(f, "the overlay {message}"),
            Self::Request(message) => f.write_str(message),
            Self::Tool(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenApiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Tool(error) => Some(error),
            Self::TooLarge(_) | Self::Syntax(_) | Self::Document(_) | Self::Overlay(_) | Self::Request(_) => {
                None
            }
        }
    }
}

impl From<BuildError> for OpenApiError {
    fn from(error: BuildError) -> Self {
        Self::Tool(error)
    }
}
