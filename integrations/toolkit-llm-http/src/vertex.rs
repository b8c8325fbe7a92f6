//! The models of Google, Anthropic and others at Vertex AI.

use crate::settings::{PLAIN, Service, Settings, client_setters, variable};
use crate::transport::HttpTransport;
use toolkit_http::client::segment;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::{Server, WireModel};

static SERVICE: Service = Service {
    name: "Vertex AI",
    domain: ".googleapis.com",
    key_header: ("x-goog-api-key", ""),
    auth_setter: "with_token_source",
    ..PLAIN
};

const PROVIDER: &str = "gcp.vertex_ai";

/// A client for Vertex AI of Google Cloud.
///
/// Requests need an access token for the scope `https://www.googleapis.com/auth/cloud-platform`. It comes
/// from a function of the program, for example from the crate `gcp_auth` or the metadata server of the
/// machine.
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit_ai::llm::{ChatModel, ModelError};
/// use toolkit_ai::llm_http::{AccessToken, Vertex};
///
/// async fn token() -> Result<AccessToken, ModelError> {
///     # let (value, seconds) = (String::new(), 0);
///     // Ask the metadata server or a library.
///     Ok(AccessToken::new(value).with_lifetime(Duration::from_secs(seconds)))
/// }
///
/// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
/// let vertex = Vertex::new("my-project", "europe-west4").with_token_source(token);
/// let answer = vertex.gemini("gemini-3-flash").respond("Hello!".into()).await?;
/// let answer = vertex.anthropic("claude-sonnet-4-5@20250929").respond("Hello!".into()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Vertex {
    settings: Settings,
    project: String,
    location: String,
}

client_setters!(Vertex);

impl Vertex {
    /// Creates a client without authentication, for a location such as `europe-west4` or `global`.
    #[must_use]
    pub fn new(project: impl Into<String>, location: impl Into<String>) -> Self {
        let project = project.into();
        let location = location.into();
        let host = match location.as_str() {
            "global" => "aiplatform.googleapis.com".to_owned(),
            // Locations that span several regions.
            "us" | "eu" => format!("aiplatform.{location}.rep.googleapis.com"),
            region => format!("{region}-aiplatform.googleapis.com"),
        };
        Self { settings: Settings::new(&SERVICE), project, location }.with_base_url(format!("https://{host}"))
    }

    /// Creates a client for the project in `GOOGLE_CLOUD_PROJECT` and the location in `GOOGLE_CLOUD_LOCATION`
    /// (default: `global`).
    #[must_use]
    pub fn from_env() -> Self {
        let project = variable(&["GOOGLE_CLOUD_PROJECT"]);
        let location = variable(&["GOOGLE_CLOUD_LOCATION"]);
        let is_missing = project.is_none();
        let mut vertex = Self::new(project.unwrap_or_default(), location.as_deref().unwrap_or("global"));
        if is_missing {
            vertex.settings.missing =
                Some("there is no project for Vertex AI; set `GOOGLE_CLOUD_PROJECT` or use `Vertex::new`");
        }
        vertex
    }

    /// Creates a model of Google, with the Gemini API.
    ///
    /// A name with a `/` is a path: it begins with `projects/`, or is relative to the project and the
    /// location, such as `endpoints/123` for a tuned model.
    #[must_use]
    pub fn gemini(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let name = name.into();
        let path = if name.contains('/') {
            name.split('/').map(|part| segment(part, "@:")).collect::<Vec<_>>().join("/")
        } else {
            format!("publishers/google/models/{}", segment(&name, "@:"))
        };
        let url = |method: &str| self.url("v1beta1", &format!("{path}:{method}"));
        let (url, stream_url) = (url("generateContent"), url("streamGenerateContent?alt=sse"));
        self.settings.model_at(ApiFormat::Gemini, name, url, stream_url).with_provider(PROVIDER)
    }

    /// Creates a model of Anthropic, with the Messages API.
    #[must_use]
    pub fn anthropic(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let name = name.into();
        let path = format!("publishers/anthropic/models/{}", segment(&name, "@"));
        let url = |method: &str| self.url("v1", &format!("{path}:{method}"));
        let (url, stream_url) = (url("rawPredict"), url("streamRawPredict"));
        self.settings.model_at(ApiFormat::Anthropic, name, url, stream_url).with_server(Server::Vertex)
    }

    /// Creates a model of another publisher, such as `meta/llama-4-maverick-17b-128e-instruct-maas`, with the
    /// Chat Completions API.
    #[must_use]
    pub fn chat(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        let url = self.url("v1", "endpoints/openapi/chat/completions");
        self.settings.model_at(ApiFormat::OpenAiChat, name, url.clone(), url).with_provider(PROVIDER)
    }

    /// Returns the URL of a `path` that begins with `projects/`, or is relative to the project and the
    /// location.
    fn url(&self, version: &str, path: &str) -> String {
        if path.starts_with("projects/") {
            return self.settings.url(&format!("/{version}/{path}"));
        }
        let project = segment(&self.project, ":");
        let location = segment(&self.location, "");
        self.settings.url(&format!("/{version}/projects/{project}/locations/{location}/{path}"))
    }
}
