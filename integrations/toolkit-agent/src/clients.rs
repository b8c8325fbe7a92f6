//! Clients for the APIs of model providers, each behind a [feature](crate#features).
//!
//! An API key comes from an environment variable or from `with_key`. The clients do not retry failed
//! requests: agents do, and [`Retrying`](crate::model::Retrying) does for models used without an agent. The
//! clients do not follow redirects, so that an API key reaches only the intended server.

// With some features off, parts of the shared code are unused.
#![cfg_attr(
    not(all(
        feature = "anthropic",
        feature = "gemini",
        feature = "genai",
        feature = "ollama",
        feature = "openai"
    )),
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
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai")]
mod openai;
mod settings;
#[cfg(feature = "_json")]
mod transport;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
#[cfg(feature = "gemini")]
pub use gemini::Gemini;
#[cfg(feature = "genai")]
pub use genai::{GenAi, GenAiModel};
#[cfg(feature = "ollama")]
pub use ollama::Ollama;
#[cfg(feature = "openai")]
pub use openai::OpenAi;
pub use settings::HttpLimits;
#[cfg(feature = "_json")]
pub use transport::HttpTransport;
