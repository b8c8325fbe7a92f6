//! Language models, their requests and their responses.

pub mod answer;
mod bill;
mod boxed;
mod chat_span;
mod error;
mod fallback;
mod options;
mod overflow;
mod priced;
mod report;
mod response;
mod retry;
mod settings;
mod stream;

#[doc(hidden)]
pub use bill::{Account, Bill, Billing, Unreported};
pub use boxed::BoxModel;
#[doc(hidden)]
pub use chat_span::{ChatCaller, ChatSpan, record_server};
pub(crate) use error::has_media;
pub use error::{ModelError, ModelErrorKind};
pub use fallback::Fallback;
pub use options::{ModelOptions, OutputFormat, OutputLosses};
pub use priced::Priced;
pub use response::{FinishReason, ModelResponse, Price, RequestLoss, Usage};
pub use retry::{ModelRetry, Retrying};
pub use settings::{CachePoint, Effort, PromptCache, ServerState, ServiceTier, Thinking};
pub use stream::ModelStream;

use crate::message::{Message, Messages, UserMessage};
use answer::{Answer, ask};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit_core::{ToolConfig, ToolParams, ToolRegistry};

/// A request to a model: instructions, messages, tools and options.
///
/// ```
/// use toolkit_ai::llm::{Message, ModelOptions, ModelRequest};
///
/// let request = ModelRequest::new([Message::user("Why is the sky blue?")])
///     .with_instructions("Answer in one sentence.")
///     .with_options(ModelOptions::new().with_max_output_tokens(200));
/// assert_eq!(request.messages.len(), 1);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The system prompt. Empty if there is none.
    pub instructions: String,
    /// The conversation so far. A request shares the list with its conversation instead of copying the
    /// messages.
    pub messages: Messages,
    /// The tools available to the model.
    pub tools: Arc<ToolRegistry>,
    /// The tool choice and the other settings for tool use.
    pub tool_use: ToolConfig,
    /// Options for the answer. A request shares them with its agent; `Arc::make_mut` changes them for this request.
    pub options: Arc<ModelOptions>,
    /// Whether the provider goes on with the request. `None` if no agent asks for it.
    #[doc(hidden)]
    pub running: Option<Arc<AtomicBool>>,
    /// Counts the tokens of a request that is dropped. `None` if no agent asks.
    #[doc(hidden)]
    pub account: Option<Account>,
    /// Whether a layer above the model has opened the `chat` span of the request.
    #[doc(hidden)]
    pub is_traced: bool,
}

impl ModelRequest {
    /// Creates a request without tools.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::of(messages.into_iter().collect())
    }

    /// Creates a request without tools that shares a list of messages.
    #[must_use]
    pub fn of(messages: Messages) -> Self {
        Self {
            instructions: String::new(),
            messages,
            tools: Arc::default(),
            tool_use: ToolConfig::default(),
            options: Arc::default(),
            running: None,
            account: None,
            is_traced: false,
        }
    }

    /// Sets whether the provider goes on with this request if the program no longer waits for the answer. While it
    /// does, an agent does not repeat the request after its timeout.
    ///
    /// A model calls this before and after it waits for the answer to a
    /// [background](ModelOptions::background) request. A model that wraps another model passes the request on.
    pub fn set_running_in_background(&self, is_running: bool) {
        if let Some(running) = &self.running {
            running.store(is_running, Ordering::Relaxed);
        }
    }

    /// Notes from now on whether the provider goes on with the request.
    #[doc(hidden)]
    pub fn watch(&mut self) {
        self.running = Some(Arc::default());
    }

    /// Returns whether the provider goes on with the [watched](Self::watch) request.
    #[doc(hidden)]
    #[must_use]
    pub fn is_running_in_background(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.load(Ordering::Relaxed))
    }
}

/// Creates a request with one user message.
impl<T: Into<UserMessage>> From<T> for ModelRequest {
    fn from(question: T) -> Self {
        Self::new([Message::user(question)])
    }
}

setters! { ModelRequest:
    /// Sets the system prompt.
    with_instructions(instructions: impl Into<String>) = instructions.into();
    /// Sets the tools available to the model.
    with_tools(tools: impl Into<Arc<ToolRegistry>>) = tools.into();
    /// Sets the tool choice and the other settings for tool use.
    with_tool_use(tool_use: impl Into<ToolConfig>) = tool_use.into();
    /// Sets options for the answer.
    with_options(options: impl Into<Arc<ModelOptions>>) = options.into();
}

