//! [`ModelRequest`]: a request to a model.

use super::{Account, ModelOptions};
use crate::message::{Message, Messages, UserMessage};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use toolkit_core::{Content, Media, ToolConfig, ToolRegistry};

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
    /// The conversation so far, which shares its list.
    pub messages: Messages,
    /// The tools available to the model.
    pub tools: Arc<ToolRegistry>,
    /// The settings for tool use, such as the tool choice.
    pub tool_use: ToolConfig,
    /// Options for the answer, shared with the agent. `Arc::make_mut` changes them for this request.
    pub options: Arc<ModelOptions>,
    /// Whether the provider goes on with the request. `None` without an agent.
    #[doc(hidden)]
    pub running: Option<Arc<AtomicBool>>,
    /// Counts the tokens of a dropped request. `None` without an agent.
    #[doc(hidden)]
    pub account: Option<Account>,
    /// Whether a layer above has opened the `chat` span.
    #[doc(hidden)]
    pub is_traced: bool,
}

impl ModelRequest {
    /// Creates a request without tools.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::of(messages.into_iter().collect())
    }

    /// Creates a request without tools that shares its messages.
    #[must_use]
    pub fn of(messages: Messages) -> Self {
        // Agents replace both.
        static NO_TOOLS: LazyLock<Arc<ToolRegistry>> = LazyLock::new(Arc::default);
        static NO_OPTIONS: LazyLock<Arc<ModelOptions>> = LazyLock::new(Arc::default);
        Self {
            instructions: String::new(),
            messages,
            tools: NO_TOOLS.clone(),
            tool_use: ToolConfig::default(),
            options: NO_OPTIONS.clone(),
            running: None,
            account: None,
            is_traced: false,
        }
    }

    /// Sets whether the provider goes on with this request when the program stops waiting.
    ///
    /// Meanwhile, an agent does not repeat the request after its timeout.
    ///
    /// A model calls this before and after it waits for the answer to a
    /// [background](ModelOptions::background) request. A wrapper of a model passes the request on.
    pub fn set_running_in_background(&self, is_running: bool) {
        if let Some(running) = &self.running {
            running.store(is_running, Ordering::Relaxed);
        }
    }

    /// Tracks from now on whether the provider goes on with the request.
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

from! { ModelRequest:
    question: &str | &String | String | Box<str> | std::borrow::Cow<'_, str> => Self::new([Message::user(question)]);
    question: UserMessage | Content | Media | Vec<Content> => Self::new([Message::user(question)]);
    message: Message => Self::new([message]);
    messages: Messages => Self::of(messages);
    messages: Vec<Message> => Self::new(messages);
}

/// Creates a request with one user message.
impl<const N: usize> From<[Content; N]> for ModelRequest {
    fn from(contents: [Content; N]) -> Self {
        Self::new([Message::user(contents)])
    }
}

/// Creates a request with these messages.
impl<const N: usize> From<[Message; N]> for ModelRequest {
    fn from(messages: [Message; N]) -> Self {
        Self::new(messages)
    }
}

setters! { ModelRequest:
    /// Sets the system prompt.
    with_instructions(instructions: impl Into<String>) = instructions.into();
    /// Sets the tools available to the model.
    with_tools(tools: impl Into<Arc<ToolRegistry>>) = tools.into();
    /// Sets the tool choice and other settings for tool use.
    with_tool_use(tool_use: impl Into<ToolConfig>) = tool_use.into();
    /// Sets options for the answer.
    with_options(options: impl Into<Arc<ModelOptions>>) = options.into();
}
