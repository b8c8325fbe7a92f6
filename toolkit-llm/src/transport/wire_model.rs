//! Chat models that send JSON through a transport.

use super::EncodedRequest;
use super::background::finished;
use super::fragment::EventStream;
use super::request::encode_for;
use super::response::read_response;
use super::stream::ResponseEvents;
use crate::facts::{ApiFormat, Server};
use crate::message::{ModelResponse, RequestLoss};
use crate::model::{
    ChatModel, ChatSpan, ModelError, ModelErrorKind, ModelRequest, ModelStream, OutputFormat, OutputLosses,
};
use serde_json::Value;
use std::sync::Arc;

/// A connection to a model server: sends the JSON of a request and returns the response.
///
/// Implement this trait to use another HTTP library. [`WireModel`] turns a transport into a [`ChatModel`].
///
/// ```
/// use serde_json::Value;
/// use toolkit_ai::llm::ModelError;
/// use toolkit_ai::llm::transport::{EventStream, Transport};
///
/// /// Says which models are asked.
/// struct Logged<T>(T);
///
/// impl<T: Transport> Transport for Logged<T> {
///     async fn send(&self, body: Value) -> Result<Value, ModelError> {
///         eprintln!("asks {}", body["model"]);
///         self.0.send(body).await
///     }
///
///     async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
///         eprintln!("asks {}", body["model"]);
///         self.0.stream(body).await
///     }
/// }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends a request body and returns the response body.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if it reports a failure.
    fn send(&self, body: Value) -> impl Future<Output = Result<Value, ModelError>> + Send;

    /// Sends a request body and returns the response in pieces.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if it reports a failure.
    fn stream(&self, body: Value) -> impl Future<Output = Result<EventStream, ModelError>> + Send;

    /// Returns the current body of the background response `id`. By default, returns an error.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if it reports a failure.
    fn retrieve(&self, id: &str) -> impl Future<Output = Result<Value, ModelError>> + Send {
        let text = format!("response `{id}` is not finished, and this transport cannot ask for it again");
        std::future::ready(Err(ModelError::new(ModelErrorKind::InvalidRequest, text)))
    }
}

/// Lets models of several API formats share one transport.
impl<T: Transport> Transport for Arc<T> {
    async fn send(&self, body: Value) -> Result<Value, ModelError> {
        (**self).send(body).await
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        (**self).stream(body).await
    }

    async fn retrieve(&self, id: &str) -> Result<Value, ModelError> {
        (**self).retrieve(id).await
    }
}

/// A model behind a [`Transport`], in one API format.
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::llm::transport::{EventStream, Transport, WireModel};
/// use toolkit_ai::llm::{ChatModel, ModelError};
///
/// /// A server in this program. Here stands the call of an HTTP library.
/// struct Echo;
///
/// impl Transport for Echo {
///     async fn send(&self, body: Value) -> Result<Value, ModelError> {
///         let message = json!({"role": "assistant", "content": body["messages"][0]["content"]});
///         Ok(json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
///     }
///
///     async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
///         Ok(EventStream::response(self.send(body).await?))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = WireModel::new(ApiFormat::OpenAiChat, "echo", Echo);
/// assert_eq!(model.respond("Hello.".into()).await?.message.text, "Hello.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct WireModel<T> {
    format: ApiFormat,
    server: Server,
    name: String,
    /// Set if the provider does not follow from the format and the server.
    provider: Option<String>,
    transport: T,
}

impl<T: Transport> WireModel<T> {
    /// Creates a model.
    #[must_use]
    pub fn new(format: ApiFormat, name: impl Into<String>, transport: T) -> Self {
        Self { format, server: Server::Own, name: name.into(), provider: None, transport }
    }

    /// Sets the kind of server, which decides the request fields.
    #[must_use]
    pub fn with_server(mut self, server: Server) -> Self {
        self.server = server;
        self
    }

    /// Sets the [name of the provider](ChatModel::provider). By default, it follows from the API format and
    /// the [server](Self::with_server).
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Encodes a request, and reports what the API cannot express.
    #[must_use]
    pub fn encode(&self, request: &ModelRequest, stream: bool) -> EncodedRequest {
        encode_for(self.server, self.format, &self.name, request, stream)
    }
}

impl<T: Transport> ChatModel for WireModel<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        if let Some(provider) = &self.provider {
            return provider;
        }
        self.server.provider().unwrap_or(self.format.request_facts(self.server).provider)
    }

    async fn respond(&self, mut request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, false);
        span.respond(self.send(request)).await
    }

    async fn stream(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, true);
        span.stream(self.open_stream(request)).await
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        output.schema_for(self.format).into()
    }
}

impl<T: Transport> WireModel<T> {
    async fn send(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let EncodedRequest { body, losses } = self.encode(&request, false);
        let is_background = body.get("background") == Some(&Value::Bool(true));
        request.set_running_in_background(is_background);
        let mut sent = self.transport.send(body.into()).await;
        if is_background && let Ok(body) = sent {
            sent = finished(&self.transport, body).await;
        }
        request.set_running_in_background(false);
        let body = sent?;
        let response = read_response(self.format, &body, request.options.server_state.as_ref())?;
        Ok(response.with_losses(losses.into_iter().map(RequestLoss::from).collect()))
    }

    async fn open_stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        // A stream would need the open connection that a background response avoids.
        if request.options.background && self.format.request_facts(self.server).stored.keeps_conversations {
            return self.send(request).await.map(ModelStream::from);
        }
        let EncodedRequest { body, losses } = self.encode(&request, true);
        let events = self.transport.stream(body.into()).await?;
        let losses = losses.into_iter().map(RequestLoss::from).collect();
        Ok(ModelStream::new(ResponseEvents::new(self.format, events, losses, &request.options)))
    }
}
