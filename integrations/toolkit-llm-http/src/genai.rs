//! The providers of the crate `genai`.

mod fault;
mod reply;
mod request;

use crate::auth::Auth;
use crate::fault::{of_http, timed_out};
use crate::http::{AGENT, headers};
use crate::settings::{PLAIN, Settings, client};
use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatStream, ChatStreamEvent, StreamEnd};
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ServiceTarget};
use futures_core::Stream;
use reqwest::redirect::Policy;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep_until};
use toolkit_core::redaction::Redactor;
use toolkit_http::client::{deadline, max_idle_connections, secrets, tls_config};
use toolkit_llm::__private::ChatSpan;
use toolkit_llm::ApiFormat;
use toolkit_llm::StreamEvent;
use toolkit_llm::model::{OutputFormat, OutputLosses};
use toolkit_llm::{ChatModel, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream};

client! {
    /// A client for the providers of the crate `genai`.
    ///
    /// `genai` supports some forty providers. Many of them, such as DeepSeek, xAI and Groq, have no client of
    /// their own in this module. The API key of each provider comes from the provider's environment variable.
    ///
    /// The name of a model selects the provider, if necessary with a namespace: `claude-sonnet-4-5`,
    /// `groq::llama-3.3-70b-versatile`, `bedrock_api::anthropic.claude-sonnet-4-5-20250929-v1:0`. A key in
    /// the environment is sent only to its own provider: with a base URL of your own, set the key with
    /// `with_key`.
    ///
    /// A key, the tokens of `with_token_source`, and headers with `auth`, `cookie`, `key`, `secret` or
    /// `token` in their names belong to a single provider. They are sent only to the host of the client's
    /// first request, whether it succeeds or not. A request to another host fails with
    /// [`Unauthorized`](toolkit_llm::ModelErrorKind::Unauthorized). Create a client for each such provider,
    /// or set the base URL of a gateway.
    ///
    /// The clients for a single provider can do more. Requests through `genai` have these limits:
    /// - Tool results are sent as text. Their images and files follow in a user message.
    /// - Parallel tool calls cannot be turned on or off. If the tool choice allows only some tools, the
    ///   request contains only these.
    /// - In requests with tools, only the answers of Chat Completions and Gemini are streamed, because other
    ///   streams of `genai` were seen to lose tool calls.
    /// - Media items of an answer are received only if the answer is not streamed.
    /// - Tool calls start only when the answer is complete.
    /// - In an answer that is not streamed, tool arguments with invalid JSON make the whole answer fail.
    ///   Agents then call the model again.
    /// - Extra request fields replace whole objects of the body. Metadata, the user id, server state, tools
    ///   of the providers, cache points and the tier [`Priority`](toolkit_llm::model::ServiceTier::Priority)
    ///   are not sent.
    /// - Settings that are never sent are reported as [losses](ModelResponse::losses). Settings that `genai`
    ///   leaves out for some providers, such as a seed, are not reported.
    /// - Programmatic tool calling does not work, because `genai` reads neither the callers of calls nor the
    ///   id of the container.
    /// - The size of an answer is not limited: [`HttpLimits::max_bytes`](crate::HttpLimits) has no effect.
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::GenAi;
    ///
    /// # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
    /// let model = GenAi::new().model("groq::llama-3.3-70b-versatile");
    /// let answer = model.respond("What is the capital of France?".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    GenAi(PLAIN);
    /// Creates a client with API keys from the environment variables.
    new;
    tokens:
        " Each request sends a token in place of an API key, in the header in which `genai` sends the provider's\n \
          API key. For most providers and for Vertex AI, this is `Authorization: Bearer`. Anthropic and Gemini have\n \
          headers of their own, and accept only API keys there.";
}

impl GenAi {
    /// Creates the model with the given name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> GenAiModel {
        GenAiModel { name: name.into(), client: self.client(), settings: self.settings.clone() }
    }

    fn client(&self) -> Result<Client, ModelError> {
        // Checked here, and sent with each request.
        headers(&self.settings)?;
        let Settings { base_url, auth, limits, .. } = self.settings.clone();
        let is_plain = base_url.starts_with("http://");
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls_config(is_plain).map_err(of_http)?)
            .connect_timeout(limits.connect)
            .pool_max_idle_per_host(max_idle_connections(is_plain))
            .redirect(Policy::none())
            .user_agent(AGENT)
            .build()
            .map_err(|error| fault::of_reqwest(&error))?;
        Client::builder()
            .with_reqwest(http)
            .with_service_target_resolver_fn(move |target: ServiceTarget| addressed(target, &base_url, &auth))
            .build()
            .map_err(|error| fault::of_genai(error, &Redactor::new()))
    }
}

