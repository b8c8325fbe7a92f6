//! The APIs of the providers, a folder for each.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod chat_messages;
pub(crate) mod cohere;
pub(crate) mod gemini;
pub(crate) mod gemini_interactions;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
