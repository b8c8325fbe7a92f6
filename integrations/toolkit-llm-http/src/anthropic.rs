//! Anthropic's Messages API.

use crate::settings::{PLAIN, Service, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Anthropic",
    base_url: "https://api.anthropic.com",
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    key_variables: &["ANTHROPIC_API_KEY"],
    url_variable: Some("ANTHROPIC_BASE_URL"),
    ..PLAIN
};

/// The header that lists beta features.
const BETAS: &str = "anthropic-beta";

client! {
    /// A client for Anthropic's Messages API and compatible servers.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::Anthropic;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let model = Anthropic::from_env().model("claude-sonnet-4-5");
    /// let answer = model.respond("What is the capital of France?".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    Anthropic(SERVICE);
    /// Creates a client for Anthropic's server without an API key.
    new;
    /// Creates a client with the API key in `ANTHROPIC_API_KEY`, and the base URL in `ANTHROPIC_BASE_URL` if
    /// set.
    from_env;
}

impl Anthropic {
    /// Sets the version of the API. Default: `2023-06-01`.
    #[must_use]
    pub fn with_version(self, version: impl Into<String>) -> Self {
        self.with_header("anthropic-version", version)
    }

    /// Enables a beta feature of the API.
    #[must_use]
    pub fn with_beta(self, name: impl Into<String>) -> Self {
        let before = self.settings.headers.iter().rfind(|(header, _)| header == BETAS);
        let names = match before {
            Some((_, names)) => format!("{names},{}", name.into()),
            None => name.into(),
        };
        self.with_header(BETAS, names)
    }

    /// Creates the model with the given name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::Anthropic, name, "/v1/messages")
    }
}
