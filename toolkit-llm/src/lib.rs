//! Language models and the JSON of their providers, without IO.
//!
//! [`ApiFormat`] converts between the framework's types and the JSON of a provider: definitions, calls,
//! results, streams and histories. Each API has a folder; code shared by several APIs is outside of them.
//!
//! With the feature `model`, a `ChatModel` answers a `ModelRequest`. `transport` makes one from your own
//! connection, and the crate `toolkit-llm-http` has clients.
//!
//! ```
//! use serde_json::json;
//! use toolkit_ai::llm::ApiFormat;
//!
//! let response = json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [
//!     {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}},
//! ]}}]});
//! let calls = ApiFormat::OpenAiChat.parse_calls(&response)?;
//! assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("weather", r#"{"city": "Oslo"}"#));
//! # Ok::<(), toolkit_ai::llm::WireError>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
// With one API alone, about sixty shared items are unused, and a condition for each would say less than this
// line. With all APIs, nothing may be unused.
#![cfg_attr(
    not(all(
        feature = "api-anthropic",
        feature = "api-bedrock",
        feature = "api-cohere",
        feature = "api-gemini",
        feature = "api-gemini-interactions",
        feature = "api-ollama",
        feature = "api-openai-chat",
        feature = "api-openai-responses"
    )),
    allow(dead_code)
)]
// Without any API, `ApiFormat` has no values.
#![cfg_attr(
    not(any(
        feature = "api-anthropic",
        feature = "api-bedrock",
        feature = "api-cohere",
        feature = "api-gemini",
        feature = "api-gemini-interactions",
        feature = "api-ollama",
        feature = "api-openai-chat",
        feature = "api-openai-responses"
    )),
    allow(unreachable_code, unused_mut, unused_variables)
)]

#[macro_use]
mod helpers;

mod apis;
mod call;
mod codec;
mod definitions;
mod facts;
mod format;
mod history;
pub mod hosted;
mod json;
#[cfg(feature = "model")]
mod message;
#[cfg(feature = "model")]
pub mod model;
mod reading;
#[cfg(feature = "model")]
pub mod record;
#[cfg(feature = "model")]
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;
#[cfg(feature = "translate")]
pub mod translate;
#[cfg(feature = "model")]
pub mod transport;

pub use definitions::{
    DefinitionLoss, DefinitionOptions, DefinitionReport, Definitions, EncodedToolConfig, LimitExceeded,
    NotStrict, RenamedParameter, StrictTools,
};
pub use facts::{ApiFormat, UnknownApiFormat};
pub use format::{ConfiguredFormat, HistoryWriter};
pub use json::WireError;
pub use reading::{StreamAccumulator, StreamEnd};
pub use response::{FinishReason, Response, Usage};
pub use stream::StreamEvent;

#[cfg(feature = "model")]
pub use message::{
    AssistantMessage, Message, Messages, ModelResponse, NativeMessages, ToolMessage, UserMessage,
};
#[cfg(feature = "model")]
pub use model::{
    chat_model::ChatModel,
    error::{ModelError, ModelErrorKind},
    options::ModelOptions,
    price::Price,
    request::ModelRequest,
    retry::ModelRetry,
    scripted::ScriptedModel,
    stream::ModelStream,
};

/// Shared by the crates of this workspace. Programs do not use it.
#[cfg(feature = "model")]
#[doc(hidden)]
pub mod __private {
    pub use crate::helpers::{BoxFuture, MAX_NESTING, append_json, lock};
    pub use crate::message::store_details;
    pub use crate::model::{Account, Bill, Billing, ChatCaller, ChatSpan, Unreported, record_server};
    pub use crate::transport::native_losses;
}
