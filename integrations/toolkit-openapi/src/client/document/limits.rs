//! The limits of documents.

/// The limits of a document, and of the definitions made from it.
///
/// ```
/// use toolkit_ai::openapi::client::OpenApiLimits;
///
/// let limits = OpenApiLimits::default().with_schema_bytes(8 << 10);
/// assert_eq!((limits.document_bytes, limits.schema_bytes), (64 << 20, 8 << 10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenApiLimits {
    /// The maximum length of the text of a document, in bytes; 64 MiB by default.
    pub document_bytes: usize,
    /// The maximum number of JSON values in a document, after the aliases of YAML are replaced by their targets, and
    /// of those in all tools made from it; 4 million by default.
    pub values: usize,
    /// The maximum number of these values for each byte of the document; 20 by default. Every document may become
    /// 10,000 values.
    pub values_per_byte: usize,
    /// The maximum size of the parameters of one tool, in bytes of compact JSON; 32 KiB by default, about 8,000
    /// tokens. In a larger schema, the deepest levels are replaced by their types. If that is not enough, descriptions
    /// are shortened, and optional parameters are left out, those without a description first.
    pub schema_bytes: usize,
    /// The maximum length of a description, in characters; 1,024 by default. A longer description ends with the last
    /// sentence that fits.
    pub description: usize,
}

impl Default for OpenApiLimits {
    fn default() -> Self {
        Self {
            document_bytes: 64 << 20,
            values: 4_000_000,
            values_per_byte: 20,
            schema_bytes: 32 << 10,
            description: 1_024,
        }
    }
}

impl OpenApiLimits {
    /// Sets the maximum length of the text of a document, in bytes.
    #[must_use]
    pub fn with_document_bytes(mut self, bytes: usize) -> Self {
        self.document_bytes = bytes;
        self
    }

    /// Sets the maximum number of JSON values in a document, and of those in all tools made from it.
    #[must_use]
    pub fn with_values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// Sets the maximum number of JSON values for each byte of the document.
    #[must_use]
    pub fn with_values_per_byte(mut self, values: usize) -> Self {
        self.values_per_byte = values;
        self
    }

    /// Sets the maximum size of the parameters of one tool, in bytes.
    #[must_use]
    pub fn with_schema_bytes(mut self, bytes: usize) -> Self {
        self.schema_bytes = bytes;
        self
    }

    /// Sets the maximum length of a description, in characters.
    #[must_use]
    pub fn with_description(mut self, characters: usize) -> Self {
        self.description = characters;
        self
    }
}
