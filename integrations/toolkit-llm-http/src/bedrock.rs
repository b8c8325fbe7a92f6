//! The models of Amazon Bedrock.

use crate::auth::Auth;
use crate::secret::Source;
use crate::settings::{PLAIN, Service, Settings, client_setters, variable};
use crate::sigv4::AwsCredentials;
use crate::transport::HttpTransport;
use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use toolkit_http::client::segment;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Amazon Bedrock",
    domain: ".amazonaws.com",
    key_header: ("authorization", "Bearer "),
    key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
    auth_setter: "with_key` or `with_credentials",
    stream_type: "application/vnd.amazon.eventstream",
    ..PLAIN
};

/// A client for the Converse API of Amazon Bedrock.
///
/// Requests contain an API key of Bedrock, or a signature (Signature Version 4) with AWS credentials.
///
/// ```no_run
/// use toolkit_ai::llm::{ChatModel, ModelError};
/// use toolkit_ai::llm_http::{AwsCredentials, Bedrock};
///
/// # async fn ask(key: String) -> Result<(), toolkit_ai::llm::ModelError> {
/// let bedrock = Bedrock::new("us-east-1").with_key(key);
/// let model = bedrock.model("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
/// let answer = model.respond("Hello!".into()).await?;
///
/// // With credentials from the crate `aws-config`, for example:
/// let bedrock = Bedrock::new("us-east-1").with_credentials_source(|| async {
///     # let (id, secret, token, expiry) = ("", "", "", std::time::SystemTime::now());
///     Ok::<_, ModelError>(AwsCredentials::new(id, secret).with_session_token(token).with_expiry(expiry))
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Bedrock {
    settings: Settings,
    region: String,
}

client_setters!(Bedrock);

impl Bedrock {
    /// Creates a client without authentication, for a region such as `eu-central-1`.
    #[must_use]
    pub fn new(region: impl Into<String>) -> Self {
        let region = region.into();
        let end = if region.starts_with("cn-") { ".cn" } else { "" };
        let base_url = format!("https://bedrock-runtime.{region}.amazonaws.com{end}");
        Self { settings: Settings::new(&SERVICE), region }.with_base_url(base_url)
    }

    /// Creates a client from environment variables.
    ///
    /// The region is in `AWS_REGION` or `AWS_DEFAULT_REGION`, and the API key in `AWS_BEARER_TOKEN_BEDROCK`.
    /// Without a key, requests are signed with the credentials in `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    #[must_use]
    pub fn from_env() -> Self {
        let region = variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let is_missing = region.is_none();
        let mut bedrock = Self::new(region.unwrap_or_default());
        if is_missing {
            bedrock.settings.missing =
                Some("there is no region for Amazon Bedrock; set `AWS_REGION` or use `Bedrock::new`");
        }
        if let Some(key) = variable(SERVICE.key_variables) {
            return bedrock.with_key(key);
        }
        let pair = (variable(&["AWS_ACCESS_KEY_ID"]), variable(&["AWS_SECRET_ACCESS_KEY"]));
        let (Some(id), Some(secret)) = pair else { return bedrock };
        let credentials = AwsCredentials::new(id, secret);
        bedrock.with_credentials(match variable(&["AWS_SESSION_TOKEN"]) {
            Some(token) => credentials.with_session_token(token),
            None => credentials,
        })
    }

    /// Signs requests with these credentials, replacing any other authentication.
    #[must_use]
    pub fn with_credentials(self, credentials: AwsCredentials) -> Self {
        self.with_credentials_source(move || ready(Ok::<_, Infallible>(credentials.clone())))
    }

    /// Signs requests with the credentials returned by `source`, replacing any other authentication.
    ///
    /// Credentials without an expiry are used for a single request. Others are reused until one minute before
    /// their expiry, or until the server refuses them. Failures are reported as in
    /// [`with_token_source`](Self::with_token_source).
    #[must_use]
    pub fn with_credentials_source<F, Fut, E>(mut self, source: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AwsCredentials, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.settings.auth = Auth::Aws(Source::new(source), self.region.clone());
        self
    }

    /// Creates a model from its id, or from the id or the ARN of an inference profile.
    #[must_use]
    pub fn model(&self, id: impl Into<String>) -> WireModel<HttpTransport> {
        let id = id.into();
        let url = |method: &str| self.settings.url(&format!("/model/{}/{method}", segment(&id, "")));
        let (url, stream_url) = (url("converse"), url("converse-stream"));
        self.settings.model_at(ApiFormat::Bedrock, id, url, stream_url)
    }
}
