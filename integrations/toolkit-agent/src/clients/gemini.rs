//! Google's Gemini API.

use super::http::Http;
use super::settings::{Settings, from_env, settings_methods};
use super::transport::HttpTransport;
use crate::model::{ModelError, ModelErrorKind};
use crate::wire::WireModel;
use toolkit_wire::ApiFormat;

const BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// Google's Gemini API, and every server that speaks it.
///
/// ```no_run
/// use toolkit_agent::{Agent, clients::Gemini};
///
/// # async fn ask() -> Result<(), toolkit_agent::AgentError> {
/// let model = Gemini::from_env().model("gemini-3-flash");
/// let output = Agent::builder(model).run("What is the capital of France?").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gemini {
    settings: Settings,
}

settings_methods!(Gemini);

impl Default for Gemini {
    fn default() -> Self {
        Self { settings: Settings::new(BASE_URL) }
    }
}

impl Gemini {
    /// Creates the API at Google's own address, without a key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the API with the key in the environment variable `GEMINI_API_KEY`, or else in `GOOGLE_API_KEY`.
    #[must_use]
    pub fn from_env() -> Self {
        let mut client = Self::default();
        client.settings.key = from_env("GEMINI_API_KEY").or_else(|| from_env("GOOGLE_API_KEY"));
        client
    }

    /// Creates the model of this name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let name = name.into();
        let url = |method: &str| self.settings.url(&format!("/models/{name}:{method}"));
        let transport =
            HttpTransport::new(self.http(), url("generateContent"), url("streamGenerateContent?alt=sse"));
        WireModel::new(ApiFormat::Gemini, name, transport)
    }

    fn http(&self) -> Result<Http, ModelError> {
        let headers = match &self.settings.key {
            Some(key) => vec![("x-goog-api-key", key.clone())],
            None if self.settings.base_url == BASE_URL => {
                let text = "there is no key for Gemini: `GEMINI_API_KEY` must hold it";
                return Err(ModelError::new(ModelErrorKind::Unauthorized, text));
            }
            None => Vec::new(),
        };
        Http::new(&self.settings, headers)
    }
}
