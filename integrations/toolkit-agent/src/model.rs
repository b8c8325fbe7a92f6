//! Language models, their requests and their responses.

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

/// A request to a model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The system prompt; empty for none.
    pub instructions: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Arc<ToolRegistry>,
    /// The tool choice.
    pub tool_use: ToolConfig,
    /// Options for the answer.
    pub options: ModelOptions,
}

impl ModelRequest {
    /// Creates a request without tools.
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

    /// Sets the system prompt.
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

    /// Sets the tool choice.
    #[must_use]
    pub fn with_tool_use(mut self, tool_use: impl Into<ToolConfig>) -> Self {
        self.tool_use = tool_use.into();
        self
    }

    /// Sets options for the answer.
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
    /// Returns the provider's name of the model.
    fn name(&self) -> &str;

    /// Answers a request.
    ///
    /// # Errors
    /// [`ModelError`] if the provider refused, failed, or sent an invalid response.
    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send;

    /// Answers a request piece by piece. By default the answer of [`respond`](Self::respond) is the only piece.
    ///
    /// # Errors
    /// [`ModelError`] if the answer does not begin; later errors are items of the stream.
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
