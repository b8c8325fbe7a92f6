//! OpenAI's APIs at Azure.

use crate::settings::{PLAIN, Service, Settings, client_setters, variable};
use crate::transport::HttpTransport;
use toolkit_http::client::segment;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Azure OpenAI",
    domain: ".azure.com",
    key_header: ("api-key", ""),
    key_variables: &["AZURE_OPENAI_API_KEY"],
    url_variable: Some("AZURE_OPENAI_ENDPOINT"),
    auth_setter: "with_key` or `with_token_source",
    ..PLAIN
};

/// A client for OpenAI's Chat Completions and Responses APIs at Azure.
///
/// The name of a model is that of its deployment.
///
/// The endpoint is the address of the resource. By default, requests go to the path `/openai/v1` below it,
/// which has no dated versions. [`with_api_version`](Self::with_api_version) selects the older API with dated
/// versions.
///
/// ```no_run
/// use toolkit_ai::llm::{ChatModel, ModelError};
/// use toolkit_ai::llm_http::AzureOpenAi;
///
/// # async fn entra_token() -> Result<String, ModelError> { Ok(String::new()) }
/// # async fn ask(key: String) -> Result<(), toolkit_ai::llm::ModelError> {
/// let azure = AzureOpenAi::new("https://my-resource.openai.azure.com").with_key(key);
/// let answer = azure.responses("my-gpt-5").respond("Hello!".into()).await?;
///
/// // With a token of Microsoft Entra for the scope `https://cognitiveservices.azure.com/.default`:
/// let azure = AzureOpenAi::new("https://my-resource.openai.azure.com").with_token_source(entra_token);
/// let answer = azure.chat("my-gpt-5").respond("Hello!".into()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AzureOpenAi {
    settings: Settings,
    api_version: Option<String>,
}

client_setters!(AzureOpenAi);

impl AzureOpenAi {
    /// Creates a client without an API key, for an endpoint such as `https://my-resource.openai.azure.com`.
    #[must_use]
    pub fn new(endpoint: impl Into<String>) -> Self {
        Self { settings: Settings::new(&SERVICE), api_version: None }.with_base_url(endpoint)
    }

    /// Creates a client from `AZURE_OPENAI_ENDPOINT` and `AZURE_OPENAI_API_KEY`, with the API version in
    /// `OPENAI_API_VERSION` if set.
    #[must_use]
    pub fn from_env() -> Self {
        let mut settings = Settings::from_env(&SERVICE);
        if settings.base_url.is_empty() {
            settings.missing = Some(
                "there is no endpoint for Azure OpenAI; set `AZURE_OPENAI_ENDPOINT` or use `AzureOpenAi::new`",
            );
        }
        Self { settings, api_version: variable(&["OPENAI_API_VERSION"]) }
    }

    /// Creates a deployment's model with the Chat Completions API.
    #[must_use]
    pub fn chat(&self, deployment: impl Into<String>) -> WireModel<HttpTransport> {
        let deployment = deployment.into();
        let dated = format!("/deployments/{}/chat/completions", segment(&deployment, ""));
        self.model(ApiFormat::OpenAiChat, "/chat/completions", &dated, deployment)
    }

    /// Creates a deployment's model with the Responses API.
    #[must_use]
    pub fn responses(&self, deployment: impl Into<String>) -> WireModel<HttpTransport> {
        self.model(ApiFormat::OpenAiResponses, "/responses", "/responses", deployment.into())
    }

    /// Creates a model. `path` is below `/openai/v1`, and `dated` is for the older API.
    fn model(&self, format: ApiFormat, path: &str, dated: &str, name: String) -> WireModel<HttpTransport> {
        // Azure shows the endpoint with or without these paths.
        let url = self.settings.url("");
        let endpoint = url.strip_suffix("/openai/v1").or(url.strip_suffix("/openai")).unwrap_or(&url);
        let url = match &self.api_version {
            None => format!("{endpoint}/openai/v1{path}"),
            Some(version) => {
                let is_dated = version.starts_with(|c: char| c.is_ascii_digit());
                let path = if is_dated { dated.to_owned() } else { format!("/v1{path}") };
                format!("{endpoint}/openai{path}?api-version={}", segment(version, ""))
            }
        };
        self.settings.model_at(format, name, url.clone(), url).with_provider("azure.ai.openai")
    }
}

setters! { AzureOpenAi:
    /// Sets the version of the API, sent as `api-version`.
    ///
    /// With a date, such as `2024-10-21`, requests go to the older API, with the deployment in the path of
    /// Chat Completions. With any other version, such as `preview`, requests go to `/openai/v1`.
    with_api_version(api_version: impl Into<String>) = Some(api_version.into());
}
