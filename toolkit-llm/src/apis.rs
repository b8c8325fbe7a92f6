//! The APIs of providers, with a folder and feature each.

#[cfg(feature = "api-anthropic")]
pub(crate) mod anthropic;
#[cfg(feature = "api-bedrock")]
pub(crate) mod bedrock;
#[cfg(any(feature = "api-cohere", feature = "api-ollama"))]
pub(crate) mod chat_messages;
#[cfg(all(feature = "model", any(feature = "api-anthropic", feature = "api-bedrock")))]
mod claude;
#[cfg(feature = "api-cohere")]
pub(crate) mod cohere;
#[cfg(feature = "api-gemini")]
pub(crate) mod gemini;
#[cfg(feature = "api-gemini-interactions")]
pub(crate) mod gemini_interactions;
#[cfg(feature = "api-ollama")]
pub(crate) mod ollama;
pub(crate) mod openai;
#[cfg(feature = "api-openai-chat")]
pub(crate) mod openai_chat;
#[cfg(feature = "api-openai-responses")]
pub(crate) mod openai_responses;
