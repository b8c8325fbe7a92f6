//! Google's Gemini API.

use crate::settings::{PLAIN, Service, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Gemini",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    key_header: ("x-goog-api-key", ""),
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ..PLAIN
};

client! {
    /// A client for Google's Gemini API and compatible servers.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::Gemini;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let model = Gemini::from_env().model("gemini-3-flash");
    /// let answer = model.respond("What is the capital of France?".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    Gemini(SERVICE);
    /// Creates a client for Google's server without an API key.
    new;
    /// Creates a client with the API key in `GEMINI_API_KEY` or, if not set, `GOOGLE_API_KEY`.
    from_env;
}

impl Gemini {
    /// Creates a model with the Interactions API.
    #[must_use]
    pub fn interactions(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::GeminiInteractions, name, "/interactions")
    }

    /// Creates a model with the API `generateContent`.
    ///
    /// A name without a folder is in the folder `models`; others, such as `tunedModels/mine`, are used
    /// unchanged.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let name = name.into();
        let folder = if name.contains('/') { "" } else { "models/" };
        let url = |method: &str| self.settings.url(&format!("/{folder}{name}:{method}"));
        let (url, stream_url) = (url("generateContent"), url("streamGenerateContent?alt=sse"));
        self.settings.model_at(ApiFormat::Gemini, name, url, stream_url)
    }
}
