//! Mistral's chat completions.

use crate::settings::{PLAIN, Service, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::{Server, WireModel};

static SERVICE: Service = Service {
    name: "Mistral",
    base_url: "https://api.mistral.ai/v1",
    key_header: ("authorization", "Bearer "),
    key_variables: &["MISTRAL_API_KEY"],
    ..PLAIN
};

client! {
    /// A client for the chat completions of Mistral.
    ///
    /// The API is OpenAI's Chat Completions, but refuses unknown fields. Requests contain only the [standard
    /// fields](toolkit_llm::ModelOptions::standard_fields) of tools, and each option under its name at
    /// Mistral.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::Mistral;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let answer = Mistral::from_env().model("mistral-large-latest").respond("Hello!".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    Mistral(SERVICE);
    /// Creates a client for Mistral's server without an API key.
    new;
    /// Creates a client with the API key in `MISTRAL_API_KEY`.
    from_env;
}

impl Mistral {
    /// Creates the model with the given name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let model = self.settings.model(ApiFormat::OpenAiChat, name, "/chat/completions");
        model.with_server(Server::Mistral)
    }
}
