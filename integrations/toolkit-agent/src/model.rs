//! Language models: what one is asked, and what it answers.

mod error;
mod options;
mod response;
mod retry;
mod shared;
mod stream;

pub use error::{ModelError, ModelErrorKind};
pub use options::{ModelOptions, OutputFormat};
pub use response::{FinishReason, ModelResponse, Price, Usage};
pub use retry::{ModelRetry, Retrying};
pub(crate) use shared::SharedModel;
pub use stream::{ModelDelta, ModelStream};

use crate::message::Message;
use std::sync::Arc;
use toolkit_core::{ToolConfig, ToolRegistry};

/// What a model is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// What the model should know and do: the system prompt. Empty for none.
    pub instructions: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Arc<ToolRegistry>,
    /// How it may use them.
    pub tool_use: ToolConfig,
    /// How it should answer.
    pub options: ModelOptions,
}

impl ModelRequest {
    /// A request without tools.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            instructions: String::new(),
            messages: messages.into_iter().collect(),
            tools: Arc::default(),
            tool_use: ToolConfig::default(),
            options: ModelOptions::default(),
        }
    }

    /// Sets what the model should know and do.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<ToolRegistry>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets how the model may use its tools.
    #[must_use]
    pub fn with_tool_use(mut self, tool_use: impl Into<ToolConfig>) -> Self {
        self.tool_use = tool_use.into();
        self
    }

    /// Sets how the model should answer.
    #[must_use]
    pub fn with_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }
}

/// A language model.
///
/// An `async fn respond` is all that an implementation needs; one that can stream implements
/// [`stream`](Self::stream), too, so that calls start while the model still writes.
///
/// ```
/// use toolkit_agent::{ChatModel, Message, ModelError, ModelRequest, ModelResponse};
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
pub trait ChatModel: Send + Sync + 'static {
    /// The name of the model, as its provider knows it.
    fn name(&self) -> &str;

    /// Answers a request.
    ///
    /// # Errors
    /// [`ModelError`] if there is no answer: the provider refused, failed, or said what is not understood.
    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send;

    /// Answers a request piece by piece. Without an implementation of its own, the answer of
    /// [`respond`](Self::respond) is the only piece.
    ///
    /// # Errors
    /// [`ModelError`] if the answer does not begin; what goes wrong later is an item of the stream.
    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        async { self.respond(request).await.map(ModelStream::from) }
    }
}

impl<M: ChatModel> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send {
        (**self).respond(request)
    }

    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        (**self).stream(request)
    }
}
