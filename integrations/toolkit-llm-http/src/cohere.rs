//! Cohere's Chat API.

use crate::settings::{PLAIN, Service, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Cohere",
    base_url: "https://api.cohere.com",
    key_header: ("authorization", "Bearer "),
    key_variables: &["CO_API_KEY", "COHERE_API_KEY"],
    ..PLAIN
};

client! {
    /// A client for Cohere's Chat API, version 2.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::Cohere;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let answer = Cohere::from_env().model("command-a-03-2025").respond("Hello!".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    Cohere(SERVICE);
    /// Creates a client for Cohere's server without an API key.
    new;
    /// Creates a client with the API key in `CO_API_KEY` or, if not set, `COHERE_API_KEY`.
    from_env;
}

impl Cohere {
    /// Creates the model with the given name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::Cohere, name, "/v2/chat")
    }
}
