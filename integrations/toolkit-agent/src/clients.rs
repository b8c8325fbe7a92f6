//! Models of real providers, each behind a [feature](crate#features).
//!
//! Keys come from the environment or are given. None of these clients tries again by itself: agents do, and
//! [`Retrying`](crate::model::Retrying) does for models asked directly. None follows a redirect, because keys are for
//! the server that they were given for.

// What one client does not need, another does.
#![cfg_attr(
    not(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai")),
    allow(dead_code)
)]

#[cfg(feature = "anthropic")]
mod anthropic;
mod fault;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "genai")]
mod genai;
mod http;
#[cfg(feature = "openai")]
mod openai;
mod settings;
#[cfg(any(feature = "anthropic", feature = "gemini"))]
mod transport;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
#[cfg(feature = "gemini")]
pub use gemini::Gemini;
#[cfg(feature = "genai")]
pub use genai::{GenAi, GenAiModel};
#[cfg(feature = "openai")]
pub use openai::{OpenAi, OpenAiTransport};
pub use settings::HttpLimits;
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub use transport::HttpTransport;