/// Returns the target with the client's endpoint and authentication.
fn addressed(
    mut target: ServiceTarget,
    base_url: &str,
    auth: &Auth,
) -> Result<ServiceTarget, ::genai::resolver::Error> {
    if !base_url.is_empty() {
        target.endpoint = Endpoint::from_owned(format!("{}/", base_url.trim_end_matches('/')));
    }
    match auth {
        Auth::Key(key) => target.auth = AuthData::from_single(key.as_str()),
        // `genai` requires a key, even for a server without authentication.
        Auth::None if !base_url.is_empty() => target.auth = AuthData::from_single("none"),
        // Each request gets its own access token, because `genai` asks for the address once more.
        _ => {}
    }
    Ok(target)
}

/// A model of any provider, called through the crate `genai`.
#[derive(Clone)]
pub struct GenAiModel {
    name: String,
    client: Result<Client, ModelError>,
    settings: Settings,
}

impl GenAiModel {
    /// Returns the client, the address, and the next request's authentication.
    async fn target(&self) -> Result<Target<'_>, ModelError> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let mut service = self.service(client).await?;
        let mut secrets = headers(&self.settings).map(|headers| secrets(&headers))?;
        self.check_base_url(&service)?;
        self.check_host(&service, !secrets.is_empty())?;
        let limits = &self.settings.limits;
        let token = self.settings.auth.token("the provider", limits.idle.min(limits.total)).await?;
        let reused = token.as_ref().and_then(|(_, reused)| *reused);
        if let Some((token, _)) = token {
            service.auth = AuthData::from_single(token);
        }
        if let Ok(key) = service.auth.single_key_value() {
            secrets.add(&key);
        }
        let adapter = service.model.adapter_kind;
        Ok(Target { client, service, adapter, reused, secrets })
    }

    async fn service(&self, client: &Client) -> Result<ServiceTarget, ModelError> {
        let service = client.resolve_service_target(self.name.as_str()).await;
        service.map_err(|error| fault::of_genai(error, &Redactor::new()))
    }

    /// Checks that `genai` uses the base URL, which its adapters for Z.AI and Baidu ignore.
    fn check_base_url(&self, service: &ServiceTarget) -> Result<(), ModelError> {
        let is_ignored = matches!(service.model.adapter_kind, AdapterKind::Zai | AdapterKind::Baidu);
        if self.settings.base_url.is_empty() || !is_ignored {
            return Ok(());
        }
        let (_, name) = self.name.split_once("::").unwrap_or(("", &self.name));
        let text = format!(
            "the base URL has no effect for the model `{}`; use the name `openai::{name}`, or remove the base URL",
            self.name
        );
        Err(ModelError::new(ModelErrorKind::InvalidRequest, text))
    }

    /// Checks that secrets are not sent to a second host.
    fn check_host(&self, service: &ServiceTarget, has_secret_headers: bool) -> Result<(), ModelError> {
        let has_secret = has_secret_headers || !matches!(self.settings.auth, Auth::None);
        // With a base URL, all requests go to the host that the program has chosen.
        if !has_secret || !self.settings.base_url.is_empty() {
            return Ok(());
        }
        let url = service.endpoint.base_url();
        let (_, address) = url.split_once("://").unwrap_or(("", url));
        let host = address.split('/').next().unwrap_or_default();
        let first = self.settings.secret_host.get_or_init(|| host.to_owned());
        if first == host {
            return Ok(());
        }
        let text = format!(
            "the key, token or secret header of this client is for `{first}`, and the model `{}` is at `{host}`; \
             create another `GenAi` client for it",
            self.name
        );
        Err(ModelError::new(ModelErrorKind::Unauthorized, text))
    }

    async fn answer(&self, target: Target<'_>, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        let Target { client, service, adapter, secrets, .. } = target;
        let options = request::options(request, &self.settings);
        let chat = request::chat(request, adapter);
        let limit = self.settings.limits.total;
        match tokio::time::timeout(limit, client.exec_chat(service, chat, Some(&options))).await {
            Ok(answer) => {
                let answer = answer.map_err(|error| fault::of_genai(error, &secrets))?;
                reply::whole(answer, request, adapter)
            }
            Err(_) => Err(timed_out("has not said all", limit)),
        }
    }

    async fn begin(&self, target: Target<'_>, request: &ModelRequest) -> Result<Pieces, ModelError> {
        let Target { client, service, adapter, secrets, .. } = target;
        let options = request::options(request, &self.settings);
        let chat = request::chat(request, adapter);
        let limit = self.settings.limits.total;
        let answer = client.exec_chat_stream(service, chat, Some(&options)).await;
        Ok(Pieces {
            stream: Some(answer.map_err(|error| fault::of_genai(error, &secrets))?.stream),
            secrets,
            request: request.clone(),
            adapter,
            limit,
            deadline: Box::pin(sleep_until(deadline(limit))),
            ready: VecDeque::new(),
        })
    }
}

