//! The kinds of servers that accept different fields of the same API.

/// The kind of server that receives the requests. Servers with the same API accept different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Server {
    /// The API's own provider, or a server that accepts the same fields.
    #[default]
    Own,
    /// The server accepts only [standard fields](crate::ModelOptions::standard_fields).
    Standard,
    /// The server belongs to Mistral and uses the Chat Completions API.
    Mistral,
    /// The server is Vertex AI, with models of Anthropic. The URL contains the model, and the body contains
    /// the version of the API.
    Vertex,
}

impl Server {
    /// Returns whether tool definitions for this server contain only standard fields.
    pub(crate) const fn has_standard_tools(self) -> bool {
        matches!(self, Self::Standard | Self::Mistral)
    }

    /// Returns the name of the provider, if it differs from the provider that defines the API.
    pub(crate) const fn provider(self) -> Option<&'static str> {
        match self {
            Self::Mistral => Some("mistral_ai"),
            Self::Vertex => Some("gcp.vertex_ai"),
            Self::Own | Self::Standard => None,
        }
    }
}
