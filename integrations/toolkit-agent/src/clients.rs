//! Models of real providers, each behind a feature.
//!
//! | feature | client | speaks |
//! | --- | --- | --- |
//! | `openai` | `OpenAi` | Chat Completions and Responses, of OpenAI and of every server that imitates it |
//! | `anthropic` | `Anthropic` | Messages |
//! | `gemini` | `Gemini` | Gemini |
//! | `genai` | `GenAi` | whatever the crate `genai` speaks |
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
mod body;
mod fault;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "genai")]
mod genai;
mod http;
mod limits;
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
pub use limits::HttpLimits;
#[cfg(feature = "openai")]
pub use openai::{OpenAi, OpenAiTransport};
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub use transport::HttpTransport;