/// A language model.
///
/// Implementations need only `name` and an `async fn respond`. A client that supports streaming also
/// implements [`stream`](Self::stream), so that tool calls start while the model is still writing.
///
/// ```
/// use toolkit_ai::llm::{ChatModel, Message, ModelError, ModelRequest, ModelResponse};
///
/// struct Parrot;
///
/// impl ChatModel for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
///         let said = request.messages.last().map(Message::to_text).unwrap_or_default();
///         Ok(ModelResponse::text(said))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let response = Parrot.respond(ModelRequest::new([Message::user("hello")])).await?;
/// assert_eq!(response.message.text, "hello");
/// # Ok::<(), ModelError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no model",
    note = "a client makes models, as in `OpenAi::from_env().chat(\"…\")` or `Anthropic::from_env().model(\"…\")`"
)]
#[doc(alias("CompletionModel", "LanguageModel", "LLM"))]
pub trait ChatModel: Send + Sync + 'static {
    /// Returns the name of the model at the provider.
    fn name(&self) -> &str;

    /// Returns the name of the provider, for tracing spans. Well-known names, such as `openai` and
    /// `aws.bedrock`, are listed for the attribute `gen_ai.provider.name` in OpenTelemetry. By default,
    /// returns an empty string: the provider is unknown.
    fn provider(&self) -> &str {
        ""
    }

    /// Answers a request with a complete response.
    ///
    /// # Errors
    /// [`ModelError`] if the provider has refused the request, has failed, or has sent an invalid response.
    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send;

    /// Answers a request as a stream of pieces. By default, the stream is created from the complete response
    /// of [`respond`](Self::respond).
    ///
    /// # Errors
    /// [`ModelError`] if the answer does not begin; later errors are items of the stream.
    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        async { self.respond(request).await.map(ModelStream::from) }
    }

    /// Answers a request with a value of type `T`.
    ///
    /// The schema of the type is enforced by the provider if the request has no tools and the provider's dialect of JSON
    /// Schema can express the complete schema. Otherwise, the answer is the arguments of a call of the tool
    /// `final_answer`. If the server refuses such a request, or the tool choice forbids calls, the schema is in the
    /// instructions only ([`AnswerMode`](crate::answer::AnswerMode)).
    ///
    /// A text answer may be in a code fence or surrounded by other text. Near misses are coerced as in tool calls. After
    /// an invalid answer, the model gets a list of all violations and answers again, at most twice. The tools of the
    /// request are not run; an agent does that.
    ///
    /// ```
    /// use toolkit_ai::llm::{ChatModel, ScriptedModel};
    ///
    /// #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    /// struct City {
    ///     name: String,
    ///     population: u32,
    /// }
    ///
    /// # use toolkit_ai::schemars;
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let model = ScriptedModel::new()
    ///     .text(r#"{"name": "Oslo", "inhabitants": 717710}"#)
    ///     .text("Sorry:\n```json\n{\"name\": \"Oslo\", \"population\": 717710}\n```");
    /// let answer = model.ask::<City>("What is the capital of Norway?").await?;
    /// assert_eq!(answer.value, City { name: "Oslo".to_owned(), population: 717_710 });
    ///
    /// let feedback = model.requests()[1].messages.last().unwrap().to_text();
    /// assert!(feedback.contains("`population`: required, but missing"), "{feedback}");
    /// # Ok::<(), toolkit_ai::llm::ModelError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ModelError`] of the kind [`InvalidAnswer`](ModelErrorKind::InvalidAnswer) if no answer was valid,
    /// [`Blocked`](ModelErrorKind::Blocked) if the model refused, or any other kind if a request failed.
    fn ask<T: ToolParams + Send + 'static>(
        &self,
        request: impl Into<ModelRequest> + Send,
    ) -> impl Future<Output = Result<Answer<T>, ModelError>> + Send
    where
        Self: Sized,
    {
        let request = request.into();
        async { ask(self, request).await }
    }

    /// Returns the losses if the provider enforces the schema of `output`: the constraints that the
    /// provider's dialect of JSON Schema cannot express.
    ///
    /// An agent calls this before it chooses how to ask for a typed answer. By default, the losses are
    /// [unknown](OutputLosses::unknown). The agent then uses the provider's enforcement only if the program has set it.
    ///
    /// A model that wraps another model forwards this method. A model that enforces every schema completely
    /// returns [`OutputLosses::default`].
    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        let _ = output;
        OutputLosses::unknown()
    }

    /// Boxes the model, so that it can be chosen at run time or stored in a list.
    #[must_use]
    fn boxed(self) -> BoxModel
    where
        Self: Sized,
    {
        BoxModel::new(self)
    }
}

impl<M: ChatModel> ChatModel for Arc<M> {
    forward_properties!(self => **self);

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        (**self).respond(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        (**self).stream(request).await
    }
}
