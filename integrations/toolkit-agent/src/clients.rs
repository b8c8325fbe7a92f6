//! Clients for the APIs of model providers, each behind a [feature](crate#features).
//!
//! An API key comes from an environment variable or from `with_key`. The clients do not retry failed
//! requests: agents do, and [`Retrying`](crate::model::Retrying) does for models used without an agent. The
//! clients do not follow redirects, so that an API key reaches only the intended server.

// With some features off, parts of the shared code are unused.
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
