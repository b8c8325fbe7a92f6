//! Chat models that send the JSON of an API through a transport.

use super::EncodedRequest;
use super::background::finished;
use super::draft::Server;
use super::fragment::EventStream;
use super::request::encode_for;
use super::stream::Deltas;
use crate::message::{AssistantMessage, NativeMessages};
use crate::model::{
    ChatModel, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
    OutputFormat, OutputLosses, RequestLoss, ServerState,
};
use serde_json::Value;
use toolkit_wire::{ApiFormat, Response, WireError};

/// A connection to a model server. It sends the JSON body of a request and returns the response.
///
/// Implement this trait to use another HTTP library. [`WireModel`] turns a transport into a [`ChatModel`].
pub trait Transport: Send + Sync + 'static {
    /// Sends a request body and returns the body of the response.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if the response reports a failure.
    fn send(&self, body: Value) -> impl Future<Output = Result<Value, ModelError>> + Send;

    /// Sends a request body for a streamed answer and returns the pieces of the response.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if the response reports a failure.
    fn stream(&self, body: Value) -> impl Future<Output = Result<EventStream, ModelError>> + Send;

    /// Returns the current body of a background response. `id` is the id of the response.
    ///
    /// The default implementation returns an error, because it cannot request a stored response.
    ///
    /// # Errors
    /// [`ModelError`] if there is no response, or if the response reports a failure.
    fn retrieve(&self, id: &str) -> impl Future<Output = Result<Value, ModelError>> + Send {
        let text = format!("response `{id}` is not finished, and this transport cannot ask for it again");
        std::future::ready(Err(ModelError::new(ModelErrorKind::InvalidRequest, text)))
    }
}

/// A model reached through a [`Transport`], using one API format.
#[derive(Debug, Clone)]
pub struct WireModel<T> {
    format: ApiFormat,
    server: Server,
    name: String,
    /// The name of the provider, if it does not follow from the format and the server.
    provider: Option<String>,
    transport: T,
}

impl<T: Transport> WireModel<T> {
    /// Creates a model from the API format, the name of the model and the transport.
    #[must_use]
    pub fn new(format: ApiFormat, name: impl Into<String>, transport: T) -> Self {
        Self { format, server: Server::Own, name: name.into(), provider: None, transport }
    }

    /// Sets the kind of server. It decides which fields the requests contain.
    #[must_use]
    pub fn with_server(mut self, server: Server) -> Self {
        self.server = server;
        self
    }

    /// Sets the [name of the provider](ChatModel::provider). By default, it is the provider that defines the
    /// API format, or the owner of the [server](Self::with_server).
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Encodes a request, and reports the losses: everything that the API cannot express.
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
        let own = || match (self.server, self.format) {
            (Server::Mistral, _) => "mistral_ai",
            (Server::Vertex, _) => "gcp.vertex_ai",
            (_, ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses) => "openai",
            (_, ApiFormat::Anthropic) => "anthropic",
            (_, ApiFormat::Gemini | ApiFormat::GeminiInteractions) => "gcp.gemini",
            (_, ApiFormat::Bedrock) => "aws.bedrock",
            (_, ApiFormat::Cohere) => "cohere",
            (_, ApiFormat::Ollama) => "ollama",
            (_, format) => format.name(),
        };
        self.provider.as_deref().unwrap_or_else(own)
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
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

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        // A stream would need the open connection that a background response is for to avoid.
        if request.options.background && self.format == ApiFormat::OpenAiResponses {
            return self.respond(request).await.map(ModelStream::from);
        }
        let EncodedRequest { body, losses } = self.encode(&request, true);
        let has_thinking = request.options.thinking.is_some();
        let events = self.transport.stream(body.into()).await?;
        let losses = losses.into_iter().map(RequestLoss::from).collect();
        let state = request.options.server_state.clone();
        Ok(ModelStream::new(Deltas::new(self.format, events, has_thinking, losses, state)))
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        output.schema_for(self.format).into()
    }
}

/// Parses the complete body of a response.
///
/// # Errors
/// [`ModelError`] if the body is not a response in this format, reports a failure, or has no content.
pub fn parse_response(format: ApiFormat, body: &Value) -> Result<ModelResponse, ModelError> {
    read_response(format, body, None)
}

/// Parses the complete body of a response. If `state` is set, the provider has stored the response.
pub(super) fn read_response(
    format: ApiFormat,
    body: &Value,
    state: Option<&ServerState>,
) -> Result<ModelResponse, ModelError> {
    match format.parse_response(body) {
        Ok(response) => Ok(model_response(format, response, state)?.answered_by(body)),
        Err(error) => blocked(&error, format, body).ok_or_else(|| error.into()),
    }
}

/// Returns the response for a prompt or an answer that the provider blocked. Such a response has no content,
/// so its codec reports an error.
pub(super) fn blocked(error: &WireError, format: ApiFormat, body: &Value) -> Option<ModelResponse> {
    let report = error.report().filter(|_| error.is_blocked())?;
    let response = ModelResponse::text(report).with_finish(FinishReason::Refused);
    Some(response.with_usage(format.parse_usage(body)).answered_by(body))
}

/// Converts a response. If `state` is set, the provider has stored the response.
pub(super) fn model_response(
    format: ApiFormat,
    response: Response,
    state: Option<&ServerState>,
) -> Result<ModelResponse, ModelError> {
    let Response { text, reasoning, refusal, calls, hosted, mut finish, usage, native, id, .. } = response;
    let (container, expiry) = (response.container, response.container_expires_at);
    // OpenAI reports a refusal in a field of the message, with the finish reason of a complete answer.
    if !refusal.is_empty() && finish == FinishReason::Stop {
        finish = FinishReason::Refused;
    }
    let mut native = NativeMessages::new(format.name(), native);
    native.response_id = state.filter(|_| !id.is_empty()).map(|_| id);
    if let Some(ServerState::Conversation(id)) = state {
        native.conversation = Some(id.clone());
    }
    native.container = Some(container).filter(|container| !container.is_empty());
    native.container_expires_at = Some(expiry).filter(|expiry| !expiry.is_empty());
    // Anthropic explains a refusal beside the text, and other APIs as a part of the text.
    let text = match format {
        ApiFormat::Anthropic if !text.is_empty() => text,
        _ => text + &refusal,
    };
    // If the messages are empty, as after a block during thinking, a later request contains the text.
    let is_sendable = !native.messages.is_empty() || native.response_id.is_some() || text.is_empty();
    let message = AssistantMessage {
        text,
        reasoning,
        calls,
        native: Some(native).filter(|_| is_sendable),
        ..AssistantMessage::default()
    };
    ModelResponse { message, finish, usage, hosted, ..ModelResponse::default() }.unless_empty()
}

impl ModelResponse {
    /// Sets the name of the model from the body of the response.
    pub(super) fn answered_by(mut self, body: &Value) -> Self {
        let name = ["model", "modelVersion"].into_iter().find_map(|field| body.get(field)?.as_str());
        self.model = name.unwrap_or_default().to_owned();
        self
    }
}