struct Target<'a> {
    client: &'a Client,
    service: ServiceTarget,
    adapter: AdapterKind,
    /// The number of the access token, if an earlier request has used it.
    reused: Option<u64>,
    /// The secrets to remove from error messages.
    secrets: Redactor,
}

/// Returns whether `genai` reads all tool calls in streams of this API.
///
/// The other adapters lose calls if the stream interleaves their pieces, or if a piece has no index.
fn streams_calls(adapter: AdapterKind) -> bool {
    matches!(adapter, AdapterKind::OpenAI | AdapterKind::Gemini)
}

impl ChatModel for GenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn respond(&self, mut request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, false);
        span.respond(self.send(request)).await
    }

    async fn stream(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, true);
        span.stream(self.open_stream(request)).await
    }

    /// Returns the losses of OpenAI's strict mode, because `genai` closes every object of a schema.
    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        output.schema_for(ApiFormat::OpenAiChat).into()
    }
}

impl GenAiModel {
    async fn send(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let target = self.target().await?;
        let reused = target.reused;
        let answer = self.answer(target, &request).await;
        // The server has refused a token used before.
        match (&answer, reused) {
            (Err(error), Some(reused)) if self.settings.auth.forget(reused, error.status()).await => {
                self.answer(self.target().await?, &request).await
            }
            _ => answer,
        }
    }

    async fn open_stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let client = self.client.as_ref().map_err(Clone::clone)?;
        let kind = self.service(client).await?;
        if !request.tools.is_empty() && !streams_calls(kind.model.adapter_kind) {
            return self.send(request).await.map(ModelStream::from);
        }
        let target = self.target().await?;
        let reused = target.reused;
        let mut pieces = self.begin(target, &request).await?;
        // `genai` reports a refused request as the first event of the stream.
        if let Some(reused) = reused
            && self.settings.auth.forget(reused, pieces.first_status().await).await
        {
            pieces = self.begin(self.target().await?, &request).await?;
        }
        Ok(ModelStream::new(pieces))
    }
}

debug!(GenAiModel, self, "name": self.name);

/// The deltas of an answer. Tool calls come at its end, because `genai` completes them only then.
struct Pieces {
    /// `None` after the end.
    stream: Option<ChatStream>,
    secrets: Redactor,
    request: ModelRequest,
    adapter: AdapterKind,
    limit: Duration,
    deadline: Pin<Box<Sleep>>,
    ready: VecDeque<Result<StreamEvent, ModelError>>,
}

impl Pieces {
    /// Waits for the first delta. Returns the HTTP status of a refused request.
    async fn first_status(&mut self) -> Option<u16> {
        let first = poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await?;
        let status = first.as_ref().err().and_then(ModelError::status);
        self.ready.push_front(first);
        status
    }

    fn end(&mut self, end: Result<StreamEnd, ModelError>) {
        self.stream = None;
        match end.and_then(|end| reply::streamed(end, &self.request, self.adapter)) {
            Ok(response) => {
                for call in &response.message.calls {
                    self.ready.push_back(Ok(StreamEvent::Call(call.clone())));
                }
                self.ready.push_back(Ok(StreamEvent::Done(Box::new(response))));
            }
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    fn take(&mut self, event: Option<Result<ChatStreamEvent, ::genai::Error>>) {
        let delta = match event {
            Some(Ok(ChatStreamEvent::Chunk(piece))) => StreamEvent::Text(piece.content),
            Some(Ok(ChatStreamEvent::ReasoningChunk(piece))) => StreamEvent::Reasoning(piece.content),
            Some(Ok(ChatStreamEvent::End(end))) => return self.end(Ok(end)),
            Some(Ok(_)) => return,
            Some(Err(error)) => return self.end(Err(fault::of_genai(error, &self.secrets))),
            None => return self.end(Err(ModelError::cut())),
        };
        self.ready.push_back(Ok(delta));
    }
}

impl Stream for Pieces {
    type Item = Result<StreamEvent, ModelError>;

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

#[cfg(test)]
mod tests;
