//! The APIs of the providers, a folder and a feature for each.

#[cfg(feature = "anthropic")]
pub(crate) mod anthropic;
#[cfg(feature = "bedrock")]
pub(crate) mod bedrock;
#[cfg(any(feature = "cohere", feature = "ollama"))]
pub(crate) mod chat_messages;
#[cfg(feature = "cohere")]
pub(crate) mod cohere;
#[cfg(feature = "gemini")]
pub(crate) mod gemini;
#[cfg(feature = "gemini-interactions")]
pub(crate) mod gemini_interactions;
#[cfg(feature = "ollama")]
pub(crate) mod ollama;
pub(crate) mod openai;
#[cfg(feature = "openai-chat")]
pub(crate) mod openai_chat;
#[cfg(feature = "openai-responses")]
pub(crate) mod openai_responses;
