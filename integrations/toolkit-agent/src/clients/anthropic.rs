//! Anthropic's Messages API.

use super::http::Http;
use super::settings::{Settings, from_env, settings_methods};
use super::transport::HttpTransport;
use crate::model::{ModelError, ModelErrorKind};
use crate::wire::WireModel;
use toolkit_wire::ApiFormat;

const BASE_URL: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";

/// Anthropic's Messages API, and every server that speaks it.
///
/// ```no_run
/// use toolkit_agent::{Agent, clients::Anthropic};
///
/// # async fn ask() -> Result<(), toolkit_agent::AgentError> {
/// let model = Anthropic::from_env().model("claude-sonnet-4-5");
/// let output = Agent::builder(model).run("What is the capital of France?").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Anthropic {
    settings: Settings,
    version: String,
    betas: Vec<String>,
}

settings_methods!(Anthropic);

impl Default for Anthropic {
    fn default() -> Self {
        Self { settings: Settings::new(BASE_URL), version: VERSION.to_owned(), betas: Vec::new() }
    }
}

impl Anthropic {
    /// Creates the API at Anthropic's own address, without a key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the API with the key in the environment variable `ANTHROPIC_API_KEY`, at the address in `ANTHROPIC_BASE_URL`
    /// if it is set.
    #[must_use]
    pub fn from_env() -> Self {
        let mut client = Self::default();
        client.settings.key = from_env("ANTHROPIC_API_KEY");
        match from_env("ANTHROPIC_BASE_URL") {
            Some(url) => client.with_base_url(url),
            None => client,
        }
    }

    /// Sets the version of the API; `2023-06-01` if it is not said.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Turns on something that the API only tries out.
    #[must_use]
    pub fn with_beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Creates the model of this name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let url = self.settings.url("/v1/messages");
        WireModel::new(ApiFormat::Anthropic, name, HttpTransport::new(self.http(), url.clone(), url))
    }

    fn http(&self) -> Result<Http, ModelError> {
        let mut headers = vec![("anthropic-version", self.version.clone())];
        if !self.betas.is_empty() {
            headers.push(("anthropic-beta", self.betas.join(",")));
        }
        match &self.settings.key {
            Some(key) => headers.push(("x-api-key", key.clone())),
            None if self.settings.base_url == BASE_URL => {
                let text = "there is no key for Anthropic: `ANTHROPIC_API_KEY` must hold it";
                return Err(ModelError::new(ModelErrorKind::Unauthorized, text));
            }
            None => {}
        }
        Http::new(&self.settings, headers)
    }
}
