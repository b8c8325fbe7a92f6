//! The kinds of servers with different fields of the same API.

/// The kind of server, which decides the accepted fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Server {
    /// The API's own provider, or a server with its fields.
    #[default]
    Own,
    /// The server accepts only [standard fields](crate::ModelOptions::standard_fields).
    Standard,
    /// Mistral's own server, with the Chat Completions API.
    Mistral,
    /// Vertex AI, with models of Anthropic. The URL contains the model, and the body the version of the API.
    Vertex,
}

impl Server {
    pub(crate) const fn has_standard_tools(self) -> bool {
        matches!(self, Self::Standard | Self::Mistral)
    }

    /// Returns the provider, if it does not define the API.
    pub(crate) const fn provider(self) -> Option<&'static str> {
        match self {
            Self::Mistral => Some("mistral_ai"),
            Self::Vertex => Some("gcp.vertex_ai"),
            Self::Own | Self::Standard => None,
        }
    }
}
