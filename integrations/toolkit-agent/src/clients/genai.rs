//! Every provider that the crate `genai` knows.

mod fault;
mod reply;
mod request;

use super::fault::timed_out;
use super::http::Http;
use super::settings::{PLAIN, Settings, after, client_settings};
use crate::model::{ChatModel, ModelDelta, ModelError, ModelRequest, ModelResponse, ModelStream};
use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatStream, ChatStreamEvent, StreamEnd};
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ServiceTarget};
use futures_core::Stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep_until};

/// Every provider that the crate `genai` knows: some forty, among them those that have no client of their own here, as
/// Bedrock, Vertex AI, Cohere, Ollama, Mistral, DeepSeek or xAI. The key of each is in its own environment variable.
///
/// The name of a model says whose it is, if need be with a namespace before it: `claude-sonnet-4-5`,
/// `groq::llama-3.3-70b-versatile`, `bedrock_api::anthropic.claude-sonnet-4-5-20250929-v1:0`. A key in the environment
/// goes to the provider that it is for: with a base URL of one's own, the key has to be given, too.
///
/// `genai` limits the requests that reach the provider. The exact clients, `OpenAi`, `Anthropic` and `Gemini`, can
/// do more. Here
/// - results of tools are texts; pictures and files among them follow as parts of a message of the user;
/// - whether calls may be parallel cannot be said; of tools that are allowed, only those are offered;
/// - where tools are offered, only answers of Chat Completions and Gemini stream, others come whole, because calls of
///   one answer were seen to get lost in other streams; and calls start when the answer is complete;
/// - arguments that are not JSON fail an answer that comes whole, so that the model is asked again;
/// - an answer may have any length: [`HttpLimits::max_bytes`](super::HttpLimits) is not known there.
///
/// ```no_run
/// use toolkit_agent::{Agent, clients::GenAi};
///
/// # async fn ask() -> Result<(), toolkit_agent::AgentError> {
/// let model = GenAi::new().model("groq::llama-3.3-70b-versatile");
/// let output = Agent::builder(model).run("What is the capital of France?").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GenAi {
    settings: Settings,
}

client_settings!(
    GenAi,
    PLAIN,
    /// Creates every provider at its own address, with the key in its own environment variable.
);

impl GenAi {
    /// Creates the model of this name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> GenAiModel {
        GenAiModel { name: name.into(), client: self.client(), settings: self.settings.clone() }
    }

    fn client(&self) -> Result<Client, ModelError> {
        let http = Http::new(&self.settings, None)?;
        let Settings { base_url, key, .. } = self.settings.clone();
        let builder = Client::builder().with_reqwest(http.client);
        let resolver = move |mut target: ServiceTarget| -> Result<ServiceTarget, ::genai::resolver::Error> {
            if !base_url.is_empty() {
                target.endpoint = Endpoint::from_owned(format!("{}/", base_url.trim_end_matches('/')));
                // A server of one's own may want no key, but this client wants one.
                target.auth = AuthData::from_single("none");
            }
            if let Some(key) = &key {
                target.auth = AuthData::from_single(key.as_str());
            }
            Ok(target)
        };
        builder.with_service_target_resolver_fn(resolver).build().map_err(fault::of_genai)
    }
}

/// A model of any provider, through the crate `genai`.
#[derive(Clone)]
pub struct GenAiModel {
    name: String,
    /// Or why there is none.
    client: Result<Client, ModelError>,
    settings: Settings,
}

impl GenAiModel {
    /// Returns the client and the API of the model.
    async fn target(&self) -> Result<(&Client, AdapterKind), ModelError> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let target = client.resolve_service_target(self.name.as_str()).await.map_err(fault::of_genai)?;
        Ok((client, target.model.adapter_kind))
    }
}

/// Returns whether all calls of a streamed answer come through. Others take the blocks of an answer one after another, and
/// lose calls whose pieces come mixed, or without the number of their item.
fn streams_calls(adapter: AdapterKind) -> bool {
    matches!(adapter, AdapterKind::OpenAI | AdapterKind::Gemini)
}

impl ChatModel for GenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let (client, adapter) = self.target().await?;
        let options = request::options(&request, &self.settings);
        let chat = request::chat(&request, adapter);
        let limit = self.settings.limits.total;
        let answer = client.exec_chat(self.name.as_str(), chat, Some(&options));
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => reply::whole(answer.map_err(fault::of_genai)?, &request, adapter),
            Err(_) => Err(timed_out("has not said all", limit)),
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (client, adapter) = self.target().await?;
        if !request.tools.is_empty() && !streams_calls(adapter) {
            return self.respond(request).await.map(ModelStream::from);
        }
        let options = request::options(&request, &self.settings);
        let chat = request::chat(&request, adapter);
        let begun = client.exec_chat_stream(self.name.as_str(), chat, Some(&options));
        let limit = self.settings.limits.total;
        let answer = begun.await.map_err(fault::of_genai)?;
        Ok(ModelStream::new(Pieces {
            stream: Some(answer.stream),
            request,
            adapter,
            limit,
            deadline: Box::pin(sleep_until(after(limit))),
            ready: VecDeque::new(),
        }))
    }
}

debug!(GenAiModel, self, "name": self.name);

/// The pieces of an answer. Its calls come at its end, because before they are not complete.
struct Pieces {
    /// Until the answer has ended.
    stream: Option<ChatStream>,
    request: ModelRequest,
    adapter: AdapterKind,
    limit: Duration,
    deadline: Pin<Box<Sleep>>,
    ready: VecDeque<Result<ModelDelta, ModelError>>,
}

impl Pieces {
    fn end(&mut self, end: Result<StreamEnd, ModelError>) {
        self.stream = None;
        match end.and_then(|end| reply::streamed(end, &self.request, self.adapter)) {
            Ok(response) => {
                let calls = response.message.calls.iter().cloned().map(ModelDelta::Call);
                self.ready.extend(calls.map(Ok));
                self.ready.push_back(Ok(ModelDelta::Done(Box::new(response))));
            }
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    fn take(&mut self, event: Option<Result<ChatStreamEvent, ::genai::Error>>) {
        let delta = match event {
            Some(Ok(ChatStreamEvent::Chunk(piece))) => ModelDelta::Text(piece.content),
            Some(Ok(ChatStreamEvent::ReasoningChunk(piece))) => ModelDelta::Reasoning(piece.content),
            Some(Ok(ChatStreamEvent::End(end))) => return self.end(Ok(end)),
            Some(Ok(_)) => return,
            Some(Err(error)) => return self.end(Err(fault::of_genai(error))),
            None => return self.end(Err(ModelError::cut())),
        };
        self.ready.push_back(Ok(delta));
    }
}

impl Stream for Pieces {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(piece));
            }
            let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
            match Pin::new(stream).poll_next(context) {
                Poll::Ready(event) => self.take(event),
                Poll::Pending if self.deadline.as_mut().poll(context).is_ready() => {
                    let error = timed_out("has not said all", self.limit);
                    self.end(Err(error));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
