//! OpenAI's Chat Completions and Responses APIs.

use crate::settings::{PLAIN, Service, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "OpenAI",
    base_url: "https://api.openai.com/v1",
    key_header: ("authorization", "Bearer "),
    key_variables: &["OPENAI_API_KEY"],
    url_variable: Some("OPENAI_BASE_URL"),
    header_variables: &[("OPENAI_ORG_ID", ORGANIZATION), ("OPENAI_PROJECT_ID", PROJECT)],
    ..PLAIN
};

const ORGANIZATION: &str = "openai-organization";
const PROJECT: &str = "openai-project";

client! {
    /// A client for OpenAI's Chat Completions and Responses APIs, and compatible servers.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::OpenAi;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let answer = OpenAi::from_env().responses("gpt-5").respond("Hello!".into()).await?;
    ///
    /// let local = OpenAi::new().with_base_url("http://127.0.0.1:8080/v1");
    /// let answer = local.chat("qwen").respond("Hello!".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    OpenAi(SERVICE);
    /// Creates a client for OpenAI's server without an API key.
    new;
    /// Creates a client from `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`.
    from_env;
}

impl OpenAi {
    /// Sets the id of the organization to bill.
    #[must_use]
    pub fn with_organization(self, id: impl Into<String>) -> Self {
        self.with_header(ORGANIZATION, id)
    }

    /// Sets the id of the project within the organization.
    #[must_use]
    pub fn with_project(self, id: impl Into<String>) -> Self {
        self.with_header(PROJECT, id)
    }

    /// Creates a model with the Chat Completions API.
    #[must_use]
    pub fn chat(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::OpenAiChat, name, "/chat/completions")
    }

    /// Creates a model with the Responses API.
    #[must_use]
    pub fn responses(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::OpenAiResponses, name, "/responses")
    }
}
