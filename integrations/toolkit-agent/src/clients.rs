//! Models of real providers, each behind a feature.

#[cfg(feature = "anthropic")]
mod anthropic;
mod body;
mod fault;
#[cfg(feature = "genai")]
mod genai;
#[cfg(feature = "google")]
mod google;
mod http;
mod limits;
#[cfg(feature = "openai")]
mod openai;
mod settings;
#[cfg(any(feature = "anthropic", feature = "google"))]
mod transport;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
#[cfg(feature = "genai")]
pub use genai::{GenAi, GenAiModel};
#[cfg(feature = "google")]
pub use google::Google;
pub use limits::HttpLimits;
#[cfg(feature = "openai")]
pub use openai::{OpenAi, OpenAiTransport};
#[cfg(any(feature = "anthropic", feature = "google"))]
pub use transport::HttpTransport;
