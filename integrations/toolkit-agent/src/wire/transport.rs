//! Chat models that send the JSON of an API through a transport.

use super::EncodedRequest;
use super::background::finished;
use super::draft::Server;
use super::request::encode_for;
use crate::message::{AssistantMessage, NativeMessages};
use crate::model::{
    ChatModel, FinishReason, ModelDelta, ModelError, ModelErrorKind, ModelRequest, ModelResponse,
    ModelStream, OutputFormat, OutputLosses, RequestLoss, ServerState, has_media,
};
use futures_core::Stream;
use serde_json::Value;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use toolkit_core::{CallId, ToolCall};
use toolkit_wire::{ApiFormat, Response, StreamAccumulator, StreamEvent, WireError};

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

/// The pieces of a streamed response.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Fragment, ModelError>> + Send>>;

/// A piece of a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fragment {
    /// The JSON of one event.
    Event(Value),
    /// The next bytes of a stream of server-sent events. The bytes may end anywhere, even in the middle of an
    /// event.
    Bytes(Vec<u8>),
    /// The JSON of the complete response, from a server that ignores the request for a stream.
    Response(Value),
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
        let mut body = self.transport.send(body.into()).await?;
        if request.options.background {
            body = finished(&self.transport, body).await?;
        }
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
        Ok(ModelStream::new(Deltas {
            format: self.format,
            losses: losses.into_iter().map(RequestLoss::from).collect(),
            state: request.options.server_state,
            events,
            has_thinking,
            returned: Vec::new(),
            response: Some(self.format.accumulator().with_argument_events()),
            ready: VecDeque::new(),
        }))
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
fn read_response(
    format: ApiFormat,
    body: &Value,
    state: Option<&ServerState>,
) -> Result<ModelResponse, ModelError> {
    match format.parse_response(body) {
        Ok(response) => Ok(model_response(format, response, state)?.answered_by(body)),
        Err(error) => blocked(&error, format, body).ok_or_else(|| error.into()),
    }
}

/// Returns a refusal if the error says that the provider blocked the prompt or the answer. The text of the refusal is
/// the provider's report.
fn blocked(error: &WireError, format: ApiFormat, body: &Value) -> Option<ModelResponse> {
    let report = error.report().filter(|_| error.is_blocked())?;
    let response = ModelResponse::text(report).with_finish(FinishReason::Refused);
    Some(response.with_usage(format.parse_usage(body)).answered_by(body))
}

/// Converts a parsed response into a [`ModelResponse`]. If `state` is set, the provider has stored the response.
fn model_response(
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
    let message = AssistantMessage {
        text: text + &refusal,
        reasoning,
        calls,
        native: Some(native),
        ..AssistantMessage::default()
    };
    ModelResponse { message, finish, usage, hosted, ..ModelResponse::default() }.unless_empty()
}

impl ModelResponse {
    /// Sets the name of the model from the body of the response.
    fn answered_by(mut self, body: &Value) -> Self {
        let name = ["model", "modelVersion"].into_iter().find_map(|field| body.get(field)?.as_str());
        self.model = name.unwrap_or_default().to_owned();
        self
    }
}

/// The deltas of an answer, decoded from the pieces of a stream.
struct Deltas {
    format: ApiFormat,
    /// The losses of the encoded request, which are added to the response.
    losses: Vec<RequestLoss>,
    /// The server state of the request.
    state: Option<ServerState>,
    events: EventStream,
    /// Whether the message may contain signed thinking.
    has_thinking: bool,
    /// The ids of the calls already passed on to the caller.
    returned: Vec<CallId>,
    /// The response so far, or `None` after its end.
    response: Option<StreamAccumulator>,
    ready: VecDeque<Result<ModelDelta, ModelError>>,
}

impl Deltas {
    fn take(&mut self, fragment: Fragment) {
        let Some(response) = &mut self.response else { return };
        let events = match fragment {
            Fragment::Event(event) => match response.push(&event) {
                Ok(events) => events.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            },
            Fragment::Bytes(bytes) => response.push_bytes(&bytes),
            Fragment::Response(body) => {
                let response = read_response(self.format, &body, self.state.as_ref());
                return self.end_with(response);
            }
        };
        for event in events {
            match event {
                Ok(event) => {
                    self.has_thinking |= matches!(event, StreamEvent::Reasoning(_));
                    if let StreamEvent::Call(call) = &event {
                        self.returned.push(call.id.clone());
                        self.ready.extend(self.native().map(|native| Ok(ModelDelta::Native(native))));
                    }
                    self.ready.extend(delta(event).map(Ok));
                }
                // An error in the middle of a stream is usually a temporary failure of the provider.
                Err(error) if error.is_blocked() => return self.end_blocked(&error),
                Err(error) => {
                    return self.end(Some(ModelError::of_wire(ModelErrorKind::Unavailable, &error)));
                }
            }
        }
        if self.response.as_ref().is_some_and(StreamAccumulator::is_over) {
            self.end(None);
        }
    }

