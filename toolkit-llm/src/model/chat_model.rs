//! [`ChatModel`]: whatever answers requests.

use super::answer::{Answer, ask};
use super::forward::forward_properties;
use super::{BoxModel, ModelError, ModelRequest, ModelStream, OutputFormat, OutputLosses};
use crate::message::ModelResponse;
use std::sync::Arc;
use toolkit_core::ToolParams;

/// A language model.
///
/// Implementations need only `name` and an `async fn respond`. A client with streaming also
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

    /// Returns the name of the provider, for tracing spans. By default, it is empty.
    ///
    /// Well-known names, such as `openai` and `aws.bedrock`, are those of OpenTelemetry's attribute
    /// `gen_ai.provider.name`.
    fn provider(&self) -> &str {
        ""
    }

    /// Answers a request with a complete response.
    ///
    /// # Errors
    /// [`ModelError`] if the provider refused the request, failed, or sent an invalid response.
    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send;

    /// Answers a request as a stream of pieces. By default, they come from
    /// [`respond`](Self::respond).
    ///
    /// # Errors
    /// [`ModelError`] if the answer does not begin; later errors are items of the stream.
    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        async { self.respond(request).await.map(ModelStream::from) }
    }

    /// Answers a request with a value of type `T`.
    ///
    /// The provider enforces the schema of the type if the request has no tools and the provider's
    /// dialect of JSON Schema can express the schema. Otherwise, the answer is the arguments of a
    /// call of the tool `final_answer`. If the server refuses such a request, or the tool choice
    /// forbids calls, the schema is only in the instructions
    /// ([`AnswerMode`](crate::model::answer::AnswerMode)).
    ///
    /// A text answer may be in a code fence or surrounded by other text. Near misses are coerced as
    /// in tool calls. After an invalid answer, the model gets a list of all violations and answers
    /// again, at most twice. The tools of the request are not run; an agent does that.
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
    /// [`ModelError`] of the kind [`InvalidAnswer`](crate::ModelErrorKind::InvalidAnswer) if no
    /// answer was valid, or [`Blocked`](crate::ModelErrorKind::Blocked) if the model refused. Any
    /// other kind if a request failed.
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

    /// Returns what is lost if the provider enforces the schema of `output`: constraints outside
    /// its dialect of JSON Schema.
    ///
    /// An agent calls this before it chooses how to ask for a typed answer. By default, the losses
    /// are [unknown](OutputLosses::unknown), and the agent uses the provider's enforcement only if
    /// the program has set it.
    ///
    /// A wrapper of another model forwards this method. A model that enforces every schema
    /// completely returns [`OutputLosses::default`].
    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        let _ = output;
        OutputLosses::unknown()
    }

    /// Boxes the model, to choose it at run time or store it in a list.
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
