//! The limits of documents.

/// Limits a document, and the definitions made from it.
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
    /// The maximum bytes of a document's text; 64 MiB by default.
    pub document_bytes: usize,
    /// The maximum number of JSON values in a document, with the aliases of YAML replaced, and in all its
    /// tools; 4 million by default.
    pub values: usize,
    /// The maximum number of these values for each byte of the document; 20 by default.
    ///
    /// Every document may have 10,000.
    pub values_per_byte: usize,
    /// The maximum bytes of one tool's parameters in compact JSON; 32 KiB by default, about 8,000 tokens.
    ///
    /// In a larger schema, the deepest levels are replaced by their types, then descriptions are shortened,
    /// and last optional parameters are left out, those without a description first.
    pub schema_bytes: usize,
    /// The maximum characters of a description; 1,024 by default.
    ///
    /// A longer one ends with the last sentence that fits.
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
    /// Sets [`document_bytes`](Self::document_bytes).
    #[must_use]
    pub fn with_document_bytes(mut self, bytes: usize) -> Self {
        self.document_bytes = bytes;
        self
    }

    /// Sets [`values`](Self::values).
    #[must_use]
    pub fn with_values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// Sets [`values_per_byte`](Self::values_per_byte).
    #[must_use]
    pub fn with_values_per_byte(mut self, values: usize) -> Self {
        self.values_per_byte = values;
        self
    }

    /// Sets [`schema_bytes`](Self::schema_bytes).
    #[must_use]
    pub fn with_schema_bytes(mut self, bytes: usize) -> Self {
        self.schema_bytes = bytes;
        self
    }

    /// Sets [`description`](Self::description).
    #[must_use]
    pub fn with_description(mut self, characters: usize) -> Self {
        self.description = characters;
        self
    }
}