    /// Returns the message so far, if it may contain thinking that the provider expects back.
    fn native(&self) -> Option<NativeMessages> {
        use ApiFormat::{Anthropic, Bedrock, GeminiInteractions, OpenAiResponses};
        // The signature of Gemini's other API is a part of the call.
        let is_signed = matches!(self.format, Anthropic | Bedrock | GeminiInteractions | OpenAiResponses);
        let response = self.response.as_ref().filter(|_| is_signed && self.has_thinking)?;
        Some(NativeMessages::new(self.format.name(), response.native()))
    }

    /// Ends the stream with a complete response that did not arrive as events, or with an error.
    fn end_with(&mut self, response: Result<ModelResponse, ModelError>) {
        self.response = None;
        match response.map(|response| response.with_losses(std::mem::take(&mut self.losses))) {
            Ok(response) => self.ready.extend(response.deltas().into_iter().map(Ok)),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    /// Returns whether a call was complete when the stream ended.
    fn is_complete(&self, call: &ToolCall) -> bool {
        // Gemini sends a call at once, and the arguments of a call cut off between its pieces are not JSON. A call
        // without arguments is returned only when the next part arrives.
        let is_whole =
            || serde_json::from_str::<Value>(call.arguments.as_str()).is_ok_and(|args| args.is_object());
        self.returned.contains(&call.id) || self.format == ApiFormat::Gemini && is_whole()
    }

    /// Ends the stream after the provider has blocked the prompt or the answer. The response contains the parts
    /// received so far, but not a call that was incomplete. If there are no parts, the text of the response is the
    /// provider's report.
    fn end_blocked(&mut self, error: &WireError) {
        let Some(response) = self.response.take() else { return };
        let complete = response.native();
        let end = response.finish();
        let begun = end.response.map(|mut begun| {
            let calls = begun.calls.len();
            begun.calls.retain(|call| self.is_complete(call));
            if begun.calls.len() < calls {
                begun.native = complete;
            }
            begun
        });
        let begun = begun.ok().filter(|begun| {
            !begun.text.is_empty()
                || !begun.reasoning.is_empty()
                || !begun.refusal.is_empty()
                || !begun.calls.is_empty()
                || !begun.hosted.is_empty()
                || has_media(self.format, &begun.native)
        });
        let Some(begun) = begun else {
            return self.end_with(blocked(error, self.format, &end.body).ok_or_else(ModelError::cut));
        };
        let is_kept =
            |event: &StreamEvent| !matches!(event, StreamEvent::Call(call) if !begun.calls.contains(call));
        self.ready.extend(end.events.into_iter().filter(is_kept).filter_map(delta).map(Ok));
        // The provider may not have stored a blocked response.
        let response = model_response(self.format, begun, None).map(|response| {
            let losses = std::mem::take(&mut self.losses);
            response.answered_by(&end.body).with_finish(FinishReason::Refused).with_losses(losses)
        });
        self.ready.push_back(response.map(|response| ModelDelta::Done(Box::new(response))));
    }

    /// Ends the response and queues the last item of the stream: the complete response or an error. If the
    /// response is incomplete, the error contains the parts received so far.
    fn end(&mut self, failure: Option<ModelError>) {
        let Some(response) = self.response.take() else { return };
        let end = response.finish();
        let response = end.response.map_err(ModelError::from);
        let failure = failure.or_else(|| (!end.is_complete).then(ModelError::cut));
        // The provider may not have stored a response that broke off.
        let state = self.state.as_ref().filter(|_| failure.is_none());
        let response = response
            .and_then(|response| Ok(model_response(self.format, response, state)?.answered_by(&end.body)));
        let response = response.map(|response| response.with_losses(std::mem::take(&mut self.losses)));
        let last = match (failure, response) {
            (None, response) => {
                self.ready.extend(end.events.into_iter().filter_map(delta).map(Ok));
                response.map(|response| ModelDelta::Done(Box::new(response)))
            }
            (Some(error), Ok(part)) => Err(error.with_partial(part.with_finish(FinishReason::Interrupted))),
            (Some(error), Err(_)) => Err(error),
        };
        self.ready.push_back(last);
    }
}

fn delta(event: StreamEvent) -> Option<ModelDelta> {
    Some(match event {
        StreamEvent::Text(text) => ModelDelta::Text(text),
        StreamEvent::Reasoning(text) => ModelDelta::Reasoning(text),
        StreamEvent::CallStarted { id, name } => ModelDelta::CallStarted { id: id.into(), name },
        StreamEvent::Arguments { id, piece } => ModelDelta::Arguments { id: id.into(), piece },
        StreamEvent::Call(call) => ModelDelta::Call(call),
        StreamEvent::Hosted(call) => ModelDelta::Hosted(call),
        _ => return None,
    })
}

impl Stream for Deltas {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(piece));
            }
            if self.response.is_none() {
                return Poll::Ready(None);
            }
            match ready!(self.events.as_mut().poll_next(context)) {
                Some(Ok(fragment)) => self.take(fragment),
                Some(Err(error)) => self.end(Some(error)),
                None => self.end(None),
            }
        }
    }
}
