//! OpenAI's Chat Completions and Responses APIs.

mod service;

use super::http::{Expected, Http, Watch};
use super::settings::{PLAIN, Service, Settings, client_settings};
use crate::model::ModelError;
use crate::wire::{EventStream, Transport, WireModel};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use serde_json::Value;
use service::{Events, HttpService, explain};
use toolkit_wire::ApiFormat;

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

/// A client for OpenAI's Chat Completions and Responses APIs, and compatible servers.
///
/// ```no_run
/// use toolkit_agent::{Agent, clients::OpenAi};
///
/// # async fn ask() -> Result<(), toolkit_agent::AgentError> {
/// let output = Agent::builder(OpenAi::from_env().responses("gpt-5")).run("Hello!").await?;
///
/// let local = OpenAi::new().with_base_url("http://127.0.0.1:8080/v1");
/// let output = Agent::builder(local.chat("qwen")).run("Hello!").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenAi {
    settings: Settings,
}

client_settings!(
    OpenAi,
    SERVICE,
    /// Creates a client for OpenAI's own server, without an API key.
);

impl OpenAi {
    /// Creates a client from the environment variables `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID`
    /// and `OPENAI_PROJECT_ID`.
    #[must_use]
    pub fn from_env() -> Self {
        Self { settings: Settings::from_env(&SERVICE) }
    }

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

    /// Creates the model with the given name, called through the Chat Completions API.
    #[must_use]
    pub fn chat(&self, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        self.model(ApiFormat::OpenAiChat, name)
    }

    /// Creates the model with the given name, called through the Responses API.
    #[must_use]
    pub fn responses(&self, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        self.model(ApiFormat::OpenAiResponses, name)
    }

    fn model(&self, format: ApiFormat, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        // `HttpService` sets the headers. This client would panic at a key with characters illegal in a
        // header.
        let config = OpenAIConfig::new()
            .with_api_base(self.settings.base_url.trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        WireModel::new(format, name, OpenAiTransport { format, http: Http::new(&self.settings), config })
    }
}

/// A transport for the JSON of OpenAI's APIs, over the client `async-openai`.
#[derive(Clone)]
pub struct OpenAiTransport {
    format: ApiFormat,
    /// The HTTP client, or the error that occurred when the client was created.
    http: Result<Http, ModelError>,
    config: OpenAIConfig,
}

impl OpenAiTransport {
    /// Returns a client for one request, and a `Watch` to learn how the response ended.
    fn client(&self, expected: Expected) -> Result<(Client<OpenAIConfig>, Watch), ModelError> {
        let http = self.http.as_ref().map_err(Clone::clone)?;
        let watch = Watch::default();
        let service = HttpService { http: http.clone(), expected, watch: watch.clone() };
        let client = Client::build(http.client.clone(), self.config.clone()).with_http_service(service);
        Ok((client, watch))
    }
}

impl Transport for OpenAiTransport {
    async fn send(&self, body: Value) -> Result<Value, ModelError> {
        let (client, watch) = self.client(Expected::Json)?;
        let response = match self.format {
            ApiFormat::OpenAiResponses => client.responses().create_byot(body).await,
            _ => client.chat().create_byot(body).await,
        };
        response.map_err(|error| explain(&watch, error))
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        let (client, watch) = self.client(Expected::Events)?;
        let events = match self.format {
            ApiFormat::OpenAiResponses => client.responses().create_stream_byot(body).await,
            _ => client.chat().create_stream_byot(body).await,
        };
        let events = events.map_err(|error| explain(&watch, error))?;
        Ok(Box::pin(Events { format: self.format, events, watch, is_over: false }))
    }
}

debug!(OpenAiTransport, self, "format": self.format, "http": self.http);
