//! Errors of reading a document and of starting a server.

use std::fmt;
use toolkit_core::error::BuildError;

/// Reports a document that cannot become tools at all, or a server that does not start.
///
/// A fault in a single operation is an [`OpenApiIssue`](crate::client::OpenApiIssue).
#[derive(Clone, PartialEq, Eq)]
pub struct OpenApiError {
    kind: OpenApiErrorKind,
    message: String,
}

/// The kinds of [`OpenApiError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenApiErrorKind {
    /// The file cannot be read.
    File,
    /// The text is too long, or has too many values. Raise `document_limits`, or take fewer operations.
    TooLarge,
    /// The text is neither JSON nor YAML, or YAML without the feature `yaml` (in `toolkit-ai`, part of `openapi`).
    Syntax,
    /// The text is no document of OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0. Convert it first.
    Document,
    /// The overlay is no document of Overlay 1, or an action of it cannot be applied.
    Overlay,
    /// The document cannot be fetched, or a setting of the requests is not legal, such as an empty secret.
    ///
    /// - ``the credentials for `…` cannot be used``: use `with_secret` or `with_basic`, as the scheme has it.
    /// - `has an address that is not public`: set `base_url` for a private network.
    Request,
    /// An adapted tool is faulty, or a rule of the server [selects no tool](toolkit_core::Dispatcher::check).
    Build,
    /// The address is not free, or other machines could reach an open server.
    Bind,
}

impl OpenApiError {
    pub(crate) fn new(kind: OpenApiErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates the error of a text that is no document: `fault` follows the words "the document".
    #[cfg(feature = "client")]
    pub(crate) fn of_document(kind: OpenApiErrorKind, fault: impl fmt::Display) -> Self {
        Self::of_text(kind, "the document", fault)
    }

    /// Creates the error of a text: `fault` follows `role`, the name of the text.
    #[cfg(feature = "client")]
    pub(crate) fn of_text(kind: OpenApiErrorKind, role: impl fmt::Display, fault: impl fmt::Display) -> Self {
        Self::new(kind, format!("{role} {fault}"))
    }

    #[cfg(feature = "client")]
    pub(crate) fn too_long(
        role: impl fmt::Display,
        length: impl fmt::Display,
        limit: impl fmt::Display,
    ) -> Self {
        let fault = format_args!("has {length} bytes, more than {limit}");
        Self::of_text(OpenApiErrorKind::TooLarge, role, fault)
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> OpenApiErrorKind {
        self.kind
    }
}

impl From<BuildError> for OpenApiError {
    fn from(error: BuildError) -> Self {
        Self::new(OpenApiErrorKind::Build, error.to_string())
    }
}

impl fmt::Debug for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OpenApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenApiError {}
