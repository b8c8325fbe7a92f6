//! Provider formats: pure functions to convert between the framework's types and the JSON of providers.
//!
//! [`ApiFormat`] is the entry point. Each API has a folder, and the code shared by several APIs is outside these
//! folders. A format handles definitions, calls and results. It never uses a registry and does no IO.

mod anthropic;
mod bedrock;
mod blocked;
mod call;
mod codec;
mod cohere;
mod declaration;
mod definitions;
mod error;
mod event_stream;
mod facts;
mod fields;
mod format;
mod gemini;
mod gemini_interactions;
mod history;
pub mod hosted;
mod ids;
mod kept;
mod limits;
mod media;
mod ollama;
mod openai;
mod openai_chat;
mod openai_responses;
mod pairing;
mod reading;
mod repair;
mod response;
mod results;
mod sse;
mod standard;
mod stream;
mod strict;
#[cfg(test)]
mod tests;
mod texts;
mod tool_config;
#[cfg(feature = "translate")]
pub mod translate;
mod writer;

pub use definitions::{DefinitionLoss, DefinitionOptions, DefinitionReport, Definitions};
pub use error::{UnknownApiFormat, WireError};
pub use format::{ApiFormat, ConfiguredFormat};
pub use hosted::{HostedCall, HostedTool};
pub use limits::LimitExceeded;
pub use response::{FinishReason, Response, Usage};
pub use stream::{StreamAccumulator, StreamEnd, StreamEvent};
pub use strict::{NotStrict, StrictTools};
pub use tool_config::EncodedToolConfig;
pub use writer::HistoryWriter;
