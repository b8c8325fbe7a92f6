//! The two APIs of OpenAI, which most other servers speak, too.

mod service;
mod stream;

use super::http::{Expected, Http};
use super::settings::{Settings, from_env, settings_methods};
use crate::model::{ModelError, ModelErrorKind};
use crate::wire::{EventStream, Transport, WireModel};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use serde_json::Value;
use service::{HttpService, Watch};
use std::fmt;
use stream::Events;
use toolkit_wire::ApiFormat;

const BASE_URL: &str = "https://api.openai.com/v1";

/// The APIs of OpenAI, Chat Completions and Responses, and every server that speaks one of them.
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
    organization: Option<String>,
    project: Option<String>,
}

settings_methods!(OpenAi);

impl Default for OpenAi {
    fn default() -> Self {
        Self { settings: Settings::new(BASE_URL), organization: None, project: None }
    }
}

impl OpenAi {
    /// Creates the API at OpenAI's own address, without a key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the API as the environment variables `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` and
    /// `OPENAI_PROJECT_ID` say.
    #[must_use]
    pub fn from_env() -> Self {
        let mut client = Self::default();
        client.settings.key = from_env("OPENAI_API_KEY");
        client.organization = from_env("OPENAI_ORG_ID");
        client.project = from_env("OPENAI_PROJECT_ID");
        match from_env("OPENAI_BASE_URL") {
            Some(url) => client.with_base_url(url),
            None => client,
        }
    }

    /// Sets the organisation that pays.
    #[must_use]
    pub fn with_organization(mut self, id: impl Into<String>) -> Self {
        self.organization = Some(id.into());
        self
    }

    /// Sets the project of the organisation.
    #[must_use]
    pub fn with_project(mut self, id: impl Into<String>) -> Self {
        self.project = Some(id.into());
        self
    }

    /// Creates the model of this name, over Chat Completions.
    #[must_use]
    pub fn chat(&self, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        self.model(ApiFormat::OpenAiChat, name)
    }

    /// Creates the model of this name, over Responses.
    #[must_use]
    pub fn responses(&self, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        self.model(ApiFormat::OpenAiResponses, name)
    }

    fn model(&self, format: ApiFormat, name: impl Into<String>) -> WireModel<OpenAiTransport> {
        // Headers are the service's business: a key that no header may hold makes this client panic.
        let config = OpenAIConfig::new()
            .with_api_base(self.settings.base_url.trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        WireModel::new(format, name, OpenAiTransport { format, http: self.http(), config })
    }

    fn http(&self) -> Result<Http, ModelError> {
        let mut headers = Vec::new();
        match &self.settings.key {
            Some(key) => headers.push(("authorization", format!("Bearer {key}"))),
            None if self.settings.base_url == BASE_URL => {
                let text = "there is no key for OpenAI: `OPENAI_API_KEY` must hold it";
                return Err(ModelError::new(ModelErrorKind::Unauthorized, text));
            }
            None => {}
        }
        headers.extend(self.organization.clone().map(|id| ("openai-organization", id)));
        headers.extend(self.project.clone().map(|id| ("openai-project", id)));
        Http::new(&self.settings, headers)
    }
}

/// The JSON of OpenAI's APIs, through the client `async-openai`.
#[derive(Clone)]
pub struct OpenAiTransport {
    format: ApiFormat,
    /// Or why there is none.
    http: Result<Http, ModelError>,
    config: OpenAIConfig,
}

impl OpenAiTransport {
    /// Returns a client for one request, and its observer.
    fn client(&self, expected: Expected) -> Result<(Client<OpenAIConfig>, Watch), ModelError> {
        let http = self.http.as_ref().map_err(Clone::clone)?;
        let watch = Watch::default();
        let service = HttpService::new(http.clone(), expected, watch.clone());
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
        response.map_err(|error| watch.explain(error))
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        let (client, watch) = self.client(Expected::Events)?;
        let events = match self.format {
            ApiFormat::OpenAiResponses => client.responses().create_stream_byot(body).await,
            _ => client.chat().create_stream_byot(body).await,
        };
        let events = events.map_err(|error| watch.explain(error))?;
        Ok(Box::pin(Events::new(self.format, events, watch)))
    }
}

impl fmt::Debug for OpenAiTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiTransport")
            .field("format", &self.format)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
